"""`strata dev`: the Dagster UI and daemon on the store at hand, as one child process that ends with this one."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from assets_defs.instance import prepare_instance
from pipelines.durable import replace_file
from pipelines.serving.http.server import listen
from pipelines.store import ArtifactStore
from resources.deployment import Deployment, deployment_to_query
from resources.environment import (
    CONFIG_VARIABLE,
    DAGSTER_VARIABLE,
    HOME_VARIABLE,
    Environment,
    variables_for_child,
)

#: The location has the name that workspace.yaml and pyproject.toml give it: Dagster keys the state of sensors by it.
_WORKSPACE = """\
load_from:
  - python_module: {module_name: assets_defs.definitions, location_name: strata}
"""
_HOST = "127.0.0.1"
_DAGSTER_DEV = ("-m", "dagster", "dev")
#: `dg dev`, which Dagster would rather have, needs a package more and a project around it.
_SUPERSEDED = "ignore:Function `dev_command` is superseded"
_CODE = str(Path(__file__).resolve().parents[1])
#: Dagster gives its own children this long to end, in seconds, before it kills them; so much and a little more here.
_END_WITHIN_S = 70.0


def run(environment: Environment, port: int) -> int:
    """Run `dagster dev` until it ends, and return its exit code, or until this process is interrupted, and return 0.

    :raises InputError: if the port is taken. :raises KeyboardInterrupt: of another kind than that of Ctrl-C: SIGTERM
        is told as such, once all that was started has ended.
    """
    deployment = deployment_to_query(environment)
    listen(_HOST, port).close()  # a port that is taken is told now, not in the middle of Dagster's lines
    ArtifactStore(deployment.store_root).initialise()
    folder = prepare_instance(deployment)
    workspace = deployment.store_root / "dagster" / "workspace.yaml"
    workspace.parent.mkdir(parents=True, exist_ok=True)
    replace_file(workspace, _WORKSPACE.encode())
    child = subprocess.Popen(
        [
            sys.executable,
            "-W",
            _SUPERSEDED,
            *_DAGSTER_DEV,
            "-w",
            str(workspace),
            "--host",
            _HOST,
            "--port",
            str(port),
        ],
        env=child_variables(deployment, folder),
        # from its own home `dagster dev` reads no foreign dagster.yaml, .env or pyproject.toml
        cwd=folder,
        # a group of its own: Ctrl-C reaches this process alone, which then asks Dagster to end its services in order
        process_group=0,
        preexec_fn=_reset_signals,
    )
    try:
        return child.wait()
    except KeyboardInterrupt as end:
        if type(end) is not KeyboardInterrupt:
            raise
        return 0  # nothing was cut short: this is how a server is meant to be ended
    finally:
        _end(child, port)


def child_variables(deployment: Deployment, instance_folder: Path) -> dict[str, str]:
    """Return the environment in which Dagster finds the same store and settings."""
    return variables_for_child(
        {
            HOME_VARIABLE: str(deployment.store_root),
            CONFIG_VARIABLE: str(deployment.config) if deployment.config else None,
            DAGSTER_VARIABLE: str(instance_folder),
            # the code may run from a checkout that is not installed
            "PYTHONPATH": os.pathsep.join(dict.fromkeys(path for path in (_CODE, *sys.path) if path)),
        }
    )


def _reset_signals() -> None:
    """Undo an inherited ignore of SIGINT: Dagster copies its handler to SIGTERM and could not be ended at all."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _end(child: subprocess.Popen[bytes], port: int) -> None:
    """End Dagster and all that it has started, in order where it is ready for that; else there is no run to lose."""
    with suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
        if child.poll() is None and _answers(port):
            child.send_signal(signal.SIGINT)
            child.wait(_END_WITHIN_S)
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _answers(port: int) -> bool:
    """Tell whether the UI is there: while Dagster still starts, an interrupt makes each of its parts print a fault."""
    try:
        socket.create_connection((_HOST, port), timeout=1).close()
    except OSError:
        return False
    return True
