"""The runtime: stores, keepers, audit and configuration wired together."""

import errno
import gc
import json
import os
import threading
import weakref
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from qms.app import build
from qms.app.build import OpenRoot, open_root
from qms.disk.disk import Disk
from qms.memory.access import LOCAL_ADMIN
from qms.memory.errors import ConflictError, InvalidInputError, NotFoundError, UnavailableError
from qms.telemetry.audit_log import AuditLog
from tests.support.projects import edit_by_hand, ids_in, open_store, remember, text_of
from tests.support.waiting import BOUND_S, eventually

Open = Callable[..., OpenRoot]

CONFIGURATION = """\
# kept
[global]
pollSeconds = 0.05
debounceMilliseconds = 5
[endpoint.a]
slug = "a"
[endpoint.b]
slug = "b"
[users.admin]
tier = "admin"
keys = [{ id = "k", sha256 = "%s" }]
""" % ("0" * 64)


def clock() -> datetime:
    return datetime(2026, 5, 1, 12, tzinfo=UTC)


class AuditRefusingDisk(Disk):
    """A disk that is full for the audit log only."""

    def __init__(self) -> None:
        self.is_full = False
        self._audits: set[int] = set()

    def open(self, path: Path, *, create: bool = False, mode: int = 0o600) -> int:
        descriptor = super().open(path, create=create, mode=mode)
        if path.name == "audit.jsonl":
            self._audits.add(descriptor)
        return descriptor

    def close(self, descriptor: int) -> None:
        self._audits.discard(descriptor)
        super().close(descriptor)

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        if self.is_full and descriptor in self._audits:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(descriptor, data)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "QuickMemoryServer.toml").write_text(CONFIGURATION, encoding="utf-8")
    return folder


@pytest.fixture
def start(root: Path) -> Iterator[Open]:
    opened: list[OpenRoot] = []

    def start(**options: Any) -> OpenRoot:
        options = {"disk": Disk(), "clock": clock, **options}
        opened.append(open_root(root, **options))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def entries(root: Path, project: str) -> Path:
    return root / "MemoryStores" / project / "entries.jsonl"


def audited(root: Path) -> list[tuple[str, str]]:
    data = (root / "logs" / "audit.jsonl").read_bytes()
    records = [json.loads(line) for line in data.split(b"\n") if line]
    return [(record["command"], record["changes"][0]["id"]) for record in records]


def rewrite(root: Path, old: str, new: str) -> None:
    edit_by_hand(root / "QuickMemoryServer.toml", old, new)


def test_every_endpoint_has_its_store(start: Open) -> None:
    catalog = start().runtime.catalog

    assert catalog.wait(BOUND_S)
    assert sorted(catalog.projects) == ["a", "b"]
    assert catalog.failures == {}


def test_a_commit_is_folded_and_audited(start: Open, root: Path) -> None:
    opened = start()
    remember(opened.runtime.catalog.get("a"), "one")
    assert audited(root) == [("upsertEntry", "a:one")]

    eventually(lambda: ids_in(entries(root, "a")) == ["a:one"])
    opened.close()

    assert AuditLog(root / "logs" / "audit.jsonl", Disk()).verify() is None


def test_a_hand_edit_becomes_visible_and_is_audited(start: Open, root: Path) -> None:
    opened = start()
    store = opened.runtime.catalog.get("a")
    remember(store, "one", "old text")
    store.fold()

    edit_by_hand(entries(root, "a"), "old text", "new text")

    eventually(lambda: text_of(store, "one") == "new text")
    eventually(lambda: audited(root)[-1] == ("handEdit", "a:one"))


def test_an_edit_made_while_stopped_is_audited_at_the_next_start(start: Open, root: Path) -> None:
    first = start(in_background=False)
    remember(first.runtime.catalog.get("a"), "one", "old text")
    first.close()
    edit_by_hand(entries(root, "a"), "old text", "new text")

    second = start(in_background=False)
    assert text_of(second.runtime.catalog.get("a"), "one") == "new text"
    second.close()

    assert audited(root) == [("upsertEntry", "a:one"), ("handEdit", "a:one")]


def test_what_the_audit_log_missed_is_completed_from_the_journal(start: Open, root: Path) -> None:
    folder = root / "MemoryStores" / "a"
    alone = open_store(folder, "a")
    remember(alone, "one")
    # No close: as after a crash, the journal is all there is.

    start(in_background=False).runtime.catalog.get("a")

    assert audited(root) == [("upsertEntry", "a:one")]


@pytest.mark.fault("F04")
def test_a_full_disk_under_the_audit_log_fails_no_commit_and_keeps_the_journal(
    start: Open, root: Path
) -> None:
    disk = AuditRefusingDisk()
    opened = start(disk=disk, in_background=False)
    store = opened.runtime.catalog.get("a")
    disk.is_full = True
    remember(store, "one")
    store.fold()
    assert text_of(store, "one") == "a text"
    assert store.status().pending_journal == 1

    disk.is_full = False
    store.fold()

    assert store.status().pending_journal == 0
    assert audited(root) == [("upsertEntry", "a:one")]
    assert opened.runtime.audit.verify() is None


def test_an_endpoint_added_to_the_file_gets_a_store(start: Open, root: Path) -> None:
    runtime = start().runtime
    rewrite(root, "[users.admin]", '[endpoint.c]\nslug = "c"\n[users.admin]')

    eventually(lambda: "c" in runtime.catalog.projects)
    remember(runtime.catalog.get("c"), "one")


def test_an_endpoint_removed_from_the_file_is_folded_and_closed(start: Open, root: Path) -> None:
    runtime = start().runtime
    store = runtime.catalog.get("b")
    remember(store, "one")
    rewrite(root, '[endpoint.b]\nslug = "b"\n', "")

    eventually(lambda: "b" not in runtime.catalog.projects)

    with pytest.raises(NotFoundError):
        runtime.catalog.get("b")
    eventually(lambda: ids_in(entries(root, "b")) == ["b:one"])
    eventually(lambda: store.is_read_only)
    remember(runtime.catalog.get("a"), "one")


def test_damage_inside_the_audit_log_reaches_health_by_itself(start: Open, root: Path) -> None:
    opened = start()
    for number in range(3):
        remember(opened.runtime.catalog.get("a"), f"e{number}")
    opened.close()
    path = root / "logs" / "audit.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0].replace(b"a:e0", b"a:x0"), *lines[1:]]))

    runtime = start().runtime

    assert runtime.audit.fault is None
    assert runtime.check_audit() > 0
    problems = runtime.gate().call(LOCAL_ADMIN, "a", "health", {})
    assert "damagedFile" in str(problems)


def test_a_removed_project_gives_its_memory_back(start: Open, root: Path) -> None:
    runtime = start().runtime
    assert runtime.catalog.wait(BOUND_S)
    eventually(gc.get_freeze_count)
    store = weakref.ref(runtime.catalog.get("b"))
    rewrite(root, '[endpoint.b]\nslug = "b"\n', "")

    eventually(lambda: "b" not in runtime.catalog.projects)

    eventually(lambda: gc.collect() >= 0 and store() is None)


def test_a_store_moved_in_the_file_is_opened_at_its_new_place(start: Open, root: Path) -> None:
    runtime = start().runtime
    remember(runtime.catalog.get("b"), "one")
    rewrite(root, 'slug = "b"', 'slug = "b"\nstoragePath = "elsewhere"')

    eventually((root / "MemoryStores" / "elsewhere").exists)

    eventually(lambda: text_of(runtime.catalog.get("b"), "one") is None)
    assert ids_in(entries(root, "b")) == ["b:one"]


@pytest.mark.fault("F21")
def test_an_invalid_edit_of_the_file_closes_no_store(start: Open, root: Path) -> None:
    runtime = start().runtime
    store = runtime.catalog.get("b")
    rewrite(root, "[endpoint.b]", "[endpoint.b")

    eventually(lambda: runtime.configuration.error)

    remember(store, "one")
    assert runtime.catalog.get("b") is store


@pytest.mark.fault("F25")
def test_a_store_folder_that_leads_out_of_the_root_fails_alone(
    start: Open, root: Path, tmp_path: Path
) -> None:
    (root / "MemoryStores").mkdir()
    (root / "MemoryStores" / "b").symlink_to(tmp_path, target_is_directory=True)

    catalog = start().runtime.catalog

    assert catalog.wait(BOUND_S)
    assert list(catalog.failures) == ["b"]
    with pytest.raises(UnavailableError, match="symbolic link"):
        catalog.get("b")
    remember(catalog.get("a"), "one")


def test_without_a_background_a_store_is_opened_only_when_asked_for(
    start: Open, root: Path
) -> None:
    threads = threading.active_count()
    opened = start(in_background=False)
    assert opened.runtime.catalog.loaded("a") is None

    remember(opened.runtime.catalog.get("a"), "one")
    assert threading.active_count() <= threads
    opened.close()

    assert ids_in(entries(root, "a")) == ["a:one"]
    assert not entries(root, "b").parent.exists()


def test_close_ends_every_thread_and_gives_the_root_back(start: Open, root: Path) -> None:
    threads = threading.active_count()
    opened = start()
    assert opened.runtime.catalog.wait(BOUND_S)
    opened.close()
    opened.close()

    eventually(lambda: threading.active_count() <= threads)
    start().close()


@pytest.mark.fault("F15")
def test_a_root_in_use_is_refused_before_anything_is_read(start: Open) -> None:
    start()

    with pytest.raises(ConflictError, match="in use by process"):
        start()


def test_a_configuration_that_is_invalid_at_the_start_gives_the_root_back(
    start: Open, root: Path
) -> None:
    rewrite(root, "[endpoint.b]", "[endpoint.b")
    with pytest.raises(InvalidInputError):
        start()

    rewrite(root, "[endpoint.b", "[endpoint.b]")
    start()


def test_a_fresh_root_is_seeded_and_gives_the_first_key_once(tmp_path: Path) -> None:
    fresh = tmp_path / "fresh"
    first = open_root(fresh, disk=Disk(), clock=clock)
    assert first.runtime.catalog.wait(BOUND_S)
    assert sorted(first.runtime.catalog.projects) == ["default", "shared"]
    for project in ("default", "shared"):
        assert (fresh / "MemoryStores" / project / "entries.jsonl").read_bytes() == b""
    first.close()

    second = open_root(fresh, disk=Disk(), clock=clock)
    second.close()

    assert first.first_key is not None
    assert first.first_key.startswith("qms_")
    assert second.first_key is None


def test_the_figures_of_open_stores_are_sampled_while_a_server_runs(
    start: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "SAMPLE_S", 0.01)
    runtime = start().runtime
    remember(runtime.catalog.get("a"), "one")

    eventually(
        lambda: any(
            figures.entries == 1
            for moment in runtime.series.moments()
            if (figures := moment.stores.get("a")) is not None
        )
    )
