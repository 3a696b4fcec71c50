"""What each feature of a candidate counts for: a score is the sum of features times weights.

The weights are those under which the right files are likeliest to stand first, by a softmax over the files of each
question, on the development half of a public benchmark (578 questions, 29 repositories, 18 languages). They are fitted
by `python -m tests.bench.weights`, whose result file has the figures of folds by repository. Signs are given, so that
no accident of the questions rewards a test; and what tells the rows of one file apart, which judgments of files cannot
see, has a least weight.
"""

from __future__ import annotations

from collections.abc import Mapping

#: Features that may only lower a score; all others may only raise it.
LOWERING = frozenset({"test", "aside", "data", "section", "window", "part", "depth"})
#: Least weights. They keep the order of the rows inside a file that of their own words and names, and bring what holds
#: all that a short query spells, or a message that was pasted, before what does not, even if it is in a test.
LEAST: Mapping[str, float] = {"lexical": 0.5, "words": 1.0, "named": 3.5, "name": 0.5, "exact": 10.0, "phrase": 12.0}
WEIGHTS: Mapping[str, float] = {
    "lexical": 0.5,
    "semantic": 1.73,
    "words": 1.0,
    "meaning": 2.17,
    "named": 3.5,
    "name": 0.5,
    "exact": 10.0,
    "phrase": 12.0,
    "file_words": 1.27,
    "file_meaning": 1.1,
    "file_rows": 1.64,
    "file_name": 2.4,
    "folder_name": 1.57,
    "same_name": 2.92,
    "length": 4.48,
    "centrality": 0.33,
    "test": -3.19,
    "aside": -3.14,
    "data": -2.73,
    "section": -4.29,
    "window": -2.52,
    "part": -0.44,
    "depth": -2.82,
}
#: The two branches alone, with no priors: what remains of a plain fusion of ranks.
BRANCHES_ALONE: Mapping[str, float] = {"lexical": 1.0, "semantic": 1.0}
#: Features that come from vectors. Encoders that add up words see little that the words do not say: these count half.
FROM_VECTORS = frozenset({"semantic", "meaning", "file_meaning"})
WORD_ENCODER_SHARE = 0.5
#: What each further row of one file loses: once a row of it is shown, another file says more than the next row. On the
#: benchmark, where files are judged, 1 loses .02 NDCG@10 against 6; on the bundled judgments, where functions are, it
#: gains .02.
REPEAT_STEP = 6.0
#: A step in the order of the definitions that the query names: above any sum of all features, so that they stand first
#: whatever else is known.
DEFINITION_STEP = 50.0
