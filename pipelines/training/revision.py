"""Which code trained an encoder. In: the checkout that this code lies in. Out: its commit."""

from __future__ import annotations

import subprocess
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_TIMEOUT_S = 30


def code_revision() -> str:
    """Return the commit, with a mark if the code is not what was committed; "" outside a checkout."""
    commit = _git("rev-parse", "HEAD")
    return f"{commit}, changed" if commit and _git("status", "--porcelain", "--", "pipelines") else commit


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(_ROOT), *arguments], capture_output=True, text=True, timeout=_TIMEOUT_S, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
