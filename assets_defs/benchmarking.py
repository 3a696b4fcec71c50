"""A public benchmark, asked of real indexes. In: its folder, checkouts. Out: figures by way, language and category."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from assets_defs import building
from assets_defs.opening import published
from pipelines.errors import InputError
from pipelines.evaluation import Subject, answer, means, read_benchmark
from pipelines.progress import Progress
from pipelines.retrieval import open_generation
from pipelines.serving.cli.host import Benchmarked, IndexRequest
from pipelines.store import Pointer
from resources.environment import Environment


def benchmark(
    environment: Environment, folder: Path, checkouts: Path, ways: Sequence[str], progress: Progress
) -> Benchmarked:
    """Index what is not indexed yet, ask every question in every way, and return the means.

    A checkout at another revision is asked all the same, and told: an old one may be nowhere to be had.

    :raises InputError: if the benchmark has not its form, or a checkout is missing.
    """
    subjects = read_benchmark(environment.folder / folder)
    roots = {item.name: environment.folder / checkouts / item.name / item.root for item in subjects}
    missing = [str(root) for root in roots.values() if not root.is_dir()]
    if missing:
        raise InputError(f"no checkout: {', '.join(missing)}", hint="clone each repository at its revision there")
    answers = []
    notes: list[str] = []
    for subject in subjects:
        root = roots[subject.name]
        building.index(environment, IndexRequest(root, repo=subject.name), progress)
        ((workspace, key),) = published(environment, [str(root)])
        pointer = workspace.store.pointer(key)
        assert pointer is not None, "published() yields what has a pointer"
        notes += _notes(subject, pointer)
        with open_generation(workspace.store, key, pointer.generation) as generation:
            encoder = workspace.encoder_of(key, generation.document.encoder)
            answers += answer(subject, workspace.store, generation, encoder, ways)
    return Benchmarked(means(answers), tuple(notes))


def _notes(subject: Subject, pointer: Pointer) -> Iterator[str]:
    """Tell where what is indexed is not what the questions were written about."""
    if subject.revision and pointer.commit != subject.revision:
        found = f"at {pointer.commit[:12]}" if pointer.commit else "not at a known commit"
        yield f"{subject.name} is {found}, its questions are about {subject.revision[:12]}: lines may have moved"
    elif subject.revision and pointer.dirty:
        yield f"{subject.name} has changes that its revision {subject.revision[:12]} does not have"
