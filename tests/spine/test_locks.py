from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipelines.errors import ArtifactMissing, BusyError
from pipelines.locks import lease_generation, remove_generation_unless_leased, repository_lock
from pipelines.store import ArtifactStore
from tests.spine.builders import make_store

HOLD = """
import sys, time
from pathlib import Path
from pipelines.store import ArtifactStore
from pipelines.locks import repository_lock
with repository_lock(ArtifactStore(Path(sys.argv[1])), "sample", wait_s=0):
    print("held", flush=True)
    time.sleep(60)
"""


def hold_elsewhere(store: ArtifactStore) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(store.root)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    process.stdout.close()
    return process


def test_a_second_process_is_refused_and_told_who_holds_it(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    other = hold_elsewhere(store)
    told: list[str] = []
    try:
        with (
            pytest.raises(BusyError, match=f"process {other.pid} on"),
            repository_lock(store, "sample", wait_s=0.3, on_wait=told.append),
        ):
            pytest.fail("the lock was taken twice")
        with repository_lock(store, "another", wait_s=0):
            pass
    finally:
        other.kill()
        other.wait()
    assert len(told) == 1


def test_a_killed_holder_blocks_nobody_and_its_scratch_is_cleared(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    other = hold_elsewhere(store)
    scratch = store.root / "tmp" / "sample" / "half-written"
    scratch.mkdir(parents=True)
    other.kill()
    other.wait()
    began = time.monotonic()
    with repository_lock(store, "sample", wait_s=30):
        assert not scratch.exists()
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("content", ["", "process 1 on nowhere\n", "process 999999999 on another-host\n"])
def test_what_a_lock_file_says_decides_nothing(tmp_path: Path, content: str) -> None:
    store = make_store(tmp_path)
    (store.root / "locks").mkdir()
    (store.root / "locks" / "sample.lock").write_text(content)
    with repository_lock(store, "sample", wait_s=0), repository_lock(store, "sample", wait_s=0):
        pass
    with repository_lock(store, "sample", wait_s=0):
        pass


def test_a_leased_generation_is_not_removed(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    store.write_generation("sample", "g1", {})
    script = (
        "import sys, time; from pathlib import Path; from pipelines.store import ArtifactStore;"
        "from pipelines.locks import lease_generation;"
        "lease_generation(ArtifactStore(Path(sys.argv[1])), 'sample', 'g1');"
        "print('leased', flush=True); time.sleep(60)"
    )
    reader = subprocess.Popen([sys.executable, "-c", script, str(store.root)], stdout=subprocess.PIPE, text=True)
    assert reader.stdout is not None
    try:
        assert reader.stdout.readline() == "leased\n"
        assert not remove_generation_unless_leased(store, "sample", "g1")
        assert store.generations("sample") == ("g1",)
    finally:
        reader.kill()
        reader.wait()
        reader.stdout.close()
    assert remove_generation_unless_leased(store, "sample", "g1")
    assert store.generations("sample") == ()
    with pytest.raises(ArtifactMissing):
        lease_generation(store, "sample", "g1")
