from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.chunking import postings
from pipelines.chunking.postings import Postings, make_postings, weighted_terms
from pipelines.tokens import term_hash, terms
from tests.chunking.builders import Bucket, make_bucket
from tests.chunking.test_build import checksums, sample_bucket


def found(segment: Postings, term: str) -> dict[int, int]:
    """Look a term up as a reader does: rows and frequencies."""
    place = int(np.searchsorted(segment.terms, np.uint64(term_hash(term))))
    if place == len(segment.terms) or segment.terms[place] != term_hash(term):
        return {}
    span = slice(int(segment.offsets[place]), int(segment.offsets[place + 1]))
    return dict(zip(segment.rows[span].tolist(), segment.frequencies[span].tolist(), strict=True))


def stored(bucket: Bucket) -> Postings:
    artifact = bucket.artifact("lexical_segments")
    return Postings(*(artifact.array(f"{name}.npy") for name in Postings._fields))


DOCUMENTS = st.lists(st.dictionaries(st.text("abc", min_size=1, max_size=3), st.integers(1, 5)), max_size=12)


@given(DOCUMENTS)
def test_arrays_hold_what_the_documents_held(documents: list[dict[str, int]]) -> None:
    segment = make_postings(documents)
    vocabulary = {term for document in documents for term in document}
    assert len(segment.terms) == len(vocabulary)
    assert segment.lengths.tolist() == [sum(document.values()) for document in documents]
    for term in vocabulary:
        assert found(segment, term) == {row: item[term] for row, item in enumerate(documents) if term in item}


@given(DOCUMENTS)
def test_terms_ascend_and_rows_ascend_inside_a_term(documents: list[dict[str, int]]) -> None:
    segment = make_postings(documents)
    assert [item.dtype for item in segment] == [np.uint64, np.int64, np.uint32, np.uint16, np.uint32]
    assert np.all(segment.terms[1:] > segment.terms[:-1])
    assert segment.offsets[0] == 0
    assert segment.offsets[-1] == len(segment.rows) == len(segment.frequencies)
    assert np.all(np.diff(segment.offsets) > 0)
    for start, end in zip(segment.offsets, segment.offsets[1:], strict=False):
        assert np.all(np.diff(segment.rows[start:end].astype(np.int64)) > 0)


def test_frequencies_saturate_and_lengths_do_not() -> None:
    segment = make_postings([{"a": 70_000}, {"a": 1}])
    assert found(segment, "a") == {0: 65_535, 1: 1}
    assert segment.lengths.tolist() == [70_000, 1]


def test_terms_of_equal_hash_are_one_posting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postings, "term_hash", lambda term: {"b": 7, "c": 7}.get(term, 1))
    segment = make_postings([{"a": 1, "b": 2, "c": 3}, {"c": 4}])
    assert segment.terms.tolist() == [1, 7]
    assert segment.rows.tolist() == [0, 0, 1]
    assert segment.frequencies.tolist() == [1, 5, 4]


def test_fields_count_with_their_weights() -> None:
    row = {
        "text": "def add(self): pass",
        "name": "add",
        "qualified_name": "Cart.add",
        "path": "shop/orders/cart_lines.py",
    }
    counts = weighted_terms(row)
    assert counts["add"] == 1 + 3 + 1
    assert counts["cart.add"] == 1
    assert counts["cart"] == 1 + 2  # the class, the path, the stem
    assert counts["cart_lines"] == 2
    assert counts["orders"] == 1
    assert counts["self"] == 1


@pytest.mark.parametrize(
    ("path", "term"), [("Makefile", "makefile"), ("a/.gitignore", "gitignore"), ("x.tar.gz", "x.tar")]
)
def test_stem_of_any_name_is_indexed(path: str, term: str) -> None:
    assert weighted_terms({"text": "", "name": "", "qualified_name": "", "path": path})[term] == 2 - (term == "x.tar")


def test_each_word_of_each_row_of_the_sample_is_found(tmp_path: Path) -> None:
    bucket = sample_bucket(tmp_path)
    bucket.build()
    report = bucket.build_segment()
    rows, segment = bucket.chunks(), stored(bucket)
    assert report.rows == len(rows) == len(segment.lengths)
    expected: dict[str, set[int]] = {}
    for number, row in enumerate(rows):
        for term in set(terms(row["text"])):
            expected.setdefault(term, set()).add(number)
    for term, holders in expected.items():
        assert holders <= found(segment, term).keys()
    facts = bucket.artifact("lexical_segments").facts
    assert facts["documents"] == len(rows)
    assert facts["total_length"] == int(segment.lengths.sum())
    assert facts["fields"] == postings.FIELD_WEIGHTS


def test_segment_depends_on_the_rows_alone(tmp_path: Path) -> None:
    first, second = sample_bucket(tmp_path / "a"), sample_bucket(tmp_path / "b")
    removed = second.contents.pop("orders/cart.py")
    second.build()
    second.contents["orders/cart.py"] = removed
    for bucket in (first, second):
        bucket.build()
        bucket.build_segment()
    assert checksums(first) == checksums(second)
    manifests = [bucket.artifact("lexical_segments").manifest for bucket in (first, second)]
    assert manifests[0] == manifests[1]


def test_words_at_head_middle_and_tail_of_a_long_function_are_found(tmp_path: Path) -> None:
    filler = "".join(f"    # 中文字 {number} 说明\n" for number in range(600))
    text = f"def big():\n    HEADWORD\n{filler}    MIDWORD\n{filler}    return TAILWORD\n"
    bucket = make_bucket(tmp_path, big__py=text)
    bucket.build()
    bucket.build_segment()
    segment, rows = stored(bucket), bucket.chunks()
    for word in ("HEADWORD", "MIDWORD", "TAILWORD"):
        (row,) = found(segment, word.casefold())
        assert word in rows[row]["text"]


def test_defining_row_has_the_highest_frequency_of_its_name(tmp_path: Path) -> None:
    uses = "\n".join(f"    helper_{number}(widgetX)" for number in range(40))
    bucket = make_bucket(tmp_path, big__py=f"def widgetX():\n    return 1\n\n\ndef other():\n{uses}\n")
    for number in range(12):
        bucket.contents[f"small_{number}.py"] = b"def call():\n    return widgetX\n"
    bucket.build()
    bucket.build_segment()
    segment, rows = stored(bucket), bucket.chunks()
    weights = found(segment, "widgetx")
    density = Counter({row: count / int(segment.lengths[row]) for row, count in weights.items()})
    assert len(weights) == 14
    assert rows[density.most_common(1)[0][0]]["name"] == "widgetX"


def test_empty_bucket_makes_an_empty_segment(tmp_path: Path) -> None:
    bucket = make_bucket(tmp_path)
    bucket.build()
    assert bucket.build_segment().rows == 0
    segment = stored(bucket)
    assert [len(item) for item in segment] == [0, 1, 0, 0, 0]
    assert found(segment, "a") == {}
