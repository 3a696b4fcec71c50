"""Which definition a plain call of C means outside of its own file. In: files and names. Out: an outcome for each pair.

Every function that is not static can be meant, and whatever a header defines. What the file includes comes first: a
macro or inline function of a header, a function of the source beside it. Of several others the nearest in the tree is
taken, as every architecture of a kernel has its own; where two are equally near, none is surer than the other.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pipelines.discover.binding.definitions import Definitions
from pipelines.discover.binding.imports import Imports
from pipelines.discover.binding.resolver import Outcome, Resolver
from pipelines.discover.binding.words import Groups, Ints, joined
from pipelines.records import CallStrategy, UnresolvedCall

#: The shortest name that binds by being the only one: macros and function pointers of one letter are everywhere.
_MIN_CHARS = 3
#: More definitions of one name than these are not compared: `main`, `init_module`.
_MAX_DEFINITIONS = 64


class Linking:
    """Answers plain calls of the C family."""

    def __init__(self, definitions: Definitions, imports: Imports, resolver: Resolver) -> None:
        self._definitions = definitions
        self._imports = imports
        self._resolver = resolver
        self._opened: dict[int, frozenset[int]] = {}
        self._ways: dict[tuple[int, int], int] = {}

    def find(self, files: npt.NDArray[np.int32], names: npt.NDArray[np.int32]) -> list[Outcome]:
        """Return what each name means in each file."""
        definitions = self._definitions
        free: Groups = definitions.free
        groups: Ints = free.find(joined(definitions.files.family[files], names))
        sizes = free.sizes(groups)
        texts, units = definitions.words.texts, definitions.files.units
        outcomes: list[Outcome] = []
        for file, name, group, size in zip(
            files.tolist(), names.tolist(), groups.tolist(), sizes.tolist(), strict=True
        ):
            text = texts[name]
            if size == 0:
                builtin = text in units[file].rules.builtins
                outcomes.append(UnresolvedCall.BUILTIN if builtin else UnresolvedCall.UNKNOWN_NAME)
            elif size > _MAX_DEFINITIONS:
                outcomes.append(UnresolvedCall.AMBIGUOUS)
            else:
                outcomes.append(self._choose(file, text, free.group(group)))
        return outcomes

    def _choose(self, file: int, name: str, nodes: list[int]) -> Outcome:
        of = self._definitions.file
        opened = self._includes(file)
        included = [node for node in nodes if int(of[node]) in opened]
        if included:
            real = self._behind_headers(included, nodes)
            if bound := self._resolver.bound(CallStrategy.IMPORTED, self._nearest(file, real)):
                return bound
        if len(name) < _MIN_CHARS:
            return UnresolvedCall.COMMON_NAME
        if bound := self._resolver.bound(CallStrategy.LINKED, self._nearest(file, nodes)):
            return bound
        return UnresolvedCall.UNKNOWN_NAME

    def _behind_headers(self, included: list[int], nodes: Sequence[int]) -> list[int]:
        """Return the sources' definitions for those of headers that only stand in for them.

        A header often has an empty inline function for the case that a feature is left out; the source of the feature
        includes that header.
        """
        of, is_header = self._definitions.file, self._definitions.files.is_header
        headers = {int(of[node]) for node in included}
        sources = [
            node for node in nodes if not is_header[of[node]] and not headers.isdisjoint(self._includes(int(of[node])))
        ]
        return sources or included

    def _includes(self, file: int) -> frozenset[int]:
        known = self._opened.get(file)
        if known is None:
            known = self._opened[file] = frozenset(self._imports.scope(file).opened)
        return known

    def _nearest(self, file: int, nodes: list[int]) -> list[int]:
        """Return the nodes to which the way through the folders is shortest."""
        if len(nodes) < 2:
            return nodes
        folder = self._definitions.files.folder
        here = int(folder[file])
        ways = [self._way(here, int(folder[self._definitions.file[node]])) for node in nodes]
        least = min(ways)
        return [node for node, way in zip(nodes, ways, strict=True) if way == least]

    def _way(self, start: int, end: int) -> int:
        """Return how many folders lie between two, up and down."""
        key = (start, end)
        known = self._ways.get(key)
        if known is None:
            names = self._definitions.files.folders
            mine, other = _parts(names[start]), _parts(names[end])
            shared = len(posixpath.commonprefix([mine, other]))
            known = self._ways[key] = len(mine) + len(other) - 2 * shared
        return known


def _parts(folder: str) -> list[str]:
    return folder.split("/") if folder else []
