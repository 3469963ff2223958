"""Opens ONNX graphs and tokenizers, with settings for a small, shared machine.

Only this module imports onnxruntime. The variable that turns its telemetry off is set when this
module is loaded, so it is always set first.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# From 1.29 on, the import itself writes a device id below the home folder and starts to upload;
# `disable_telemetry_events` comes too late. It reads the variable from the C environment.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

MOST_THREADS = 8
"""The matrices are small: more threads wait for each other."""


def open_session(path: Path, *, threads: int = 0) -> Any:
    """Return an onnxruntime session of a file; 0 threads means one per core."""
    import onnxruntime

    # Builds for Windows report events to the system unless disabled.
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = min(threads or _cores(), MOST_THREADS)
    options.inter_op_num_threads = 1
    # Spinning threads use a core each, to save microseconds.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Each length has another shape: the arena and the memory patterns would only grow (20 MB).
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.log_severity_level = 3
    # By path: a session made from bytes keeps a copy of them.
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def open_tokenizer(path: Path) -> "Tokenizer":
    """Return a tokenizer that neither pads nor truncates."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    # Some files pad and truncate to 128 by default; the callers decide on lengths.
    tokenizer.no_padding()
    tokenizer.no_truncation()
    # [SEP] in a text is five characters, not the special token.
    tokenizer.encode_special_tokens = True
    return tokenizer


def encodable(text: str) -> str:
    """Return the text with lone surrogates replaced, which tokenizers refuse."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
