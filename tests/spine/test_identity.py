from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.errors import InputError
from pipelines.identity import bucket_keys, bucket_of, make_id, path_hash, require_repo_key, slug


@pytest.mark.parametrize("key", ["a", "sample", "a.b", "acme-web_2", "0x"])
def test_plain_keys_are_allowed(key: str) -> None:
    assert require_repo_key(key) == key
    assert slug(key) == key


@pytest.mark.parametrize(
    "key", ["", "..", "a,b", "a|b", "a/b", "C:", "/repo", "-x", "Ünïcode", "a..b", "x" * 65, "a\n"]
)
def test_keys_that_could_leave_their_folder_or_break_a_partition_are_refused(key: str) -> None:
    with pytest.raises(InputError, match="not valid"):
        require_repo_key(key)


@given(st.text())
def test_every_name_has_a_valid_key(name: str) -> None:
    assert require_repo_key(slug(name))


@given(st.lists(st.text(), unique=True, max_size=20))
def test_different_names_have_different_keys(names: list[str]) -> None:
    assert len({slug(name) for name in names}) == len(names)


@given(st.text())
def test_sixteen_buckets_split_cleanly_into_sixty_four(path: str) -> None:
    coarse, fine = bucket_keys(16).index(bucket_of(path, 16)), bucket_keys(64).index(bucket_of(path, 64))
    assert fine // 4 == coarse


@pytest.mark.parametrize("count", [1, 2, 8, 16, 64])
def test_buckets_are_ranges_of_path_hashes(count: int) -> None:
    paths = sorted((f"src/module_{number}.py" for number in range(500)), key=path_hash)
    buckets = [bucket_of(path, count) for path in paths]
    assert buckets == sorted(buckets)
    assert set(buckets) == set(bucket_keys(count))


def test_ids_follow_the_path_hash_so_bucket_order_is_id_order() -> None:
    ids = [(path_hash(path), make_id("r", path, "function", "f", 0)) for path in map(str, range(200))]
    assert [item[1] for item in sorted(ids)] == sorted(item[1] for item in ids)


def test_ids_tell_everything_that_names_a_thing_apart() -> None:
    ids = {
        make_id("r", "a.py", "function", "f", 0),
        make_id("s", "a.py", "function", "f", 0),
        make_id("r", "b.py", "function", "f", 0),
        make_id("r", "a.py", "method", "f", 0),
        make_id("r", "a.py", "function", "g", 0),
        make_id("r", "a.py", "function", "f", 1),
        make_id("r", "a.py", "function", "f", 0, part=1),
    }
    assert len(ids) == 7
    assert {len(item) for item in ids} == {16}
