"""What clients need not know: where on the machine something lies. In: a message. Out: the same without its folders."""

from __future__ import annotations

import re
from collections.abc import Iterable

#: All of an absolute path but its last part; a folder's name may have spaces. The slashes of a URL begin none.
_FOLDERS = re.compile(r"""(?<![\w.~/…-])/(?!/)(?:[^/\n,;:'"`()]*/)*""")


def without_folders(text: str, known: Iterable[str] = ()) -> str:
    """Return a message in which each absolute path is shortened to its last part.

    :param known: folders that it may name, found whatever characters they have; of others only a part may be found
        where a name has commas, quotes or brackets.
    """
    for folder in sorted({*known} - {"", "/"}, key=len, reverse=True):
        for written in (folder, repr(folder)[1:-1]):
            text = text.replace(f"{written}/", "/").replace(written, f"…/{written.rpartition('/')[2]}")
    return _FOLDERS.sub("…/", text)
