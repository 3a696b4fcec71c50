"""The unit of a file without a grammar: the file itself, shown in windows of some dozens of lines."""

from __future__ import annotations

from pipelines.chunking.source import Source
from pipelines.chunking.units import Segment, Unit
from pipelines.records import ChunkKind

#: Lines of a window: what fits on a screen, and enough for one table of a configuration file.
WINDOW_LINES = 40


def window_unit(source: Source) -> Unit:
    """Return the file as one unit; its windows are the parts."""
    return Unit(ChunkKind.WINDOW, "", "", "", 0, (Segment(0, len(source)),), max_lines=WINDOW_LINES)
