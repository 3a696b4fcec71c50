"""The Hamming pool: faiss and numpy, compared with sorting all distances."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.quantization import hamming_pool
from pipelines.quantization.pool import nearest_codes, scan_codes

Codes = npt.NDArray[np.uint8]


def make_codes(seed: int, count: int, width: int, levels: int = 256) -> Codes:
    """Few levels make many equal codes and distances."""
    return np.random.default_rng(seed).integers(0, levels, (count, width), dtype=np.uint8)


def full_sort(codes: Codes, query: Codes, size: int) -> tuple[list[int], list[int]]:
    distances = np.unpackbits(codes ^ query, axis=1).sum(axis=1).tolist()
    rows = sorted(range(len(codes)), key=lambda row: (distances[row], row))[:size]
    return rows, [distances[row] for row in rows]


def as_lists(pool: tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]) -> tuple[list[int], list[int]]:
    rows, distances = pool
    assert [str(item.dtype) for item in pool] == ["int64", "int32"]
    return rows.tolist(), distances.tolist()


cases = st.tuples(
    st.integers(0, 10_000),
    st.integers(0, 400),
    st.sampled_from([1, 2, 3, 4, 8, 9, 16, 31, 32, 64, 104, 128]),
    st.sampled_from([2, 256]),
)


@given(cases, st.integers(0, 500))
def test_both_scans_equal_a_full_sort(case: tuple[int, int, int, int], size: int) -> None:
    codes = make_codes(*case)
    query = make_codes(case[0] + 1, 1, case[2], case[3])[0]
    expected = full_sort(codes, query, size)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pipelines.quantization.pool._FAISS_FROM_ROWS", 0)
        assert as_lists(nearest_codes(codes, query, size)) == expected
    if size and len(codes):
        assert as_lists(scan_codes(codes, query, min(size, len(codes)))) == expected


@given(cases, st.integers(1, 500))
def test_only_eligible_and_valid_rows_match(case: tuple[int, int, int, int], size: int) -> None:
    codes = make_codes(*case)
    query = make_codes(case[0] + 1, 1, case[2], case[3])[0]
    rng = np.random.default_rng(case[0])
    valid = rng.random(len(codes)) < 0.8
    rows = np.flatnonzero(rng.random(len(codes)) < 0.5)
    for eligible, pool in (
        (np.flatnonzero(valid), hamming_pool(codes, query, size, valid=valid)),
        (rows, hamming_pool(codes, query, size, rows=rows)),
        (rows[valid[rows]], hamming_pool(codes, query, size, valid=valid, rows=rows)),
    ):
        places, distances = full_sort(codes[eligible], query, size)
        assert as_lists(pool) == (eligible[places].tolist(), distances)


def test_many_ties_over_several_blocks_go_to_the_smaller_rows() -> None:
    codes = np.zeros((200_000, 32), np.uint8)
    codes[:100, 0] = 1
    query = np.zeros(32, np.uint8)
    expected = (list(range(100, 356)), [0] * 256)
    assert as_lists(hamming_pool(codes, query, 256)) == expected
    assert as_lists(scan_codes(codes, query, 256)) == expected


def test_codes_that_are_all_invalid_give_an_empty_pool() -> None:
    codes = make_codes(1, 10, 4)
    assert as_lists(hamming_pool(codes, codes[0], 5, valid=np.zeros(10, bool))) == ([], [])
    assert as_lists(hamming_pool(codes, codes[0], 5, rows=np.empty(0, np.int64))) == ([], [])


def test_a_memory_map_is_searched_where_it_is(tmp_path: Path) -> None:
    codes = make_codes(2, 1_000, 32)
    np.save(tmp_path / "codes.npy", codes)
    mapped = np.load(tmp_path / "codes.npy", mmap_mode="r")
    assert as_lists(hamming_pool(mapped, codes[7], 9)) == full_sort(codes, codes[7], 9)


def test_without_faiss_the_pool_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = make_codes(3, 70_000, 32, levels=2)
    expected = as_lists(hamming_pool(codes, codes[0], 64))
    monkeypatch.setattr("pipelines.quantization.pool._faiss", lambda: None)
    assert as_lists(hamming_pool(codes, codes[0], 64)) == expected


def test_every_calling_thread_scans_alone() -> None:
    """OpenMP keeps the number of threads for each thread; two that spin cost a server fifty times the scan."""
    faiss = pytest.importorskip("faiss")
    codes = make_codes(1, 70_000, 32)

    def scan() -> int:
        nearest_codes(codes, codes[0], 3)
        return int(faiss.omp_get_max_threads())

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda _: scan(), range(4))) == [1, 1, 1, 1]
