"""The `vocab` encoder: token vectors drawn from hashes, weighted by how rare a token is. It needs no model file.

In: texts, and a table of document frequencies (data/encoder/vocab-idf.tsv.gz, made by
pipelines/training/document_frequency.py). Every token has a weight: one that the table lacks is as rare as the rarest
that it has, so identifiers of a project's own count most and `return` hardly at all.
"""

from __future__ import annotations

import gzip
import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipelines.embedding.accumulate import accumulate
from pipelines.embedding.recipe import RECIPE, compose_query, fields
from pipelines.embedding.stems import STEMS_VERSION, features
from pipelines.errors import EncoderError
from pipelines.fingerprint import fingerprint
from pipelines.tokens import MAX_WORD_CHARS, words

TABLE_NAME = "vocab-idf.tsv.gz"
#: Raised when anything below changes a vector.
_REVISION = 1
#: Power of log(1 / share) in a weight. Text and question are both weighted, so their product weighs each token by its
#: inverse document frequency once. MRR@10 over 30,569 Python functions (data/README.md), 256 numbers / bits: power
#: 0.5 .242 / .151, 0.75 .228 / .155, 1 .211 / .145, 1.5 .170 / .117; without weights (the hash encoder) .110 / .055.
_IDF_EXPONENT = 0.5
#: Weights are whole numbers in these units, so that sums are exact; steps of 1 to 2 per cent are far below the noise.
_IDF_UNITS = 64
_COUNT_UNITS = 64
#: A token that occurs more often than this in one text counts as this often.
_MAX_COUNT = 255
#: A word of the name counts so often more. One, three, five and eight times are a tie on Python functions (.226 to .229
#: MRR@10); containers and path words, once each, are worth .016.
_NAME_COUNT = 3
_COUNT_WEIGHTS = tuple(round(_COUNT_UNITS * math.log1p(count)) for count in range(_MAX_COUNT + 1))


class VocabEncoder:
    """IDF-weighted, accumulated token vectors: log(1 + count) * idf(token) * signs(token), scaled to length 1."""

    name = "vocab"

    def __init__(self, table: Path, dimensions: int) -> None:
        """Take the table's place; it is read on first use.

        :raises EncoderError: if there is no such file.
        """
        if not table.is_file():
            raise EncoderError(f"the vocab encoder has no table {table}", hint="reinstall codestrata")
        self._table = table
        self.dimensions = dimensions

    @cached_property
    def digest(self) -> str:
        """Fingerprint of the table, the rules of this module and of the text."""
        table = hashlib.blake2b(self._table.read_bytes(), digest_size=16).hexdigest()
        return fingerprint([self.name, _REVISION, STEMS_VERSION, RECIPE, self.dimensions, table])

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return (len(texts), dimensions) unit vectors; a zero row for a text without a word."""
        return accumulate([self._weigh(text) for text in texts], self._signs, self.dimensions)

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        """Return the (dimensions,) vector of a question."""
        vector: npt.NDArray[np.float32] = self.encode([compose_query(text)])[0]
        return vector

    def _weigh(self, text: str) -> dict[str, int]:
        weights, rarest = self._weights
        name, place, body = fields(text)
        counts: dict[str, int] = {}
        for piece, count in Counter(f"{place} {body}".split() + name.split() * _NAME_COUNT).items():
            for feature in _features_of(piece) if len(piece) <= MAX_WORD_CHARS else _features_of.__wrapped__(piece):
                counts[feature] = counts.get(feature, 0) + count
        return {
            token: weights.get(token, rarest) * _COUNT_WEIGHTS[min(count, _MAX_COUNT)]
            for token, count in counts.items()
        }

    def _signs(self, tokens: Sequence[str]) -> npt.NDArray[np.int8]:
        width = self.dimensions // 8
        drawn = b"".join(_draw(token, width) for token in tokens)
        bits = np.unpackbits(np.frombuffer(drawn, np.uint8).reshape(len(tokens), width), axis=1, bitorder="little")
        return bits.view(np.int8) * np.int8(2) - np.int8(1)

    @cached_property
    def _weights(self) -> tuple[Mapping[str, int], int]:
        weights = {token: _idf(share) for token, share in read_table(self._table).items()}
        return weights, max(weights.values())


@lru_cache(maxsize=1 << 17)
def _features_of(piece: str) -> tuple[str, ...]:
    """Return the features of a run of text without white space: in a composed text, of one word."""
    return tuple(feature for word in words(piece) for feature in features(word))


@lru_cache(maxsize=1 << 17)
def _draw(token: str, width: int) -> bytes:
    """Return the bits of a token's vector: SHAKE-128 of the token, as wide as they are wanted."""
    return hashlib.shake_128(token.encode("utf-8", "surrogatepass")).digest(width)


def _idf(share: float) -> int:
    return max(1, round(_IDF_UNITS * math.pow(math.log(1 / share), _IDF_EXPONENT)))


def read_table(path: Path) -> dict[str, float]:
    """Read a table of document frequencies: the share of documents, above 0 and up to 1, by token.

    :raises EncoderError: if it is damaged, or made by other rules of what a token is.
    """
    try:
        header, *lines = gzip.decompress(path.read_bytes()).decode("utf-8").splitlines()
        stems, unit = (int(part) for part in header.split("\t"))
        rows = (line.split("\t") for line in lines)
        table = {token: int(documents) / unit for token, documents in rows}
    except (OSError, EOFError, ValueError) as error:
        raise EncoderError(f"the table {path} cannot be read: {error}", hint="reinstall codestrata") from error
    if stems != STEMS_VERSION or not table:
        raise EncoderError(f"the table {path} is of version {stems}, not {STEMS_VERSION}", hint="reinstall codestrata")
    return table


def write_table(shares: Mapping[str, float], unit: int) -> bytes:
    """Return the bytes of a table: tokens in order of share, then name; shares in `unit`ths, one at least."""
    ordered = sorted(shares.items(), key=lambda item: (-item[1], item[0]))
    lines = [f"{STEMS_VERSION}\t{unit}", *(f"{token}\t{max(1, round(share * unit))}" for token, share in ordered)]
    return gzip.compress("\n".join(lines).encode("utf-8"), compresslevel=9, mtime=0)
