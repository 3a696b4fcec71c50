"""The Hamming pool against faiss alone, opening by memory map, and what bits, widths and scorings find. A command.

    python -m tests.bench.quantization [--rows 1860000] [--bits 256] [--pool 256] [--rounds 25]
                                       [--pairs PAIRS --language python --functions 20000 --questions 1000]
                                       [--json RESULT]

Speed is taken over random codes that lie in a file. "open" maps the four arrays of binary_codes anew, takes a pool and
scores it, as the first query does: with the files in memory ("warm"), and after they were dropped from it ("cold").

PAIRS is what `tests.bench.held_out` took; questions and functions are those of `tests.bench.encoders`, names kept. Each
way of ranking is asked of the bundled encoder's vectors; what a way finds less or more than the default, with an
interval, stands beside it. "pool" ways order a Hamming pool of POOL rows, as a query does; "all" ways order every row.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import numpy.typing as npt

from pipelines.embedding import make_encoder
from pipelines.quantization import BitMap, asymmetric_scores, hamming_pool, rescore
from pipelines.quantization.pool import scan_codes
from pipelines.quantization.rescoring import to_int8
from pipelines.settings import EmbedderSettings
from resources.bundled import encoder_folder
from tests.bench.encoders import make_task, read_pairs
from tests.bench.measure import circumstances, interleaved, peak_mb, show
from tests.bench.ranking import BATCH, POOL, Places, Scores, Task, difference, figures, places

WIDTHS = (64, 128, 256, 512, 1024)
DEFAULT = "256 bits, pool, int8"
#: Times that the files are opened cold.
_COLD = 5


def speed(options: argparse.Namespace) -> dict[str, Any]:
    """Return what the steps of a query take, and opening with the first query."""
    rng = np.random.default_rng(1)
    rows, width = options.rows, options.bits // 8
    query = rng.integers(0, 256, width, dtype=np.uint8)
    vector = rng.standard_normal(options.bits).astype(np.float32)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "codes.npy", rng.integers(0, 256, (rows, width), dtype=np.uint8))
        np.save(folder / "rescoring.npy", rng.integers(-127, 128, (rows, options.bits), dtype=np.int8))
        np.save(folder / "scales.npy", np.ones(rows, np.float32))
        np.save(folder / "valid.npy", rng.random(rows) < 0.999)

        def first_query() -> None:
            codes, rescoring, scales, valid = _open(folder)
            near = hamming_pool(codes, query, options.pool, valid=valid)[0]
            rescore(rescoring, scales, near, vector)

        best = _steps(folder, query, vector, options)
        best |= {"open_and_first_query_warm": interleaved({"warm": first_query}, options.rounds)["warm"]}
        best |= {"open_and_first_query_cold": min(_cold(folder, first_query) for _ in range(_COLD))}
    return {
        "rows": rows,
        "bits": options.bits,
        "pool": options.pool,
        "milliseconds": best,
        "pool_to_faiss": round(best["pool"] / best["faiss"], 3),
        "pool_valid_to_faiss": round(best["pool_valid"] / best["faiss"], 3),
        "peak_mb": peak_mb(),
    }


def _steps(
    folder: Path, query: npt.NDArray[np.uint8], vector: npt.NDArray[np.float32], options: argparse.Namespace
) -> dict[str, float]:
    """Take the steps in turns; the files are unmapped afterwards, so that they can be dropped from memory."""
    faiss.omp_set_num_threads(1)
    codes, rescoring, scales, valid = _open(folder)
    half = np.flatnonzero(np.random.default_rng(2).random(len(codes)) < 0.5)
    pool = hamming_pool(codes, query, options.pool)[0]
    return interleaved(
        {
            "faiss": lambda: faiss.knn_hamming(query[None, :], codes, options.pool),
            "pool": lambda: hamming_pool(codes, query, options.pool),
            "pool_valid": lambda: hamming_pool(codes, query, options.pool, valid=valid),
            "pool_half_of_the_rows": lambda: hamming_pool(codes, query, options.pool, rows=half),
            "numpy": lambda: scan_codes(codes, query, options.pool),
            "rescore": lambda: rescore(rescoring, scales, pool, vector),
            "asymmetric": lambda: asymmetric_scores(codes, pool, vector),
        },
        options.rounds,
    )


def _open(folder: Path) -> list[npt.NDArray[Any]]:
    return [np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("codes", "rescoring", "scales", "valid")]


def _cold(folder: Path, run: Callable[[], None]) -> float:
    """Return the milliseconds of a run whose files the system has just dropped from memory."""
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return interleaved({"cold": run}, 1)["cold"]


# --- what is found ---


def relevance(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of every way, each compared with the default."""
    task = make_task(read_pairs(options.pairs, options.language), options.functions, options.questions, names=True)
    found: dict[str, Places] = {}
    for name, scores in _ways(task).items():
        found[name] = places(task, scores)
        sys.stderr.write(f"{name:28} {figures(found[name])}\n")
    return {
        "language": options.language,
        "functions": len(task.texts),
        "questions": len(task.questions),
        "ways": {
            name: {**figures(place), "to_default": difference(place, found[DEFAULT])} for name, place in found.items()
        },
    }


def _ways(task: Task) -> Mapping[str, Scores]:
    encoder = make_encoder(EmbedderSettings(), encoder_folder())
    starts = range(0, len(task.texts), BATCH)
    texts = np.concatenate([encoder.encode(task.texts[start : start + BATCH]) for start in starts])
    questions = np.stack([encoder.encode_query(question) for question in task.questions])
    ways: dict[str, Scores] = {"float, all": lambda start, end: questions[start:end] @ texts.T}
    for bits in WIDTHS:
        ways |= {f"{bits} bits, {name}": scores for name, scores in _of_width(texts, questions, bits).items()}
    return ways


def _of_width(texts: npt.NDArray[np.float32], questions: npt.NDArray[np.float32], bits: int) -> dict[str, Scores]:
    bit_map = BitMap(texts.shape[1], bits, 0)
    codes, values, asked = bit_map.codes(texts), bit_map.values(questions), bit_map.codes(questions)
    rows, scales = to_int8(texts)
    signs = np.where(bit_map.values(texts) > 0, np.int8(1), np.int8(-1))

    def in_pool(score: Callable[[int, npt.NDArray[np.int64]], npt.NDArray[np.float32]]) -> Scores:
        def scores(start: int, end: int) -> npt.NDArray[np.float32]:
            found = np.full((end - start, len(texts)), -2, np.float32)
            for place in range(start, end):
                near, _ = hamming_pool(codes, asked[place], POOL)
                found[place - start, near] = score(place, near)
            return found

        return scores

    return {
        "all, Hamming": lambda start, end: np.sign(values[start:end]) @ signs.T.astype(np.float32),
        "all, asymmetric": lambda start, end: values[start:end] @ signs.T.astype(np.float32),
        "pool, asymmetric": in_pool(lambda place, near: asymmetric_scores(codes, near, values[place])),
        "pool, int8": in_pool(lambda place, near: rescore(rows, scales, near, questions[place])),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_860_000)
    parser.add_argument("--bits", type=int, default=256)
    parser.add_argument("--pool", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--pairs", type=Path)
    parser.add_argument("--language", default="python")
    parser.add_argument("--functions", type=int, default=20_000)
    parser.add_argument("--questions", type=int, default=1_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found: dict[str, Any] = {"speed": speed(options)}
    if options.pairs:
        found["relevance"] = relevance(options)
    show(found)
    if options.json:
        result = {"method": (__doc__ or "").strip(), **circumstances(), "figures": found}
        options.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
