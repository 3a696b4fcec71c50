"""Property tests draw the same examples on every run, and a loaded machine fails none of them."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")
