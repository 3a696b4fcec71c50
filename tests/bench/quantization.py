"""The Hamming pool over 1.86M codes against faiss alone: python -m tests.bench.quantization."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import faiss
import numpy as np

from pipelines.quantization import hamming_pool, rescore
from pipelines.quantization.pool import scan_codes
from tests.bench.measure import interleaved, peak_mb, show


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_860_000)
    parser.add_argument("--bits", type=int, default=256)
    parser.add_argument("--pool", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=25)
    options = parser.parse_args()
    faiss.omp_set_num_threads(1)
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "codes.npy"
        np.save(path, rng.integers(0, 256, (options.rows, options.bits // 8), dtype=np.uint8))
        codes = np.load(path, mmap_mode="r")
        query = rng.integers(0, 256, options.bits // 8, dtype=np.uint8)
        valid = rng.random(options.rows) < 0.999
        half = np.flatnonzero(rng.random(options.rows) < 0.5)
        rescoring = rng.integers(-127, 128, (options.rows, options.bits), dtype=np.int8)
        scales = np.ones(options.rows, np.float32)
        vector = rng.standard_normal(options.bits).astype(np.float32)
        pool = hamming_pool(codes, query, options.pool)[0]
        best = interleaved(
            {
                "faiss": lambda: faiss.knn_hamming(query[None, :], codes, options.pool),
                "pool": lambda: hamming_pool(codes, query, options.pool),
                "pool_valid": lambda: hamming_pool(codes, query, options.pool, valid=valid),
                "pool_half_of_the_rows": lambda: hamming_pool(codes, query, options.pool, rows=half),
                "numpy": lambda: scan_codes(codes, query, options.pool),
                "rescore": lambda: rescore(rescoring, scales, pool, vector),
            },
            options.rounds,
        )
    show({"milliseconds": best, "pool_to_faiss": round(best["pool"] / best["faiss"], 3), "peak_mb": peak_mb()})


if __name__ == "__main__":
    main()
