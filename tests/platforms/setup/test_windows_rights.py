"""What the service account may do, as the calls of `icacls` that say so."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from qms.platforms.setup import windows_rights
from qms.platforms.setup.windows_rights import Wanted

DATA = Path("data")
FOLDERS = ("MemoryStores", "logs", "Backups", ".qms")
OWN = r"NT SERVICE\QuickMemoryServer"


def calls(wanted: Wanted) -> dict[str, list[str]]:
    """Return what is said of each path, all calls together."""
    found: dict[str, list[str]] = {}
    for path, *words in windows_rights.commands(wanted):
        found.setdefault(path, []).extend(words)
    return found


def test_the_service_may_change_its_folders_and_others_may_not_look() -> None:
    found = calls(Wanted(data=DATA))

    for name in FOLDERS:
        call = found[str(DATA / name)]
        assert "/inheritance:r" in call
        assert rf"{OWN}:(OI)(CI)M" in call
        assert not any("S-1-5-32-545" in word or "S-1-1-0" in word for word in call)


def test_in_the_root_it_may_change_the_settings_and_make_files_and_nothing_else() -> None:
    found = calls(Wanted(data=DATA))

    given = [word for word in found[str(DATA)] if OWN in word]
    assert given == [rf"{OWN}:(RX,WD)"]
    assert "/inheritance:r" not in found[str(DATA)], "everybody runs the program that is there"
    assert rf"{OWN}:M" in found[str(DATA / "QuickMemoryServer.toml")]
    assert len(found) == 6


def test_data_away_from_the_program_is_closed_to_others() -> None:
    found = calls(Wanted(data=DATA, is_alone=True))

    root = found[str(DATA)]
    assert root[:2] == ["/inheritance:r", "/grant:r"]
    assert [word for word in root if OWN in word] == [rf"{OWN}:(RX,WD)", rf"{OWN}:(OI)(NP)(IO)M"]
    assert not any("S-1-5-32-545" in word or "S-1-1-0" in word for word in root)


@pytest.mark.parametrize("is_alone", [False, True])
def test_nothing_is_set_file_by_file_so_that_rights_given_by_hand_stay(is_alone: bool) -> None:
    found = calls(Wanted(data=DATA, is_alone=is_alone))

    assert not any("/T" in words or "/reset" in words for words in found.values())


@pytest.mark.parametrize(
    ("account", "named"),
    [("", OWN), ("LocalSystem", OWN), (".\\ann", "ann"), (r"OFFICE\ann", r"OFFICE\ann")],
)
def test_the_account_that_the_service_runs_as_gets_the_rights(account: str, named: str) -> None:
    found = calls(Wanted(data=DATA, account=account))

    assert f"{named}:(OI)(CI)M" in found[str(DATA / "logs")]


def test_a_file_is_kept_for_one_user_and_administrators() -> None:
    asked: list[list[str]] = []

    def run(arguments: Sequence[str]) -> int:
        asked.append(list(arguments))
        return 0

    windows_rights.keep_private(Path("key.txt"), "ann", run)

    assert asked[0][:3] == ["key.txt", "/inheritance:r", "/grant:r"]
    assert asked[1] == ["key.txt", "/grant:r", "ann:F", "/Q"]


def test_what_windows_refuses_is_named_and_stops_nothing() -> None:
    asked: list[str] = []

    def run(arguments: Sequence[str]) -> int:
        asked.append(arguments[0])
        return 5 if arguments[0].endswith("logs") else 0

    assert windows_rights.grant(Wanted(data=DATA), run) == [str(DATA / "logs")]
    assert len(asked) == 6
