from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipelines.errors import SettingsError
from pipelines.evaluation import load_judgments
from pipelines.evaluation.judgments import Unresolved, resolve
from tests.retrieval.builders import Doc, open_docs

BUNDLED = Path(__file__).parents[2] / "data" / "fixtures" / "sample.json"
CASE = {"id": "one", "kind": "symbol", "query": "cart", "relevant": [{"path": "a.py", "symbol": "Cart"}]}


def write(root: Path, document: Any) -> Path:
    path = root / "judged.json"
    path.write_text(json.dumps(document))
    return path


def make_file(*cases: Any, **changes: Any) -> dict[str, Any]:
    return {"schema_version": 1, "repository": "sample", "cases": list(cases), **changes}


def test_the_bundled_file_is_valid() -> None:
    judgments = load_judgments(BUNDLED)
    assert len(judgments) == len({item.id for item in judgments}) > 50
    assert {item.kind for item in judgments} == {
        *("symbol", "exact_token", "paraphrase", "rename", "similar_but_different", "doc_to_code", "scope"),
    }


def test_names_before_a_rename_stand_nowhere_in_the_sample() -> None:
    files = [path for path in (BUNDLED.parents[1] / "sample").rglob("*") if path.is_file()]
    texts = "\n".join(path.read_text("utf-8") for path in files).casefold()
    former = [item.query.casefold() for item in load_judgments(BUNDLED) if item.kind == "rename"]
    assert former
    assert [name for name in former if name in texts] == []


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "the file must be an object"),
        (make_file(CASE, version=1), "unknown key 'version' in the file"),
        ({"schema_version": 1, "cases": []}, "the file has no 'repository'"),
        (make_file(CASE, schema_version=2), "schema_version = 2 is not known"),
        (make_file("x"), r"cases\[0\] must be an object"),
        (make_file({**CASE, "query": " "}), r"cases\[0\].query"),
        (make_file({**CASE, "within": 3}), r"cases\[0\].within = 3"),
        (make_file({**CASE, "relevant": []}), r"cases\[0\].relevant is empty"),
        (make_file({**CASE, "relevant": "a.py"}), r"cases\[0\].relevant must be a list"),
        (make_file({**CASE, "relevant": [{"file": "a.py"}]}), r"unknown key 'file' in cases\[0\].relevant\[0\]"),
        (make_file({**CASE, "relevant": [{"path": "a.py", "symbol": 3}]}), "symbol = 3 must be a string"),
        (make_file(CASE, CASE), "'one' stands more than once"),
    ],
)
def test_a_fault_is_named_with_its_place(tmp_path: Path, document: Any, message: str) -> None:
    path = write(tmp_path, document)
    with pytest.raises(SettingsError, match=message) as raised:
        load_judgments(path)
    assert str(path) in str(raised.value)


def test_a_file_that_is_missing_or_no_json_is_a_settings_error(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        load_judgments(tmp_path / "absent.json")
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    with pytest.raises(SettingsError, match="not valid JSON"):
        load_judgments(broken)


def test_targets_are_found_by_path_and_end_of_the_qualified_name(tmp_path: Path) -> None:
    docs = [
        Doc("a.py", "class Cart: pass", "Cart", kind="class", qualified="shop.Cart"),
        Doc("a.py", "more of it", "Cart", kind="class", qualified="shop.Cart", part=1),
        Doc("a.py", "class OtherCart: pass", "OtherCart", kind="class"),
        Doc("b.md", "# Notes", "Notes", kind="section", language="markdown"),
    ]
    path = write(
        tmp_path,
        make_file(
            {**CASE, "secondary": [{"path": "b.md"}, {"path": "absent.py", "symbol": "x"}]},
            {**CASE, "id": "two", "relevant": [{"path": "a.py", "symbol": "Gone"}]},
        ),
    )
    cases, unresolved = resolve(open_docs(tmp_path, docs), load_judgments(path))
    (case,) = cases
    assert case.relevant == (frozenset(doc.id("sample").hex() for doc in docs[:2]),)
    assert case.secondary == (frozenset({docs[3].id("sample").hex()}),)
    assert unresolved == [Unresolved("one", "absent.py:x", False), Unresolved("two", "a.py:Gone", True)]
