"""The entry point of `strata`: the command line of pipelines.serving.cli, with its real surroundings."""

from __future__ import annotations

import signal
import sys

from assets_defs.host import StrataHost
from pipelines.serving.cli import main as run
from resources.environment import Environment


def main() -> int:
    """Run `strata` with the arguments of this process and return its exit code."""
    # A shell that starts a command in the background may have it ignore SIGINT; Strata can always be interrupted.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return run(sys.argv[1:], StrataHost(Environment.read()))


if __name__ == "__main__":
    sys.exit(main())
