"""The one place that accepts what Dagster marks as beta: observable sources, backfill policies, partition mappings.

They are pinned with Dagster itself, so the warning tells nobody anything; inside the block it is not shown.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg


@contextmanager
def beta_features() -> Iterator[None]:
    """Use beta features without a warning for each."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.BetaWarning)
        yield
