"""Train the bundled encoder: python -m pipelines.training FOLDER [--from STEP] [--steps N] [--seed N] [--workers N].

FOLDER holds the downloaded packages (`python -m pipelines.training.fetch FOLDER`) and gets everything else that
`pipelines/training/steps.py` names. docs/training.md tells the way from nothing to a shipped model.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipelines.training import steps

#: Where the encoders that ship lie in a checkout.
BUNDLED = Path(__file__).resolve().parents[2] / "data" / "encoder"


def main(arguments: Sequence[str]) -> int:
    """Run all steps from the given one on."""
    names = ("harvest", "vocabulary", "initialisation", "encoder", "export", "evaluation")
    parser = argparse.ArgumentParser(prog="training", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--from", dest="first", choices=names, default=names[0])
    parser.add_argument("--steps", type=int, default=steps.STEPS)
    parser.add_argument("--seed", type=int, default=steps.SEED)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args(arguments)
    folder = steps.TrainingFolder(given.folder.resolve(), BUNDLED)
    run: tuple[Callable[[], Mapping[str, Any]], ...] = (
        lambda: steps.harvest_packages(folder, tell, given.workers),
        lambda: steps.make_corpus(folder),
        lambda: steps.initialise(folder, given.seed),
        lambda: steps.learn(folder, tell, given.steps, given.seed),
        lambda: steps.export(folder),
        lambda: steps.evaluate(folder),
    )
    for name, step in list(zip(names, run, strict=True))[names.index(given.first) :]:
        tell(f"{name}: {step()}")
    return 0


def tell(line: str) -> None:
    """Write a line of progress."""
    sys.stderr.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
