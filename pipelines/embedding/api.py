"""The `api` encoder: vectors from a service that speaks OpenAI's embeddings protocol, if the user asks for it.

In: texts, in batches of bounded number and size. Out: unit vectors, cut to the wanted width. What a run would send is
counted first, so that it can be agreed to. The key is asked for when it is needed and kept nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pipelines.artifacts import Target
from pipelines.embedding.api_client import EmbeddingsClient, KeyOf, Patience
from pipelines.embedding.pending import pending_texts
from pipelines.embedding.recipe import RECIPE, compose_query
from pipelines.endpoint import Endpoint
from pipelines.errors import EncoderUnavailable
from pipelines.fingerprint import fingerprint
from pipelines.records import Estimate
from pipelines.settings import EmbedderSettings
from pipelines.store import ArtifactStore

_REVISION = 1
#: A longer text is cut off, and counted. No byte-level tokenizer makes more tokens than bytes, and the usual models
#: read 8,191 tokens and refuse what is longer.
_TEXT_BYTES = 8_000
#: Texts and bytes of one request. OpenAI takes 2,048 texts and 300,000 tokens; smaller services take less.
_BATCH_TEXTS, _BATCH_BYTES = 128, 250_000
#: Bytes that make a token, in the estimate: words of code and English have four to five.
_TOKEN_BYTES = 4
_QUERY_PATIENCE = Patience(attempts=3, request_s=10.0, total_s=15.0)


class ApiEncoder:
    """Vectors of one model of one service. `truncated` counts the texts that were longer than are sent."""

    name = "api"

    def __init__(self, settings: EmbedderSettings, key_of: KeyOf, patience: Patience | None = None) -> None:
        """Take the address; nothing is sent, and no key asked for, before the first text."""
        self._endpoint = Endpoint.parse(settings.url)
        self._model = settings.model
        self._price = settings.price
        self._key_of = key_of
        self._client = EmbeddingsClient(self._endpoint, settings.model, key_of)
        self._patience = patience or Patience()
        self._width = 0
        self.dimensions = settings.dimensions
        self.truncated = 0

    @cached_property
    def digest(self) -> str:
        """Fingerprint of address, model, width, and how a text is made and cut."""
        parts = [self.name, _REVISION, RECIPE, str(self._endpoint), self._model, self.dimensions, _TEXT_BYTES]
        return fingerprint(parts)

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return (len(texts), dimensions) unit vectors; a zero row for a blank text, which is not sent.

        :raises EncoderUnavailable: if the service cannot be used. :raises SettingsError: if it may not be.
        """
        return self._encode(texts, self._patience)

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        """Return the (dimensions,) vector of a question."""
        vector: npt.NDArray[np.float32] = self._encode([compose_query(text)], _QUERY_PATIENCE)[0]
        return vector

    def estimate(self, store: ArtifactStore, targets: Sequence[Target]) -> Estimate:
        """Return what encoding the chunks of some chunk_vectors would send, without what is known already.

        :raises SettingsError: if texts may not be sent there.
        """
        self._key_of(self._endpoint)
        count = tokens = 0
        for text in pending_texts(store, targets, self):
            count += 1
            tokens += -(-len(_cut(text)) // _TOKEN_BYTES)
        return Estimate(count, tokens, self._price * tokens / 1e6, self._endpoint.authority)

    def _encode(self, texts: Sequence[str], patience: Patience) -> npt.NDArray[np.float32]:
        result = np.zeros((len(texts), self.dimensions), np.float32)
        for rows, batch in self._batches(texts):
            vectors = self._client.embed(batch, patience)
            self._require_width(vectors.shape[1])
            kept = vectors[:, : self.dimensions]
            lengths = np.sqrt((kept * kept).sum(axis=1, keepdims=True))
            result[rows] = kept / np.where(lengths > 0, lengths, 1)
        return result

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], list[str]]]:
        """Yield the rows and texts of each request, in order."""
        rows: list[int] = []
        batch: list[str] = []
        size = 0
        for row, text in enumerate(texts):
            if not text.strip():
                continue
            sent = _cut(text)
            self.truncated += len(sent) < len(text.encode("utf-8", "replace"))
            if rows and (len(rows) == _BATCH_TEXTS or size + len(sent) > _BATCH_BYTES):
                yield rows, batch
                rows, batch, size = [], [], 0
            rows.append(row)
            batch.append(sent.decode("utf-8", "ignore"))  # a letter that was cut in two is left out
            size += len(sent)
        if rows:
            yield rows, batch

    def _require_width(self, width: int) -> None:
        """Refuse vectors that are too narrow, or of another width than those before: the model was changed."""
        if width < self.dimensions or self._width not in (0, width):
            wanted = f"{self._width}" if self._width else f"at least {self.dimensions}"
            raise EncoderUnavailable(
                f"the embeddings service {self._endpoint} gives vectors of {width} numbers, not {wanted}",
                hint=f"set embedder.dimensions to at most {width}",
            )
        self._width = width


def _cut(text: str) -> bytes:
    return text.encode("utf-8", "replace")[:_TEXT_BYTES]
