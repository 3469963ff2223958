"""The setup programs that the tests run: the product as shipped, but for what wine cannot run.

Two things differ, and both belong to the tests: numpy is 2.0.2, because later ones end under wine
8 in a function that it lacks (`crealf`), and `bcryptprimitives.dll` with `ProcessPrng`, which wine
8 lacks as well, lies beside Python. Every other file is the one that is shipped.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from installer import build, script, tree, wheels
from installer.embedded import compiled
from qms.config.install_layout import describe, write_layout
from qms.version import __version__

RIG_NUMPY = "numpy==2.0.2"
FIRST = __version__
SECOND = "0.1.1"
BROKEN = "0.1.2"
SHIPPING_LIMIT_S = 500.0

_HERE = Path(__file__).resolve().parent
_PACKAGE = Path("python", "Lib", "site-packages", "qms")

BREAKING = """
from pathlib import Path
import sys

entries = Path(sys.argv[2], "MemoryStores", "default", "entries.jsonl")
entries.write_text("ruined by a broken version", encoding="utf-8")
raise RuntimeError("broken on purpose")
"""
"""What a broken version does instead of serving: it damages the data first."""


class Payload(msgspec.Struct, frozen=True):
    """A version of the product: its tree, and the program that sets it up."""

    version: str
    tree: Path
    setup: Path


class Workshop:
    """A folder in which payloads are made from one set of wheels."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.shipped_wheels = build.download_all(folder / "wheels")
        self._shipping = self._begin_to_ship()
        self.first = self._first()

    def shipped(self) -> Path:
        """Return the folder of the build that users get."""
        said, _ = self._shipping.communicate(timeout=SHIPPING_LIMIT_S)
        assert self._shipping.returncode == 0, said
        return self.folder / "shipped"

    def close(self) -> None:
        """End what nobody waited for."""
        self._shipping.kill()
        self._shipping.wait()
        assert self._shipping.stdout is not None
        self._shipping.stdout.close()

    def second(self) -> Payload:
        """Return a version that differs from the first one in its number only."""
        return self._variant(SECOND, {})

    def broken(self) -> Payload:
        """Return a version whose service damages the data and ends."""
        return self._variant(BROKEN, {"app/process.py": BREAKING})

    def test_packages(self) -> Path:
        """Return a folder with pytest and what the tests need beside the product."""
        listing, target = self.folder / "tests.in", self.folder / "test-packages"
        listing.write_text("pytest\npytest-timeout\nhypothesis\n", encoding="utf-8")
        found = self.folder / "test-wheels"
        wheels.download(wheels.resolve(listing, self.folder / "tests.txt"), found)
        wheels.lay_down(sorted(found.glob("*.whl")), target)
        return target

    def _begin_to_ship(self) -> subprocess.Popen[bytes]:
        # Packing takes minutes of one core, in which the tests mostly wait for wine.
        command = [sys.executable, "-m", "installer.build", "--wheels", str(self.shipped_wheels)]
        return subprocess.Popen(
            [*command, "--out", str(self.folder / "shipped")],
            cwd=tree.PROJECT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def _first(self) -> Payload:
        chosen = self.folder / "rig-wheels"
        chosen.mkdir()
        for wheel in self.shipped_wheels.glob("*.whl"):
            if not wheel.name.startswith("numpy-"):
                (chosen / wheel.name).symlink_to(wheel)
        wheels.download([RIG_NUMPY], chosen)
        root = self.folder / FIRST
        with tempfile.TemporaryDirectory() as scratch:
            ingredients = build.ingredients(chosen, Path(scratch))
            tree.stage(ingredients, root, FIRST, Path(scratch))
        self._add_process_prng(root / "python")
        return self._finished(root, FIRST)

    def _variant(self, version: str, sources: dict[str, str]) -> Payload:
        root = self.folder / version
        shutil.copytree(self.first.tree, root, copy_function=os.link)
        changed = {"version.py": f'__version__ = "{version}"\n', **sources}
        for name, text in changed.items():
            _put_module(root / _PACKAGE / name, text)
        return self._finished(root, version)

    def _finished(self, root: Path, version: str) -> Payload:
        (root / "layout.json").unlink()
        write_layout(root, describe(root, version))
        setup = self.folder / f"qms-{version}-setup.exe"
        with tempfile.TemporaryDirectory() as scratch:
            script.make_setup(root, setup, version, Path(scratch), "none")
        return Payload(version, root, setup)

    def _add_process_prng(self, target: Path) -> None:
        library = target / "bcryptprimitives.dll"
        command = ["x86_64-w64-mingw32-gcc", "-shared", "-s", "-o", str(library)]
        sources = [str(_HERE / "process_prng.c"), "-ladvapi32"]
        subprocess.run([*command, *sources], check=True, stdin=subprocess.DEVNULL)


def _put_module(path: Path, text: str) -> None:
    """Replace a module and its compiled form; both may be shared with another tree."""
    cached = path.parent / "__pycache__" / f"{path.stem}.cpython-311.pyc"
    path.unlink()
    cached.unlink()
    path.write_text(text, encoding="utf-8")
    cached.write_bytes(compiled(path, path.name))
