from __future__ import annotations

import sqlite3
from pathlib import Path

from sqlalchemy import create_engine, text

from assets_defs.instance import quick_sqlite


def synchronous(database: Path) -> int:
    """Return SQLite's setting: 2 syncs after each transaction, 1 at checkpoints."""
    engine = create_engine(f"sqlite:///{database}")
    try:
        with engine.connect() as connection:
            return int(connection.execute(text("PRAGMA synchronous")).scalar_one())
    finally:
        engine.dispose()


def test_databases_stay_open_between_events_and_sync_at_checkpoints(tmp_path: Path) -> None:
    database = tmp_path / "events.db"
    with quick_sqlite():
        assert synchronous(database) == 1
        assert database.with_name("events.db-wal").exists(), "the log is kept, though the connection was closed"
    assert not database.with_name("events.db-wal").exists()
    assert synchronous(database) == 2
    with sqlite3.connect(database) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
