"""Section E of the reported faults: calls and diffusion. Each test builds the input and states what is right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipelines.settings import override
from tests.cases.builders import Built, index, make_case
from tests.serving.builds import SETTINGS

Capture = pytest.CaptureFixture[str]
DIFFUSED = override(SETTINGS, "diffusion", enabled=True)


def callers(case: Built, name: str, least: float = 0.0) -> list[str]:
    return sorted(caller for caller, callee in case.edges(least) if callee == name)


def test_a_bare_name_makes_no_hub(tmp_path: Path) -> None:
    """51"""
    files = {
        "fixture.py": (
            "def get(k): return k\nclass Store:\n  def read(self,k): return self.store.get(k)\n"
            "def other(d): return d.get('x')\ndef real(): return get('real')\n"
        ),
        "cart.spec.ts": "describe('cart', () => {\n  it('adds', () => { r(1) })\n})\n",
        "app.ts": (
            "export class App {\n  describe(text: string) { return text }\n}\n"
            "export function r(x: number) { return x }\n"
        ),
        "Parse.cs": "class Reader { bool Read(string s) { return int.TryParse(s, out var n); } }\n",
        "parse.py": "def TryParse(s): return s\n",
    }
    case = index(make_case(tmp_path, files))
    assert callers(case, "get") == ["real"]
    assert callers(case, "App.describe") == []
    assert callers(case, "TryParse") == []
    languages = {row["qualified_name"]: case.files[row["path"]]["language"] for row in case.symbols}
    assert not [edge for edge in case.edges() if len({languages[name] for name in edge} & {"python", "csharp"}) == 2]


ENVELOPE = """\
package post;

public class Envelope {
    private String label;

    public void setLabel(String label) {
        this.label = label;
    }
}
"""
MAILBOX = """\
package post;

public class Mailbox {
    private Envelope envelope;

    public void reset() {
        envelope.setLabel("");
    }

    public void setLabel(String label) {
        envelope.setLabel(label);
    }
}
"""


def test_methods_of_one_name_are_told_apart_by_their_receivers(tmp_path: Path) -> None:
    """52"""
    case = index(make_case(tmp_path, {"post/Envelope.java": ENVELOPE, "post/Mailbox.java": MAILBOX}))
    assert callers(case, "Envelope.setLabel") == ["Mailbox.reset", "Mailbox.setLabel"]
    assert callers(case, "Mailbox.setLabel") == []


def test_a_call_of_itself_raises_no_score(tmp_path: Path) -> None:
    """52"""
    ranks = {}
    for name, body in (("plain", "return n"), ("looped", "return count(n - 1)")):
        case = index(
            make_case(tmp_path / name, {"a.py": f"def count(n):\n    {body}\n\n\ndef other(n):\n    return n\n"})
        )
        graph = case.store.open(case.plan.targets["graph_snapshot"].ref)
        ranks[name] = graph.table("metrics.parquet").to_pydict()
    assert ranks["looped"]["pagerank"] == pytest.approx(ranks["plain"]["pagerank"])
    assert ranks["looped"]["blast"] == ranks["plain"]["blast"]


def test_each_call_site_counts_once(tmp_path: Path) -> None:
    """53: an edge counts its call sites."""
    made = "def create_config():\n    return {}\n\n\n"
    for number, calls in (
        (1, "    create_config()\n"),
        (5, "    for _ in range(9):\n" + "        create_config()\n" * 5),
    ):
        case = index(make_case(tmp_path / str(number), {"main.py": f"{made}def main():\n{calls}"}))
        assert case.edges() == {("main", "create_config"): number}


SMALL = {
    "one document": {"README.md": "# Parcels\n\nHow they are sent.\n"},
    "one function": {"a.py": "def alone():\n    return 1\n"},
    "documents as seeds": {
        "README.md": "# Parcels\n",
        "a.py": "def b():\n    return 1\n\n\ndef a():\n    return b()\n",
    },
    "one edge": {"a.py": "def b():\n    return 1\n\n\ndef a():\n    return b()\n"},
    "a cycle": {"a.py": "def a():\n    return b()\n\n\ndef b():\n    return a()\n"},
    "nothing": {},
}


@pytest.mark.parametrize("files", SMALL.values(), ids=SMALL)
def test_small_and_odd_graphs_diffuse(tmp_path: Path, capsys: Capture, files: dict[str, str]) -> None:
    """54"""
    root = make_case(tmp_path, files)
    if not files:
        (root / "strata.toml").unlink()
        (root / ".git").rename(tmp_path / "no-git")
    case, again = index(root, DIFFUSED), index(root, DIFFUSED)
    assert again.plan.generation == case.plan.generation
    diffused = case.store.open(case.plan.targets["diffused_vectors"].ref).array("vectors.npy")
    refs = [bucket.targets["chunk_vectors"].ref for bucket in case.plan.buckets.values()]
    original = np.concatenate([case.store.open(ref).array("vectors.npy") for ref in refs])
    assert np.isfinite(diffused).all()
    chunks = case.chunks
    joined = {name for edge in case.edges() for name in edge if edge[0] != edge[1]}
    for row, chunk in enumerate(sorted(chunks, key=lambda item: item["chunk_id"])):
        if chunk["qualified_name"] not in joined:
            assert np.array_equal(diffused[row], original[row])
    for text in ("parcels", "a", "alone"):
        for mode in ("hybrid", "semantic"):
            for hit in case.ask(capsys, text, "--mode", mode)["hits"]:
                assert np.isfinite(hit["score"])
