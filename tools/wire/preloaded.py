"""Run a program of a checkout many times without paying for its imports each time.

Each call is a fork of one process, in which the installed script of the program is executed. What
a call imported, this process imports after it, so that the next call has it already. Nothing of the
program itself runs here. It is a file of its own, for the interpreter of the checkout:
`python preloaded.py SCRIPT`.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import sys
from pathlib import Path
from typing import Any, TextIO


def serve(script: str, calls: TextIO, answers: TextIO) -> None:
    """Answer each call, a line of JSON, with the exit code of the program."""
    for line in calls:
        call = json.loads(line)
        process = os.fork()
        if not process:
            _run(script, call)
        _, status = os.waitpid(process, 0)
        _import(json.loads(Path(call["modules"]).read_text(encoding="utf-8") or "[]"))
        print(os.waitstatus_to_exitcode(status), file=answers, flush=True)


def _import(names: list[str]) -> None:
    for name in names:
        if name not in sys.modules:
            # Some exist for a while only, such as those that a library makes for itself.
            with contextlib.suppress(Exception):
                importlib.import_module(name)
    gc.freeze()  # so that no collection in a fork touches, and thereby copies, what is shared


def _run(script: str, call: dict[str, Any]) -> None:
    """Become the program; what it raises ends the process as it would end the program's."""
    for number, path, flags in (
        (0, call["stdin"], os.O_RDONLY),
        (1, call["stdout"], os.O_WRONLY),
        (2, call["stderr"], os.O_WRONLY),
    ):
        opened = os.open(path, flags)
        os.dup2(opened, number)
        os.close(opened)
    os.environ.clear()
    os.environ.update(call["environment"])
    os.chdir(call["folder"])
    atexit.register(_tell_modules, call["modules"])
    sys.argv = [script, *call["arguments"]]
    sys.path[0] = str(Path(script).parent)
    runpy.run_path(script, run_name="__main__")
    raise SystemExit(0)


def _tell_modules(path: str) -> None:
    Path(path).write_text(json.dumps(list(sys.modules)), encoding="utf-8")


if __name__ == "__main__":
    inherited = [os.dup(0), os.dup(1)]
    os.dup2(2, 1)
    with (
        open(inherited[0], encoding="utf-8") as given,  # noqa: PTH123 - a descriptor, not a path
        open(inherited[1], "w", encoding="utf-8") as back,  # noqa: PTH123 - likewise
    ):
        serve(sys.argv[1], given, back)
