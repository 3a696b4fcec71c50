from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipelines.bloom import SpanBits, bloom_of_bits, make_bloom, rows_that_may_hold, text_bits
from pipelines.formats import BLOOM_BYTES
from pipelines.tokens import words

TEXTS = ["def parseHTTP2Response(self): return self.x", "größe = 日本語 + _private__", "", "x" * 100 + " ﬁne"]


def may_hold(bloom: bytes, items: Iterable[str]) -> bool:
    (held,) = rows_that_may_hold(np.frombuffer(bloom, np.uint8).reshape(1, -1), items)
    return bool(held)


@given(st.text(max_size=200))
def test_sketch_of_a_text_is_that_of_its_words(text: str) -> None:
    assert bloom_of_bits(text_bits(text)) == make_bloom(words(text))


@given(
    st.text(alphabet="aB1_ .é\u0301\n", max_size=60),
    st.lists(st.tuples(st.integers(0, 70), st.integers(0, 70)), max_size=8),
)
def test_bits_of_spans_are_those_of_their_texts(text: str, places: list[tuple[int, int]]) -> None:
    """Spans that lie inside each other, that cross, and that cut a word or a character."""
    data = text.encode()
    cut = [(min(one, len(data)), min(two, len(data))) for one, two in places]
    spans = sorted({(min(span), max(span)) for span in cut}, key=lambda span: (span[0], -span[1]))
    bits = SpanBits(data)
    expected = [text_bits(data[start:end].decode("utf-8", "ignore")) for start, end in spans]
    assert bits.of_all(spans) == expected
    assert [bits.of(start, end) for start, end in spans] == expected


@given(st.lists(st.text(alphabet="abcdefgh", min_size=1, max_size=6), max_size=40))
def test_no_word_is_ever_denied(items: list[str]) -> None:
    bloom = make_bloom(items)
    assert len(bloom) == BLOOM_BYTES
    assert may_hold(bloom, items)
    assert all(may_hold(bloom, [item]) for item in items)


def test_words_are_those_of_every_other_side() -> None:
    bloom = bloom_of_bits(text_bits("parseHTTP2Response"))
    assert may_hold(bloom, ["parse", "http", "2", "response"])


def test_positions_of_a_word_are_independent() -> None:
    """Probes that coincide would square to nothing; of 1,000 words about four set one bit alone."""
    bits = [int.from_bytes(make_bloom([f"word{number}"]), "little").bit_count() for number in range(1_000)]
    assert set(bits) == {1, 2}
    assert bits.count(1) < 20


def test_false_positives_stay_near_their_estimate() -> None:
    items = [f"word{number}" for number in range(40)]
    bloom = make_bloom(items)
    estimate = (int.from_bytes(bloom, "little").bit_count() / 256) ** 2
    share = sum(may_hold(bloom, [f"absent{number}"]) for number in range(4_000)) / 4_000
    assert abs(share - estimate) < 0.03


def test_many_rows_are_compared_at_once() -> None:
    blooms = np.frombuffer(b"".join(bloom_of_bits(text_bits(text)) for text in TEXTS), np.uint8).reshape(
        len(TEXTS), BLOOM_BYTES
    )
    assert rows_that_may_hold(blooms, ["self", "parse"]).tolist() == [True, False, False, False]
    assert rows_that_may_hold(blooms, []).tolist() == [True] * 4
    assert rows_that_may_hold(blooms[:0], ["self"]).tolist() == []
