"""All calls of a repository at once. In: distinct calls as columns of numbers. Out: an outcome for each.

What a file says of its own names, and what C links by name, is looked up for all calls together. The rest goes to the
resolver, once for each different question: the same call in two functions of a file is asked once if neither's
surroundings matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pipelines.discover.graph.binding.definitions import Definitions
from pipelines.discover.graph.binding.imports import Imports
from pipelines.discover.graph.binding.linking import Linking
from pipelines.discover.graph.binding.resolver import Binding, Outcome, Resolver
from pipelines.discover.graph.binding.words import NULL, Ints, joined, unique_rows
from pipelines.records import CallStrategy, UnresolvedCall


@dataclass(frozen=True, slots=True)
class Calls:
    """Distinct calls, as columns of equal length."""

    file: npt.NDArray[np.int32]
    caller: npt.NDArray[np.int32]  # node of the function around the call
    name: npt.NDArray[np.int32]  # code
    receiver: npt.NDArray[np.int32]  # code, NULL for a plain call

    def __len__(self) -> int:
        return len(self.file)

    def rows(self, which: npt.NDArray[Any]) -> Calls:
        """Return some of the calls."""
        return Calls(self.file[which], self.caller[which], self.name[which], self.receiver[which])


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What became of calls: for each its place in `kinds`, the distinct outcomes."""

    kinds: list[Outcome]
    place: Ints


class _Answers:
    """Distinct outcomes by number, and the number of each call's."""

    def __init__(self, calls: int) -> None:
        self.place: Ints = np.full(calls, -1, np.int64)
        self.kinds: list[Outcome] = []
        self._known: dict[object, int] = {}

    def number(self, outcome: Outcome) -> int:
        key = (outcome.strategy.value, outcome.nodes) if isinstance(outcome, Binding) else outcome.value
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = len(self.kinds)
            self.kinds.append(outcome)
        return known


class CallBinder:
    """Binds the calls of a repository."""

    def __init__(self, definitions: Definitions, imports: Imports, resolver: Resolver) -> None:
        self._definitions = definitions
        self._resolver = resolver
        self._linking = Linking(definitions, imports, resolver)
        self._linked = definitions.files.flag("linked")
        self._implicit_self = definitions.files.flag("implicit_self")

    def bind(self, calls: Calls) -> Outcomes:
        """Return what each call means."""
        answers = _Answers(len(calls))
        plain = np.flatnonzero(calls.receiver == NULL)
        rest = self._in_scope(calls, plain, answers)
        linked = self._linked[calls.file[rest]]
        self._link(calls, rest[linked], answers)
        self._ask(calls, rest[~linked], answers)
        received = np.flatnonzero(calls.receiver != NULL)
        self._ask_received(calls, self._known_members(calls, received, answers), answers)
        return Outcomes(answers.kinds, answers.place)

    def _in_scope(self, calls: Calls, pending: Ints, answers: _Answers) -> Ints:
        """Bind what is defined around the call or at the top of its file; return the calls that are left."""
        definitions = self._definitions
        scope = definitions.qualified[calls.caller[pending]].astype(np.int64)
        left = []
        while len(pending):
            inner = scope > 0
            children = definitions.children.find(joined(scope, calls.name[pending]))
            qualified = np.where(inner, definitions.children.first(children), calls.name[pending])
            group = np.full(len(pending), -1, np.int64)
            there = qualified >= 0
            group[there] = definitions.here.find(joined(calls.file[pending[there]], qualified[there]))
            group[self._is_hidden(group, calls.file[pending]) & inner] = -1
            found = group >= 0
            bound = np.zeros(len(pending), bool)
            for strategy, mask in (
                (CallStrategy.ENCLOSING_SCOPE, found & inner),
                (CallStrategy.SAME_FILE, found & ~inner),
            ):
                bound[mask] = self._bind_groups(strategy, group[mask], pending[mask], answers)
            left.append(pending[~bound & ~inner])
            going = ~bound & inner
            pending = pending[going]
            scope = definitions.parent[scope[going]].astype(np.int64)
        return np.sort(np.concatenate(left)) if left else pending

    def _is_hidden(self, group: Ints, file: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        """Tell which groups are members that a plain call cannot mean."""
        first = self._definitions.here.first(group)
        return (group >= 0) & self._definitions.is_member[first] & ~self._implicit_self[file]

    def _bind_groups(
        self, strategy: CallStrategy, groups: Ints, calls: Ints, answers: _Answers
    ) -> npt.NDArray[np.bool_]:
        """Bind calls to groups of definitions; return which of them could be bound."""
        distinct, which = np.unique(groups, return_inverse=True)
        numbers = np.full(len(distinct), -1, np.int64)
        for place, group in enumerate(distinct.tolist()):
            outcome = self._resolver.bound(strategy, self._definitions.here.group(group))
            if outcome is not None:
                numbers[place] = answers.number(outcome)
        found = numbers[which]
        answers.place[calls[found >= 0]] = found[found >= 0]
        return found >= 0

    def _link(self, calls: Calls, pending: Ints, answers: _Answers) -> None:
        """Bind plain calls of C, which any function of the repository may answer that is not static."""
        (file, name), which = unique_rows(calls.file[pending], calls.name[pending])
        members = self._has_class(calls, pending)
        inherited = self._answer(calls, pending[members], answers, lambda call: self._resolver.inherited(*call))
        numbers = self._linking.find(file, name, answers.number)
        open_calls = np.ones(len(pending), bool)
        open_calls[np.flatnonzero(members)[inherited]] = False
        answers.place[pending[open_calls]] = numbers[which[open_calls]]

    def _has_class(self, calls: Calls, pending: Ints) -> npt.NDArray[np.bool_]:
        return self._definitions.container[calls.caller[pending]] > 0

    def _answer(
        self, calls: Calls, pending: Ints, answers: _Answers, ask: Callable[[tuple[int, int, str]], Outcome | None]
    ) -> npt.NDArray[np.bool_]:
        """Ask for each distinct call; return which calls have an answer."""
        (file, caller, name), which = unique_rows(calls.file[pending], calls.caller[pending], calls.name[pending])
        texts = self._definitions.words.texts
        numbers = np.full(len(file), -1, np.int64)
        for place, (number, node, code) in enumerate(zip(file.tolist(), caller.tolist(), name.tolist(), strict=True)):
            outcome = ask((number, node, texts[code]))
            if outcome is not None:
                numbers[place] = answers.number(outcome)
        found = numbers[which]
        answers.place[pending[found >= 0]] = found[found >= 0]
        return found >= 0

    def _ask(self, calls: Calls, pending: Ints, answers: _Answers) -> None:
        self._answer(calls, pending, answers, lambda call: self._resolver.plain(*call))

    def _known_members(self, calls: Calls, pending: Ints, answers: _Answers) -> Ints:
        """Settle calls of C whose name no method has: function pointers. Return the calls that are left."""
        definitions = self._definitions
        family = definitions.files.family[calls.file[pending]]
        linked = self._linked[calls.file[pending]]
        member = definitions.members.find(joined(family, calls.name[pending])) >= 0
        free = definitions.free.find(joined(family, calls.name[pending])) >= 0
        hopeless = linked & ~member & ~free
        answers.place[pending[hopeless]] = answers.number(UnresolvedCall.UNKNOWN_NAME)
        return pending[~hopeless]

    def _ask_received(self, calls: Calls, pending: Ints, answers: _Answers) -> None:
        columns, which = unique_rows(
            calls.file[pending], calls.caller[pending], calls.name[pending], calls.receiver[pending]
        )
        texts = self._definitions.words.texts
        received, number = self._resolver.received, answers.number
        numbers = np.fromiter(
            (
                number(received(file, caller, texts[name], texts[receiver]))
                for file, caller, name, receiver in zip(*(column.tolist() for column in columns), strict=True)
            ),
            np.int64,
            len(columns[0]),
        )
        answers.place[pending] = numbers[which]


__all__ = ["Binding", "CallBinder", "Calls", "Outcomes"]
