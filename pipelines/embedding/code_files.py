"""The files of the `code` encoder. In: trained numbers and a vocabulary. Out: an ONNX model and its vocabulary.

The table is stored as one byte a number with a factor for each row; the factor goes into the token weights, so the
graph only gathers, multiplies and sums. Writing needs the onnx package, which training brings; reading, onnxruntime.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pipelines.embedding.pieces import PIECES_VERSION
from pipelines.embedding.recipe import RECIPE_VERSION

if TYPE_CHECKING:
    import onnx

MODEL_NAME, VOCABULARY_NAME = "code.onnx", "code-vocabulary.txt.gz"
TOKENS, WEIGHTS, SIDE = "tokens", "weights", "side"  # the model's inputs: (B, L), (B, L) and a number
VECTORS = "vectors"  # its output, (B, D)
TEXT_SIDE, QUERY_SIDE = 0, 1
#: Numbers of the widest vector.
WIDTH = 256
#: Rules that the numbers were trained by, as JSON in the model's metadata under this key.
RULES_KEY = "rules"
_MOST = 127
_TINY = 1e-8
#: The operators used have been stable since; onnxruntime 1.14 and later run it.
_OPSET, _IR_VERSION = 17, 8

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class CodeNumbers:
    """What was trained. First of two is always the side of texts, second that of questions."""

    table: Floats  # (V, D)
    weights: Floats  # (2, V), logarithms
    bias: Floats  # (2, D)


def write_code(
    folder: Path, tokens: Sequence[str], numbers: CodeNumbers, buckets: int, name_weight: float, place_weight: float
) -> None:
    """Write model and vocabulary; equal arguments give equal bytes."""
    import onnx

    rules = {
        "pieces": PIECES_VERSION,
        "recipe": RECIPE_VERSION,
        "buckets": buckets,
        "name_weight": name_weight,
        "place_weight": place_weight,
    }
    onnx.save_model(_model(numbers, rules), str(folder / MODEL_NAME))
    vocabulary = gzip.compress("\n".join(tokens).encode("utf-8"), compresslevel=9, mtime=0)
    (folder / VOCABULARY_NAME).write_bytes(vocabulary)


def quantised(table: Floats) -> tuple[npt.NDArray[np.int8], Floats]:
    """Return a table as (V, D) whole numbers from -127 to 127 and the (V) factors that give its rows back."""
    factors: Floats = (np.abs(table).max(axis=1) / _MOST).astype(np.float32)
    whole = np.rint(table / np.maximum(factors, _TINY)[:, None]).astype(np.int8)
    return whole, factors


def _model(numbers: CodeNumbers, rules: Mapping[str, float]) -> onnx.ModelProto:
    from onnx import TensorProto, helper, numpy_helper

    whole, factors = quantised(numbers.table)
    initial: dict[str, npt.NDArray[np.generic]] = {
        "table": whole,
        "token_weights": (np.exp(numbers.weights) * factors).astype(np.float32),
        "bias": numbers.bias.astype(np.float32),
        "tiny": np.array(_TINY, np.float32),
        "second": np.array([1], np.int64),
    }
    nodes = [
        helper.make_node("Gather", ["table", TOKENS], ["bytes"], axis=0),
        helper.make_node("Cast", ["bytes"], ["rows"], to=TensorProto.FLOAT),
        helper.make_node("Gather", ["token_weights", SIDE], ["side_weights"], axis=0),
        helper.make_node("Gather", ["side_weights", TOKENS], ["own_weights"], axis=0),
        helper.make_node("Mul", ["own_weights", WEIGHTS], ["amounts"]),
        # One product (1, L) x (L, D) for each text: none of its numbers comes near another text's.
        helper.make_node("Unsqueeze", ["amounts", "second"], ["lines"]),
        helper.make_node("MatMul", ["lines", "rows"], ["totals"]),
        helper.make_node("Squeeze", ["totals", "second"], ["total"]),
        *_unit_nodes("total", "direction"),
        helper.make_node("Gather", ["bias", SIDE], ["side_bias"], axis=0),
        helper.make_node("Add", ["direction", "side_bias"], ["moved"]),
        *_unit_nodes("moved", VECTORS),
    ]
    inputs = [
        helper.make_tensor_value_info(TOKENS, TensorProto.INT64, ["texts", "tokens"]),
        helper.make_tensor_value_info(WEIGHTS, TensorProto.FLOAT, ["texts", "tokens"]),
        helper.make_tensor_value_info(SIDE, TensorProto.INT64, []),
    ]
    outputs = [helper.make_tensor_value_info(VECTORS, TensorProto.FLOAT, ["texts", numbers.table.shape[1]])]
    stored = [numpy_helper.from_array(value, name) for name, value in initial.items()]
    graph = helper.make_graph(nodes, "code", inputs, outputs, stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], producer_name="strata")
    model.ir_version = _IR_VERSION
    helper.set_model_props(model, {RULES_KEY: json.dumps(rules, sort_keys=True)})
    return model


def _unit_nodes(given: str, result: str) -> list[onnx.NodeProto]:
    """Return the nodes that scale a row to length 1."""
    from onnx import helper

    return [
        helper.make_node("ReduceL2", [given], [f"{given}_length"], axes=[1], keepdims=1),
        helper.make_node("Max", [f"{given}_length", "tiny"], [f"{given}_divisor"]),
        helper.make_node("Div", [given, f"{given}_divisor"], [result]),
    ]
