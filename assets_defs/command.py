"""The entry point of `strata`: the command line of pipelines.serving.cli, with its real surroundings."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType


def main() -> int:
    """Run `strata` with the arguments of this process and return its exit code."""
    # Whoever stops a command at once meets its imports, in the midst of which nothing can be raised in order.
    signal.signal(signal.SIGINT, _stop)
    from assets_defs.host import StrataHost
    from pipelines.serving.cli import main as run
    from resources.environment import Environment

    host = StrataHost(Environment.read())
    # A shell that starts a command in the background may have it ignore SIGINT; Strata can always be interrupted.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return run(sys.argv[1:], host)


def _stop(_signal: int, _frame: FrameType | None) -> None:
    """End before anything was begun, as an interrupted command ends; see pipelines/serving/cli/edge.py."""
    os.write(2, b"error: stopped before the end\nhint: run it again to go on\n")
    os._exit(130)


if __name__ == "__main__":
    sys.exit(main())
