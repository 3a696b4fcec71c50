"""Contents by blob id, from one `git cat-file --batch`. In: a repository. Out: bytes; no path takes part."""

from __future__ import annotations

import os
import select
import subprocess

from pipelines.discover.listing.git import TIMEOUT_S, Repository
from pipelines.errors import InputError

_READ_BYTES = 1 << 20
#: Seconds that git may take to end after its input was closed.
_END_S = 5.0


class Blobs:
    """Gets blobs by id; git is started when it is first needed. Without a repository there are none."""

    def __init__(self, repository: Repository | None) -> None:
        self._repository = repository
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""

    def __enter__(self) -> Blobs:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is None:
            return
        with self._process as process:  # closes the pipes and waits
            if process.stdin:
                process.stdin.close()
            try:
                process.wait(_END_S)
            except subprocess.TimeoutExpired:
                process.kill()
        self._process = None

    def get(self, identity: str) -> bytes | None:
        """Return the content of a blob, None if it is not in the repository."""
        if self._repository is None:
            return None
        process = self._process = self._process or self._start(self._repository)
        if process.stdin is None or process.stdout is None:
            raise InputError("git cat-file was started without pipes")
        try:
            process.stdin.write(identity.encode("ascii") + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            raise InputError("git cat-file ended before all files were read", hint="run again") from None
        header = self._take_line(process.stdout.fileno())
        if header.endswith(b" missing"):
            return None
        _, kind, size = header.split(b" ")
        content = self._take(process.stdout.fileno(), int(size) + 1)[:-1]
        return content if kind == b"blob" else None

    def _start(self, repository: Repository) -> subprocess.Popen[bytes]:
        git = repository.git
        return subprocess.Popen(
            git.command("cat-file", "--batch"),
            cwd=git.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def _take_line(self, file: int) -> bytes:
        while b"\n" not in self._rest:
            self._rest += self._more(file)
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _take(self, file: int, count: int) -> bytes:
        parts = [self._rest]
        have = len(self._rest)
        while have < count:
            parts.append(self._more(file))
            have += len(parts[-1])
        data = b"".join(parts)
        self._rest = data[count:]
        return data[:count]

    def _more(self, file: int) -> bytes:
        ready, _, _ = select.select([file], [], [], TIMEOUT_S)
        data = os.read(file, _READ_BYTES) if ready else b""
        if not data:
            raise InputError("git cat-file ended before all files were read", hint="run again")
        return data
