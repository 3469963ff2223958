"""Damage in any file that is the server's own: it starts, answers every read, and reports."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from qms.app.build import OpenRoot, open_root
from qms.app.table import ADMIN_TABLE, TABLE
from qms.commands.gate import Gate
from qms.disk import damage
from qms.disk.append_log import AppendLog
from qms.disk.disk import Disk
from qms.features.proposals.proposals_file import Proposal, ProposalKind, Proposals
from qms.features.sync.peers_file import PeerBase, Peers
from qms.features.transfer.moves_file import Move, Moves
from qms.memory.access import LOCAL_ADMIN
from qms.memory.errors import QmsError
from tests.support.house import CONFIGURATION
from tests.support.server import configured, store_folder
from tests.support.waiting import eventually

pytestmark = pytest.mark.fault("F09")

IDS = [f"projA:e{number}" for number in range(8)]
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

Spoil = Callable[[bytes], bytes]

DAMAGES: dict[str, Spoil] = {
    "first byte": lambda data: b"\xff" + data[1:],
    "middle byte": lambda data: data[: len(data) // 2] + b"\xff" + data[len(data) // 2 + 1 :],
    "last byte": lambda data: data[:-1] + b"\xff",
    "cut": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "garbage": lambda data: b"\x00\xfe[[[{\n" * 20,
}

WHOLE_FILES = (
    ".qms/keys.json",
    "logs/audit.head",
    "MemoryStores/projA/.qms/moves.json",
    "MemoryStores/projA/.qms/proposals.json",
    "MemoryStores/projA/.qms/sync/" + "a" * 32 + ".json",
    "MemoryStores/projA/.qms/usage.json",
)
LINE_FILES = (
    "MemoryStores/projA/archive.jsonl",
    "MemoryStores/projA/.qms/changes.jsonl",
    "MemoryStores/projA/.qms/conflicts.jsonl",
    "MemoryStores/projA/.qms/kept-lines.jsonl",
    "logs/audit.jsonl",
)
"""What is lost with a line; a cut at the end of one, or an empty file, is not to be noticed."""


@pytest.fixture(scope="module")
def lived_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a root in which every file has been written that the server writes."""
    root = configured(tmp_path_factory.mktemp("root"), CONFIGURATION)
    with opened(root) as running:
        services = running.runtime.gate()
        for entry_id in IDS:
            note = {"kind": "note", "id": entry_id, "body": f"what {entry_id} says of parsers"}
            services.call(LOCAL_ADMIN, "projA", "upsertEntry", {"entry": note})
        services.call(LOCAL_ADMIN, "projA", "backupStore", {"mode": "full"})
        for number in range(8, 12):
            note = {"kind": "note", "id": f"e{number}", "body": "goes to the archive"}
            services.call(LOCAL_ADMIN, "projA", "upsertEntry", {"entry": note})
            services.call(LOCAL_ADMIN, "projA", "deleteEntry", {"id": f"projA:e{number}"})
        services.call(LOCAL_ADMIN, "projA", "recall", {"context": "parsers"})
    _write_rare_files(store_folder(root) / ".qms")
    return root


def _write_rare_files(own: Path) -> None:
    disk = Disk()
    AppendLog(disk, own / "conflicts.jsonl").extend([b'{"id":"projA:e1","entry":{"id":"e1"}}'] * 2)
    AppendLog(disk, own / "kept-lines.jsonl").extend([b'{"line":"kept as it was"}'])
    Peers(disk, own / "sync").remember("b" * 32, "a" * 32, PeerBase("token", {"e1": "v"}))
    Proposals(disk, own / "proposals.json").replace(
        IDS[0],
        [
            Proposal(
                entry_id=IDS[0],
                version="v",
                kind=ProposalKind.TAGS,
                model="m",
                proposed_utc=NOW,
                tags=("tag",),
            )
        ],
    )
    move = Move(source_id=IDS[1], target_id="projB:gone", user="admin", access="admin", at_utc=NOW)
    with Moves(disk, own / "moves.json").under_way(move):
        pass


@contextmanager
def opened(root: Path) -> Iterator[OpenRoot]:
    running = open_root(root, disk=Disk(), clock=lambda: datetime.now(UTC))
    try:
        assert running.runtime.catalog.wait(60)
        yield running
    finally:
        running.close()


def own_files(root: Path) -> list[str]:
    """Return every file of a root that no person writes."""
    names = (path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
    theirs = {"entries.jsonl", "QuickMemoryServer.toml"}
    return sorted(
        name for name in names if name.startswith("Backups/") or Path(name).name not in theirs
    )


def spoil(root: Path, name: str, kind: str) -> None:
    path = root / name
    path.write_bytes(DAMAGES[kind](path.read_bytes()))


def problem_files(root: Path) -> set[str]:
    """Start a root, call every command that reads, and return the files that health names."""
    with opened(root) as running:
        services = running.runtime.gate()
        assert running.runtime.catalog.failures == {}
        for entry_id in IDS:
            assert services.call(LOCAL_ADMIN, "projA", "getEntry", {"id": entry_id})
        for project in ("projA", "shared"):
            _read_everything(services, project)
        # The damaged file of rarely read notes is met when they are first asked for.
        running.runtime.catalog.get("projA").features.get(Peers).base("a" * 32)
        services.call(LOCAL_ADMIN, "projA", "verifyStore", {})
        report: Any = services.call(LOCAL_ADMIN, "projA", "health", {})
        return {problem.file for problem in report.problems if problem.code == "damagedFile"}


def _read_everything(services: Gate, project: str) -> None:
    for row in TABLE:
        if row.read_only:
            _call(services.call, project, row.name, row.example | _known(row.example))
    for row in ADMIN_TABLE:
        if row.read_only:
            _call(services.call, None, row.name, row.example)


def _known(example: dict[str, Any]) -> dict[str, Any]:
    return {"id": IDS[0]} if "id" in example else {}


def _call(call: Callable[..., Any], *arguments: Any) -> None:
    """Call a command, which may refuse; any other error would be an answer with status 500."""
    with suppress(QmsError):
        call(LOCAL_ADMIN, *arguments)


def must_be_named(name: str, kind: str) -> bool:
    if name in WHOLE_FILES:
        return True
    is_whole_line = kind in ("first byte", "middle byte", "garbage")
    return name in LINE_FILES and is_whole_line


def check(root: Path, names: list[str], kind: str) -> None:
    for name in names:
        spoil(root, name, kind)

    found = problem_files(root)

    missing = {Path(name).name for name in names if must_be_named(name, kind)} - found
    assert not missing, kind


def test_every_kind_of_file_that_can_lose_something_is_in_the_root(lived_in: Path) -> None:
    assert {*WHOLE_FILES, *LINE_FILES} <= set(own_files(lived_in))


def test_an_unharmed_root_has_no_damaged_file(lived_in: Path, tmp_path: Path) -> None:
    assert problem_files(shutil.copytree(lived_in, tmp_path / "root")) == set()


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_root_with_all_its_own_files_damaged_starts_and_reads(
    lived_in: Path, tmp_path: Path, kind: str
) -> None:
    root = shutil.copytree(lived_in, tmp_path / "root")

    check(root, own_files(root), kind)


@pytest.mark.parametrize("name", [*WHOLE_FILES, *LINE_FILES])
def test_one_bad_byte_in_a_file_is_reported_and_stops_nothing(
    lived_in: Path, tmp_path: Path, name: str
) -> None:
    root = shutil.copytree(lived_in, tmp_path / "root")

    check(root, [name], "middle byte")


@pytest.mark.long
@pytest.mark.timeout(4 * 3600)
def test_each_damage_to_each_own_file_stops_nothing(lived_in: Path, tmp_path: Path) -> None:
    for number, name in enumerate(own_files(lived_in)):
        for kind in DAMAGES:
            root = shutil.copytree(lived_in, tmp_path / f"{number}-{kind}")
            check(root, [name], kind)
            shutil.rmtree(root)


def test_a_damaged_line_costs_itself_and_is_named_with_its_number(
    lived_in: Path, tmp_path: Path
) -> None:
    root = shutil.copytree(lived_in, tmp_path / "root")
    path = store_folder(root) / "archive.jsonl"
    first, second, *rest = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([first, second.replace(b"archive", b"arch\xffve", 1), *rest]))

    with opened(root) as running:
        services = running.runtime.gate()
        listed: Any = services.call(LOCAL_ADMIN, "projA", "listArchive", {})
        services.call(LOCAL_ADMIN, "projA", "verifyStore", {})
        report: Any = services.call(LOCAL_ADMIN, "projA", "health", {})

    assert len(listed.items) == 3
    found = [one for one in report.problems if one.file == "archive.jsonl"]
    assert [(one.line, one.project) for one in found] == [(2, "projA")]
    assert "is not UTF-8 at byte" in found[0].reason
    assert path.read_bytes().count(b"\xff") == 1


def test_the_keeper_finds_a_damaged_line_by_itself(lived_in: Path, tmp_path: Path) -> None:
    root = shutil.copytree(lived_in, tmp_path / "root")
    spoil(root, "MemoryStores/projA/archive.jsonl", "middle byte")

    with opened(root) as running:
        store = running.runtime.catalog.get("projA")
        eventually(lambda: any(one.file == "archive.jsonl" for one in store.problems()))


def test_a_damaged_file_is_kept_aside_once_and_reported_until_it_is_removed(
    lived_in: Path, tmp_path: Path
) -> None:
    root = shutil.copytree(lived_in, tmp_path / "root")
    spoil(root, ".qms/keys.json", "middle byte")
    spoiled = (root / ".qms/keys.json").read_bytes()

    assert "keys.json" in problem_files(root)
    assert "keys.json" in problem_files(root)
    assert (root / ".qms/keys.json.damaged").read_bytes() == spoiled
    (root / ".qms/keys.json.damaged").unlink()
    assert problem_files(root) == set()


def test_without_setting_aside_the_check_fails(
    lived_in: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = shutil.copytree(lived_in, tmp_path / "root")
    monkeypatch.setattr(damage, "find_set_aside", lambda folders: [])
    monkeypatch.setattr("qms.features.health.health.find_set_aside", lambda folders: [])

    with pytest.raises(AssertionError):
        check(root, [".qms/keys.json"], "middle byte")
