"""Faults of searching that users of other indexers reported, as what must hold here: on the real command line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from assets_defs.host import StrataHost
from pipelines.fingerprint import fingerprint
from pipelines.retrieval import Query, Searcher, open_generation
from pipelines.serving.cli import main
from pipelines.store import ArtifactStore
from resources.environment import Environment, variables_for_child
from resources.registry import Entry, Registry
from tests.assets_defs.builders import CODE, CONFIG, make_repository, strata
from tests.cases.builders import make_git_repository
from tests.serving.builds import SETTINGS, build, document_of, publish

FILES = {
    "strata.toml": CONFIG.replace('name = "hash"', 'name = "hash"\ndimensions = 64'),
    "odd.md": "# Odd words\n\nmulti-agent v1.2 don't std::map $x->y C++ col:x\n",
    "retry.py": "def with_retry(call):\n    return call()\n",
    "blob.dat": "\0\0\0",
    "\u4ed3\u5e93.py": "def caf\u00e9(): return '\u4ed3\u5e93'\n",
}


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published repository with its store inside, built without Dagster: a query never sees it."""
    root = make_git_repository(tmp_path_factory.mktemp("search") / "parcels", FILES)
    store = ArtifactStore(root / ".strata")
    publish(store, build(root, store, SETTINGS, "parcels"))
    Registry(store.root).update(lambda content: content.with_entry("parcels", Entry(root)))
    return root


@pytest.fixture
def damaged(indexed: Path, tmp_path: Path) -> Path:
    """A copy of which one bucket's words cannot be read."""
    root = Path(shutil.copytree(indexed, tmp_path / "parcels"))
    store = ArtifactStore(root / ".strata")
    segments = [ref for ref in store.heads("parcels") if ref.asset == "lexical_segments"]
    ref = next(ref for ref in segments if store.open(ref).counts["rows"])
    (store.folder(ref) / "terms.npy").unlink()
    return root


def run(root: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    given = {"PYTHONPATH": str(CODE), "STRATA_HOME": None, "STRATA_CONFIG": None, **variables}
    return subprocess.run(
        [sys.executable, "-m", "assets_defs.command", *arguments],
        cwd=root,
        env=variables_for_child(given),
        capture_output=True,
        check=False,
    )


ODD = [
    *("multi-agent", "v1.2", "don't", "std::map", "NOT", "a AND", "*", '"unclosed', "col:x", "(", "^foo", "C++"),
    *("$x->y", "\\\\", "\U0001f642", "x" * 10_000, "x " * 5_000, "a\0b", "\ud800", "--error-on-warnings"),
]


@pytest.mark.parametrize("text", ODD, ids=[ascii(text[:20]) for text in ODD])
def test_any_text_is_answered_with_one_document(indexed: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """72"""
    host = StrataHost(Environment(indexed))
    assert main(["query", "--json", "--mode", "lexical", "--", text], host) in (0, 1)
    assert json.loads(capsys.readouterr().out)["schema_version"] == 1


@pytest.mark.parametrize("text", ["multi-agent", "v1.2", "don't", "std::map", "$x->y", "C++", "col:x"])
def test_punctuation_is_literal(indexed: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """72"""
    assert main(["query", "--json", "--", text], StrataHost(Environment(indexed))) == 0
    assert json.loads(capsys.readouterr().out)["hits"][0]["path"] == "odd.md"


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_an_empty_text_is_told_as_an_error(indexed: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """72"""
    assert main(["query", "--json", "--", text], StrataHost(Environment(indexed))) == 2
    assert json.loads(capsys.readouterr().out)["error"] == "InputError"


def test_in_a_plain_locale_the_document_is_the_same(indexed: Path) -> None:
    """77"""
    documents = []
    for locale in ("C", "C.UTF-8"):
        done = run(indexed, "query", "--json", "caf\u00e9", LC_ALL=locale)
        assert done.returncode == 0, done.stderr
        documents.append(json.loads(done.stdout)["hits"])
    assert documents[0] == documents[1]
    assert documents[0][0]["path"] == "\u4ed3\u5e93.py"


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
def test_with_warnings_active_the_document_is_all_that_stands_on_stdout(indexed: Path, mode: str) -> None:
    """77"""
    done = run(indexed, "query", "--json", "--mode", mode, "retry", PYTHONWARNINGS="always", PYTHONDEVMODE="1")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["hits"][0]["path"] == "retry.py"


def test_without_an_index_the_document_is_the_error(tmp_path: Path) -> None:
    """77"""
    done = run(tmp_path, "query", "--json", "anything")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"] == "NothingIndexed"
    assert b"Traceback" not in done.stderr


def test_a_reader_that_leaves_is_quiet(indexed: Path) -> None:
    """77"""
    command = f'"{sys.executable}" -m assets_defs.command query --json retry | head -c 1'
    done = subprocess.run(
        command, shell=True, cwd=indexed, capture_output=True, env=os.environ | {"PYTHONPATH": str(CODE)}, check=True
    )
    assert (done.stdout, done.stderr) == (b"{", b"")


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
def test_an_index_that_cannot_be_read_is_an_error_never_no_hits(
    damaged: Path, mode: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """77, 78"""
    assert main(["query", "--json", "--mode", mode, "retry"], StrataHost(Environment(damaged))) == 2
    assert json.loads(capsys.readouterr().out)["error"] == "ArtifactCorrupt"


@pytest.mark.parametrize("text", ["binary", "unsupported", "blob.dat", "skip_reason"])
def test_what_was_skipped_and_why_is_not_searched(indexed: Path, text: str) -> None:
    """78"""
    store = ArtifactStore(indexed / ".strata")
    pointer = store.pointer("parcels")
    assert pointer is not None
    with open_generation(store, "parcels", pointer.generation) as generation:
        assert Searcher([generation], None).search(Query(text, mode="lexical")).hits == ()  # type: ignore[arg-type]


def test_what_answers_while_a_build_runs_is_one_whole_version(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """78"""
    root = make_repository(tmp_path / "parcels")
    builder = strata(root, "index", ".")
    _, errors = builder.communicate()
    assert builder.returncode == 0, errors
    host = StrataHost(Environment(root))

    def answer() -> tuple[str, list[str]]:
        assert main(["query", "--json", "--", "apply_discount"], host) == 0
        document = json.loads(capsys.readouterr().out)
        return document["generation"], [f"{hit['path']}:{hit['chunk_id']}" for hit in document["hits"]]

    before = answer()
    for number in range(8):
        (root / f"more_{number}.py").write_text(f"def apply_discount_{number}(net):\n    return apply_discount(net)\n")
    builder = strata(root, "index", ".")
    seen = [answer()]
    while builder.poll() is None:
        seen.append(answer())
    _, errors = builder.communicate()
    assert builder.returncode == 0, errors
    after = answer()
    assert before in seen
    assert before[0] != after[0]
    assert len(after[1]) > len(before[1])
    assert {version: hits for version, hits in seen if version == before[0]} == dict([before])
    assert [item for item in seen if item not in (before, after)] == []


@pytest.mark.parametrize("limit", ["0", "-1", "201", "10000"])
def test_a_limit_out_of_range_is_an_error_that_names_it(
    indexed: Path, limit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["query", "--json", f"--limit={limit}", "retry"], StrataHost(Environment(indexed))) == 2
    told = json.loads(capsys.readouterr().out)
    assert told["detail"] == f"limit = {limit} is out of range"
    assert told["hint"] == "allowed: 1 to 200"


class Odd:
    """An encoder that gives zeros, no number or infinity for some texts, as a broken model does."""

    name = "hash"
    dimensions = 64
    digest = fingerprint("odd")

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        vectors = np.full((len(texts), self.dimensions), 1 / 8, np.float32)
        for row, text in enumerate(texts):
            for word, value in (("zilch", 0.0), ("nonsense", np.nan), ("endless", np.inf)):
                if word in text:
                    vectors[row] = value
        return vectors

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        vector: npt.NDArray[np.float32] = self.encode([text])[0]
        return vector


def test_a_chunk_without_a_usable_vector_is_counted_and_found_by_its_words_alone(tmp_path: Path) -> None:
    """69"""
    names = ("zilch", "nonsense", "endless")
    root = make_git_repository(
        tmp_path / "code", {f"{name}.py": f"def {name}():\n    return 1\n" for name in (*names, "ordinary")}
    )
    store = ArtifactStore(tmp_path / "store")
    encoder = Odd()
    plan = build(root, store, encoder=encoder)
    publish(store, plan)
    refs = [bucket.targets["chunk_vectors"].ref for bucket in plan.buckets.values()]
    skipped = [store.open(ref).counts["skipped"] for ref in refs]
    assert sum(item.get("zero_vector", 0) for item in skipped) == 1
    assert sum(item.get("not_finite", 0) for item in skipped) == 2
    with open_generation(store, "sample", document_of(plan).generation) as generation:
        searcher = Searcher([generation], encoder)
        semantic = searcher.search(Query("ordinary", mode="semantic"))  # type: ignore[arg-type]
        assert [hit.path for hit in semantic.hits] == ["ordinary.py"]
        for name in names:
            hits = searcher.search(Query(name, mode="lexical")).hits  # type: ignore[arg-type]
            assert hits[0].path == f"{name}.py"
