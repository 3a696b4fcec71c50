"""Persistence of orders. Everything above this layer is free of SQL."""

import json
import sqlite3
from contextlib import contextmanager

from .errors import StaleVersion
from .retry import retry

SCHEMA = """
CREATE TABLE IF NOT EXISTS orders (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    status TEXT NOT NULL,
    version INTEGER NOT NULL,
    body TEXT NOT NULL
)
"""


class OrderRepository:
    """Reads and writes orders in SQLite with optimistic locking."""

    def __init__(self, path=":memory:"):
        self._connection = sqlite3.connect(path)
        self._connection.row_factory = sqlite3.Row
        self._connection.execute(SCHEMA)

    @contextmanager
    def transaction(self):
        """Commit when the block succeeds, undo everything when it raises."""
        try:
            yield self._connection
        except BaseException:
            self._connection.rollback()
            raise
        else:
            self._connection.commit()

    def find(self, order_id):
        row = self._connection.execute(
            "SELECT * FROM orders WHERE id = ?", (order_id,)
        ).fetchone()
        return _to_order(row) if row else None

    def find_by_owner(self, owner, limit=50):
        """Orders of one customer, newest first."""
        rows = self._connection.execute(
            "SELECT * FROM orders WHERE owner = ? ORDER BY rowid DESC LIMIT ?",
            (owner, limit),
        )
        return [_to_order(row) for row in rows]

    @retry(sqlite3.OperationalError)
    def insert(self, order):
        with self.transaction() as connection:
            connection.execute(
                "INSERT INTO orders VALUES (?, ?, ?, 1, ?)",
                (order["id"], order["owner"], order["status"], json.dumps(order["body"])),
            )

    @retry(sqlite3.OperationalError)
    def update(self, order):
        """Save a change unless another writer got there first.

        The version number read earlier must still be in place, otherwise
        ``StaleVersion`` is raised and the caller has to read again.
        """
        with self.transaction() as connection:
            cursor = connection.execute(
                "UPDATE orders SET status = ?, body = ?, version = version + 1"
                " WHERE id = ? AND version = ?",
                (order["status"], json.dumps(order["body"]), order["id"], order["version"]),
            )
            if cursor.rowcount == 0:
                raise StaleVersion(f"order {order['id']} was changed meanwhile")


def _to_order(row):
    return {
        "id": row["id"],
        "owner": row["owner"],
        "status": row["status"],
        "version": row["version"],
        "body": json.loads(row["body"]),
    }
