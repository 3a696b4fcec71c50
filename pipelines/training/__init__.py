"""Where the bundled encoder data comes from. In: downloaded packages. Out: the files of data/encoder."""

from pipelines.training.steps import (
    SEED,
    STEPS,
    TrainingFolder,
    evaluate,
    export,
    harvest_packages,
    initialise,
    learn,
    make_corpus,
)

__all__ = [
    "SEED",
    "STEPS",
    "TrainingFolder",
    "evaluate",
    "export",
    "harvest_packages",
    "initialise",
    "learn",
    "make_corpus",
]
