"""Codes of strings, and groups of rows by key."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from pipelines.discover.graph.binding.words import Groups, Words, joined, unique_rows

pairs = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=40)


def test_codes_are_the_same_in_every_column_and_null_has_its_own() -> None:
    words = Words()
    first = words.codes(pa.chunked_array([["a", "b"], ["a", None]], pa.string()))
    second = words.codes(pa.chunked_array([["b", "c"]], pa.string()))
    assert first.tolist() == [1, 2, 1, -1]
    assert second.tolist() == [2, 3]
    assert words.texts == ["", "a", "b", "c"]
    assert (words.known("c"), words.known("d"), words.code("a")) == (3, -1, 1)
    assert words.codes(pa.chunked_array([], pa.string())).tolist() == []


@given(pairs)
def test_groups_find_the_rows_of_a_key_in_their_order(rows: list[tuple[int, int]]) -> None:
    high, low = (np.array([row[side] for row in rows], np.int64) for side in (0, 1))
    groups = Groups(joined(high, low), np.arange(len(rows)))
    for key in [(a, b) for a in range(6) for b in range(6)]:
        expected = [place for place, row in enumerate(rows) if row == key]
        found = groups.find(joined(key[0], np.array([key[1]])))
        assert groups.get(*key) == expected
        assert groups.sizes(found).tolist() == [len(expected)]
        assert groups.first(found).tolist() == [expected[0] if expected else -1]
    assert groups.get(-1, 0) == groups.get(0, -1) == []


@given(pairs)
def test_unique_rows_are_named_by_their_places(rows: list[tuple[int, int]]) -> None:
    columns, places = unique_rows(*(np.array([row[side] for row in rows], np.int64) for side in (0, 1)))
    distinct = list(zip(*(column.tolist() for column in columns), strict=True))
    assert distinct == sorted(set(rows))
    assert [distinct[place] for place in places.tolist()] == rows
