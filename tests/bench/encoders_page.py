"""The tables of docs/measured.md: python -m tests.bench.encoders_page prints them from committed result files."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("results")
#: Columns: what a method is called in the files, and on the page.
METHODS = {
    "bm25": "BM25",
    "hash float": "`hash`",
    "vocab float": "`vocab`",
    "code float": "`code` float",
    "code bits": "256 bits",
    "code float question, bits": "float question, bits",
    "code bits, rescored": "bits, int8 rescored",
    "onnx float": "MiniLM",
    "bm25 + code": "BM25 + `code`",
    "bm25 + onnx": "BM25 + MiniLM",
    "bm25 + code + onnx": "all three",
}
DIFFERENCES = {"code float - bm25": "`code` - BM25", "code float - onnx float": "`code` - MiniLM"}
Tasks = list[tuple[str, Mapping[str, Any]]]


def read_tasks(folder: Path) -> Tasks:
    """Return language and figures of every task, Python first, then by name."""
    documents = [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("encoders-*.json"))]
    documents.sort(key=lambda document: (document["language"] != "python", document["language"]))
    return [(document["language"], task) for document in documents for task in document["tasks"]]


def table(tasks: Tasks, names: str, columns: Mapping[str, str], cell: Callable[[Mapping[str, Any], str], str]) -> str:
    """Return one Markdown table of the tasks with such names."""
    rows = [["language", "functions", "questions", *columns.values()]]
    for language, task in tasks:
        if task["names"] == names:
            sizes = [f"{task['functions']:,}", f"{task['questions']:,}"]
            rows.append([language, *sizes, *(cell(task, column) for column in columns)])
    rows.insert(1, ["---", *["---:"] * (len(rows[0]) - 1)])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def pages(tasks: Tasks) -> Iterator[str]:
    """Yield all tables, each with a title."""

    def figure(*keys: str) -> Callable[[Mapping[str, Any], str], str]:
        def cell(task: Mapping[str, Any], method: str) -> str:
            found = task["figures"].get(method)
            return " / ".join(f"{found[key]:.3f}".lstrip("0") for key in keys) if found else ""

        return cell

    def interval(task: Mapping[str, Any], difference: str) -> str:
        found = task["differences"].get(difference)
        return f"{found['mrr']:+.3f} ({found['low']:+.3f} to {found['high']:+.3f})" if found else ""

    for names in ("kept", "removed"):
        yield f"### Names {names}: MRR@10\n\n{table(tasks, names, METHODS, figure('mrr'))}"
        yield f"### Names {names}: recall@10 / NDCG@10\n\n{table(tasks, names, METHODS, figure('recall', 'ndcg'))}"
        yield f"### Names {names}: difference of MRR@10, 95% interval\n\n{table(tasks, names, DIFFERENCES, interval)}"


if __name__ == "__main__":
    sys.stdout.write("\n".join(pages(read_tasks(RESULTS))))
