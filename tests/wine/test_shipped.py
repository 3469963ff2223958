"""The setup program as it is shipped: its size, wheels and signatures, always the same bytes."""

import re
import subprocess
import tempfile
from pathlib import Path

import pytest

from installer import build, script, tree, wheels
from installer.embedded import RUNTIME_FILES, BuildError
from qms.config.install_layout import compare, read_layout
from qms.version import __version__
from tests.wine.payloads import Workshop

SIGNERS = ("Python Software Foundation", "Microsoft Corporation")


@pytest.fixture(scope="module")
def shipped(workshop: Workshop) -> Path:
    return workshop.shipped()


def test_the_setup_program_is_small_enough_and_names_its_wheels(
    shipped: Path, workshop: Workshop
) -> None:
    setup = shipped / build.SETUP_NAME
    lines = (shipped / wheels.LISTING).read_text(encoding="utf-8").splitlines()
    listed = {name: digest for digest, name in (line.split("  ") for line in lines)}

    assert setup.stat().st_size < 130_000_000
    for wheel in workshop.shipped_wheels.glob("*.whl"):
        assert listed.pop(wheel.name) == wheels.sha256(wheel)
    assert list(listed) == [f"quick_memory_server-{__version__}-py3-none-any.whl"]
    assert (shipped / "tree" / "docs" / wheels.LISTING).read_text(encoding="utf-8") == (
        shipped / wheels.LISTING
    ).read_text(encoding="utf-8")


def test_the_same_wheels_give_the_same_payload(
    shipped: Path, workshop: Workshop, tmp_path: Path
) -> None:
    again = tmp_path / "tree"
    with tempfile.TemporaryDirectory() as scratch:
        parts = build.ingredients(workshop.shipped_wheels, Path(scratch))
        tree.stage(parts, again, __version__, Path(scratch))
        setups = [
            script.make_setup(root, tmp_path / name, __version__, Path(scratch), "none")
            for root, name in ((shipped / "tree", "qms-1.exe"), (again, "qms-2.exe"))
        ]

    layouts = [(root / "layout.json").read_bytes() for root in (shipped / "tree", again)]
    assert layouts[0] == layouts[1]
    assert wheels.sha256(setups[0]) == wheels.sha256(setups[1])


def test_the_tree_is_what_its_layout_says_and_holds_no_tests(shipped: Path) -> None:
    root = shipped / "tree"
    layout = read_layout(root)
    paths = [item.path for item in layout.files]

    assert not compare(root, layout)
    assert {"QuickMemoryServer.exe", "tools/memoryctl.exe", "python/python311.dll"} <= set(paths)
    assert {"models/embeddings.onnx", "docs/README.md", "docs/schema.json"} <= set(paths)
    assert not [path for path in paths if "/tests/" in path or "/_data/models/" in path]


@pytest.mark.needs("osslsigncode")
def test_the_private_python_carries_its_makers_signatures(shipped: Path) -> None:
    folder = shipped / "tree" / "python"
    signed = [path for path in folder.iterdir() if path.suffix in (".exe", ".dll", ".pyd")]

    assert len(signed) >= 25
    assert {path.name for path in signed} >= set(RUNTIME_FILES)
    for path in signed:
        command = ["osslsigncode", "verify", "-in", str(path)]
        shown = subprocess.run(command, capture_output=True, check=False).stdout.decode()
        # Microsoft signs its libraries twice, with an older digest as well.
        signed_for = re.findall(r"Current message digest *: (\w+)", shown)
        computed = re.findall(r"Calculated message digest *: (\w+)", shown)
        assert any(f"O={signer}" in shown for signer in SIGNERS), (path.name, shown)
        assert signed_for, path.name
        assert signed_for == computed, path.name


def test_a_library_that_a_fresh_windows_lacks_is_found_at_build_time(
    shipped: Path, tmp_path: Path
) -> None:
    for name in ("python/python311.dll", "QuickMemoryServer.exe"):
        (tmp_path / Path(name).name).write_bytes((shipped / "tree" / name).read_bytes())

    with pytest.raises(BuildError, match=r"vcruntime140\.dll \(for python311\.dll\)"):
        tree.check_libraries(tmp_path)
