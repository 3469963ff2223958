"""Builds the two launchers, `QuickMemoryServer.exe` and `memoryctl.exe`, from `launcher.c`."""

import subprocess
from pathlib import Path

import msgspec

HERE = Path(__file__).resolve().parent
COMPILER = "x86_64-w64-mingw32-gcc"
RESOURCES = "x86_64-w64-mingw32-windres"
_STRICT = ("-Wall", "-Wextra", "-Werror")
_STABLE = ("-Wl,--no-insert-timestamp", "-s", "-Os")


class Launcher(msgspec.Struct, frozen=True):
    """A launcher: its path, the folder of its Python, and the Python code that it runs."""

    path: str
    python: str
    program: str
    description: str


LAUNCHERS = (
    Launcher(
        "QuickMemoryServer.exe",
        "python",
        "from qms.platforms.windows_service import main; sys.exit(main(sys.argv))",
        "Quick Memory Server",
    ),
    Launcher(
        "tools/memoryctl.exe",
        "..\\python",
        "from qms.cli.main import main; main()",
        "Manages the memories and stores of Quick Memory Server",
    ),
)


def build(launcher: Launcher, root: Path, version: str, scratch: Path) -> Path:
    """Build a launcher into the tree below `root`; the same sources give the same bytes."""
    target, resources = root / launcher.path, scratch / "launcher.o"
    target.parent.mkdir(parents=True, exist_ok=True)
    (scratch / "values.h").write_text(values(launcher, version), encoding="ascii")
    include = ("-I", str(HERE), "-I", str(scratch))
    _run([RESOURCES, *include, str(HERE / "launcher.rc"), str(resources)])
    sources = (str(HERE / "launcher.c"), str(resources))
    _run([COMPILER, *_STRICT, "-municode", *_STABLE, *include, "-o", str(target), *sources])
    return target


def values(launcher: Launcher, version: str) -> str:
    """Return the C header with the values of a launcher."""
    values = {
        "PYTHON_FOLDER": f"L{_quoted(launcher.python)}",
        "PROGRAM": f"L{_quoted(launcher.program)}",
        "DESCRIPTION": _quoted(launcher.description),
        "FILE_NAME": _quoted(Path(launcher.path).name),
        "VERSION_TEXT": _quoted(version),
        "VERSION_NUMBERS": ",".join([*version.split(".")[:3], "0"]),
    }
    return "".join(f"#define {name} {value}\n" for name, value in values.items())


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
