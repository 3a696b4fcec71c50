"""How paths and remarks are shown, so that no secret stands in a listing. In: what git or a user wrote. Out: text.

Paths reach every artifact, and so do the patterns that left a file out. A secret in one is masked like a secret in a
file, and a file whose path holds one is not indexed: its path cannot be told.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from pipelines.discover.details import masked
from pipelines.discover.listing.contents import Skip
from pipelines.discover.secrets import find_secrets
from pipelines.records import SkipReason

__all__ = ["masked", "shown_paths"]

_NOT_UTF8 = Skip(SkipReason.PATH_NOT_UTF8)
_HOLDS_SECRET = Skip(SkipReason.DENIED, "its path holds a secret")


def shown_paths(paths: Sequence[bytes]) -> tuple[dict[bytes, str], dict[bytes, Skip]]:
    """Return each path's text, told apart from all others, and why those whose text is not the path are left out.

    A path that is not UTF-8 has escapes, a secret in a path is masked.
    """
    texts = {path: _decoded(path) for path in paths}
    plain = [text for text in texts.values() if text is not None]
    secret = set(_with_secrets(plain))
    skips = {
        path: _NOT_UTF8 if text is None else _HOLDS_SECRET
        for path, text in texts.items()
        if text is None or text in secret
    }
    shown = {path: text for path, text in texts.items() if text is not None and path not in skips}
    return shown | _told_apart(skips, set(shown.values()) if skips else set()), skips


def _told_apart(skips: Mapping[bytes, Skip], taken: set[str]) -> dict[bytes, str]:
    shown: dict[bytes, str] = {}
    for path in sorted(skips):
        name = masked(path.decode("utf-8", "backslashreplace"))
        while name in taken:
            name += "?"
        taken.add(name)
        shown[path] = name
    return shown


def _decoded(path: bytes) -> str | None:
    try:
        return path.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _with_secrets(paths: Sequence[str]) -> Iterable[str]:
    """Yield the paths that hold a secret. All are searched as one text; where something is found, the path alone is."""
    ends = list(accumulate(len(path.encode()) + 1 for path in paths))
    for place in {bisect_right(ends, span.start_byte) for span in find_secrets("\n".join(paths))}:
        if find_secrets(paths[place]):
            yield paths[place]
