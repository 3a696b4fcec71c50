"""A large index of synthetic rows on real code. In: an index, a number of rows. Out: a generation in another store.

Copy 0 of a file is the file; every further copy has another path, other ids, its own name for each definition, in its
text too, and a code of which an eighth of the bits are turned. So words, lengths and distances are those of real code,
and the vocabulary grows with the rows, as it does in real repositories. Chunks, postings and rows are written by the
stages of a build; what only expansion reads, the calls, is left out. Equal arguments give equal bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipelines import formats
from pipelines.artifacts import WHOLE, ArtifactRef, ArtifactWriter, Target
from pipelines.chunking import build_segment
from pipelines.fingerprint import fingerprint
from pipelines.generation import GenerationDocument
from pipelines.identity import DEFAULT_BUCKETS, bucket_keys, bucket_of, path_hash
from pipelines.plan import generation_id
from pipelines.progress import Silent
from pipelines.report import StageReport
from pipelines.retrieval import Generation
from pipelines.serving.rows import build_search_rows
from pipelines.stage import run_stage
from pipelines.store import ArtifactStore

SEED = 5
#: Rows of codes that are turned at a time.
_BLOCK_ROWS = 65_536
_LETTERS = "bcdfghjklmnpqrstvwxz"


@dataclass(frozen=True)
class Made:
    """Which rows of the base each row is a copy of, and the number of the copy, in row order."""

    rows: npt.NDArray[np.int64]
    copies: npt.NDArray[np.int64]


def make_index(base_store: ArtifactStore, base: Generation, store: ArtifactStore, repo: str, count: int) -> str:
    """Make a generation of at least `count` rows, and of hardly more, in another store and return its id.

    :param base: an open generation with its chunks in `base_store`.
    """
    store.initialise()
    maker = _Maker(base_store, base, store, repo, count)
    document = maker.make()
    store.write_generation(repo, document.generation, document.as_json())
    return document.generation


class _Maker:
    def __init__(
        self, base_store: ArtifactStore, base: Generation, store: ArtifactStore, repo: str, count: int
    ) -> None:
        self.base, self.store, self.repo = base, store, repo
        self.seed = fingerprint([base.document.generation, repo, count, SEED])
        parts = [base_store.open(ref).table("chunks.parquet") for ref in base.document.buckets(formats.CHUNKS.name)]
        self.chunks = pa.concat_tables(parts).cast(formats.CHUNKS_TABLE)
        self.files = _files(base, count)

    def make(self) -> GenerationDocument:
        chunks, segments, symbols, made = [], [], [], []
        for bucket in bucket_keys(DEFAULT_BUCKETS):
            table, rows = self._bucket(self.files.get(bucket, []))
            chunks.append(self._written("chunks", bucket, {"chunks.parquet": table}))
            symbols.append(self._written("symbols", bucket, {"symbols.parquet": self._symbols(table, rows)}))
            segment = self._target("lexical_segments", bucket, chunks[-1])
            build_segment(self.store, segment)
            segments.append(segment.ref)
            made.append(rows)
        whole = Made(*(np.concatenate([getattr(item, name) for item in made]) for name in ("rows", "copies")))
        graph, codes = self._graph(whole, symbols), self._codes(whole)
        self.chunks = self.chunks.slice(0, 0)  # what follows needs the memory
        rows_target = self._target("search_rows", WHOLE, *chunks, *symbols, graph)
        build_search_rows(self.store, rows_target, Silent())
        for ref in (*chunks, *symbols):
            self.store.discard(ref)  # no search reads them
        refs = tuple(sorted([*segments, graph, codes, rows_target.ref]))
        named = generation_id(self.repo, [graph, codes, rows_target.ref])
        return GenerationDocument(self.repo, named, self.base.document.encoder, refs)

    def _bucket(self, files: Sequence[tuple[str, int, npt.NDArray[np.int64]]]) -> tuple[pa.Table, Made]:
        """Return the chunks of the copies of some files, in order of their ids."""
        rows = np.concatenate([[], *(item for _, _, item in files)]).astype(np.int64)
        copies = np.concatenate([[], *(np.full(len(item), copy) for _, copy, item in files)]).astype(np.int64)
        paths = [path for path, _, item in files for _ in range(len(item))]
        table = self.chunks.take(pa.array(rows))
        columns: dict[str, Any] = {name: table[name] for name in table.column_names}
        columns["path"] = pa.array(paths, pa.string())
        for name in ("chunk_id", "symbol_id"):
            columns[name] = pa.array(
                [_copied_id(*item) for item in zip(table[name].to_pylist(), paths, copies.tolist(), strict=True)],
                formats.ID,
            )
        named = [_renamed(*item) for item in zip(*(table[n].to_pylist() for n in _NAMED), copies.tolist(), strict=True)]
        for place, name in enumerate(_NAMED):
            columns[name] = pa.array([item[place] for item in named], formats.CHUNKS_TABLE.field(name).type)
        order = pc.sort_indices(columns["chunk_id"])
        made = Made(*(values[order.to_numpy()] for values in (rows, copies)))
        return pa.table(columns, formats.CHUNKS_TABLE).take(order), made

    def _symbols(self, chunks: pa.Table, made: Made) -> pa.Table:
        first = pc.and_(pc.is_valid(chunks["symbol_id"]), pc.equal(chunks["part"], 0))
        blooms = self.base.rows.blooms[made.rows[np.flatnonzero(first.to_numpy())]]
        column = pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(formats.BLOOM_BYTES), len(blooms), [None, pa.py_buffer(np.ascontiguousarray(blooms))]
        )
        return pa.table({"symbol_id": chunks["symbol_id"].filter(first).combine_chunks(), "bloom": column})

    def _graph(self, made: Made, symbols: Sequence[ArtifactRef]) -> ArtifactRef:
        """Write nodes with the ranks of what they are copies of, and no edge."""
        ids = [self.store.open(ref).table("symbols.parquet", ["symbol_id"]) for ref in symbols]
        nodes = pa.concat_tables(ids).combine_chunks()
        base = self.base.rows.numbers
        first = (base["node"][made.rows] >= 0) & (base["part"][made.rows] == 0)
        ranks = {name: base[name][made.rows[first]] for name in ("pagerank_rank", "blast_rank")}
        arrays: dict[str, npt.NDArray[Any]] = {
            "indptr": np.zeros(len(nodes) + 1, np.int64),
            "indices": np.zeros(0, np.int32),
            "confidence": np.zeros(0, np.float32),
            "strategy": np.zeros(0, np.uint8),
        }
        tables = {"nodes.parquet": nodes, "metrics.parquet": pa.table(ranks)}
        return self._written("graph_snapshot", WHOLE, tables, arrays)

    def _codes(self, made: Made) -> ArtifactRef:
        """Write the codes, int8 rows, scales and flags; what is turned of a copy's code is turned in its row too."""
        base, target = self.base.codes, self._target("binary_codes", WHOLE)
        count, width = len(made.rows), base.rescoring.shape[1]
        draw = np.random.default_rng(SEED)

        def work(writer: ArtifactWriter, report: StageReport) -> None:
            codes = []
            with writer.array_parts("rescoring.npy", (count, width), np.int8) as append:
                for start in range(0, count, _BLOCK_ROWS):
                    rows, copies = (item[start : start + _BLOCK_ROWS] for item in (made.rows, made.copies))
                    turned = draw.integers(0, 8, (len(rows), base.codes.shape[1] * 8), dtype=np.uint8) == 0
                    turned[copies == 0] = False
                    codes.append(base.codes[rows] ^ np.packbits(turned, axis=1, bitorder="little"))
                    append(np.where(turned[:, :width], -base.rescoring[rows], base.rescoring[rows]))
            writer.array("codes.npy", np.concatenate(codes))
            writer.array("scales.npy", base.scales[made.rows])
            writer.array("valid.npy", base.valid[made.rows])
            bits = self.base.bit_map
            encoder = {name: getattr(self.base.document.encoder, name) for name in ("name", "digest", "dimensions")}
            writer.facts |= {"encoder": encoder, "dimensions": width, "bits": bits.bits, "seed": bits.seed}
            report.rows = count

        run_stage(self.store, target, work)
        return target.ref

    def _target(self, asset: str, bucket: str, *inputs: ArtifactRef) -> Target:
        return Target(ArtifactRef(self.repo, asset, bucket, fingerprint([self.seed, asset, bucket])), "recipe", inputs)

    def _written(
        self,
        asset: str,
        bucket: str,
        tables: Mapping[str, pa.Table],
        arrays: Mapping[str, npt.NDArray[Any]] | None = None,
    ) -> ArtifactRef:
        target = self._target(asset, bucket)

        def work(writer: ArtifactWriter, report: StageReport) -> None:
            for name, table in tables.items():
                writer.table(name, table, table.schema)
                report.rows = table.num_rows
            for name, values in (arrays or {}).items():
                writer.array(f"{name}.npy", values)

        run_stage(self.store, target, work)
        return target.ref


_NAMED = ("name", "qualified_name", "signature", "text")


def _files(base: Generation, count: int) -> dict[str, list[tuple[str, int, npt.NDArray[np.int64]]]]:
    """Return, by bucket, the new path, the number of the copy and the base's rows of each file, `count` rows in all."""
    codes = base.rows.labels["path"].codes
    order = np.argsort(codes, kind="stable")
    bounds = np.searchsorted(codes[order], np.arange(codes.max() + 2))
    found: dict[str, list[tuple[str, int, npt.NDArray[np.int64]]]] = {}
    left = count
    for copy, number in _places(len(bounds) - 1):
        rows = order[bounds[number] : bounds[number + 1]]
        path = _copied_path(base.rows.labels["path"].value(number), copy)
        found.setdefault(bucket_of(path, DEFAULT_BUCKETS), []).append((path, copy, rows))
        left -= len(rows)
        if left <= 0:
            break
    return found


def _places(files: int) -> Iterator[tuple[int, int]]:
    """Yield copy and file without end, each copy of all files after the one before, in an order drawn by the seed."""
    order = np.random.default_rng(SEED).permutation(files).tolist()
    copy = 0
    while True:
        yield from ((copy, number) for number in order)
        copy += 1


def _copied_path(path: str, copy: int) -> str:
    return f"{_suffix(copy)}/{path}" if copy else path


def _copied_id(value: bytes | None, path: str, copy: int) -> bytes | None:
    if value is None or not copy:
        return value
    return path_hash(path)[:4] + hashlib.blake2b(value + bytes([copy]), digest_size=12).digest()


def _renamed(name: str, qualified: str, signature: str, text: str, copy: int) -> tuple[str, str, str, str]:
    """Return names and text in which the definition has the name that it has in this copy."""
    if not copy or not name.isidentifier():
        return name, qualified, signature, text
    new = name + _suffix(copy)
    return new, qualified.removesuffix(name) + new, signature.replace(name, new), text.replace(name, new)


def _suffix(copy: int) -> str:
    """Return three letters for a copy: no word of their own at the end of an identifier."""
    return "".join(_LETTERS[copy * step % len(_LETTERS)] for step in (1, 3, 7))
