"""What clients need not know: where on the machine something lies. In: a message. Out: the same without its folders."""

from __future__ import annotations

import re

#: All of an absolute path but its last part; a folder's name may have spaces. The slashes of a URL begin none.
_FOLDERS = re.compile(r"""(?<![\w.~/-])/(?!/)(?:[^/\n,;:'"`()]*/)*""")


def without_folders(text: str) -> str:
    """Return a message in which each absolute path is shortened to its last part."""
    return _FOLDERS.sub("…/", text)
