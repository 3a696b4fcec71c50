"""Which of the names that there are could have been meant by one that there is not. In: names. Out: the nearest, told.

What is compared and told is bounded: a stranger may send any name, and a repository may have any number of them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

#: Names that a message tells.
MOST_TOLD = 8
#: Names that are compared letter by letter, at some 20 microseconds each, and letters of each.
_MOST_COMPARED, _COMPARED_LETTERS = 2_000, 60
#: From which likeness on, 0 to 1, a name could have been meant; difflib's own choice.
_LIKE = 0.6
#: Fewer letters stand in many names that have nothing to do with them.
_TELLING_LETTERS = 3
#: Characters of a value or name that are told: the beginning of a wrong one, the end of a path that there is.
_SHOWN_CHARS = 80


def nearest(wanted: str, known: Collection[str]) -> list[str]:
    """Return the last parts of paths, or names, that could have been meant, the likeliest first; at most MOST_TOLD."""
    from difflib import SequenceMatcher  # here: most queries name nothing that does not exist

    letters = _compared(wanted)
    if not letters:
        return []
    matcher = SequenceMatcher(b=letters, autojunk=False)

    def likeness(name: str) -> float:
        matcher.set_seq1(_compared(name))
        return 1.0 if letters == _compared(name) else matcher.ratio()

    # where there are too many, those that begin like it go first: few mistype the first letter
    ordered = sorted(known, key=lambda name: (_compared(name)[:1] != letters[:1], name))
    found = [(likeness(name), name) for name in ordered[:_MOST_COMPARED]]
    holds = letters if len(letters) >= _TELLING_LETTERS else "\0"
    near = [(-share, name.count("/"), name) for share, name in found if share >= _LIKE or holds in _compared(name)]
    return [name for *_, name in sorted(near)[:MOST_TOLD]]


def told(names: Sequence[str], total: int) -> str:
    """Return the first names as a message tells them, and how many more there are."""
    first = [name if len(name) <= _SHOWN_CHARS else "…" + name[-_SHOWN_CHARS:] for name in names[:MOST_TOLD]]
    return ", ".join(first) + (f", and {total - len(first)} more" if total > len(first) else "")


def shown(value: str) -> str:
    """Return a value that was given as a message tells it back."""
    return repr(value if len(value) <= _SHOWN_CHARS else value[:_SHOWN_CHARS] + "…")


def _compared(name: str) -> str:
    return name.rpartition("/")[2].casefold()[:_COMPARED_LETTERS]
