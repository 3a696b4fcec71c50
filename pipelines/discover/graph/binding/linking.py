"""Which definition a plain call of C means outside of its own file. In: files and names. Out: an outcome for each pair.

Every function that is not static can be meant, and whatever a header defines. What the file includes comes first: a
macro or inline function of a header, a function of the source beside it. Of several others the nearest in the tree is
taken, as every architecture of a kernel has its own; where two are equally near, none is surer than the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from pipelines.discover.graph.binding.definitions import Definitions
from pipelines.discover.graph.binding.imports import Imports
from pipelines.discover.graph.binding.modules import way
from pipelines.discover.graph.binding.resolver import Binding, Outcome, Resolver
from pipelines.discover.graph.binding.rules import is_distinctive
from pipelines.discover.graph.binding.words import Ints, joined
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
        self._included = _Included(definitions, imports)
        self._ways: dict[tuple[int, int], int] = {}
        lengths = np.array([len(text) for text in definitions.words.texts], np.int32)
        self._is_long = lengths[definitions.name] >= _MIN_CHARS

    def find(
        self, files: npt.NDArray[np.int32], names: npt.NDArray[np.int32], number: Callable[[Outcome], int]
    ) -> Ints:
        """Return what each name means in each file, as the numbers of outcomes.

        :param files: ascending. :param number: gives an outcome its number.
        """
        definitions, free = self._definitions, self._definitions.free
        groups = free.find(joined(definitions.files.family[files], names))
        sizes = free.sizes(groups)
        numbers = np.full(len(files), number(UnresolvedCall.UNKNOWN_NAME), np.int64)
        texts, units = definitions.words.texts, definitions.files.units
        for place in np.flatnonzero(sizes == 0).tolist():
            if texts[names[place]] in units[files[place]].rules.builtins:
                numbers[place] = number(UnresolvedCall.BUILTIN)
        numbers[sizes > _MAX_DEFINITIONS] = number(UnresolvedCall.AMBIGUOUS)
        rest = (sizes > 0) & (sizes <= _MAX_DEFINITIONS)
        only = np.where(sizes == 1, free.first(groups), -1)
        rest[self._bind_only(files, only, numbers, number)] = False
        places = np.flatnonzero(rest)
        columns = (files[places].tolist(), names[places].tolist(), groups[places].tolist())
        for place, file, name, group in zip(places.tolist(), *columns, strict=True):
            numbers[place] = number(self._choose(file, texts[name], free.group(group)))
        return numbers

    def _bind_only(
        self, files: npt.NDArray[np.int32], only: Ints, numbers: Ints, number: Callable[[Outcome], int]
    ) -> Ints:
        """Bind the names that have one definition, a function: in a header that is seen, or in a source."""
        definitions = self._definitions
        places = np.flatnonzero((only >= 0) & definitions.callable[only])
        nodes, of = only[places], definitions.file[only[places]]
        header = definitions.files.is_header[of]
        opened = np.array(
            [
                node_file in self._includes(file) if not is_header else self._included.reaches(file, node_file)
                for file, node_file, is_header in zip(files[places].tolist(), of.tolist(), header.tolist(), strict=True)
            ],
            bool,
        )
        long = self._is_long[nodes]
        for strategy, mask in ((CallStrategy.IMPORTED, opened), (CallStrategy.LINKED, ~opened & ~header & long)):
            distinct, which = np.unique(nodes[mask], return_inverse=True)
            known = [number(Binding(strategy, (node,))) for node in distinct.tolist()]
            numbers[places[mask]] = np.array(known, np.int64)[which]
        bound: Ints = places[opened | (~header & long)]
        return bound

    def _choose(self, file: int, name: str, nodes: list[int]) -> Outcome:
        of, is_header = self._definitions.file, self._definitions.files.is_header
        sources = [node for node in nodes if not is_header[of[node]]]
        headers = [node for node in nodes if self._included.reaches(file, int(of[node]))]
        opened = self._includes(file)
        included = headers or [node for node in sources if int(of[node]) in opened]
        if included:
            real = self._behind_headers(self._nearest(file, included), sources)
            if bound := self._resolver.bound(CallStrategy.IMPORTED, self._nearest(file, real)):
                return bound
        if len(name) < _MIN_CHARS:
            return UnresolvedCall.COMMON_NAME
        if bound := self._resolver.bound(CallStrategy.LINKED, self._nearest(file, sources)):
            return bound
        if not is_distinctive(name):  # in a header that is not included: this one must be another
            return UnresolvedCall.COMMON_NAME
        return self._resolver.bound(CallStrategy.LINKED, self._nearest(file, nodes)) or UnresolvedCall.UNKNOWN_NAME

    def _behind_headers(self, included: list[int], sources: Sequence[int]) -> list[int]:
        """Return the sources' definitions for those of headers that only stand in for them.

        A header often has an inline function that does nothing, for the case that a feature is left out; the source of
        the feature includes that header.
        """
        definitions = self._definitions
        of, is_header = definitions.file, definitions.files.is_header
        if any(definitions.is_macro[node] or not definitions.silent[node] for node in included):
            return included
        headers = {int(of[node]) for node in included if is_header[of[node]]}
        real = [node for node in sources if not headers.isdisjoint(self._includes(int(of[node])))]
        return real or included

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
        key = (start, end)
        known = self._ways.get(key)
        if known is None:
            names = self._definitions.files.folders
            known = self._ways[key] = way(names[start], names[end])
        return known


class _Included:
    """Which headers a file sees, directly or through others: sets of headers as the bits of numbers."""

    def __init__(self, definitions: Definitions, imports: Imports) -> None:
        self._imports = imports
        self._is_header = definitions.files.is_header
        headers = np.flatnonzero(self._is_header).tolist()
        self._bit = {header: place for place, header in enumerate(headers)}
        self._sets: dict[int, int] = {}
        self._last = -1  # the file that was asked for last, and what it sees: bit 0 first
        self._seen = b""

    def reaches(self, file: int, header: int) -> bool:
        """Tell whether a file sees a header."""
        bit = self._bit.get(header)
        if bit is None:
            return False
        if self._last != file:
            self._last, self._seen = file, self._seen_from(file).to_bytes(len(self._bit) // 8 + 1, "little")
        return bool(self._seen[bit >> 3] >> (bit & 7) & 1)

    def _direct(self, file: int) -> list[int]:
        return [number for number in self._imports.scope(file).opened if self._is_header[number]]

    def _seen_from(self, file: int) -> int:
        seen = 1 << self._bit[file] if file in self._bit else 0
        for header in self._direct(file):
            seen |= self._sets.get(header) or self._close(header)
        return seen

    def _close(self, start: int) -> int:
        """Fill the sets of a header and of all that it includes: Tarjan's strong components, without recursion."""
        order: dict[int, int] = {start: 0}
        low = {start: 0}
        stack, open_headers = [start], {start}
        work = [(start, iter(self._direct(start)))]
        while work:
            header, rest = work[-1]
            for inner in rest:
                if inner in self._sets:
                    continue
                if inner not in order:
                    order[inner] = low[inner] = len(order)
                    stack.append(inner)
                    open_headers.add(inner)
                    work.append((inner, iter(self._direct(inner))))
                    break
                if inner in open_headers:
                    low[header] = min(low[header], order[inner])
            else:
                work.pop()
                if work:
                    above = work[-1][0]
                    low[above] = min(low[above], low[header])
                if low[header] == order[header]:
                    self._finish(header, stack, open_headers)
        return self._sets[start]

    def _finish(self, first: int, stack: list[int], open_headers: set[int]) -> None:
        """Give all headers of one component the same set."""
        members: list[int] = []
        while not members or members[-1] != first:
            members.append(stack.pop())
        seen = 0
        for header in members:
            seen |= 1 << self._bit[header]
            for inner in self._direct(header):
                seen |= self._sets.get(inner, 0)
        for header in members:
            self._sets[header] = seen
            open_headers.discard(header)
