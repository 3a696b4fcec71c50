from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines.discover import ParserPool
from pipelines.discover.processes.workers import _BATCH_FILES, Job, Parsed, _worker_command
from pipelines.errors import StrataError
from pipelines.settings import IndexSettings
from tests.discover.sources import ONE_WORKER

#: A parser with hooks: a path says what it does to the process that parses it.
HOSTILE = textwrap.dedent(
    """
    import os, signal, sys, time
    from pipelines.discover.processes import worker
    real = worker.parse_file
    def hooked(repo, path, language, data):
        if "boom" in path:
            os.kill(os.getpid(), signal.SIGSEGV)
        if "raise" in path:
            raise ValueError("unexpected")
        if "once" in path and not os.path.exists(data.decode()):
            open(data.decode(), "w").close()
            os._exit(3)
        if "slow" in path:
            time.sleep(600)
        if "steady" in path:
            for _ in range(10):
                time.sleep(0.05)
        print("a library prints", path)
        return real(repo, path, language, data)
    worker.parse_file = hooked
    sys.exit(worker.main())
    """
)
#: A parser that ends when it should hand over the rows of one file.
TORN = textwrap.dedent(
    """
    import os, sys
    from pipelines.discover.processes import worker
    real = worker.pack_rows
    def torn(rows, types):
        rows = list(rows)
        if any("f1" in row for row in rows):
            os._exit(4)
        return real(rows, types)
    worker.pack_rows = torn
    sys.exit(worker.main())
    """
)
#: A parser whose rows take longer to hand over than a file may take, a few bytes at a time.
SLOW_ANSWER = textwrap.dedent(
    """
    import sys, time
    from pipelines.discover.processes import worker
    def slow(answers, *messages):
        data = b"".join(map(worker.frame, messages))
        step = len(data) // 10 + 1
        for start in range(0, len(data), step):
            answers.write(data[start : start + step])
            answers.flush()
            time.sleep(0.2 if len(messages) > 1 else 0)
    worker._send = slow
    sys.exit(worker.main())
    """
)
COMMAND = (sys.executable, "-P", "-c", HOSTILE)


def job(path: str, text: str = "def f(): pass\n") -> Job:
    return Job(path, "python", text.encode())


def good(count: int, prefix: str = "good") -> list[Job]:
    return [job(f"{prefix}{number}.py", f"def f{number}():\n    return g()\n") for number in range(count)]


def names(parsed: Parsed) -> dict[str, str]:
    """Return the name of the one symbol that each file has."""
    symbols = parsed.tables["symbols"]
    return dict(zip(symbols["path"].to_pylist(), symbols["name"].to_pylist(), strict=True))


def ended(pid: int) -> bool:
    """Tell whether a process is gone, or is only waiting for a parent to ask how it ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def wait_for_end(pids: list[int]) -> bool:
    for _ in range(500):
        if all(map(ended, pids)):
            return True
        time.sleep(0.02)
    return False


@pytest.fixture
def hostile() -> Iterator[ParserPool]:
    with ParserPool(ONE_WORKER, command=COMMAND) as pool:
        yield pool


def test_files_come_back_by_path() -> None:
    told: list[None] = []
    with ParserPool(ONE_WORKER) as pool:
        parsed = pool.parse("sample", good(100), 0, lambda: told.append(None))
    assert sorted(parsed.outcomes) == sorted(item.path for item in good(100))
    assert names(parsed) == {item.path: f"f{item.path[4:-3]}" for item in good(100)}
    assert len(told) == 100


def test_result_does_not_depend_on_the_number_of_workers() -> None:
    jobs = good(300)
    results = []
    for workers in (1, 3):
        with ParserPool(IndexSettings(workers=workers)) as pool:
            results.append(pool.parse("sample", list(jobs), workers << 30))
            assert len(pool._children) == workers
    assert results[0].outcomes == results[1].outcomes
    for name, table in results[0].tables.items():
        assert table.sort_by("path") == results[1].tables[name].sort_by("path")


def test_a_file_that_kills_its_parser_costs_itself_alone(hostile: ParserPool) -> None:
    parsed = hostile.parse("sample", [*good(15), job("boom.py"), *good(15, "more")], 0)
    assert len(parsed.outcomes) == 31
    crashed = parsed.outcomes.pop("boom.py")
    assert (crashed.skip_reason, crashed.skip_detail) == ("crashed", "the parser process was ended by signal 11")
    assert all(item.skip_reason is None for item in parsed.outcomes.values())
    assert names(parsed).keys() == parsed.outcomes.keys()


def test_many_files_that_kill_their_parser_cost_themselves_alone(hostile: ParserPool) -> None:
    parsed = hostile.parse("sample", [job("boom1.py"), *good(3), job("boom2.py"), job("boom3.py")], 0)
    assert sorted(path for path, item in parsed.outcomes.items() if item.skip_reason) == [
        "boom1.py",
        "boom2.py",
        "boom3.py",
    ]
    assert len(parsed.outcomes) == 6


def test_an_error_in_the_parser_is_told_without_its_words(hostile: ParserPool) -> None:
    parsed = hostile.parse("sample", [job("raise.py"), *good(2)], 0)
    assert parsed.outcomes["raise.py"].skip_detail == "the parser process ended with code 1: ValueError"
    assert [item.skip_reason for item in parsed.outcomes.values()].count(None) == 2


def test_a_parser_that_ends_before_it_hands_over_costs_no_other_file() -> None:
    """Rows that cannot be packed cost the file that has them."""
    with ParserPool(ONE_WORKER, command=(*COMMAND[:-1], TORN)) as pool:
        parsed = pool.parse("sample", good(4), 0)
    assert sorted(parsed.outcomes) == sorted(item.path for item in good(4))
    assert [path for path, item in parsed.outcomes.items() if item.skip_reason] == ["good1.py"]
    assert names(parsed).keys() == {"good0.py", "good2.py", "good3.py"}


def test_a_file_is_not_blamed_for_the_first_end_of_its_parser(hostile: ParserPool, tmp_path: Path) -> None:
    parsed = hostile.parse("sample", [job("once.py", str(tmp_path / "mark")), *good(2)], 0)
    assert [item.skip_reason for item in parsed.outcomes.values()] == [None] * 3


def test_a_slow_file_is_given_up_and_the_rest_is_done() -> None:
    with ParserPool(IndexSettings(workers=1, file_timeout_s=1.0), command=COMMAND) as pool:
        parsed = pool.parse("sample", [*good(3), job("slow.py"), *good(3, "more")], 0)
    assert len(parsed.outcomes) == 7
    slow = parsed.outcomes.pop("slow.py")
    assert (slow.skip_reason, slow.skip_detail) == ("timed_out", "no result within 1 s")
    assert all(item.skip_reason is None for item in parsed.outcomes.values())


def test_a_stop_of_all_processes_makes_no_file_late() -> None:
    """What Ctrl-Z does: this process is away for twice the time limit, and so is its child."""

    def stopped(pool: ParserPool) -> Iterator[Job]:
        yield from [job("steady.py"), *good(_BATCH_FILES)]
        (child,) = pool._children  # it has the first batch
        os.kill(child.process.pid, signal.SIGSTOP)
        time.sleep(4.0)
        os.kill(child.process.pid, signal.SIGCONT)
        yield from good(3, "more")

    with ParserPool(IndexSettings(workers=1, file_timeout_s=2.0), command=COMMAND) as pool:
        parsed = pool.parse("sample", stopped(pool), 0)
    assert len(parsed.outcomes) == 1 + _BATCH_FILES + 3
    assert {item.skip_reason for item in parsed.outcomes.values()} == {None}


def test_a_file_is_late_though_its_parent_was_away() -> None:
    def stalled() -> Iterator[Job]:
        yield from [job("slow.py"), *good(_BATCH_FILES)]
        time.sleep(1.5)

    with ParserPool(IndexSettings(workers=1, file_timeout_s=1.0), command=COMMAND) as pool:
        parsed = pool.parse("sample", stalled(), 0)
    assert [path for path, item in parsed.outcomes.items() if item.skip_reason] == ["slow.py"]


def test_rows_that_arrive_slowly_are_not_late() -> None:
    with ParserPool(IndexSettings(workers=1, file_timeout_s=1.0), command=(*COMMAND[:-1], SLOW_ANSWER)) as pool:
        parsed = pool.parse("sample", good(3), 0)
    assert [item.skip_reason for item in parsed.outcomes.values()] == [None] * 3


def test_a_real_file_that_takes_long_ends_in_time() -> None:
    rows = ",".join(f'["{number}","x{number}"]' for number in range(60_000))
    hard = Job("H.java", "java", f"data = [\n{rows}\n".replace("],", "],\n").encode())
    with ParserPool(IndexSettings(workers=1, file_timeout_s=60.0)) as pool:
        parsed = pool.parse("sample", [hard, *good(1)], 0)
    assert parsed.outcomes["good0.py"].skip_reason is None
    assert parsed.outcomes["H.java"].skip_reason in (None, "timed_out")


def test_children_stay_for_the_next_bucket_and_end_with_the_pool() -> None:
    with ParserPool(ONE_WORKER) as pool:
        pool.parse("sample", good(2), 0)
        first = [child.process.pid for child in pool._children]
        pool.parse("sample", good(2), 0)
        assert [child.process.pid for child in pool._children] == first
        assert len(first) == 1
    assert wait_for_end(first)


def test_a_child_that_ended_between_two_buckets_is_replaced() -> None:
    with ParserPool(ONE_WORKER) as pool:
        pool.parse("sample", good(2), 0)
        os.kill(pool._children[0].process.pid, signal.SIGKILL)
        assert wait_for_end([pool._children[0].process.pid])
        assert all(item.skip_reason is None for item in pool.parse("sample", good(2), 0).outcomes.values())


def test_no_child_is_started_for_no_work() -> None:
    with ParserPool(ONE_WORKER) as pool:
        assert pool.parse("sample", [], 0).outcomes == {}
        assert pool._children == []


def test_interrupt_leaves_no_child() -> None:
    pids: list[int] = []

    def interrupted(pool: ParserPool) -> Iterator[Job]:
        yield from good(200)
        pids.extend(child.process.pid for child in pool._children)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), ParserPool(ONE_WORKER) as pool:  # noqa: PT012
        pool.parse("sample", good(2), 0)
        pool.parse("sample", interrupted(pool), 0)
    assert pids
    assert wait_for_end(pids)


def test_children_end_with_a_parent_that_is_killed() -> None:
    parent_code = textwrap.dedent(
        f"""
        from pipelines.discover import ParserPool
        from pipelines.discover.processes.workers import Job
        from pipelines.settings import IndexSettings
        pool = ParserPool(IndexSettings(workers=1), command={COMMAND!r}).__enter__()
        pool.parse("sample", [Job("a.py", "python", b"x = 1")], 0)
        print(pool._children[0].process.pid, flush=True)
        pool.parse("sample", [Job("slow.py", "python", b"x = 1")], 0)
        """
    )
    with subprocess.Popen([sys.executable, "-c", parent_code], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert not ended(child)
        parent.kill()
        parent.wait()
    assert wait_for_end([child])


def test_a_folder_that_is_called_like_the_package_is_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pipelines", "json", "tree_sitter"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('the wrong one')\n")
    monkeypatch.chdir(tmp_path)
    with ParserPool(ONE_WORKER) as pool:
        assert pool.parse("sample", good(1), 0).outcomes["good0.py"].skip_reason is None


def test_parsers_that_cannot_start_are_an_error() -> None:
    command = (sys.executable, "-c", "raise SystemExit('no such module')")
    with (
        pytest.raises(StrataError, match="did not start: no such module"),
        ParserPool(ONE_WORKER, command=command) as pool,
    ):
        pool.parse("sample", good(1), 0)


def test_parsers_load_neither_tables_nor_graphs() -> None:
    *command, code, root = _worker_command()
    report = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr))"
    done = subprocess.run(
        [*command, f"{report}\n{code}", root, str(os.getpid())], input=b"", capture_output=True, check=True
    )
    loaded = set(done.stderr.decode().split())
    assert "pipelines.discover.parsing.parse" in loaded
    assert not {"numpy", "pyarrow", "scipy"} & loaded


def test_a_pool_is_used_inside_its_block() -> None:
    with pytest.raises(RuntimeError, match="with"):
        ParserPool(ONE_WORKER).parse("sample", [], 0)
