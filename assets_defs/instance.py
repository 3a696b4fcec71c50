"""The Dagster instance of a deployment: `<store>/dagster`, or DAGSTER_HOME where the user named the deployment too.

The store's own dagster.yaml is written here and always has this text: a store can come with a clone, and a foreign
dagster.yaml could name code to be run. Whoever wants Postgres or other settings sets DAGSTER_HOME.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
from dagster._core.instance.ref import InstanceRef
from sqlalchemy import event
from sqlalchemy.engine import Engine
from sqlalchemy.exc import OperationalError

from pipelines.containment import require_no_links
from pipelines.durable import replace_file, storage_error
from resources.deployment import Deployment

_YAML = """\
# Written by strata. To use settings of your own, set DAGSTER_HOME and STRATA_HOME.
telemetry:
  enabled: false
nux:
  enabled: false
python_logs:
  python_log_level: WARNING
run_monitoring:
  enabled: true
  poll_interval_seconds: 10
  start_timeout_seconds: 60
concurrency:
  runs:
    max_concurrent_runs: 2
"""
#: Runs inside `strata index` must not capture the process's output: the progress is drawn there.
_NO_COMPUTE_LOGS = {
    "compute_logs": {"module": "dagster._core.storage.noop_compute_log_manager", "class": "NoOpComputeLogManager"}
}


_ERRNO_OF_SQLITE = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_IOERR: errno.EIO,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_CANTOPEN: errno.EACCES,
}


@contextmanager
def open_instance(deployment: Deployment) -> Iterator[dg.DagsterInstance]:
    """Open the instance for runs in this process.

    :raises StorageError: inside the block too, where the disk is full or may not be written.
    """
    folder = prepare_instance(deployment)
    with _full_disks_told(deployment.store_root), quick_sqlite():
        with _one_at_a_time(folder):  # two processes that create the database at once fail
            instance = dg.DagsterInstance.from_ref(InstanceRef.from_dir(str(folder), overrides=_NO_COMPUTE_LOGS))
        with instance:
            yield instance


def prepare_instance(deployment: Deployment) -> Path:
    """Create the folder of the instance and its dagster.yaml; one that the user named is left as it is."""
    folder = deployment.instance_folder
    if deployment.dagster_home is not None:
        return folder
    require_no_links(deployment.store_root, folder.name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "dagster.yaml"
        if not path.exists() or path.read_bytes() != _YAML.encode():
            replace_file(path, _YAML.encode())
    except OSError as error:
        raise storage_error(error, deployment.store_root) from error
    return folder


@contextmanager
def quick_sqlite() -> Iterator[None]:
    """Let SQLite sync at checkpoints instead of after each event, and keep each database open between events.

    Dagster opens and closes a database for every event; the last one to close it syncs the whole log. Measured on the
    sample: the share of Dagster halves. In WAL mode NORMAL loses at most the last events of a power cut, never the
    database (sqlite.org/pragma.html#pragma_synchronous), and what was built stands in the store, not there.
    """
    kept: dict[str, sqlite3.Connection] = {}

    def on_connect(connection: Any, record: Any) -> None:
        if not isinstance(connection, sqlite3.Connection):
            return
        connection.execute("PRAGMA synchronous = NORMAL")
        path = connection.execute("PRAGMA database_list").fetchone()[2]
        if path and path not in kept:
            kept[path] = sqlite3.connect(path, check_same_thread=False)
            kept[path].execute("PRAGMA journal_mode = WAL")  # as Dagster does a moment later: only then it stays open
            kept[path].execute("SELECT 1 FROM sqlite_master").fetchone()

    event.listen(Engine, "connect", on_connect)
    try:
        yield
    finally:
        event.remove(Engine, "connect", on_connect)
        for connection in kept.values():
            connection.close()


@contextmanager
def _full_disks_told(store_root: Path) -> Iterator[None]:
    """Tell a database or file that the disk does not take as what it is: no fault of Strata's, nor of Dagster's."""
    try:
        yield
    except OperationalError as error:
        # the low byte is the kind: sqlite.org/rescode.html
        code = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF
        if code not in _ERRNO_OF_SQLITE:
            raise
        number = _ERRNO_OF_SQLITE[code]
        raise storage_error(OSError(number, os.strerror(number)), store_root) from error
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
            raise  # what else fails is told by whoever was reading or writing
        raise storage_error(error, store_root) from error


@contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    handle = os.open(folder / ".opening", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
