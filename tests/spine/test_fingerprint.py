from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from pipelines.fingerprint import NOT_AN_INPUT, digest_bytes, fingerprint


@dataclass(frozen=True)
class Setting:
    size: int
    workers: int = field(default=1, metadata=NOT_AN_INPUT)


def test_a_field_counts_unless_it_is_marked() -> None:
    assert fingerprint(Setting(1)) != fingerprint(Setting(2))
    assert fingerprint(Setting(1, workers=1)) == fingerprint(Setting(1, workers=8))


def test_mappings_have_no_order_and_sequences_have() -> None:
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    assert fingerprint([1, 2]) != fingerprint([2, 1])
    assert fingerprint((1, 2)) == fingerprint([1, 2])


@pytest.mark.parametrize(("left", "right"), [(1, "1"), (None, ""), (True, 1), (["ab"], ["a", "b"]), ("", [])])
def test_values_of_other_kinds_differ(left: Any, right: Any) -> None:
    assert fingerprint(left) != fingerprint(right)


def test_a_value_without_a_canonical_form_is_refused() -> None:
    with pytest.raises(TypeError, match="set has no fingerprint"):
        fingerprint({"a": {1, 2}})
    with pytest.raises(ValueError, match="JSON compliant"):
        fingerprint(float("nan"))


def test_bytes_are_length_prefixed() -> None:
    assert digest_bytes(b"ab", b"c") != digest_bytes(b"a", b"bc")


def test_the_value_is_the_same_on_every_machine() -> None:
    assert fingerprint({"name": "strata", "sizes": [1, 2.5, None]}) == "3403e440b47f7eff0546d28daa279db3"
