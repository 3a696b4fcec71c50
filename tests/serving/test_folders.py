from __future__ import annotations

import pytest

from pipelines.serving.folders import without_folders


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("no index found for /srv/code (run `strata index` there first)", "no index found for …/code"),
        ("remove /srv/my code/.strata, then run `strata index`", "remove …/.strata, then run `strata index`"),
        ("[Errno 2] No such file: '/srv/a/store.json'", "[Errno 2] No such file: '…/store.json'"),
        ("a: /x/y/z: gone; b: /v/w: gone", "a: …/z: gone; b: …/w: gone"),
        ("https://models.example/v1/embed does not answer", "https://models.example/v1/embed does not answer"),
        ("model org/name, file src/a.py", "model org/name, file src/a.py"),
        ("", ""),
    ],
)
def test_a_path_keeps_its_last_part_only(text: str, told: str) -> None:
    assert without_folders(text).startswith(told)


@pytest.mark.parametrize("folder", ["/srv/a, b", "/srv/it's (mine)", "/srv/q\"uote'd", "/srv/a;b: c", "/srv/tab\there"])
def test_a_folder_that_is_known_is_shortened_whatever_its_name_has(folder: str) -> None:
    last = folder.rpartition("/")[2]
    for written, told in ((folder, last), (repr(folder), repr(folder)[1:-1].rpartition("/")[2])):
        said = without_folders(f"cannot read {written}, nor {folder}/.strata/store.json", [folder, "/srv", "/"])
        assert "srv" not in said
        assert told in said
        assert said.endswith(", nor …/store.json")


@pytest.mark.parametrize("text", ["/" * 200_000, "/a" * 200_000, "/ " * 200_000, "a /b" * 100_000])
def test_long_texts_end(text: str) -> None:
    assert len(without_folders(text)) <= len(text)
