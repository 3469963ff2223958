"""Talk MCP with a program over its standard input and output, as a client that starts it does."""

import json
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

TALK_LIMIT_S = 120

Said = Sequence[tuple[str, Mapping[str, Any]]]
"""Requests in order: method and parameters. One that begins with `notifications/` has no answer."""


def talk(
    program: Sequence[str | Path], variables: Mapping[str, str], said: Said
) -> tuple[int, list[tuple[str, list[Any]]], str]:
    """Return the exit code, what came back after each request, and standard error."""
    process = subprocess.Popen(
        program,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=dict(variables),
    )
    errors: list[str] = []
    assert process.stderr is not None
    reader = threading.Thread(target=errors.extend, args=(process.stderr,), daemon=True)
    reader.start()
    guard = threading.Timer(TALK_LIMIT_S, process.kill)
    guard.start()
    try:
        heard = list(_heard(process, said))
        assert process.stdin is not None
        process.stdin.close()
        code = process.wait()
        reader.join()
    finally:
        guard.cancel()
        process.kill()
        process.wait()
    assert process.stdout is not None
    process.stdout.close()
    process.stderr.close()
    return code, heard, "".join(errors)


def _heard(process: subprocess.Popen[str], said: Said) -> Iterator[tuple[str, list[Any]]]:
    assert process.stdin is not None
    assert process.stdout is not None
    for number, (method, params) in enumerate(said, 1):
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        is_request = not method.startswith("notifications/")
        if is_request:
            message["id"] = number
        print(json.dumps(message), file=process.stdin, flush=True)
        yield method, list(_until(process, number)) if is_request else []


def _until(process: subprocess.Popen[str], number: int) -> Iterator[Any]:
    """Give the messages up to the answer with a number, without what is told unasked.

    Whether a notification comes before or after an answer depends on timing.
    """
    assert process.stdout is not None
    for line in process.stdout:
        message = json.loads(line)
        if "id" in message:
            yield message
        if message.get("id") == number:
            return
