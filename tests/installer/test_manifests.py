"""The manifests of winget and Homebrew name the files of the release that they were made from."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
import yaml

from installer.build import SETUP_NAME
from installer.manifests import IDENTIFIER, WINGET, write
from qms.version import __version__

BASE = "https://example.com/releases/v1"


def release(folder: Path) -> tuple[Path, Path]:
    setup = folder / SETUP_NAME
    wheel = folder / f"quick_memory_server-{__version__}-py3-none-any.whl"
    for path in (setup, wheel):
        path.write_bytes(path.name.encode())
    return setup, wheel


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_winget_gets_three_files_of_one_version(tmp_path: Path) -> None:
    setup, wheel = release(tmp_path)

    made = write(BASE, setup, wheel, tmp_path / "out")

    read: dict[str, Any] = {}
    for path in made:
        if path.suffix == ".yaml":
            content = yaml.safe_load(path.read_text(encoding="utf-8"))
            read[content["ManifestType"]] = content
            assert path.parent == tmp_path / "out/winget/q" / Path(
                *IDENTIFIER.split("."), __version__
            )
    assert len(read) == len(WINGET)
    assert {one["PackageVersion"] for one in read.values()} == {__version__}
    assert {one["PackageIdentifier"] for one in read.values()} == {IDENTIFIER}
    (installer,) = read["installer"]["Installers"]
    assert installer["InstallerUrl"] == f"{BASE}/{SETUP_NAME}"
    assert installer["InstallerSha256"] == digest(setup).upper()


def test_homebrew_installs_the_wheel(tmp_path: Path) -> None:
    setup, wheel = release(tmp_path)

    made = write(f"{BASE}/", setup, wheel, tmp_path / "out")

    formula = next(path for path in made if path.suffix == ".rb").read_text(encoding="utf-8")
    assert f'url "{BASE}/{wheel.name}", using: :nounzip' in formula
    assert f'sha256 "{digest(wheel)}"' in formula
    assert 'shell_output("#{bin}/qms --version")' in formula
    assert "$" not in formula


@pytest.mark.parametrize("base", ["http://example.com", "https://example.com/$(x)", "nowhere"])
def test_an_address_that_cannot_be_used_is_refused(tmp_path: Path, base: str) -> None:
    setup, wheel = release(tmp_path)

    with pytest.raises(ValueError, match="no https URL"):
        write(base, setup, wheel, tmp_path / "out")


def test_a_wheel_of_something_else_is_refused(tmp_path: Path) -> None:
    setup, _ = release(tmp_path)

    with pytest.raises(ValueError, match="not a wheel of this product"):
        write(BASE, setup, setup, tmp_path / "out")
    assert not (tmp_path / "out").exists()
