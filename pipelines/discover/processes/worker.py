"""A parser process: reads batches of files from its input, answers with their rows. `workers` is the parent's side.

It holds nothing that the parent needs: a file that kills it, or keeps it busy for too long, costs that file alone. It
ends with its input, and with its parent where the kernel can see to that.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import resource
import signal
import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import BinaryIO

from pipelines.discover.parsing.parse import OUTCOME_COLUMNS, ParsedFile, parse_file
from pipelines.discover.processes.packing import pack_rows
from pipelines.discover.processes.wire import frame, read_frame

#: Address space of one parser process, in bytes. The largest file that is parsed takes well under one GiB; the limit
#: turns a runaway parse into one lost file instead of a machine out of memory.
MAX_ADDRESS_SPACE = 8 << 30
_PR_SET_PDEATHSIG = 1


def main() -> int:
    """Serve one parent, whose process id is the first argument, until the input ends."""
    _bind_to_parent(int(sys.argv[1]))
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not get between the answers
    _limit_memory()
    gc.disable()  # rows hold no cycles, and looking for some among a hundred thousand nodes takes a third of the time
    serve(requests, answers)
    return 0


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer batches until the input ends."""
    _send(answers, json.dumps({"ready": True}).encode())
    while (head := read_frame(requests)) is not None:
        batch = json.loads(head)
        contents = [read_frame(requests) for _ in batch["files"]]
        parsed: list[ParsedFile] = []
        for (path, language), data in zip(batch["files"], contents, strict=True):
            if data is None:
                return
            parsed.append(parse_file(batch["repo"], path, language, data))
            _send(answers, b"")
        _send(answers, *_packed(parsed, batch["types"]))


def _packed(parsed: Sequence[ParsedFile], types: Mapping[str, Sequence[str]]) -> tuple[bytes, bytes]:
    """Return the outcomes of a batch with the sizes of its buffers, and the buffers."""
    tables: dict[str, dict[str, list[int]]] = {}
    buffers: list[bytes] = []
    for table, columns in types.items():
        rows = [getattr(file, table) for file in parsed]
        packed = pack_rows(chain.from_iterable(rows), columns)
        tables[table] = {"counts": list(map(len, rows)), "sizes": list(map(len, packed))}
        buffers += packed
    outcomes = [[getattr(file, name) for name in OUTCOME_COLUMNS] for file in parsed]
    return json.dumps({"outcomes": outcomes, "tables": tables}).encode(), b"".join(buffers)


def _send(answers: BinaryIO, *messages: bytes) -> None:
    for message in messages:
        answers.write(frame(message))
    answers.flush()


def _bind_to_parent(parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's to handle: it ends its children
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before the line above took effect
        sys.exit(0)


def _limit_memory() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = MAX_ADDRESS_SPACE if hard == resource.RLIM_INFINITY else min(hard, MAX_ADDRESS_SPACE)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


if __name__ == "__main__":
    sys.exit(main())
