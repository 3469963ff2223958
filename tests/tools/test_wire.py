"""Nothing changes on the wire unnoticed: the checkout under test says what was recorded."""

import json
import re
import sys
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tools.record_wire import ACCEPTED
from tools.wire.comparison import compare
from tools.wire.recording import PARTS, record
from tools.wire.stable import Placeholders

PROGRAMS = Path(sys.executable).parent
HELP = "programs/memoryctl-help.txt"
MOST_LINES = 400
ACCEPT = "uv run python tools/record_wire.py accept"

# A recording is a minute of work on two quiet cores, and much more beside other tests.
pytestmark = [
    pytest.mark.timeout(1800),
    pytest.mark.skipif(sys.platform != "linux", reason="the recording was made on Linux"),
]


@pytest.mark.long
@pytest.mark.parametrize("part", PARTS)
def test_the_programs_say_and_leave_what_was_recorded(part: str, tmp_path: Path) -> None:
    record(PROGRAMS, tmp_path, [part])

    difference = compare(ACCEPTED, tmp_path, some=True).splitlines()

    shown = "\n".join(difference[:MOST_LINES])
    assert not difference, f"{shown}\n\nif this is meant, run `{ACCEPT}` and commit what it wrote"


def test_every_file_of_the_recording_is_made_by_a_part() -> None:
    tops = {path.name for path in ACCEPTED.iterdir()}

    assert tops == {"calls", "disk", "log", "mcp", "pages", "programs"}


BEFORE_A_COMMAND = {"openSession", "getSession", "closeSession"}
"""Who is not let in at all is refused before a command is counted."""

NOT_CALLED = {"completion", "man", "verify-install"}
"""Verbs whose output is recorded with the programs, or depends on the installation."""


def recorded(name: str) -> str:
    return (ACCEPTED / name).read_text(encoding="utf-8")


def test_every_command_is_recorded_with_success_and_with_a_refusal() -> None:
    paths = json.loads(recorded("pages/openapi.json").partition("\n")[2])["paths"]
    commands = {one["operationId"] for methods in paths.values() for one in methods.values()}
    outcomes = defaultdict(set)
    counted = re.compile(r'requests_total\{command="(\w+)",door="\w+",outcome="(\w+)"\}')
    for command, outcome in counted.findall(recorded("log/main-metrics.txt")):
        outcomes[command].add("ok" if outcome == "ok" else "refused")

    # Those that look after a store stand there twice, with a route of the administration, too;
    # those whose project is optional have one of the server.
    wanted = {one for one in commands if not one.startswith(("care", "server"))} - BEFORE_A_COMMAND
    assert {one for one in wanted if outcomes[one] != {"ok", "refused"}} == set()


def test_every_verb_of_memoryctl_is_called() -> None:
    helps = re.findall(r"^\$ memoryctl ([a-z -]+) --help$", recorded(HELP), re.MULTILINE)
    nouns = {verb.split()[0] for verb in helps if " " in verb}
    names = ("memoryctl-served", "memoryctl-files", "sync")
    calls = "".join(recorded(f"calls/{name}.txt") for name in names)

    called = re.findall(r"^=== ctl (.*)$", calls, re.MULTILINE)
    wanted = set(helps) - nouns - NOT_CALLED
    assert {
        verb for verb in wanted if not any(f" {verb} " in f" {one} " for one in called)
    } == set()


def recording(folder: Path, **files: str) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return folder


def test_a_comparison_shows_what_changed_and_what_is_missing(tmp_path: Path) -> None:
    before = recording(tmp_path / "a", same="x\n", other="one\ntwo\n", gone="y\n")
    after = recording(tmp_path / "b", same="x\n", other="one\n2\n")

    difference = compare(before, after)

    assert "-two" in difference
    assert "+2" in difference
    assert "a/gone.txt" in difference
    assert "same.txt" not in difference
    assert "gone.txt" not in compare(before, after, some=True)


def test_a_comparison_passes_over_what_is_allowed_in_that_file_alone(tmp_path: Path) -> None:
    before = recording(tmp_path / "a", first="one\nkept\n", second="one\n")
    after = recording(tmp_path / "b", first="two\nkept\n", second="two\n")
    rules = tmp_path / "allowed"
    rules.write_text("# numbers are meant\nfirst.*: ^(one|two)$\n", encoding="utf-8")

    difference = compare(before, after, rules)

    assert "first.txt" not in difference
    assert "second.txt" in difference


def test_a_line_beside_an_allowed_one_is_still_a_difference(tmp_path: Path) -> None:
    before = recording(tmp_path / "a", first="one\nkept\n")
    after = recording(tmp_path / "b", first="two\nlost\n")
    rules = tmp_path / "allowed"
    rules.write_text("first.txt: one|two\n", encoding="utf-8")

    assert "-kept" in compare(before, after, rules)


NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
FIRST, SECOND = "0195513f-3c00-7000-8000-000000000001", "0195513f-3c00-7000-8000-000000000002"


@pytest.mark.parametrize(
    ("text", "placeholders"),
    [
        (f"{FIRST} {SECOND} {FIRST}", "<id:1> <id:2> <id:1>"),
        ("2026-03-01T12:01:00.123Z", "<now>"),
        ("2026-03-08T12:01:00Z", "<now+168h>"),
        ("2001-02-03T04:05:06Z", "2001-02-03T04:05:06Z"),
        ("0123456789abcdef", "<hash:1>"),
        ("0000000000000000", "0000000000000000"),
        ("at /some/place/file", "at <root>/file"),
        ("score 0.123456", "score 0.12"),
    ],
)
def test_what_differs_from_run_to_run_becomes_a_placeholder(text: str, placeholders: str) -> None:
    known = Placeholders(NOW, {"/some/place": "<root>"})

    assert known.sheet().text(text) == placeholders


def test_a_saved_value_has_its_name_in_every_file() -> None:
    known = Placeholders(NOW, {})
    known.name(f"projA:{SECOND}", "note")

    for _ in range(2):
        assert known.sheet().value({"id": f"projA:{SECOND}", "other": FIRST}) == {
            "id": "projA:<$note>",
            "other": "<id:1>",
        }
