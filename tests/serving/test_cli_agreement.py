"""Who is asked before a run costs money: a person on a terminal, and nobody else."""

from __future__ import annotations

import os
import pty
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipelines.errors import NotAgreed
from pipelines.progress import Progress
from pipelines.serving.cli.host import IndexOutcome, IndexRequest
from pipelines.serving.cli.indexing import run_index
from pipelines.serving.cli.output import Output
from pipelines.serving.cli.streams import Stream
from tests.serving.fake_host import FakeHost, make_outcome


class Priced(FakeHost):
    """Wants more the second time, as where files changed while the person was thinking."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        self.agreed: list[int] = []

    def index(self, request: IndexRequest, progress: Progress) -> IndexOutcome:
        self.agreed.append(request.agreed_tokens)
        wanted = 100 * len(self.agreed)
        if request.agreed_tokens < min(wanted, 200):
            raise NotAgreed(f"embedding costs {wanted} tokens", wanted)
        return make_outcome()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, Output]]:
    """A terminal's far end, and the output of a command that runs on it."""
    far, near = pty.openpty()
    with os.fdopen(near, "r", closefd=False) as stdin, os.fdopen(near, "w") as stderr:
        monkeypatch.setattr(sys, "stdin", stdin)
        yield far, Output(Stream(None), Stream(stderr), as_json=False)
    os.close(far)


def test_yes_on_a_terminal_goes_on_and_more_is_asked_for_again(terminal: tuple[int, Output]) -> None:
    far, output = terminal
    os.write(far, b"yes\nyes\n")
    host = Priced()
    assert run_index(IndexRequest(), host, output) == 0
    assert host.agreed == [0, 100, 200]
    assert b"embedding costs 100 tokens" in os.read(far, 4_096)


@pytest.mark.parametrize("said", [b"y\n", b"no\n", b"\n", b"\x04"])
def test_anything_but_yes_stops(terminal: tuple[int, Output], said: bytes) -> None:
    far, output = terminal
    os.write(far, said)
    host = Priced()
    with pytest.raises(NotAgreed):
        run_index(IndexRequest(), host, output)
    assert host.agreed == [0]


def test_without_a_terminal_nobody_is_asked(tmp_path: Path) -> None:
    with open(tmp_path / "err", "w") as err, pytest.raises(NotAgreed):
        run_index(IndexRequest(), Priced(), Output(Stream(None), Stream(err), as_json=False))
