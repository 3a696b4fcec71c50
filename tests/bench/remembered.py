"""An encoder that has been asked before: vectors of texts are kept in a folder, for encoders that take hours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipelines.fingerprint import digest_bytes
from pipelines.records import Encoder

#: Texts that are encoded between two writes.
BATCH = 256
_KEY = 16


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
        missing = dict.fromkeys(text for text in texts if _key(text) not in self._known)
        for batch in _batches(list(missing)):
            self._keep(batch, self._encoder.encode(batch))
        return np.stack([self._known[_key(text)] for text in texts])

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        """Return the vector of a question; these are few and not kept."""
        return self._encoder.encode_query(text)

    def _keep(self, texts: Sequence[str], vectors: npt.NDArray[np.float32]) -> None:
        keys = np.frombuffer(b"".join(map(_key, texts)), np.uint8).reshape(-1, _KEY)
        self._known |= dict(zip(map(bytes, keys), vectors, strict=True))
        np.savez(self._folder / f"{len(self._known):09}.npz", keys=keys, vectors=vectors)


def _key(text: str) -> bytes:
    return digest_bytes(text.encode("utf-8", "surrogatepass"))


def _batches(texts: list[str]) -> Iterator[list[str]]:
    return (texts[start : start + BATCH] for start in range(0, len(texts), BATCH))
