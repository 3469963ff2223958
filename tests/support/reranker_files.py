"""A tiny cross-encoder as real files: it counts how many words query and text share."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

WORDS = ("[PAD]", "[UNK]", "[SEP]", "ferry", "leaves", "at", "seven", "lighthouse", "walrus")
_UNKNOWN = 3
"""Words with smaller numbers count for nothing."""


def write_reranker(folder: Path, *, name: str = "reranker.onnx", columns: int = 1) -> Path:
    """Write a model and its tokenizer; with two columns it says no and yes."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    onnx.save(_model(columns), str(path))
    _tokenizer().save(str(path.with_suffix(".tokenizer.json")))
    return path


def _model(columns: int) -> Any:
    """For each pair: how many of its (known) words stand in both parts, less a half."""
    node = helper.make_node
    nodes = [
        # A vector over the vocabulary for each part, by the type of every token.
        node("OneHot", ["input_ids", "depth", "onoff"], ["hot"], axis=-1),
        node("Cast", ["token_type_ids"], ["second"], to=TensorProto.FLOAT),
        node("Unsqueeze", ["second", "last"], ["second3"]),
        node("Sub", ["one", "second3"], ["first3"]),
        node("Mul", ["hot", "first3"], ["query_hot"]),
        node("Mul", ["hot", "second3"], ["text_hot"]),
        node("ReduceMax", ["query_hot"], ["query"], axes=[1], keepdims=0),
        node("ReduceMax", ["text_hot"], ["text"], axes=[1], keepdims=0),
        node("Mul", ["query", "text"], ["both"]),
        node("Mul", ["both", "known"], ["shared"]),
        node("ReduceSum", ["shared", "last"], ["count"], keepdims=1),
        node("Sub", ["count", "half"], ["yes"]),
        node("Neg", ["yes"], ["no"]),
        node("Concat", ["no", "yes"] if columns == 2 else ["yes"], ["logits"], axis=1),
    ]
    known = np.array([number >= _UNKNOWN for number in range(len(WORDS))], np.float32)
    constants: dict[str, NDArray[Any]] = {
        "depth": np.array(len(WORDS), np.int64),
        "onoff": np.array([0, 1], np.float32),
        "last": np.array([-1], np.int64),
        "one": np.array(1, np.float32),
        "half": np.array(0.5, np.float32),
        "known": known,
    }
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["pairs", "tokens"])
        for name in ("input_ids", "token_type_ids")
    ]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["pairs", columns])
    graph = helper.make_graph(
        nodes,
        "shared words",
        inputs,
        [output],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def _tokenizer() -> Tokenizer:
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="$A [SEP]", pair="$A [SEP] $B:1 [SEP]:1", special_tokens=[("[SEP]", 2)]
    )
    return tokenizer
