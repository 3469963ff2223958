"""What the service account may do, as the calls of `icacls` that say so."""

from collections.abc import Sequence
from pathlib import Path

from qms.host.installing import rights

DATA = Path("data")


def test_the_service_may_change_its_folders_and_others_may_not_look() -> None:
    calls = {call[0]: call[1:] for call in rights.commands(DATA)}

    for name in ("MemoryStores", "logs", "Backups", ".qms"):
        call = calls[str(DATA / name)]
        assert "/inheritance:r" in call
        assert r"NT SERVICE\QuickMemoryServer:(OI)(CI)M" in call
        assert not any("S-1-5-32-545" in word or "S-1-1-0" in word for word in call)


def test_in_the_root_it_may_change_the_settings_and_make_files_and_nothing_else() -> None:
    calls = {call[0]: call[1:] for call in rights.commands(DATA)}

    given = [word for word in calls[str(DATA)] if "QuickMemoryServer" in word]
    assert given == [r"NT SERVICE\QuickMemoryServer:(RX,WD)"]
    assert r"NT SERVICE\QuickMemoryServer:M" in calls[str(DATA / "QuickMemoryServer.toml")]
    assert len(calls) == 6


def test_what_windows_refuses_is_named_and_stops_nothing() -> None:
    asked: list[str] = []

    def run(arguments: Sequence[str]) -> int:
        asked.append(arguments[0])
        return 5 if arguments[0].endswith("logs") else 0

    assert rights.grant(DATA, run) == [str(DATA / "logs")]
    assert len(asked) == 6
