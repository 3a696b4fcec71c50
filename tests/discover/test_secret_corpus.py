"""Recall and precision on the labelled corpus; what is missed or found wrongly is named."""

from __future__ import annotations

from pipelines.discover.secrets import find_secrets
from tests.discover.secret_corpus import Example, negatives, positives

LEAST_RECALL = LEAST_PRECISION = 0.95


def found(example: Example) -> list[tuple[int, int, str]]:
    """Return the spans that are found, in characters."""
    data = example.text.encode()
    return [
        (len(data[: span.start_byte].decode()), len(data[: span.end_byte].decode()), span.detector)
        for span in find_secrets(example.text)
    ]


def test_the_corpus_is_large_and_reads_the_same_every_time() -> None:
    assert len(positives()) >= 60
    assert len(negatives()) >= 200
    assert positives() == positives()
    titles = [example.title for example in (*positives(), *negatives())]
    assert len(titles) == len(set(titles))
    assert all(example.secrets for example in positives())


def test_secrets_are_found_whole() -> None:
    missed = []
    total = 0
    for example in positives():
        spans = found(example)
        for start, end in example.secrets:
            total += 1
            if not any(low <= start and end <= high for low, high, _ in spans):
                missed.append(f"{example.title}: {spans}")
    assert 1 - len(missed) / total >= LEAST_RECALL, "\n".join(missed)
    assert missed == []


def test_little_else_is_taken_for_one() -> None:
    right, wrong = 0, []
    for example in positives():
        for low, high, detector in found(example):
            if any(low < end and start < high for start, end in example.secrets):
                right += 1
            else:
                wrong.append(f"{example.title}: {detector} {example.text[low:high]}")
    for example in negatives():
        wrong += [f"{example.title}: {detector} {example.text[low:high]}" for low, high, detector in found(example)]
    assert right / (right + len(wrong)) >= LEAST_PRECISION, "\n".join(wrong)
    assert wrong == []
