"""The configuration in force: first run, hot reload, changes, and what cannot undo them."""

import errno
import os
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
import tomlkit

from qms.config import toml_file
from qms.config.configuration import Configuration, key_record, new_key
from qms.config.settings import LogLevel, Settings
from qms.config.toml_change import put
from qms.disk.disk import Disk
from qms.memory.access import AccessTier
from qms.memory.errors import (
    ConflictError,
    InvalidInputError,
    StorageFullError,
    UnavailableError,
)

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


class FailingDisk(Disk):
    """A disk that takes no more writes once it is told so."""

    error: int | None = None

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        if self.error is not None:
            raise OSError(self.error, os.strerror(self.error))
        return super().write(descriptor, data)


def configuration(root: Path, disk: Disk | None = None) -> Configuration:
    return Configuration(root / "QuickMemoryServer.toml", disk or Disk(), lambda: NOW)


@pytest.fixture
def loaded(tmp_path: Path) -> Configuration:
    made = configuration(tmp_path / "root")
    made.load()
    return made


def save(made: Configuration, text: str) -> None:
    made.path.write_text(text, encoding="utf-8", newline="")


def log_level(level: str) -> Callable[[str], str]:
    return lambda text: put(text, ("global", "logLevel"), level)


def test_a_new_root_is_seeded_and_its_admin_gets_a_key_once(tmp_path: Path) -> None:
    made = configuration(tmp_path / "deep" / "root")
    key = made.load()
    assert key is not None
    assert list(made.settings.endpoints) == ["shared", "default"]
    assert made.settings.users["admin"].access is AccessTier.ADMIN
    match = made.settings.find_key(key, NOW)
    assert match is not None
    assert match.user == "admin"
    assert key not in made.path.read_text(encoding="utf-8")
    assert configuration(tmp_path / "deep" / "root").load() is None


def test_a_root_whose_users_hold_no_key_is_a_first_run_too(tmp_path: Path) -> None:
    made = configuration(tmp_path)
    save(made, "# mine\n[users.admin] # a\ntier = 'reader'\n[users.bob]\n")
    key = made.load()
    assert key is not None
    assert made.settings.admins(NOW) == ["admin"]
    assert made.text.startswith("# mine\n[users.admin] # a\n")


def test_keys_are_long_random_and_safe_in_a_header() -> None:
    keys = {new_key() for _ in range(100)}
    assert len(keys) == 100
    assert all(key.startswith("qms_") and len(key) == 4 + 43 for key in keys)
    assert all(key.isascii() and " " not in key for key in keys)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no file modes")
def test_the_file_is_for_its_owner_only(tmp_path: Path) -> None:
    made = configuration(tmp_path)
    made.load()
    assert made.path.stat().st_mode & 0o777 == 0o600
    made.path.chmod(0o644)
    save(made, made.text + "# edited\n")
    assert made.reload()
    assert made.path.stat().st_mode & 0o777 == 0o600


def test_an_invalid_file_stops_the_start_with_its_line(tmp_path: Path) -> None:
    made = configuration(tmp_path)
    save(made, "[global]\n\nlogKeep = 0\n")
    with pytest.raises(InvalidInputError) as caught:
        made.load()
    assert caught.value.details == {"field": "global.logKeep", "line": 3}


def test_a_folder_in_the_place_of_the_file_is_reported(tmp_path: Path) -> None:
    made = configuration(tmp_path)
    made.path.mkdir()
    with pytest.raises(UnavailableError, match="cannot be read"):
        made.load()


def test_a_plain_key_is_sealed_on_first_sight_and_works(tmp_path: Path) -> None:
    made = configuration(tmp_path)
    save(made, "[users.alice] # me\ntier = 'admin'\napiKey = 'a-key-written-by-hand' # mine\n")
    assert made.load() is None
    text = made.path.read_text(encoding="utf-8")
    assert "a-key-written-by-hand" not in text
    assert "# me" in text
    assert "# mine" in text
    assert made.settings.find_key("a-key-written-by-hand", NOW) is not None


def test_a_plain_key_works_even_where_it_cannot_be_sealed(tmp_path: Path) -> None:
    disk = FailingDisk()
    made = configuration(tmp_path, disk)
    text = "[users.alice]\ntier = 'admin'\napiKey = 'a-key-written-by-hand'\n"
    save(made, text)
    disk.error = errno.EROFS
    made.load()
    assert made.settings.find_key("a-key-written-by-hand", NOW) is not None
    assert made.path.read_text(encoding="utf-8") == text


def test_a_file_with_byte_order_mark_and_windows_lines_is_read_and_kept(tmp_path: Path) -> None:
    made = configuration(tmp_path)
    made.path.write_bytes(b"\xef\xbb\xbf[global]\r\nlogLevel = 'debug' # \xc3\xa9\r\n")
    made.load()
    assert made.settings.global_.log_level is LogLevel.DEBUG
    made.edit(log_level("error"))
    data = made.path.read_bytes()
    assert data.startswith('[global]\r\nlogLevel = "error" # é\r\n'.encode())
    assert data.count(b"\n") == data.count(b"\r\n")


def test_an_edit_by_hand_is_taken_over_and_told_to_listeners(loaded: Configuration) -> None:
    told: list[Settings] = []
    loaded.subscribe(told.append)
    before = loaded.version
    save(loaded, log_level("debug")(loaded.text))
    assert loaded.reload()
    assert loaded.settings.global_.log_level is LogLevel.DEBUG
    assert told == [loaded.settings]
    assert loaded.version != before


def test_an_unchanged_file_or_a_new_comment_tells_nobody(loaded: Configuration) -> None:
    told: list[Settings] = []
    loaded.subscribe(told.append)
    assert not loaded.reload()
    before = loaded.version
    save(loaded, loaded.text + "# a remark\n")
    assert loaded.reload()
    assert loaded.version != before
    assert told == []


def test_unknown_keys_become_warnings_and_stay_in_the_file(loaded: Configuration) -> None:
    save(loaded, loaded.text + "[future]\nthing = 1\n")
    assert loaded.reload()
    assert [warning.field for warning in loaded.warnings] == ["future"]
    loaded.edit(log_level("debug"))
    assert "[future]\nthing = 1\n" in loaded.path.read_text(encoding="utf-8")


class Careless(Configuration):
    """The negative control: it takes whatever the file holds for the configuration."""

    def reload(self) -> bool:
        try:
            self._settings = toml_file.parse(self._read())[0]
        except InvalidInputError:
            self._settings = Settings()
        return True


def check_invalid_edits_change_nothing(made: Configuration) -> None:
    good, running = made.text, made.settings
    for bad, line in [
        (good + "[global]\n", good.count("\n") + 1),
        (good.replace("logKeep = 5", "logKeep = 0"), good.partition("logKeep")[0].count("\n") + 1),
        ('[global\nserviceName = "x"\n' + good, 1),
    ]:
        save(made, bad)
        assert not made.reload()
        assert made.settings is running
        assert made.error is not None
        assert made.error.line == line
        assert made.error.reason.startswith(f"line {line}: ")
        assert made.path.read_text(encoding="utf-8") == bad
    save(made, good)
    made.reload()
    assert made.error is None
    assert made.settings == running


@pytest.mark.fault("F21")
def test_an_invalid_edit_keeps_the_running_configuration_and_shows_its_line(
    loaded: Configuration,
) -> None:
    check_invalid_edits_change_nothing(loaded)


@pytest.mark.fault("F21")
def test_control_without_the_guard_an_invalid_edit_changes_the_configuration(
    tmp_path: Path,
) -> None:
    careless = Careless(tmp_path / "QuickMemoryServer.toml", Disk(), lambda: NOW)
    careless.load()
    with pytest.raises(AssertionError):
        check_invalid_edits_change_nothing(careless)


def check_torn_files_lock_nobody_out(made: Configuration) -> None:
    good, key = made.path.read_bytes(), "a-key-that-stands-in-the-file"
    made.edit(lambda text: toml_file.add_key(text, "admin", key_record(key, NOW)))
    good = made.path.read_bytes()
    for length in range(0, len(good) - 1, 37):
        made.path.write_bytes(good[:length])
        made.reload()
        assert made.settings.find_key(key, NOW) is not None
        assert made.error is not None
    made.path.write_bytes(good)
    assert not made.reload()
    assert made.error is None


@pytest.mark.fault("F21")
def test_a_file_torn_at_any_place_locks_nobody_out(loaded: Configuration) -> None:
    save(loaded, loaded.text.partition("[global.embedding]")[0] + users_of(loaded.text))
    loaded.reload()
    check_torn_files_lock_nobody_out(loaded)


@pytest.mark.fault("F21")
def test_control_without_the_guard_a_torn_file_locks_everybody_out(tmp_path: Path) -> None:
    careless = Careless(tmp_path / "QuickMemoryServer.toml", Disk(), lambda: NOW)
    careless.load()
    with pytest.raises(AssertionError):
        check_torn_files_lock_nobody_out(careless)


def users_of(text: str) -> str:
    return text[text.index("\n[users.admin]") :]


def through_plain_values(text: str) -> str:
    """The negative control: a rewrite that forgets what TOML values cannot hold."""
    values = tomlkit.parse(text).unwrap()
    values["global"]["logLevel"] = "debug"
    return tomlkit.dumps(values)


def check_comments_survive(made: Configuration, change: Callable[[str], str]) -> None:
    before = made.text.splitlines()
    made.edit(change)
    after = made.path.read_text(encoding="utf-8").splitlines()
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert changed == [('logLevel = "info"', 'logLevel = "debug"')]


@pytest.mark.fault("F21")
def test_comments_and_order_survive_a_rewrite(loaded: Configuration) -> None:
    check_comments_survive(loaded, log_level("debug"))


@pytest.mark.fault("F21")
def test_control_a_rewrite_through_plain_values_loses_the_comments(loaded: Configuration) -> None:
    with pytest.raises((AssertionError, ValueError)):
        check_comments_survive(loaded, through_plain_values)


@pytest.mark.parametrize(
    ("data", "line"),
    [(b"# one\n# \xff\n", 2), ("[global]\n".encode("utf-16"), 1), (b"[global]\nx = \0\n", 2)],
)
def test_bytes_that_are_no_text_are_reported_with_their_line(
    loaded: Configuration, data: bytes, line: int
) -> None:
    running = loaded.settings
    loaded.path.write_bytes(data)
    assert not loaded.reload()
    assert loaded.settings is running
    assert loaded.error is not None
    assert loaded.error.line == line


def test_a_missing_file_is_reported_and_not_seeded_again(loaded: Configuration) -> None:
    running, text = loaded.settings, loaded.text
    loaded.path.unlink()
    assert not loaded.reload()
    assert loaded.settings is running
    assert loaded.error is not None
    assert not loaded.path.exists()
    with pytest.raises(UnavailableError):
        loaded.edit(log_level("debug"))
    save(loaded, text)
    loaded.reload()
    assert loaded.error is None


def test_an_edit_is_in_force_and_on_disk_when_it_returns(loaded: Configuration) -> None:
    told: list[Settings] = []
    loaded.subscribe(told.append)
    settings = loaded.edit(log_level("debug"))
    assert settings is loaded.settings
    assert told == [settings]
    again = configuration(loaded.root)
    assert again.load() is None
    assert again.settings == settings
    assert again.version == loaded.version


def test_an_edit_that_changes_nothing_writes_nothing(loaded: Configuration) -> None:
    before = Disk().identity(loaded.path)
    loaded.edit(lambda text: text)
    assert Disk().identity(loaded.path) == before


def test_an_edit_starts_from_the_file_as_a_person_left_it(loaded: Configuration) -> None:
    save(loaded, loaded.text + "\n# by hand\n[endpoint.mine]\n")
    loaded.edit(log_level("debug"))
    assert loaded.settings.find_endpoint("mine") is not None
    assert loaded.settings.global_.log_level is LogLevel.DEBUG
    assert "# by hand" in loaded.path.read_text(encoding="utf-8")


class ReadAtEveryStep(Configuration):
    """A configuration that is read after every single change of its state, as by a thread."""

    def __init__(self, path: Path) -> None:
        self.pairs: list[tuple[str, LogLevel]] = []
        super().__init__(path, Disk(), lambda: NOW)

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if getattr(self, "_settings", None) is not None:
            self.pairs.append((self.version, self.settings.global_.log_level))


def test_whoever_reads_a_version_and_then_the_settings_never_has_older_settings(
    tmp_path: Path,
) -> None:
    made = ReadAtEveryStep(tmp_path / "QuickMemoryServer.toml")
    made.load()
    before = made.settings.global_.log_level

    made.edit(log_level("debug"))

    assert before is not LogLevel.DEBUG
    assert made.pairs[-1] == (made.version, LogLevel.DEBUG)
    assert (made.version, before) not in made.pairs


def test_a_file_saved_while_an_edit_is_made_is_not_overwritten(loaded: Configuration) -> None:
    by_hand = loaded.text + "\n[endpoint.mine]\n"

    def change(text: str) -> str:
        save(loaded, by_hand)
        return log_level("debug")(text)

    with pytest.raises(ConflictError, match="by hand"):
        loaded.edit(change)
    assert loaded.path.read_text(encoding="utf-8") == by_hand
    assert loaded.reload()
    assert loaded.settings.find_endpoint("mine") is not None


@pytest.mark.attack("74")
def test_a_stale_version_is_a_conflict_and_changes_nothing(loaded: Configuration) -> None:
    stale = loaded.version
    loaded.edit(log_level("debug"), if_version=stale)
    with pytest.raises(ConflictError) as caught:
        loaded.edit(log_level("error"), if_version=stale)
    assert caught.value.details == {"version": loaded.version}
    assert loaded.settings.global_.log_level is LogLevel.DEBUG


def test_an_edit_by_hand_makes_the_version_stale(loaded: Configuration) -> None:
    stale = loaded.version
    save(loaded, loaded.text + "# by hand\n")
    with pytest.raises(ConflictError):
        loaded.edit(log_level("error"), if_version=stale)


def test_an_invalid_file_cannot_be_changed_before_it_is_corrected(loaded: Configuration) -> None:
    bad = loaded.text + "[global]\n"
    save(loaded, bad)
    with pytest.raises(ConflictError, match="correct it first"):
        loaded.edit(log_level("debug"))
    assert loaded.path.read_text(encoding="utf-8") == bad
    assert loaded.error is not None


def test_an_edit_that_makes_the_file_invalid_is_refused(loaded: Configuration) -> None:
    before, text = loaded.settings, loaded.text
    with pytest.raises(InvalidInputError) as caught:
        loaded.edit(log_level("loud"))
    assert caught.value.details["field"] == "global.logLevel"
    assert loaded.settings is before
    assert loaded.path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EIO])
def test_a_disk_that_takes_no_writes_leaves_everything_as_it_was(tmp_path: Path, code: int) -> None:
    disk = FailingDisk()
    made = configuration(tmp_path, disk)
    made.load()
    before, text = made.settings, made.text
    disk.error = code
    with pytest.raises(StorageFullError):
        made.edit(log_level("debug"))
    assert made.settings is before
    assert made.path.read_text(encoding="utf-8") == text
    assert [path.name for path in tmp_path.iterdir()] == [made.path.name]
    disk.error = None
    assert made.edit(log_level("debug")).global_.log_level is LogLevel.DEBUG


@pytest.mark.attack("69")
@pytest.mark.parametrize(
    "change",
    [
        lambda text: toml_file.remove_user(text, "admin"),
        lambda text: toml_file.set_user(text, "admin", AccessTier.CURATOR),
        lambda text: put(text, ("users", "admin", "keys"), []),
    ],
)
def test_the_last_admin_stays(loaded: Configuration, change: Callable[[str], str]) -> None:
    with pytest.raises(ConflictError, match="no administrator"):
        loaded.edit(change)
    assert loaded.settings.admins(NOW) == ["admin"]


def test_an_admin_may_go_when_another_is_there(loaded: Configuration) -> None:
    def change(text: str) -> str:
        text = toml_file.set_user(text, "bob", AccessTier.ADMIN)
        text = toml_file.add_key(text, "bob", key_record(new_key(), NOW))
        return toml_file.remove_user(text, "admin")

    assert loaded.edit(change).admins(NOW) == ["bob"]


@pytest.mark.attack("31")
def test_an_edit_from_outside_keeps_its_paths_inside(loaded: Configuration) -> None:
    def change(text: str) -> str:
        return toml_file.set_endpoint(text, "mine", {"storagePath": str(loaded.root.parent)})

    with pytest.raises(InvalidInputError, match="relative"):
        loaded.edit(change, confined=True)
    assert loaded.edit(change).find_endpoint("mine") is not None


def test_a_plain_key_in_an_edit_never_reaches_the_disk(loaded: Configuration) -> None:
    loaded.edit(lambda text: put(text, ("users", "bob", "apiKey"), "a-key-written-by-hand"))
    assert "a-key-written-by-hand" not in loaded.path.read_text(encoding="utf-8")
    assert loaded.settings.find_key("a-key-written-by-hand", NOW) is not None


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_a_file_behind_a_link_is_changed_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    real = tmp_path / "kept" / "own.toml"
    real.write_text("# mine\n", encoding="utf-8")
    root = tmp_path / "root"
    root.mkdir()
    (root / "QuickMemoryServer.toml").symlink_to(real)
    made = configuration(root)
    made.load()
    assert made.path.is_symlink()
    assert real.read_text(encoding="utf-8").startswith("# mine\n")
    assert "[users.admin]" in real.read_text(encoding="utf-8")


def test_edits_of_many_threads_are_all_there(loaded: Configuration) -> None:
    def add(name: str) -> None:
        loaded.edit(lambda text: toml_file.set_user(text, name, AccessTier.READER))

    def work(number: int) -> None:
        for step in range(3):
            add(f"user-{number}-{step}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    names = {f"user-{number}-{step}" for number in range(4) for step in range(3)}
    assert set(loaded.settings.users) == names | {"admin"}
    again = configuration(loaded.root)
    again.load()
    assert again.settings == loaded.settings
