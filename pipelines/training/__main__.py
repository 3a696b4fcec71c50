"""Train the bundled encoder: python -m pipelines.training PACKAGES WORK OUT [--steps N] [--seed N] [--revision COMMIT].

PACKAGES is a folder of downloaded archives, those that data/encoder/code.json names; WORK a folder for what the steps
hand on; OUT the folder of the bundled encoder, data/encoder.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pipelines.training import steps


def main(arguments: Sequence[str]) -> int:
    """Run all steps, one after the other."""
    parser = argparse.ArgumentParser(prog="training", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("packages", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--steps", type=int, default=steps.STEPS)
    parser.add_argument("--seed", type=int, default=steps.SEED)
    parser.add_argument("--revision", default="")
    given = parser.parse_args(arguments)
    _tell(str(steps.harvest_packages(given.packages, given.out / "held-out.txt", given.work, _tell)))
    _tell(str(steps.make_corpus(given.work)))
    _tell(str(steps.initialise(given.work, given.seed)))
    learned = steps.learn(given.work, _tell, given.steps, given.seed)
    _tell(str(steps.export(given.work, given.out, learned, given.revision)))
    return 0


def _tell(line: str) -> None:
    sys.stderr.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
