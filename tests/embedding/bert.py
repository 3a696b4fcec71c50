"""A whole BERT, though a small one of drawn weights, exported by the command that exports the real ones."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np

from tests.bench.export_bert import export
from tests.embedding.builders import write_tokenizer

WORDS = ["[UNK]", *(first + second + third for first in "bdkt" for second in "aeiou" for third in "lmnrs")]
_WIDTH, _INNER, _LAYERS, _POSITIONS = 64, 128, 2, 512


def make_bert(folder: Path, *, int8: bool = False) -> Path:
    """Write a checkpoint as sentence-transformers saves it, export it, and return the model's path."""
    checkpoint = folder / "checkpoint"
    checkpoint.mkdir(parents=True)
    config = {
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": _WIDTH,
        "num_attention_heads": 4,
        "num_hidden_layers": _LAYERS,
        "layer_norm_eps": 1e-12,
    }
    (checkpoint / "config.json").write_text(json.dumps(config))
    write_safetensors(checkpoint / "model.safetensors", _shapes())
    write_tokenizer(checkpoint, WORDS, _POSITIONS)
    export(checkpoint, folder / "onnx", int8=int8, max_tokens=_POSITIONS)
    return folder / "onnx" / "model.onnx"


def write_safetensors(path: Path, shapes: dict[str, tuple[int, ...]]) -> None:
    """Write drawn matrices, some of the tokens' far louder than the rest, as trained models have them."""
    draw = np.random.default_rng(5)
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    content = b""
    for name, shape in shapes.items():
        numbers = draw.normal(1.0 if name.endswith("LayerNorm.weight") else 0.0, 0.2, shape).astype("<f4")
        if name.endswith("intermediate.dense.weight"):
            numbers[::17] *= 12
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(content), len(content) + numbers.nbytes]}
        content += numbers.tobytes()
    head = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(head)) + head + content)


def _shapes() -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(WORDS), _WIDTH),
        "embeddings.token_type_embeddings.weight": (2, _WIDTH),
        "embeddings.position_embeddings.weight": (_POSITIONS, _WIDTH),
        "embeddings.LayerNorm.weight": (_WIDTH,),
        "embeddings.LayerNorm.bias": (_WIDTH,),
    }
    for layer in range(_LAYERS):
        sizes = {f"attention.self.{part}": (_WIDTH, _WIDTH) for part in ("query", "key", "value")}
        sizes |= {"attention.output.dense": (_WIDTH, _WIDTH)}
        sizes |= {"intermediate.dense": (_INNER, _WIDTH), "output.dense": (_WIDTH, _INNER)}
        for name, shape in sizes.items():
            shapes[f"encoder.layer.{layer}.{name}.weight"] = shape
            shapes[f"encoder.layer.{layer}.{name}.bias"] = shape[:1]
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes[f"encoder.layer.{layer}.{name}.weight"] = shapes[f"encoder.layer.{layer}.{name}.bias"] = (_WIDTH,)
    return shapes
