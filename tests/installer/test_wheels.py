"""What of the packages is laid down, and that it is the same every time."""

import marshal
import zipfile
from pathlib import Path

import pytest

from installer import embedded, wheels
from installer.embedded import BuildError, compiled, make_library, put


def files_of(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_tests_headers_and_traces_of_this_machine_are_left_out(tmp_path: Path) -> None:
    for name in (
        "pkg/__init__.py",
        "pkg/__init__.pyi",
        "pkg/core.pyd",
        "pkg/tests/test_core.py",
        "pkg/testing/tools.py",
        "pkg/include/core.h",
        "pkg-1.0.dist-info/METADATA",
        "pkg-1.0.dist-info/RECORD",
        "pkg-1.0.dist-info/direct_url.json",
        "bin/pkg",
        "pythonwin/win32ui.pyd",
        ".lock",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()

    wheels.prune(tmp_path)

    assert files_of(tmp_path) == {
        "pkg/__init__.py",
        "pkg/core.pyd",
        "pkg/testing/tools.py",
        "pkg-1.0.dist-info/METADATA",
    }
    assert not (tmp_path / "pkg" / "include").exists()


def test_a_compiled_module_says_nothing_of_when_and_where(tmp_path: Path) -> None:
    places = [tmp_path / "one" / "module.py", tmp_path / "two" / "module.py"]
    for place in places:
        place.parent.mkdir()
        place.write_text("answer = 6 * 7\n", encoding="utf-8")

    first, second = (compiled(place, "module.py") for place in places)

    assert first == second
    assert first[4:8] == b"\x01\x00\x00\x00", "found by its hash, and never compared"
    values: dict[str, object] = {}
    exec(marshal.loads(first[16:]), values)
    assert values["answer"] == 42


def test_the_listing_is_what_sha256sum_writes(tmp_path: Path) -> None:
    for name in ("b.whl", "a.whl"):
        (tmp_path / name).write_bytes(b"")
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    listing = wheels.listing(tmp_path.glob("*.whl"))

    assert listing == f"{empty}  a.whl\n{empty}  b.whl\n"


def test_the_library_of_another_python_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "VERSION", (3, 99))

    with pytest.raises(BuildError, match=r"uv run --group dev --python 3\.99"):
        make_library(tmp_path / "library.zip")


def test_an_entry_of_the_library_has_a_fixed_time(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "library.zip", "w") as archive:
        put(archive, "module.pyc", b"content")
        (entry,) = archive.infolist()

    assert (entry.date_time, entry.create_system) == ((1980, 1, 1, 0, 0, 0), 0)
