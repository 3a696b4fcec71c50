"""From settings to an encoder. In: [embedder] and the folder of the bundled data. Out: a records.Encoder.

Making one reads no model and imports no runtime: whether anything changed is decided by its digest alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.records import Encoder
from pipelines.settings import EmbedderSettings

if TYPE_CHECKING:
    from pipelines.embedding.api_client import KeyOf

# Each encoder is imported where it is chosen: nobody waits for the others.


def make_encoder(settings: EmbedderSettings, data: Path, key_of: KeyOf | None = None) -> Encoder:
    """Return the encoder that the settings name.

    :param settings: which one. :param data: the folder of the bundled encoder data, data/encoder in a checkout.
    :param key_of: gives the key of a service, when it is needed; without one, no service has a key.
    :raises EncoderError: if a file that it needs is missing or of a kind that cannot be read.
    """
    if settings.name == "api":
        from pipelines.embedding.api import ApiEncoder

        return ApiEncoder(settings, key_of or (lambda _: ""))
    if settings.name == "onnx":
        from pipelines.embedding.model_files import find_model
        from pipelines.embedding.onnx_model import OnnxEncoder

        return OnnxEncoder(find_model(settings.model, settings.tokenizer), settings.dimensions)
    if settings.name == "code":
        from pipelines.embedding.code import CodeEncoder

        return CodeEncoder(data, settings.dimensions)
    if settings.name == "hash":
        from pipelines.embedding.sign_hash import HashEncoder

        return HashEncoder(settings.dimensions)
    from pipelines.embedding.vocab import TABLE_NAME, VocabEncoder

    return VocabEncoder(data / TABLE_NAME, settings.dimensions)
