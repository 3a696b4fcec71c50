from __future__ import annotations

from tests.assets_defs.conftest import built, indexed

__all__ = ["built", "indexed"]
