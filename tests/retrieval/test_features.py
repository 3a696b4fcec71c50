from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipelines.retrieval.analysis import analyse
from pipelines.retrieval.features import _overlaps
from pipelines.retrieval.paths import word_set

_NAME = st.text(st.sampled_from("aBcD12_.\nÜﬁİ數"), max_size=8)


@given(st.lists(_NAME, max_size=12), _NAME.filter(str.strip))
def test_the_name_feature_is_the_harmonic_mean_of_both_shares_of_words(names: list[str], query: str) -> None:
    analysis = analyse(query)
    expected = []
    for name in names:
        held = word_set(name)
        both = len(held) + len(analysis.keywords)
        expected.append(2 * len(held & analysis.forms) / both if held else 0.0)
    assert _overlaps(analysis, names).tolist() == expected


def test_a_name_that_says_what_the_query_says_has_all_of_it() -> None:
    found = _overlaps(analyse("parse the header"), ["parseHeader", "parse_body", "send"])
    assert found.tolist() == [1.0, 0.5, 0.0]
    assert found.dtype == np.float64
