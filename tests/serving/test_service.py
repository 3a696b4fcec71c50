from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

import pytest

from pipelines.errors import ArtifactCorrupt, NotFound, NothingIndexed
from pipelines.records import Staleness
from pipelines.serving.asking import question
from pipelines.serving.service import Service
from tests.retrieval.builders import Doc
from tests.serving.library_of import COMMIT, DOCS, SmallLibrary, library_of, served, wait_until

RETRY = question({"query": "retry"})


def leased(library: SmallLibrary, generation: str, repo: str = "sample") -> bool:
    """Tell whether anybody holds the lease of a generation."""
    handle = os.open(library.store.generation_file(repo, generation), os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def test_an_answer_is_that_of_the_command_line(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    with served(library) as service:
        wait_until(lambda: service.standing.last().state == "ready")
        document = service.ask(RETRY).document()
    assert document["hits"][0]["path"] in ("orders/retry.py", "README.md")
    assert (document["commit"], document["staleness"]) == (COMMIT, "fresh")
    assert document["generation"] == library.opened[0].pointer.generation


def test_what_is_published_answers_the_next_request(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    with served(library) as service:
        first = service.ask(RETRY).pointers["sample"].generation
        second = library.publish([*DOCS, Doc("new.py", "def retry_anew(): pass", "retry_anew")])
        answered = service.ask(question({"query": "retry_anew"}))
        assert answered.answer.hits[0].path == "new.py"
        assert answered.pointers["sample"].generation == second != first
        assert not leased(library, first)
        assert leased(library, second)
    assert not leased(library, second)


def test_an_old_generation_is_given_up_though_nobody_asks(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    with served(library) as service:
        first = service.ask(RETRY).pointers["sample"].generation
        library.publish(DOCS[:2])
        wait_until(lambda: not leased(library, first))


def test_a_reader_keeps_what_it_began_with(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    with served(library) as service:
        first = service.ask(RETRY).pointers["sample"].generation
        with service._reading() as shelf:
            library.publish(DOCS[:2])
            service.ask(RETRY)
            assert shelf.volumes["sample"].pointer.generation == first
            assert leased(library, first)
        assert not leased(library, first)


def test_a_withdrawn_index_answers_no_more(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    with served(library) as service:
        service.ask(RETRY)
        library.store.withdraw("sample")
        with pytest.raises(NothingIndexed):
            service.ask(RETRY)
        assert service.look().state == "error"
        assert "strata index" in service.look().message


def test_a_store_without_an_index_is_followed_until_it_has_one(tmp_path: Path) -> None:
    library = SmallLibrary(tmp_path)
    with served(library) as service:
        with pytest.raises(NothingIndexed):
            service.ask(RETRY)
        library.publish()
        assert service.ask(RETRY).answer.hits


def test_several_repositories_answer_together_or_one_by_one(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    library.publish([Doc("other.py", "def retry_elsewhere(): pass", "retry_elsewhere")], repo="other")
    with served(library) as service:
        assert service.ask(RETRY).pointers.keys() == {"other", "sample"}
        alone = service.ask(question({"query": "retry", "repo": "other"}))
        assert {hit.repo for hit in alone.answer.hits} == {"other"}
        with pytest.raises(NotFound, match="'third' is not served"):
            service.ask(question({"query": "retry", "repo": ["other", "third"]}))


def test_only_what_changed_is_opened_anew(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    library.publish(DOCS[:1], repo="other")
    with served(library) as service:
        service.ask(RETRY)
        library.publish(DOCS[:2], repo="other")
        service.ask(RETRY)
    assert sorted(volume.generation.repo for volume in library.opened) == ["other", "other", "sample"]


def test_a_repository_that_cannot_be_opened_is_told_and_closes_what_was_opened(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    library.publish(DOCS[:1], repo="zebra")
    document = library.store.read_generation("zebra", library.pointers()["zebra"].generation)
    reference = next(ref for ref in library.store.artifacts("zebra") if ref.asset == "binary_codes")
    (library.store.folder(reference) / "codes.npy").write_bytes(b"")
    assert document["repo"] == "zebra"
    service = Service(library)
    with pytest.raises(ArtifactCorrupt):
        service.ask(RETRY)
    assert not leased(library, library.pointers()["sample"].generation)


def test_chunks_and_their_surroundings_are_read_from_the_index(tmp_path: Path) -> None:
    with served(library_of(tmp_path)) as service:
        hit = service.ask(question({"query": "with_retry"})).answer.hits[0]
        assert service.chunk("sample", hit.chunk_id).text.startswith("def with_retry")
        around = service.related("sample", hit.chunk_id, "neighbors", 1)
        assert [item.symbol for item in around.neighbors] == ["backoff"]
        with pytest.raises(NotFound):
            service.chunk("sample", "00" * 16)
        with pytest.raises(NotFound):
            service.chunk("nowhere", hit.chunk_id)


def test_filters_are_offered_as_the_index_has_them(tmp_path: Path) -> None:
    with served(library_of(tmp_path)) as service:
        assert service.labels()["language"] == ("go", "markdown", "python")
        assert service.labels()["kind"] == ("function", "section")
        assert service.labels()["repo"] == ("sample",)


def test_many_threads_and_publications_at_once_leave_no_lease_behind(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    generations = [library.pointers()["sample"].generation]
    failures: list[BaseException] = []
    with served(library) as service:
        ending = threading.Event()

        def ask() -> None:
            while not ending.is_set():
                try:
                    service.ask(RETRY)
                except BaseException as error:  # told below, in the thread of the test
                    failures.append(error)
                    return

        threads = [threading.Thread(target=ask) for _ in range(6)]
        for thread in threads:
            thread.start()
        for size in (1, 2, 3, 4, 2):
            generations.append(library.publish(DOCS[:size]))
        ending.set()
        for thread in threads:
            thread.join()
        service.ask(RETRY)
        held = {generation for generation in generations if leased(library, generation)}
        assert held == {generations[-1]}
    assert failures == []


def test_staleness_is_unknown_until_it_was_looked_at(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    library.states["sample"] = "stale"
    service = Service(library)
    assert service.ask(RETRY).staleness == {"sample": Staleness.UNKNOWN}
    service.look()
    assert service.ask(RETRY).staleness == {"sample": Staleness.STALE}
    service.close()


def test_the_status_tells_no_folder_of_the_machine(tmp_path: Path) -> None:
    with served(library_of(tmp_path)) as service:
        assert str(tmp_path) not in str(service.status())
        assert "/src" not in str(service.status())
