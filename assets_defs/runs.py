"""The Dagster side of `strata index`: the runs of one repository, in this process, recorded in the store's instance.

Only this module's importers load dagster; `indexing` imports it once it is known that something has to be built.
"""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dagster as dg
from dagster._core.errors import DagsterAssetCheckFailedError, DagsterExecutionInterruptedError

from assets_defs.definitions import build_definitions
from assets_defs.instance import open_instance
from assets_defs.partitions import REPOS
from assets_defs.pruning import prune_runs
from assets_defs.requests import Wanted, source_observations, wanted_runs
from resources.workspace import Workspace

#: An error is told once, by the command line; Dagster's own console lines would repeat it with its whole stack.
_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
#: The buckets first, then what follows from all of them.
_PASSES = 2


def build_repository(workspace: Workspace, repo: str) -> bool:
    """Run what a repository needs and tell whether it was all run; False: a check that blocks publication failed.

    :raises StrataError: whatever a stage raises. :raises KeyboardInterrupt: on SIGINT or SIGTERM.
    """
    with open_instance(workspace.deployment) as instance, _own_signals():
        if not instance.has_dynamic_partition(REPOS, repo):
            instance.add_dynamic_partitions(REPOS, [repo])
        definitions = build_definitions(workspace.deployment)
        try:
            for _ in range(_PASSES):
                wanted = list(wanted_runs(workspace, repo))
                for observation in source_observations(wanted):
                    instance.report_runless_asset_event(observation)
                for item in wanted:
                    _execute(definitions, instance, workspace, item)
        except DagsterAssetCheckFailedError:
            return False
        finally:
            prune_runs(instance, workspace.settings(repo).artifacts.keep_runs)
        return True


def _execute(definitions: dg.Definitions, instance: dg.DagsterInstance, workspace: Workspace, item: Wanted) -> None:
    job = definitions.resolve_job_def(item.job)
    share = f" over {len(item.sources)} buckets" if item.sources else ""
    workspace.progress.begin(f"{item.job}{share}", 1)
    job.execute_in_process(
        instance=instance,
        partition_key=item.partition,
        tags=dict(item.tags),
        run_config=_QUIET,
        resources={"workspace": workspace},
    )
    workspace.progress.end()


@contextmanager
def _own_signals() -> Iterator[None]:
    """Give SIGINT and SIGTERM back to their own handlers.

    While it runs, Dagster catches both without telling one from the other, and leaves SIGTERM with SIGINT's handler.
    Python's note of every signal on a descriptor tells which one it was, also when it came while Dagster looked away.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers: dict[int, Any] = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    reader, writer = socket.socketpair()
    with reader, writer:
        reader.setblocking(False)
        writer.setblocking(False)
        before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        try:
            yield
        except DagsterExecutionInterruptedError:
            raise KeyboardInterrupt from None
        finally:
            signal.set_wakeup_fd(before)
            for number, handler in handlers.items():
                signal.signal(number, handler)
            _deliver(reader, handlers)


def _deliver(reader: socket.socket, handlers: dict[int, Any]) -> None:
    """Call the handler of the signal that came first, if one came."""
    try:
        received = reader.recv(64)
    except BlockingIOError:
        return
    for number in received:
        if callable(handlers.get(number)):
            handlers[number](number, None)
