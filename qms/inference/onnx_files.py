"""Opening ONNX graphs and tokenizers, with the settings that suit a shared, small machine."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MOST_THREADS = 8
"""The matrices are small: beyond this, threads wait for each other."""


def open_session(path: Path, *, threads: int = 0) -> Any:
    """Return an onnxruntime session of a file; 0 threads means one for each core."""
    import onnxruntime

    # Its builds for Windows report events to the system unless told not to.
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = min(threads or _cores(), MOST_THREADS)
    options.inter_op_num_threads = 1
    # Threads that spin while they wait burn a core each, for microseconds gained.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Each length has a shape of its own: an arena and remembered patterns only grow (20 MB).
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.log_severity_level = 3
    # By path: a session made from bytes keeps a copy of them for life.
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def open_tokenizer(path: Path) -> "Tokenizer":
    """Return a tokenizer that neither pads nor cuts."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    # Some files pad and cut to 128 by themselves; lengths are decided where texts are read.
    tokenizer.no_padding()
    tokenizer.no_truncation()
    # A text that says [SEP] means these five characters, not the end of a sentence.
    tokenizer.encode_special_tokens = True
    return tokenizer


def encodable(text: str) -> str:
    """Return the text with halves of surrogate pairs replaced, which tokenizers refuse."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
