"""Every artifact format of the store: its number, the oldest number that can be read, its history, its columns.

`version` counts layout changes, `revision` counts changes of what is computed from equal inputs; both are part of the
artifact's fingerprint, so bumping either recomputes it. One numbered history line per bump; docs/formats/ has a page
per artifact, and a test compares page and constant.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from pipelines.errors import FormatUnsupported


@dataclass(frozen=True, slots=True)
class Format:
    """One artifact format. `history` has one line per bump of version or revision, newest last."""

    name: str
    version: int
    oldest_readable: int
    revision: int
    history: tuple[str, ...]

    def require_readable(self, found: int, thing: str) -> None:
        """Raise FormatUnsupported, naming `thing`, unless `found` is a version that this release reads."""
        if not self.oldest_readable <= found <= self.version:
            raise FormatUnsupported(thing, found, self.oldest_readable, self.version)


def _first(name: str) -> Format:
    return Format(name, version=1, oldest_readable=1, revision=1, history=("1.1 first format",))


STORE = _first("store")
GENERATION = _first("generation")
SYMBOLS = Format(
    "symbols",
    version=2,
    oldest_readable=2,
    revision=3,
    history=(
        "1.1 first format",
        "2.2 more languages, constants, more kinds of secrets, offsets of the original bytes, `top_byte`",
        "2.3 a definition ends before the comments that are about the next one",
    ),
)
CHUNKS = Format(
    "chunks",
    version=1,
    oldest_readable=1,
    revision=2,
    history=("1.1 first format", "1.2 chunks of more languages, of notebooks and of long constants"),
)
LEXICAL_SEGMENTS = _first("lexical_segments")
CHUNK_VECTORS = Format(
    "chunk_vectors",
    version=1,
    oldest_readable=1,
    revision=2,
    history=("1.1 first format", "1.2 data and settings have no vector"),
)
GRAPH_SNAPSHOT = Format(
    "graph_snapshot",
    version=1,
    oldest_readable=1,
    revision=2,
    history=("1.1 first format", "1.2 calls bound by what is known of their receivers"),
)
DIFFUSED_VECTORS = Format(
    "diffused_vectors",
    version=1,
    oldest_readable=1,
    revision=2,
    history=("1.1 first format", "1.2 shares are multiplied before rows are added up: the last bit may differ"),
)
BINARY_CODES = Format(
    "binary_codes",
    version=2,
    oldest_readable=2,
    revision=1,
    history=("1.1 first format", "2.1 as many bits as are asked for, whatever the width; `bits` and `seed`"),
)
SEARCH_ROWS = _first("search_rows")
EVAL_RUNS = Format(
    "eval_runs",
    version=1,
    oldest_readable=1,
    revision=5,
    history=(
        "1.1 first format",
        "1.2 rows without a vector are ranked by their words in its place",
        "1.3 candidates are ordered by weighed features, and names inside chunks are found",
        "1.4 calls and other spellings are names, and locals declare nothing",
        "1.5 a word that is spelt whole comes before what holds its parts",
    ),
)

#: Version of the JSON documents that the command line and the HTTP API print.
JSON_SCHEMA_VERSION = 1

#: Assets with one artifact per repository and bucket, in build order.
BUCKET_FORMATS = (SYMBOLS, CHUNKS, LEXICAL_SEGMENTS, CHUNK_VECTORS)
#: Assets with one artifact per repository, in build order.
REPOSITORY_FORMATS = (GRAPH_SNAPSHOT, DIFFUSED_VECTORS, BINARY_CODES, SEARCH_ROWS, EVAL_RUNS)
FORMATS: dict[str, Format] = {item.name: item for item in (*BUCKET_FORMATS, *REPOSITORY_FORMATS)}

ID = pa.binary(16)
BLOOM_BYTES = 32


def _schema(**columns: pa.DataType) -> pa.Schema:
    """Columns are not null unless their name ends with `_or_null`, which is then cut off."""
    return pa.schema(
        [
            pa.field(name.removesuffix("_or_null"), kind, nullable=name.endswith("_or_null"))
            for name, kind in columns.items()
        ]
    )


# --- symbols: files.parquet has every listed file of the bucket once, in order of path hash
FILES_TABLE = _schema(
    path=pa.string(),  # relative to the indexed root, '/' separated
    blob_id=pa.string(),  # git's id of the content, as git computes it for a clean file
    size=pa.int64(),  # bytes
    language=pa.string(),  # "" where none is known
    scope=pa.string(),  # "" outside every scope
    content=pa.string(),  # records.Content
    encoding=pa.string(),  # "" for a skipped file; "utf-8", "utf-16-le", "latin-1", ...
    lines=pa.int32(),  # lines, ended by LF or by the end of the file
    error_nodes=pa.int32(),  # syntax errors that the grammar recovered from
    recovered=pa.int32(),  # definitions that an error swallowed and that were parsed alone
    skip_reason_or_null=pa.string(),  # records.SkipReason; null for an indexed file
    skip_detail_or_null=pa.string(),
)
# symbols.parquet: one row per definition, in order of symbol_id
SYMBOLS_TABLE = _schema(
    symbol_id=ID,
    path=pa.string(),
    kind=pa.string(),  # records.SymbolKind
    name=pa.string(),
    qualified_name=pa.string(),  # with its containers inside the file, '.' separated
    ordinal=pa.int32(),  # place among symbols of equal path, kind and qualified name
    start_line=pa.int32(),  # 1-based, inclusive, counting LF only
    end_line=pa.int32(),
    start_byte=pa.int64(),  # offsets into the file's own bytes, whatever its encoding
    end_byte=pa.int64(),
    top_byte=pa.int64(),  # where the comments that document it begin; start_byte if none stands above it
    signature=pa.string(),  # one line, whitespace folded, without the body
    doc=pa.string(),  # docstring or the comment above, markers removed
    is_test=pa.bool_(),
    bloom=pa.binary(BLOOM_BYTES),  # tokens of declaration and body
)
# calls.parquet: one row per call site, in order of path hash, then start_byte
CALLS_TABLE = _schema(
    path=pa.string(),
    caller_or_null=ID,  # innermost function or method around the call; null at module level
    name=pa.string(),  # last part of the callee
    receiver_or_null=pa.string(),  # text before the last part: "self", "store.items", "std"
    line=pa.int32(),
    start_byte=pa.int64(),
)
# imports.parquet: one row per imported name, in order of path hash, then line
IMPORTS_TABLE = _schema(
    path=pa.string(),
    module=pa.string(),  # as written: "./cart", "os.path", "github.com/x/y", "stdio.h"
    name_or_null=pa.string(),  # the imported name; null where the module itself is imported
    alias_or_null=pa.string(),  # the name it has in the file, where it differs
    line=pa.int32(),
)
# typings.parquet: what the source says of types, in order of path hash, then start_byte
TYPINGS_TABLE = _schema(
    path=pa.string(),
    owner_or_null=ID,  # innermost definition around it; null at the top level
    role=pa.string(),  # records.TypingRole
    name=pa.string(),  # variable, parameter or field as written; with a leading "." a field of the own object; or ""
    type=pa.string(),  # as written; of a called value the callee and "()"
    start_byte=pa.int64(),
)
# secrets.parquet: spans that hold a secret; never their text
SECRETS_TABLE = _schema(
    path=pa.string(),
    start_byte=pa.int64(),
    end_byte=pa.int64(),
    start_line=pa.int32(),
    end_line=pa.int32(),
    detector=pa.string(),
)

# --- chunks: in order of chunk_id
CHUNKS_TABLE = _schema(
    chunk_id=ID,
    path=pa.string(),
    language=pa.string(),
    scope=pa.string(),
    kind=pa.string(),  # records.ChunkKind
    name=pa.string(),  # symbol name or heading; "" for a module remainder or a window
    qualified_name=pa.string(),
    symbol_id_or_null=ID,
    part=pa.int32(),  # 0, or 1, 2, .. for the further parts of a unit above the size cap
    start_line=pa.int32(),
    end_line=pa.int32(),
    start_byte=pa.int64(),
    end_byte=pa.int64(),
    signature=pa.string(),
    doc=pa.string(),
    text=pa.large_string(),  # as a reader sees it: CR before LF removed
    code_hash=ID,  # of the normalised text
    is_test=pa.bool_(),
)
# quarantine.parquet: spans left out because they hold a secret; never their text; in order of path hash, then lines
QUARANTINE_TABLE = _schema(path=pa.string(), start_line=pa.int32(), end_line=pa.int32(), detector=pa.string())
# files.parquet: what each indexed file gave, so that an unchanged file is not read again; in order of path hash
CHUNKED_FILES_TABLE = _schema(
    path=pa.string(),
    blob_id=pa.string(),
    language=pa.string(),
    scope=pa.string(),
    content=pa.string(),
    chunks=pa.int32(),
    blank=pa.int32(),  # parts without a visible character, not stored
    secret=pa.int32(),  # parts that hold a secret, not stored
)

# --- lexical_segments: terms.npy uint64 (T, sorted), offsets.npy int64 (T+1), rows.npy uint32, frequencies.npy uint16,
#     lengths.npy uint32 (N). Row numbers are those of the bucket's chunks.
# --- chunk_vectors: vectors.npy float16 (N, D), valid.npy bool (N), embed_keys.npy uint8 (N, 16)
# --- diffused_vectors: vectors.npy float16 (N, D); no file at all where diffusion is off
# --- binary_codes: codes.npy uint8 (N, B/8), rescoring.npy int8 (N, D), scales.npy float32 (N), valid.npy bool (N)

# --- graph_snapshot: nodes and metrics in order of symbol_id over all buckets; indptr.npy int64 (V+1), indices.npy
#     int32 (E), confidence.npy float32 (E), strategy.npy uint8 (E), sites.npy int32 (E): CSR rows are callers.
NODES_TABLE = _schema(symbol_id=ID, path=pa.string(), kind=pa.string(), name=pa.string(), qualified_name=pa.string())
METRICS_TABLE = _schema(
    pagerank=pa.float64(),  # sums to 1 over all nodes
    pagerank_rank=pa.float32(),  # percentile rank among functions and methods, 0 to 1; 0 for other kinds
    component=pa.int32(),  # strongly connected component, numbered by its least node
    blast=pa.int32(),  # distinct transitive callers within the depth limit
    blast_rank=pa.float32(),  # percentile rank among functions and methods, 0 to 1
)

# --- search_rows: rows.arrow and texts.arrow, each one uncompressed record batch, in order of chunk_id over all
#     buckets; names.npy uint64 (K, sorted) and name_rows.npy uint32 (K): hashes of folded names and qualified names.
_LABEL = pa.dictionary(pa.int32(), pa.string())
ROWS_TABLE = _schema(
    chunk_id=ID,
    path=_LABEL,
    language=_LABEL,
    scope=_LABEL,
    kind=_LABEL,
    name=pa.string(),
    qualified_name=pa.string(),
    signature=pa.string(),
    part=pa.int32(),
    start_line=pa.int32(),
    end_line=pa.int32(),
    is_test=pa.bool_(),
    node=pa.int32(),  # row of graph_snapshot, -1 without a symbol
    pagerank_rank=pa.float32(),
    blast_rank=pa.float32(),
    bloom=pa.binary(BLOOM_BYTES),
)
TEXTS_TABLE = _schema(text=pa.large_string())

# --- eval_runs: metrics.parquet
EVAL_TABLE = _schema(
    fixture=pa.string(),  # "known-items" (drawn from the repository itself) or the name of a judgment file
    case_kind=pa.string(),
    mode=pa.string(),  # records.SearchMode
    cases=pa.int32(),
    hit_at_1=pa.float64(),
    hit_at_3=pa.float64(),
    mrr_at_10=pa.float64(),
    ndcg_at_10=pa.float64(),
)
