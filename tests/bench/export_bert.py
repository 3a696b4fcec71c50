"""A BERT sentence encoder as an ONNX model that the `onnx` encoder reads, without torch. A command.

    python -m tests.bench.export_bert FOLDER OUT [--int8] [--max-tokens 128]

FOLDER holds config.json, model.safetensors and tokenizer.json, as sentence-transformers saves a BERT; docs/encoders.md
says which package brings one. OUT gets model.onnx (a vector for each token; pooling is the reader's) and the small
files beside it. `--int8` stores whole numbers, with a scale for each output channel: one scale for a whole matrix
would lose far more (a mean cosine to the float model of .945 against .99).
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import struct
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

_COPIED = ("tokenizer.json", "tokenizer_config.json", "config_sentence_transformers.json", "1_Pooling/config.json")
#: Operators as onnxruntime 1.24 and later run them.
_OPSET, _IR_VERSION = 17, 8
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_OUTPUT = "last_hidden_state"
#: Added to the score of a token that is not there: no share is left for it.
_AWAY = -1e9

Weights = Mapping[str, npt.NDArray[np.float32]]


def read_safetensors(path: Path) -> Weights:
    """Return the float32 matrices of a file, by name."""
    data = path.read_bytes()
    (size,) = struct.unpack_from("<Q", data)
    header: dict[str, Any] = json.loads(data[8 : 8 + size])
    found = {}
    for name, about in header.items():
        if about.get("dtype") == "F32":
            first, end = about["data_offsets"]
            numbers = np.frombuffer(data[8 + size + first : 8 + size + end], "<f4")
            found[name.removeprefix("bert.")] = numbers.reshape(about["shape"])
    return found


class BertGraph:
    """The nodes of one BERT, as they are added."""

    def __init__(self, weights: Weights, config: Mapping[str, Any]) -> None:
        """Take the trained matrices and config.json."""
        self._weights = weights
        self._config = config
        self._nodes: list[onnx.NodeProto] = []
        self._stored: list[onnx.TensorProto] = []

    def model(self) -> onnx.ModelProto:
        """Return the whole model: token ids in, one vector a token out."""
        away = self._away()
        hidden = self._embedded()
        for layer in range(self._config["num_hidden_layers"]):
            hidden = self._layer(hidden, away, f"encoder.layer.{layer}")
        self._nodes.append(helper.make_node("Identity", [hidden], [_OUTPUT]))
        inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in _INPUTS]
        shape = ["batch", "length", self._config["hidden_size"]]
        outputs = [helper.make_tensor_value_info(_OUTPUT, TensorProto.FLOAT, shape)]
        graph = helper.make_graph(self._nodes, "bert", inputs, outputs, self._stored)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], producer_name="strata")
        model.ir_version = _IR_VERSION
        return model

    def _embedded(self) -> str:
        places = self._node("Sub", [self._node("CumSum", ["attention_mask", self._whole(1)]), self._whole(1)])
        tables = {"word": "input_ids", "token_type": "token_type_ids", "position": places}
        rows = [
            self._node("Gather", [self._stored_as(f"embeddings.{name}_embeddings.weight"), ids])
            for name, ids in tables.items()
        ]
        total = self._node("Add", [self._node("Add", rows[:2]), rows[2]])
        return self._normalised(total, "embeddings.LayerNorm")

    def _away(self) -> str:
        """Return what is added to the scores of each token as another looks at it: 0, or much below 0 for padding."""
        mask = self._node("Cast", ["attention_mask"], to=TensorProto.FLOAT)
        missing = self._node("Sub", [self._number(1), self._node("Unsqueeze", [mask, self._whole([1, 2])])])
        return self._node("Mul", [missing, self._number(_AWAY)])

    def _layer(self, hidden: str, away: str, name: str) -> str:
        heads = self._config["num_attention_heads"]
        width = self._config["hidden_size"] // heads
        split = self._whole([0, 0, heads, width])
        query, key, value = (
            self._node(
                "Transpose",
                [self._node("Reshape", [self._linear(hidden, f"{name}.attention.self.{part}"), split])],
                perm=[0, 2, 3, 1] if part == "key" else [0, 2, 1, 3],
            )
            for part in ("query", "key", "value")
        )
        scores = self._node("Div", [self._node("MatMul", [query, key]), self._number(math.sqrt(width))])
        shares = self._node("Softmax", [self._node("Add", [scores, away])], axis=-1)
        seen = self._node("Transpose", [self._node("MatMul", [shares, value])], perm=[0, 2, 1, 3])
        joined = self._node("Reshape", [seen, self._whole([0, 0, heads * width])])
        hidden = self._added(hidden, joined, f"{name}.attention.output")
        return self._added(hidden, self._gelu(self._linear(hidden, f"{name}.intermediate.dense")), f"{name}.output")

    def _added(self, hidden: str, change: str, name: str) -> str:
        total = self._node("Add", [self._linear(change, f"{name}.dense"), hidden])
        return self._normalised(total, f"{name}.LayerNorm")

    def _linear(self, given: str, name: str) -> str:
        matrix = self._store(f"{name}.weight", self._weights[f"{name}.weight"].T)
        return self._node("Add", [self._node("MatMul", [given, matrix]), self._stored_as(f"{name}.bias")])

    def _normalised(self, given: str, name: str) -> str:
        inputs = [given, self._stored_as(f"{name}.weight"), self._stored_as(f"{name}.bias")]
        return self._node("LayerNormalization", inputs, axis=-1, epsilon=self._config["layer_norm_eps"])

    def _gelu(self, given: str) -> str:
        bent = self._node("Erf", [self._node("Div", [given, self._number(math.sqrt(2))])])
        return self._node(
            "Mul", [self._node("Mul", [given, self._node("Add", [bent, self._number(1)])]), self._number(0.5)]
        )

    def _node(self, operator: str, inputs: Sequence[str], **attributes: Any) -> str:
        name = f"n{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def _stored_as(self, name: str) -> str:
        return self._store(name, self._weights[name])

    def _number(self, value: float) -> str:
        return self._store(f"c{len(self._stored)}", np.array(value, np.float32))

    def _whole(self, value: int | list[int]) -> str:
        return self._store(f"c{len(self._stored)}", np.array(value, np.int64))

    def _store(self, name: str, value: npt.NDArray[Any]) -> str:
        self._stored.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name


def export(folder: Path, out: Path, *, int8: bool, max_tokens: int) -> None:
    """Write the model and the files that its reader looks at."""
    config = json.loads((folder / "config.json").read_bytes())
    if config.get("model_type") != "bert" or config.get("hidden_act") != "gelu":
        raise SystemExit(f"{folder} holds a {config.get('model_type')} with {config.get('hidden_act')}, not a BERT")
    out.mkdir(parents=True, exist_ok=True)
    model = out / "model.onnx"
    onnx.save_model(BertGraph(read_safetensors(folder / "model.safetensors"), config).model(), str(model))
    if int8:
        from onnxruntime.quantization import quantize_dynamic

        quantize_dynamic(model, model, per_channel=True)
    for name in _COPIED:
        if (folder / name).is_file():
            (out / name).parent.mkdir(exist_ok=True)
            shutil.copyfile(folder / name, out / name)
    (out / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": max_tokens}) + "\n")


def main(arguments: Sequence[str]) -> int:
    """Export one model."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.export_bert")
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--int8", action="store_true")
    parser.add_argument("--max-tokens", type=int, default=128)
    given = parser.parse_args(arguments)
    export(given.folder, given.out, int8=given.int8, max_tokens=given.max_tokens)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
