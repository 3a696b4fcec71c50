"""Details of outcomes, made safe to be stored and shown. In: any text. Out: one short line without any secret.

What says why a file was left out is written here, but parts of it may come from a file, a path or a parser that failed.
"""

from __future__ import annotations

import re
from functools import lru_cache

from pipelines.discover.parsing.source import Source
from pipelines.discover.secrets import find_secrets

#: Characters of a detail: what is longer tells no more.
MAX_DETAIL_CHARS = 200
#: Characters that are looked at, so that a secret which the end of a detail would cut is known as one.
_READ_CHARS = 4_096
#: Characters that a terminal obeys, or that no UTF-8 has: controls, marks of direction, halves of pairs.
_UNSAFE = re.compile("[\0-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_REPLACEMENT = "\ufffd"


@lru_cache(maxsize=4_096)  # a pattern that leaves out a thousand files is one remark
def masked(text: str) -> str:
    """Return a text in which no secret can be read."""
    return Source(text, [(span.start_byte, span.end_byte) for span in find_secrets(text)]).data.decode()


def safe_detail(text: str) -> str:
    """Return a detail as it may be stored: one line of at most MAX_DETAIL_CHARS characters, secrets masked."""
    line = _UNSAFE.sub(_REPLACEMENT, " ".join(text[:_READ_CHARS].split()))
    return masked(line)[:MAX_DETAIL_CHARS]
