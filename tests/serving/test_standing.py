from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from pipelines.errors import StorageError
from pipelines.records import Staleness
from pipelines.serving.standing import Look, Standing, State
from tests.serving.fake_host import GENERATION, make_status


def look(*states: str, **changes: object) -> Look:
    repositories = [make_status(repo=f"r{number}", state=state) for number, state in enumerate(states)]
    missing = [replace(item, pointer=None) if item.state == "missing" else item for item in repositories]
    return Look(tuple(missing), seen=time.monotonic(), by_repo={item.repo: item for item in missing})


@pytest.mark.parametrize(
    ("states", "state"),
    [
        (["ready", "ready"], State.READY),
        (["ready", "stale"], State.STALE),
        (["ready", "unknown"], State.STALE),
        (["ready", "missing"], State.STALE),
        (["missing"], State.ERROR),
        ([], State.ERROR),
        (["stale", "building"], State.BUILDING),
        (["building", "error"], State.ERROR),
    ],
)
def test_several_repositories_are_as_well_as_the_worst_of_them(states: list[str], state: State) -> None:
    assert look(*states).state is state
    assert (look(*states).message == "") == (state is State.READY)


def test_what_is_said_of_many_repositories_is_said_once() -> None:
    assert look(*["stale"] * 40, "missing").message == (
        "r0, r1, r2, r3, r4 and 35 more: older than its source: run `strata index`; "
        "r40: nothing of it is published: run `strata index`"
    )


def test_a_look_can_be_narrowed_to_what_was_searched() -> None:
    seen = look("ready", "stale")
    assert (seen.of(["r0"]).state, seen.of(["r0"]).message) == (State.READY, "")
    assert seen.of(["r1"]).state is State.STALE


def test_staleness_is_that_of_the_generation_that_was_seen() -> None:
    seen = look("ready", "stale", "building")
    assert seen.staleness("r0", GENERATION) is Staleness.FRESH
    assert seen.staleness("r1", GENERATION) is Staleness.STALE
    assert seen.staleness("r2", GENERATION) is Staleness.UNKNOWN
    assert seen.staleness("r0", "another") is Staleness.UNKNOWN
    assert seen.staleness("nowhere", GENERATION) is Staleness.UNKNOWN


def test_what_was_seen_long_ago_is_not_told_as_if_it_were_now() -> None:
    old = replace(look("ready"), seen=time.monotonic() - 61)
    assert old.staleness("r0", GENERATION) is Staleness.UNKNOWN


def test_a_look_that_fails_is_the_state_error_with_its_reason() -> None:
    def fail() -> list[object]:
        raise StorageError("the disk is gone", hint="bring it back")

    standing = Standing(fail, lambda: None)  # type: ignore[arg-type]
    assert standing.recent().state is State.ERROR
    assert standing.recent().message == "the disk is gone (bring it back)"


def test_a_look_is_shared_while_it_is_young(tmp_path: Path) -> None:
    looks: list[float] = []

    def count() -> list[object]:
        looks.append(time.monotonic())
        return [make_status()]

    standing = Standing(count, lambda: None)  # type: ignore[arg-type]
    assert standing.last().age > 60
    assert standing.recent().state is State.READY
    standing.recent()
    assert len(looks) == 1
    standing.outdated()
    standing.recent()
    assert len(looks) == 2
