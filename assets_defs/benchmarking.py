"""A public benchmark, asked of real indexes. In: its folder, checkouts. Out: figures by way, language and category."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assets_defs import building
from assets_defs.opening import published
from pipelines.errors import InputError
from pipelines.evaluation import answer, means, read_benchmark
from pipelines.progress import Progress
from pipelines.retrieval import open_generation
from pipelines.serving.cli.host import IndexRequest
from resources.environment import Environment


def benchmark(
    environment: Environment, folder: Path, checkouts: Path, ways: Sequence[str], progress: Progress
) -> Sequence[Mapping[str, Any]]:
    """Index what is not indexed yet, ask every question in every way, and return the means.

    :raises InputError: if the benchmark has not its form, or a checkout is missing.
    """
    subjects = read_benchmark(environment.folder / folder)
    roots = {item.name: environment.folder / checkouts / item.name / item.root for item in subjects}
    missing = [str(root) for root in roots.values() if not root.is_dir()]
    if missing:
        raise InputError(f"no checkout: {', '.join(missing)}", hint="clone each repository at its revision there")
    answers = []
    for subject in subjects:
        root = roots[subject.name]
        building.index(environment, IndexRequest(root, repo=subject.name), progress)
        ((workspace, key),) = published(environment, [str(root)])
        pointer = workspace.store.pointer(key)
        assert pointer is not None, "published() yields what has a pointer"
        with open_generation(workspace.store, key, pointer.generation) as generation:
            encoder = workspace.encoder_of(key, generation.document.encoder)
            answers += answer(subject, workspace.store, generation, encoder, ways)
    return means(answers)
