"""What there is instead of what filters ask for. In: a query of which nothing was found. Out: notes that name it.

Whoever mistypes a folder would else read an empty answer as "that is not in the code".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import pyarrow as pa

from pipelines.retrieval.filters import filter_rows, fitting, known_labels
from pipelines.retrieval.generation import Generation
from pipelines.retrieval.likeness import nearest, shown, told
from pipelines.retrieval.query import Query

#: A glob for the ending of names, and what of any other is no letter of a name.
_ENDING = re.compile(r"\*+(\.[^*?\[\]/]+)")
_WILDCARDS = re.compile(r"[*?\[\]!]+")


def unmatched(generations: Sequence[Generation], query: Query) -> tuple[str, ...]:
    """Say what the index has instead of what no filter leaves any of; () where the filters leave something."""
    query = known_labels(generations, query)
    masks = [filter_rows(generation, query) for generation in generations]
    if any(mask is None or mask.any() for mask in masks):
        return ()
    notes = []
    paths = [path for generation in generations for path in generation.rows.labels["path"].values()]
    globs = [glob for glob in query.paths if not _fits(paths, glob)]
    if len(globs) == len(query.paths):  # one of several is enough
        notes += [f"no file of the index matches path {shown(glob)}; {_instead(paths, glob)}" for glob in globs]
    kinds = sorted({kind for generation in generations for kind in generation.rows.labels["kind"].values()})
    if query.kinds and not set(kinds) & set(query.kinds):
        notes.append(f"the index has no chunk of kind {', '.join(query.kinds)}; there are: {told(kinds, len(kinds))}")
    if notes:
        return tuple(notes[:3])
    given = {"path": query.paths, "language": query.languages, "scope": query.scopes, "kind": query.kinds}
    together = ", ".join(f"{name} {shown(', '.join(values))}" for name, values in given.items() if values)
    return (f"no file of the index passes all the filters together: {together}",)


def _instead(paths: Sequence[str], glob: str) -> str:
    """Tell which files or folders are named nearly like what a glob asks for, else what there is."""
    split = [path.split("/") for path in paths]
    parts = [part for part in glob.split("/") if part]
    there = {path[0] for path in split}
    if ending := _ENDING.fullmatch(glob):
        known = there = {f"*.{path[-1].rpartition('.')[2]}" for path in split if "." in path[-1][1:]}
        wanted = f"*{ending[1]}"
    elif "/" in glob.rstrip("/") and "**" not in parts:
        # the folders are followed as far as they exist: what is in the last of them could be meant
        depth = next((n for n in range(1, len(parts)) if not _fits(paths, f"/{'/'.join(parts[:n])}")), len(parts))
        there = {"/".join(path[:depth]) for path in _inside(split, paths, parts[: depth - 1])}
        known, wanted = there, _letters(parts[depth - 1] if parts else "")
        if depth == 1:  # or a folder further down, named without those above it
            known = known | {"/".join(path[:n]) for path in split for n in range(1, len(path))}
    else:
        known = {part for path in split for part in path}
        wanted = _letters(next((part for part in parts if not _fits(paths, part)), ""))
    near = nearest(wanted, known)
    return f"near it: {told(near, len(near))}" if near else f"there are: {told(_in_order(there), len(there))}"


def _in_order(names: Iterable[str]) -> list[str]:
    """Sort names, those of hidden files and folders last."""
    return sorted(names, key=lambda name: (name.rpartition("/")[2].startswith("."), name))


def _inside(split: Sequence[Sequence[str]], paths: Sequence[str], folder: Sequence[str]) -> Sequence[Sequence[str]]:
    """Return those of the paths that are in a folder; each is given as its parts, and as it is."""
    if not folder:
        return split
    fits = fitting(pa.array(paths, pa.string()), ["/" + "/".join(folder)])
    return [path for path, within in zip(split, fits.tolist(), strict=True) if within]


def _fits(paths: Sequence[str], glob: str) -> bool:
    return bool(fitting(pa.array(paths, pa.string()), [glob]).any())


def _letters(part: str) -> str:
    return _WILDCARDS.sub("", part)
