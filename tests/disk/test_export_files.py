"""An export is one file, a folder or an archive; an archive is not believed."""

import gzip
import io
import re
import stat
import struct
import tarfile
import zipfile
from pathlib import Path

import pytest

from qms.disk import archives
from qms.disk.export_files import Export, open_export
from qms.memory.errors import InvalidInputError, NotFoundError

JSON = re.compile(r".*\.json")


def make_zip(path: Path, **files: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def make_tar(path: Path, **files: bytes) -> Path:
    with tarfile.open(path, "w:gz" if path.name.endswith("gz") else "w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def contents(export: Export) -> dict[str, bytes]:
    return {member.name: b"".join(export.chunks(member)) for member in export.members}


def refusal(path: Path) -> str:
    with pytest.raises(InvalidInputError) as refused, open_export(path, JSON):
        pass
    return refused.value.message


def test_a_file_a_folder_and_an_archive_give_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "export"
    (folder / "a").mkdir(parents=True)
    (folder / "a" / "b.json").write_bytes(b"[1]")
    (folder / "readme.md").write_bytes(b"no")
    packed = make_zip(tmp_path / "export.zip", **{"a/b.json": b"[1]", "readme.md": b"no"})

    tars = [
        make_tar(tmp_path / name, **{"readme.md": b"no", "a/b.json": b"[1]"})
        for name in ("export.tar", "export.tar.gz", "EXPORT.TGZ")
    ]

    for path in (folder, packed, *tars):
        with open_export(path, JSON) as export:
            assert contents(export) == {"a/b.json": b"[1]"}
            assert (export.read_bytes, export.total_bytes) == (3, 3)
    with open_export(folder / "a" / "b.json", JSON) as export:
        assert contents(export) == {"b.json": b"[1]"}


def test_a_path_with_nothing_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError), open_export(tmp_path / "gone", JSON):
        pass


def test_a_folder_without_a_fitting_file_is_refused(tmp_path: Path) -> None:
    assert "contains no file of this export format" in refusal(tmp_path)


@pytest.mark.attack(33)
@pytest.mark.parametrize(
    "name", ["../x.json", "a/../../x.json", "/etc/x.json", "C:/x.json", "..\\x.json", "\\x.json"]
)
def test_an_archive_that_names_a_file_outside_of_it_is_refused(tmp_path: Path, name: str) -> None:
    files = {"ok.json": b"[]", name: b"[]"}

    assert "outside" in refusal(make_zip(tmp_path / "export.zip", **files))
    assert "outside" in refusal(make_tar(tmp_path / "export.tar.gz", **files))


@pytest.mark.attack(33)
def test_an_archive_that_unpacks_to_far_more_than_it_holds_is_refused(tmp_path: Path) -> None:
    files = {"a.json": bytes(20 << 20)}

    assert "the limit is 100 times" in refusal(make_zip(tmp_path / "export.zip", **files))
    assert "the limit is 100 times" in refusal(make_tar(tmp_path / "export.tar.gz", **files))


@pytest.mark.attack(33)
def test_an_archive_that_lies_about_sizes_gives_no_more_than_it_says(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "export.zip", **{"a.json": bytes(20 << 20)})
    data = path.read_bytes()
    entry = data.index(b"PK\x01\x02")
    path.write_bytes(data[: entry + 24] + struct.pack("<L", 10) + data[entry + 28 :])

    with open_export(path, JSON) as export, pytest.raises(InvalidInputError, match="cannot be"):
        contents(export)
    assert export.read_bytes <= 10


@pytest.mark.attack(33)
def test_the_list_of_a_million_files_is_not_read(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "export.zip", **{"a.json": b"[]"})
    data = bytearray(path.read_bytes())
    end = data.index(b"PK\x05\x06")
    data[end + 12 : end + 16] = struct.pack("<L", 100 << 20)
    path.write_bytes(data)

    assert "too many files: the limit is 100,000" in refusal(path)


@pytest.mark.attack(33)
def test_of_a_tar_with_too_many_files_no_more_than_the_limit_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "MAX_TAR_FILES", 10)
    path = make_tar(tmp_path / "export.tar", **{f"{number}.json": b"[]" for number in range(11)})

    assert "too many files: the limit is 10" in refusal(path)


@pytest.mark.attack(33)
def test_a_tar_that_lies_about_a_size_is_refused_before_it_is_passed_over(tmp_path: Path) -> None:
    info = tarfile.TarInfo("a.json")
    info.size = 1 << 40
    path = tmp_path / "export.tar.gz"
    path.write_bytes(gzip.compress(info.tobuf()))

    assert "far more" in refusal(path)


@pytest.mark.attack(33)
def test_links_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_bytes(b"[]")
    folder = tmp_path / "export"
    folder.mkdir()
    (folder / "a.json").symlink_to(secret)
    link = zipfile.ZipInfo("a.json")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    packed = tmp_path / "export.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(link, str(secret))

    tar = tmp_path / "export.tar.gz"
    with tarfile.open(tar, "w:gz") as made:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
            one = tarfile.TarInfo("a.json")
            one.type, one.linkname = kind, str(secret)
            made.addfile(one)

    assert "contains no file" in refusal(folder)
    assert "contains no file" in refusal(packed)
    assert "contains no file" in refusal(tar)


def test_an_archive_that_is_cut_off_or_damaged_is_refused(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "export.zip", **{"a.json": b'["' + b"abcdefgh" * 500 + b'"]'})
    data = bytearray(path.read_bytes())
    data[60] ^= 0xFF
    path.write_bytes(data)

    with open_export(path, JSON) as export, pytest.raises(InvalidInputError, match="cannot be"):
        contents(export)


def test_a_tar_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    path = make_tar(tmp_path / "export.tar.gz", **{"a.json": bytes(range(256)) * 64})
    path.write_bytes(path.read_bytes()[:-40])

    assert "broken archive" in refusal(path)


def test_a_file_that_only_has_the_name_of_a_tar_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "export.tar"
    path.write_bytes(b"no archive" * 100)

    assert "broken archive" in refusal(path)
