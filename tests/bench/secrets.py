"""Recall, precision and speed of the search for secrets: python -m tests.bench.secrets [FOLDER].

On the labelled corpus of the tests, and on the files of a folder, all of which are read for its speed and none of which
is expected to hold a secret. detect-secrets is measured beside it where it is installed, with all its plugins and its
default filters apart from the one that asks the network; a bare parse is the measure of speed.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import tree_sitter
import tree_sitter_c

from pipelines.discover.secrets import find_secrets
from tests.bench.measure import show
from tests.discover.secret_corpus import Example, negatives, positives

#: Lines that a key block has before its base64.
_HEAD_LINES = 5
#: The lines in which a tool says that a secret stands.
Lines = Callable[[str], set[int]]


def our_lines(text: str) -> set[int]:
    """Return the lines of our findings."""
    return {line for span in find_secrets(text) for line in range(span.start_line, span.end_line + 1)}


def other_lines(folder: Path) -> Lines | None:
    """Return the same for detect-secrets, None where it is not installed."""
    if importlib.util.find_spec("detect_secrets") is None:
        return None
    collection: Any = importlib.import_module("detect_secrets.core.secrets_collection")
    settings: Any = importlib.import_module("detect_secrets.settings")
    file = folder / "example.txt"

    def lines(text: str) -> set[int]:
        file.write_text(text, "utf-8", newline="")
        found = collection.SecretsCollection()
        with settings.default_settings() as active:
            active.disable_filters("detect_secrets.filters.common.is_ignored_due_to_verification_policies")
            found.scan_file(str(file))
        return {secret.line_number for _, secret in found}

    return lines


def secret_lines(example: Example) -> list[set[int]]:
    """Return the lines of each secret of an example."""
    return [
        set(range(1 + example.text.count("\n", 0, start), 2 + example.text.count("\n", 0, end)))
        for start, end in example.secrets
    ]


def quality(lines: Lines) -> dict[str, Any]:
    """Measure by lines, which is all that both tools say: a key block counts as found if any of its lines is."""
    found = total = right = wrong = 0
    missed = []
    for example in positives():
        said = lines(example.text)
        wanted = secret_lines(example)
        # the head of a key block belongs to it, and so does its end
        wanted_lines = {line + near for item in wanted for line in item for near in range(-_HEAD_LINES, 2)}
        hit = sum(bool({line + near for line in item for near in range(-_HEAD_LINES, 1)} & said) for item in wanted)
        found, total = found + hit, total + len(wanted)
        right += len(said & wanted_lines)
        wrong += len(said - wanted_lines)
        if hit < len(wanted):
            missed.append(example.title)
    alarms = [example.title for example in negatives() if lines(example.text)]
    wrong += sum(len(lines(example.text)) for example in negatives())
    return {
        "recall": round(found / total, 3),
        "precision": round(right / (right + wrong), 3),
        "missed": missed,
        "false_alarms": alarms,
    }


def texts_of(folder: Path, pattern: str, megabytes: float) -> list[str]:
    """Return the texts of some files of a folder, in order of their names."""
    texts: list[str] = []
    left = megabytes * 1e6
    for path in sorted(item for item in folder.rglob(pattern) if item.is_file()):
        text = path.read_bytes().decode("latin-1")
        texts.append(text)
        left -= len(text)
        if left < 0:
            break
    return texts


def seconds(work: Callable[[str], object], texts: Sequence[str]) -> float:
    """Return the processor time that some work takes on all texts."""
    began = time.process_time()
    for text in texts:
        work(text)
    return time.process_time() - began


def speed(folder: Path, pattern: str, megabytes: float, other: Lines | None) -> dict[str, Any]:
    """Measure MB/s on the files of a folder, in one run, and ours as a share of a bare parse."""
    texts = texts_of(folder, pattern, megabytes)
    size = sum(map(len, texts)) / 1e6
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_c.language()))
    parse = seconds(lambda text: parser.parse(text.encode()), texts)
    ours = min(seconds(find_secrets, texts) for _ in range(3))
    lines = sum(text.count("\n") for text in texts)
    result = {
        "files": len(texts),
        "megabytes": round(size, 1),
        "lines": lines,
        "parse_mb_s": round(size / parse, 1),
        "ours_mb_s": round(size / ours, 1),
        "ours_to_parse": round(ours / parse, 3),
        "ours_lines_alarmed": sum(len(our_lines(text)) for text in texts),
    }
    if other:
        few = texts[:: max(1, len(texts) // 100)]
        took = seconds(other, few)
        result["detect_secrets_mb_s"] = round(sum(map(len, few)) / 1e6 / took, 3)
        result["detect_secrets_lines_alarmed_in_a_sample"] = sum(len(other(text)) for text in few)
        result["ours_lines_alarmed_in_the_sample"] = sum(len(our_lines(text)) for text in few)
        result["lines_of_the_sample"] = sum(text.count("\n") for text in few)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="a folder of C files, for the speed")
    parser.add_argument("--pattern", default="*.c")
    parser.add_argument("--megabytes", type=float, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        other = other_lines(Path(scratch))
        result: dict[str, Any] = {"ours": quality(our_lines)}
        if other:
            result["detect_secrets"] = quality(other)
        if options.folder:
            result["speed"] = speed(options.folder, options.pattern, options.megabytes, other)
        show(result)


if __name__ == "__main__":
    main()
