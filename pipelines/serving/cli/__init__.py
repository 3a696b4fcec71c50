"""The command line: parse, ask the host, render. Its `main` is handed the surroundings; see host.py."""

from pipelines.serving.cli.edge import main

__all__ = ["main"]
