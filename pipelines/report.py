"""What a stage says it did: counts and seconds, for the Dagster metadata, the command line and the closing table."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from pipelines.artifacts import ArtifactRef


@dataclass(slots=True)
class StageReport:
    """One artifact's work. `rows` = `reused` + `computed`; what did not become a row is in `skipped`, by reason."""

    ref: ArtifactRef
    rows: int = 0
    reused: int = 0
    computed: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    bytes: int = 0
    seconds: float = 0.0
    built: bool = True  # False: the artifact was in the store already, nothing was computed or written
    extra: dict[str, Any] = field(default_factory=dict)  # stage's own figures: symbols, edges, balance, ..
