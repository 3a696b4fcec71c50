"""`strata eval --benchmark` on the real command line, with two small repositories and questions about them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from assets_defs.host import StrataHost
from pipelines.serving.cli import main
from resources.environment import Environment
from tests.assets_defs.builders import CONFIG, FILES, git, make_repository, strata

PARCELS = {
    "src/pricing.py": FILES["pricing.py"],
    "src/stock.py": "def reserve(item):\n    return item.price\n",
    "strata.toml": CONFIG,
}
LETTERS = {
    "stamps.go": "package stamps\n\n// Postage of a letter.\nfunc Postage(grams int) int {\n\treturn grams\n}\n",
    "strata.toml": CONFIG,
}
QUESTIONS: dict[str, list[dict[str, Any]]] = {
    "parcels": [
        {
            "query": "apply_discount",
            "category": "symbol",
            "relevant": [{"path": "src/pricing.py", "start_line": 1, "end_line": 3}],
            "secondary": [],
        },
        {"query": "price for bulk senders", "category": "semantic", "relevant": ["src/pricing.py"], "secondary": []},
    ],
    "letters": [{"query": "Postage", "category": "symbol", "relevant": ["stamps.go"], "secondary": []}],
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A benchmark of two repositories, which it holds as checkouts too; tests that ask it alone share its index."""
    root = tmp_path_factory.mktemp("made")
    entries = []
    for name, files, language, folder in (
        ("parcels", PARCELS, "python", "src"),
        ("letters", LETTERS, "go", None),
    ):
        checkout = make_repository(root / "checkouts" / name, files)
        shutil.copy(checkout / "strata.toml", root / "strata.toml")
        revision = subprocess.run(
            ["git", "-C", str(checkout), "rev-parse", "HEAD"], capture_output=True, text=True, check=True
        ).stdout.strip()
        entries.append({"name": name, "language": language, "benchmark_root": folder, "revision": revision})
    (root / "annotations").mkdir()
    (root / "repos.json").write_text(json.dumps(entries))
    for name, questions in QUESTIONS.items():
        (root / "annotations" / f"{name}.json").write_text(json.dumps(questions))
    return root


@pytest.fixture
def benchmark(made: Path, tmp_path: Path) -> Path:
    """A copy of the benchmark, not indexed, of one repository."""
    copy = Path(shutil.copytree(made, tmp_path / "bench", ignore=shutil.ignore_patterns("home", ".strata", "parcels*")))
    entries = json.loads((copy / "repos.json").read_text())
    (copy / "repos.json").write_text(json.dumps([entry for entry in entries if entry["name"] == "letters"]))
    return copy


def ask(root: Path, *arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any], str]:
    """Run `strata eval --benchmark . --checkouts checkouts --json` and return exit code, document and stderr."""
    host = StrataHost(Environment(root, home=root / "home"))
    given = ["eval", "--benchmark", ".", "--checkouts", "checkouts", "--json", *arguments]
    code = main(given, host)
    shown = capsys.readouterr()
    return code, json.loads(shown.out), shown.err


def rows(document: dict[str, Any]) -> dict[tuple[str, str, str], dict[str, Any]]:
    return {(row["by"], row["group"], row["way"]): row for row in document["figures"]}


def test_the_command_answers_by_language_category_and_repository(
    made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, document, _ = ask(made, "--output", str(made / "figures.json"), capsys=capsys)
    assert code == 0
    found = rows(document)
    assert found["all", "", "hybrid"] == {
        **{"by": "all", "group": "", "way": "hybrid", "questions": 3, "ndcg_at_10": 1.0},
    }
    assert {key: row["questions"] for key, row in found.items() if key[0] != "all"} == {
        ("language", "python", "hybrid"): 2,
        ("language", "go", "hybrid"): 1,
        ("category", "symbol", "hybrid"): 2,
        ("category", "semantic", "hybrid"): 1,
        ("repository", "parcels", "hybrid"): 2,
        ("repository", "letters", "hybrid"): 1,
    }
    assert document["notes"] == []
    written = json.loads((made / "figures.json").read_text())
    assert written.pop("method") == "strata eval --benchmark"
    assert {name: written[name] for name in document} == document
    assert written.keys() - document.keys() == {"version", "date"}


def test_a_process_of_its_own_answers_the_same(benchmark: Path) -> None:
    process = strata(benchmark, "eval", "--benchmark", ".", "--checkouts", "checkouts", "--output", "figures.json")
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    assert [line.split() for line in output.splitlines()[1:]] == [
        [group, "1", "1.000"] for group in ("go", "symbol", "all")
    ]
    assert json.loads((benchmark / "figures.json").read_text())["figures"][0]["ndcg_at_10"] == 1.0


def test_ways_are_told_side_by_side(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, document, _ = ask(made, "--ways", capsys=capsys)
    ways = {way for _, _, way in rows(document)}
    assert code == 0
    assert {"hybrid", "lexical", "semantic", "late", "float", "bits", "BM25", "no priors"} <= ways
    host = StrataHost(Environment(made, home=made / "home"))
    assert main(["eval", "--benchmark", ".", "--checkouts", "checkouts", "--ways"], host) == 0
    shown = capsys.readouterr().out
    assert shown.splitlines()[0].split()[:3] == ["NDCG@10", "questions", "hybrid"]
    assert [line.split()[0] for line in shown.splitlines()[1:]] == ["python", "go", "symbol", "semantic", "all"]


def test_a_missing_checkout_is_named(benchmark: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(benchmark / "checkouts" / "letters")
    code, document, _ = ask(benchmark, capsys=capsys)
    assert (code, document["error"]) == (2, "InputError")
    assert str(benchmark / "checkouts" / "letters") in document["detail"]
    assert "clone" in document["hint"]
    assert not (benchmark / "home").exists()  # told before anything is indexed


def test_a_checkout_at_another_revision_is_asked_and_told(benchmark: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checkout = benchmark / "checkouts" / "letters"
    (checkout / "stamps.go").write_text(LETTERS["stamps.go"].replace("return grams", "return 2 * grams"))
    code, document, errors = ask(benchmark, capsys=capsys)
    assert code == 0
    (note,) = document["notes"]
    assert note.startswith("letters has changes that its revision ")
    git(checkout, "commit", "-q", "-a", "-m", "dearer")
    code, document, errors = ask(benchmark, capsys=capsys)
    assert (code, rows(document)["all", "", "hybrid"]["questions"]) == (0, 1)
    (note,) = document["notes"]
    assert note.startswith("letters is at ")
    assert "its questions are about" in note
    assert f"warning: {note}" in errors


def test_a_checkout_without_git_is_told(benchmark: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(benchmark / "checkouts" / "letters" / ".git")
    code, document, _ = ask(benchmark, capsys=capsys)
    assert code == 0
    assert [note.partition(",")[0] for note in document["notes"]] == ["letters is not at a known commit"]


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("repos.json", "[{", "is not valid JSON"),
        ("repos.json", '{"name": "x"}', "must hold a list"),
        ("repos.json", "[]", "has no questions"),
        ("annotations/letters.json", "[", "is not valid JSON"),
        ("annotations/letters.json", '[{"query": "x"}]', "has no"),
        ("annotations/letters.json", '["x"]', "has no"),
        ("annotations/letters.json", '[{"query": "x", "category": "symbol", "relevant": []}]', "has no target"),
        (
            "annotations/letters.json",
            '[{"query": "x", "category": "symbol", "relevant": ["a"], "secondary": "b"}]',
            "secondary",
        ),
    ],
)
def test_a_malformed_file_is_named(
    benchmark: Path, file: str, content: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (benchmark / file).write_text(content)
    code, document, errors = ask(benchmark, capsys=capsys)
    assert (code, document["error"]) == (2, "InputError")
    assert told in document["detail"]
    assert "Traceback" not in errors


def test_a_result_that_cannot_be_written_is_told_before_anything_is_asked(
    benchmark: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for place in (benchmark / "nowhere" / "figures.json", benchmark / "annotations"):
        code, document, _ = ask(benchmark, "--output", str(place), capsys=capsys)
        assert (code, document["error"]) == (2, "InputError")
        assert document["detail"].startswith(f"--output: {place} ")
    assert not (benchmark / "home").exists()


def test_checkouts_without_a_benchmark_are_refused(benchmark: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "--checkouts", "checkouts"], StrataHost(Environment(benchmark))) == 2
    assert "--checkouts is for --benchmark" in capsys.readouterr().err
