"""Resolves, downloads, hashes and unpacks the wheels of an installation."""

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from installer.embedded import BuildError, compiled

PLATFORM = ("--platform", "win_amd64", "--python-version", "3.11", "--implementation", "cp")
LISTING = "wheels.txt"

LEFT_OUT = frozenset({"filelock", "fsspec", "hf-xet", "huggingface-hub", "pyyaml", "tqdm"})
"""Dependencies of tokenizers for downloads from a model hub; this server downloads nothing."""

_UNUSED_FOLDERS = (
    "bin",
    "adodbapi",
    "faiss/contrib",
    "isapi",
    "numpy/distutils",
    "numpy/f2py",
    "onnxruntime/quantization",
    "onnxruntime/tools",
    "onnxruntime/transformers",
    "pythonwin",
    "win32/Demos",
    "win32/include",
    "win32/libs",
    "win32/scripts",
    "win32com/demos",
    "win32com/include",
    "win32com/libs",
    "win32comext",
)
_UNUSED_SUFFIXES = frozenset({".a", ".chm", ".h", ".lib", ".pdb", ".pxd", ".pyc", ".pyi", ".pyx"})
_OF_THIS_MACHINE = frozenset(
    {"INSTALLER", "RECORD", "REQUESTED", "direct_url.json", "uv_cache.json"}
)
_TESTS = frozenset({"test", "tests"})


def resolve(requirements: Path, target: Path) -> list[str]:
    """Return every package and version that a project or a requirements file needs on Windows."""
    command = ["uv", "pip", "compile", "-q", "--no-header", "--no-annotate", "--output-file"]
    windows = ["--python-platform", "windows", "--python-version", "3.11"]
    _run([*command, str(target), *windows, str(requirements)])
    pins = target.read_text(encoding="utf-8").split()
    return [pin for pin in pins if pin.partition("==")[0] not in LEFT_OUT]


def download(pins: Sequence[str], folder: Path) -> None:
    """Download these packages as wheels for Windows into a folder."""
    _pip("download", "--no-deps", "--only-binary=:all:", *PLATFORM, "-d", str(folder), *pins)


def download_checked(package: str, expected: str, folder: Path) -> Path:
    """Download the wheel of a package and check its pinned hash.

    Raises:
        BuildError: the hash differs.
    """
    _pip("download", "--no-deps", "--only-binary=:all:", *PLATFORM, "-d", str(folder), package)
    for wheel in folder.glob("*.whl"):
        if sha256(wheel) == expected:
            return wheel
    raise BuildError(f"{package} does not have the pinned sha256: do not use it")


def build_product(project: Path, folder: Path) -> Path:
    """Return the product's own wheel, built from its sources."""
    _run(["uv", "build", "-q", "--wheel", "--out-dir", str(folder), str(project)])
    (wheel,) = folder.glob("quick_memory_server-*.whl")
    return wheel


def install(wheels: Iterable[Path], site_packages: Path) -> None:
    """Unpack wheels, remove files that a server never uses, and compile the rest."""
    lay_down(wheels, site_packages)
    prune(site_packages)
    compile_all(site_packages)


def lay_down(wheels: Iterable[Path], site_packages: Path) -> None:
    """Unpack wheels for Windows into a folder."""
    command = ["uv", "pip", "install", "-q", "--no-index", "--no-deps", "--link-mode", "copy"]
    windows = ["--python-platform", "windows", "--python-version", "3.11"]
    paths = [str(wheel) for wheel in sorted(wheels)]
    _run([*command, *windows, "--target", str(site_packages), *paths])


def prune(site_packages: Path) -> None:
    """Remove tests, headers and records of the build machine."""
    for name in _UNUSED_FOLDERS:
        shutil.rmtree(site_packages / name, ignore_errors=True)
    for path in sorted(site_packages.rglob("*"), reverse=True):
        if path.is_dir():
            if path.name in _TESTS or not any(path.iterdir()):
                shutil.rmtree(path)
        elif path.suffix in _UNUSED_SUFFIXES or path.name in _OF_THIS_MACHINE:
            path.unlink()
    (site_packages / ".lock").unlink(missing_ok=True)


def compile_all(site_packages: Path) -> None:
    """Compile every module in advance: the service starts faster and may not write there.

    In a separate process, as for the standard library.
    """
    _run([sys.executable, "-m", "installer.wheels", str(site_packages)])


def listing(wheels: Iterable[Path]) -> str:
    """Return the hash of every wheel, a line each, as `sha256sum` writes them."""
    return "".join(f"{sha256(wheel)}  {wheel.name}\n" for wheel in sorted(wheels))


def sha256(path: Path) -> str:
    """Return the hash of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _compile_all(site_packages: Path) -> None:
    for source in sorted(site_packages.rglob("*.py")):
        try:
            data = compiled(source, source.relative_to(site_packages).as_posix())
        except SyntaxError:
            continue  # a template or an example that is never imported
        folder = source.parent / "__pycache__"
        folder.mkdir(exist_ok=True)
        (folder / f"{source.stem}.cpython-311.pyc").write_bytes(data)


def _pip(*arguments: str) -> None:
    _run([sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", *arguments])


def _run(command: Sequence[str]) -> None:
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)


if __name__ == "__main__":
    _compile_all(Path(sys.argv[1]))
