import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from qms.cli import main as program_module
from qms.cli.local import Local
from qms.memory.errors import QmsError
from qms.version import __version__
from tests.cli.conftest import Terminal
from tests.support.environment import Environment

PROGRAM = (sys.executable, "-m", "qms.cli.main")


def test_every_error_is_printed_as_the_apis_object_with_json(ctl: Terminal) -> None:
    result = ctl("get", "absent", "--json")

    assert result.code == 4
    assert result.json == {
        "error": {
            "code": "notFound",
            "message": "there is no entry 'absent'",
            "details": {"id": "absent"},
        }
    }
    assert "error: there is no entry" in result.err


def test_a_mistake_on_the_command_line_is_an_object_too(files: Terminal) -> None:
    assert files("lst", "--json").json["error"]["code"] == "invalidInput"


@pytest.mark.parametrize("error", [QmsError, *QmsError.__subclasses__()])
def test_the_exit_code_is_that_of_the_error(
    files: Terminal, monkeypatch: pytest.MonkeyPatch, error: type[QmsError]
) -> None:
    def fail(*_arguments: object, **_options: object) -> None:
        raise error("no")

    monkeypatch.setattr(Local, "send", fail)

    assert files("get", "default:a").code == error.exit_code


def test_the_unexpected_is_one_line_and_exit_code_1(
    files: Terminal, environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(*_arguments: object) -> None:
        raise KeyError("missing")

    monkeypatch.setattr(Local, "send", break_down)

    result = files("get", "default:a")

    assert result.code == 1
    assert "error: unexpected error: KeyError" in result.err
    assert "Traceback" not in result.err
    assert "hint: set QMS_DEBUG=1 to see the traceback" in result.err
    environment["QMS_DEBUG"] = "1"
    with pytest.raises(KeyError):
        files("get", "default:a")


def test_an_interrupt_is_quiet_and_gives_the_root_back(
    files: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Local, "send", interrupted)
        result = files("get", "default:a")

    assert result.code == 130
    assert "error" not in result.err
    assert files.ok("list").code == 0


def _heed_ctrl_c() -> None:
    # Whoever runs the tests in the background of a shell hands down that it is ignored.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


_INTERRUPTED_AT = """
import atexit, builtins, os, runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
place, module = sys.argv[1:3]
interrupt = lambda: os.kill(os.getpid(), signal.SIGINT)
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == place:
            interrupt()
sys.meta_path.insert(0, Finder())
if place == "the end":
    atexit.register(interrupt)
sys.argv = [module, *sys.argv[3:]]
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize(
    ("module", "place"),
    [
        ("qms.cli.main", "qms.cli.program"),
        ("qms.cli.main", "qms.cli.lists"),
        ("qms.cli.main", "qms.app.table"),
        ("qms.cli.main", "the end"),
        ("qms.cli.server", "qms.app.console"),
        ("qms.cli.server", "uvicorn"),
    ],
)
def test_ctrl_c_while_modules_load_or_at_the_end_is_one_line_and_130(
    files: Terminal, module: str, place: str
) -> None:
    words = ["list"] if module == "qms.cli.main" else ["serve", "--port", "0"]

    done = subprocess.run(
        [sys.executable, "-c", _INTERRUPTED_AT, place, module, *words],
        check=False,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )

    assert done.returncode == 130
    said = [f"on the files in {files.root}", "nothing found"] if place == "the end" else []
    assert done.stderr.splitlines() == [
        *said,
        "interrupted: run the same command again to continue",
    ]


def test_an_import_that_is_interrupted_goes_on_when_it_is_called_again(
    files: Terminal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = [{"kind": "note", "title": f"t{n}", "body": {"text": "x"}} for n in range(1200)]
    path = tmp_path / "many.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    sent = Local.send
    imports: list[str] = []

    def second_fails(self: Local, project: str, command: str, body: bytes) -> object:
        imports.extend([command] if command == "bulkImport" else [])
        if len(imports) == 2:
            raise KeyboardInterrupt
        return sent(self, project, command, body)

    with monkeypatch.context() as patch:
        patch.setattr(Local, "send", second_fails)
        result = files("import", str(path))

    assert result.code == 130
    assert result.err.splitlines()[-1] == "interrupted: run the same command again to continue"
    again = files.ok("import", str(path), "--json").json
    assert again["imported"] + again["known"] == 1200
    assert 0 < again["known"] < 1200


def test_ctrl_c_ends_the_program_with_130(files: Terminal) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        process = subprocess.Popen(
            [*PROGRAM, "get", "default:a", "--url", url],
            stderr=subprocess.PIPE,
            encoding="utf-8",
            preexec_fn=_heed_ctrl_c,  # noqa: PLW1509 - it does nothing that a lock guards
        )
        connection, _ = silent.accept()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        connection.close()

    assert process.returncode == 130
    assert errors.splitlines()[1:] == ["interrupted: run the same command again to continue"]


def test_a_reader_that_leaves_is_no_crash(files: Terminal) -> None:
    files.remember("text")
    reading, writing = os.pipe()
    os.close(reading)

    process = subprocess.run(
        [*PROGRAM, "list"], stdout=writing, stderr=subprocess.PIPE, check=False, encoding="utf-8"
    )
    os.close(writing)

    assert process.returncode == 1
    assert "Traceback" not in process.stderr
    assert "Exception ignored" not in process.stderr


def test_the_installed_program_works_as_the_readme_says(files: Terminal) -> None:
    program = Path(sys.executable).with_name("memoryctl")

    def call(*words: str) -> str:
        return subprocess.run(
            [program, *words], check=True, capture_output=True, encoding="utf-8"
        ).stdout

    entry_id = call("remember", "Staging runs PostgreSQL 16 on port 5433").strip()

    assert "Staging runs" in call("list")
    assert call("get", entry_id).startswith(entry_id)
    assert call("--version") == f"memoryctl, version {__version__}\n"


def test_main_exits_with_the_code(files: Terminal) -> None:
    before = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(SystemExit) as ended:
            program_module.main(["get", "absent"])
    finally:
        signal.signal(signal.SIGINT, before)

    assert ended.value.code == 4


def test_memoryctl_never_loads_the_http_server() -> None:
    script = (
        "import sys, qms.cli.program; "
        "print([name for name in sys.modules if name.split('.')[0] in ('uvicorn', 'starlette')])"
    )

    printed = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, encoding="utf-8"
    )

    assert printed.stdout == "[]\n"


def test_a_mistake_is_told_on_one_line(files: Terminal) -> None:
    result = files("users", "add", "alice")

    assert result.code == 2
    assert "error: missing option '--tier'. Choose from: none, reader, writer" in result.err
