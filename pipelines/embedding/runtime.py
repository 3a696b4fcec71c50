"""The one way to run a model: onnxruntime on one thread, silent, without memory kept for past shapes.

In: a model's path. Out: a session. One thread, since texts run side by side and must not depend on one another.
"""

from __future__ import annotations

import platform
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.embedding.explained import Explained

if TYPE_CHECKING:
    import onnxruntime

#: Errors of the runtime are raised as well; only fatal ones are logged.
_LOG_FATAL = 4


def open_session(model: Path, hint: str) -> onnxruntime.InferenceSession:
    """Load a model; the runtime is imported here, so that nothing else waits for it.

    :raises EncoderError: if it cannot be loaded, with `hint`.
    """
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = _LOG_FATAL
    # Every length of text is a new shape: arena and pattern would keep memory for each of them.
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False
    with Explained(f"model {model} cannot be loaded", hint):
        return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def runtime_name() -> str:
    """Name the runtime, without loading it, and the kind of processor: others may round differently."""
    return f"onnxruntime {version('onnxruntime')} on {platform.machine()}"
