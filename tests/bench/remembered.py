"""An encoder that has been asked before: vectors of texts are kept in a folder, for encoders that take hours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipelines.fingerprint import digest_bytes
from pipelines.records import Encoder

#: Texts that are encoded between two writes.
BATCH = 256
_QUESTION = b"question"
Encode = Callable[[Sequence[str]], npt.NDArray[np.float32]]


class Remembered:
    """Gives what `encoder` gives; each distinct text is encoded once, whatever happens in between."""

    def __init__(self, encoder: Encoder, folder: Path) -> None:
        """Take the folder of all encoders' vectors; those of this one are read."""
        self.name, self.dimensions, self.digest = encoder.name, encoder.dimensions, encoder.digest
        self._encoder = encoder
        self._folder = folder / encoder.digest
        self._folder.mkdir(parents=True, exist_ok=True)
        self._known: dict[bytes, npt.NDArray[np.float32]] = {}
        for path in sorted(self._folder.glob("*.npz")):
            with np.load(path) as part:
                self._known |= dict(zip(map(bytes, part["keys"]), part["vectors"], strict=True))

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return the vectors of texts."""
        return self._take(texts, self._encoder.encode)

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        """Return the vector of a question."""
        vector: npt.NDArray[np.float32] = self.encode_queries([text])[0]
        return vector

    def encode_queries(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return the vectors of questions."""
        return self._take(texts, lambda batch: np.stack(list(map(self._encoder.encode_query, batch))), _QUESTION)

    def _take(self, texts: Sequence[str], encode: Encode, *side: bytes) -> npt.NDArray[np.float32]:
        keys = [digest_bytes(*side, text.encode("utf-8", "surrogatepass")) for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        for start in range(0, len(missing), BATCH):
            batch = dict(list(missing.items())[start : start + BATCH])
            self._keep(list(batch), encode(list(batch.values())))
        return np.stack([self._known[key] for key in keys])

    def _keep(self, keys: Sequence[bytes], vectors: npt.NDArray[np.float32]) -> None:
        self._known |= dict(zip(keys, vectors, strict=True))
        table = np.frombuffer(b"".join(keys), np.uint8).reshape(len(keys), -1)
        np.savez(self._folder / f"{len(self._known):09}.npz", keys=table, vectors=vectors)
