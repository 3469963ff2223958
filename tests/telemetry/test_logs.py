"""Log lines: one a record, readable, without keys and without characters that act."""

import io
import json
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from qms.telemetry import logs
from qms.telemetry.logs import ConsoleFormatter, JsonFormatter, LogOptions
from tests.support.rights import too_open

KEY = "qms_" + "Ab3-_" * 8 + "xyz"
log = logging.getLogger("qms.test")


@pytest.fixture(autouse=True)
def _unconfigured() -> Iterator[None]:
    level = logging.getLogger().level
    yield
    logs.reset()
    logging.getLogger().setLevel(level)


@pytest.fixture
def console() -> io.StringIO:
    stream = io.StringIO()
    logs.configure(LogOptions(level="debug"), stream)
    return stream


def in_file(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def test_a_record_is_one_line_of_key_and_value_with_its_extra_fields(console: io.StringIO) -> None:
    log.info("store reloaded", extra={"project": "a b", "changed": 3, "held": False, "by": None})

    line = console.getvalue()
    assert line.endswith(
        'level=info logger=qms.test message="store reloaded"'
        ' project="a b" changed=3 held=false by=null\n'
    )
    assert line.count("\n") == 1


def test_the_file_holds_one_json_object_a_record(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "qms.log"
    logs.configure(LogOptions(file=path), io.StringIO())

    log.warning("disk %s", "full", extra={"project": "p", "free": 0, "ids": ["p:1", "p:2"]})

    (record,) = in_file(path)
    assert record["message"] == "disk full"
    assert (record["level"], record["logger"]) == ("warning", "qms.test")
    assert (record["project"], record["free"], record["ids"]) == ("p", 0, ["p:1", "p:2"])
    assert record["time"].endswith("Z")


@pytest.mark.attack(65)
def test_a_key_is_redacted_wherever_it_stands(tmp_path: Path) -> None:
    path, console = tmp_path / "qms.log", io.StringIO()
    logs.configure(LogOptions(file=path), console)

    log.info("key %s refused", KEY, extra={"header": f"Bearer {KEY}", "all": {"k": [KEY]}, KEY: 1})
    try:
        raise ValueError(f"bad key {KEY}")
    except ValueError:
        log.exception("failed")
    log.info("GET /?key=%s", KEY.replace("_", "%5F", 1))

    for text in (console.getvalue(), path.read_text(encoding="utf-8")):
        assert KEY[4:20] not in text
        assert text.count("qms_[redacted]") == 6


@pytest.mark.attack(59)
@pytest.mark.parametrize(
    "text",
    [
        "a\r\nlevel=error",
        "\x1b[2J",
        "\x9b31m",
        "\u202eevil",
        "\u2066x",
        "\u2028y",
        "\x00",
    ],
)
def test_control_and_bidi_characters_are_written_as_escapes(tmp_path: Path, text: str) -> None:
    path, console = tmp_path / "qms.log", io.StringIO()
    logs.configure(LogOptions(file=path), console)

    log.info("title %s", text, extra={"title": text, text: 1})

    (record,) = in_file(path)
    for line in (console.getvalue().rstrip("\n"), *map(str, record.values()), *record):
        assert logs.clean(line) == line
    assert "\\" in record["title"]


def test_a_lone_surrogate_is_escaped_before_an_encoder_meets_it() -> None:
    # Not through a logger: pytest's own report of the record could not be encoded.
    record = logging.makeLogRecord({"name": "x", "msg": "title \ud800", "levelname": "INFO"})

    assert json.loads(JsonFormatter().format(record).encode())["message"] == "title \\ud800"
    assert ConsoleFormatter().format(record).encode().endswith(rb'"title \ud800"')


def test_a_traceback_is_indented_so_that_no_message_forges_a_record(console: io.StringIO) -> None:
    try:
        raise ValueError("x\ntime=2026 level=info")
    except ValueError:
        log.exception("failed")

    first, *rest = console.getvalue().rstrip("\n").split("\n")
    assert first.startswith("time=")
    assert rest
    assert all(line.startswith("    ") for line in rest)


def test_the_traceback_is_a_field_of_the_json_record(tmp_path: Path) -> None:
    path = tmp_path / "qms.log"
    logs.configure(LogOptions(file=path), io.StringIO())

    try:
        raise ValueError("nothing there")
    except ValueError:
        log.exception("failed")

    assert in_file(path)[0]["traceback"][-1] == "ValueError: nothing there"


def test_the_file_rolls_at_its_size_and_keeps_so_many(tmp_path: Path) -> None:
    path = tmp_path / "qms.log"
    logs.configure(LogOptions(file=path, max_bytes=2000, keep=2), io.StringIO())

    for number in range(100):
        log.info("event", extra={"number": number})

    files = sorted(file.name for file in tmp_path.iterdir())
    assert files == ["qms.log", "qms.log.1", "qms.log.2"]
    assert all(file.stat().st_size <= 2000 for file in tmp_path.iterdir())
    assert in_file(path)[-1]["number"] == 99


def write_at(moment: float, message: str) -> None:
    """Log a record of another moment."""
    fields = {"name": "t", "msg": message, "created": moment, "levelno": logging.INFO}
    record = logging.makeLogRecord({**fields, "levelname": "INFO"})
    logging.getLogger().handle(record)


def test_the_file_rolls_at_its_age_also_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "qms.log"
    day = 86_400.0

    for days, message in ((0, "first"), (6, "second"), (8, "third")):
        logs.configure(LogOptions(file=path, max_days=7, keep=3), io.StringIO())
        write_at(1_700_000_000 + days * day, message)
    logs.reset()

    aside = path.with_name("qms.log.1").read_text(encoding="utf-8")
    assert ["first" in aside, "second" in aside, "third" in aside] == [True, True, False]
    assert "third" in path.read_text(encoding="utf-8")


def test_what_was_set_aside_is_removed_when_all_of_it_is_old(tmp_path: Path) -> None:
    path = tmp_path / "qms.log"
    now = 1_700_000_000.0
    for number, days in ((1, 6), (2, 8)):
        aside = path.with_name(f"qms.log.{number}")
        aside.write_text("{}\n", encoding="utf-8")
        os.utime(aside, (now - days * 86_400, now - days * 86_400))

    logs.configure(LogOptions(file=path, max_days=7, keep=5), io.StringIO())
    write_at(now, "now")
    logs.reset()

    assert sorted(one.name for one in tmp_path.iterdir()) == ["qms.log", "qms.log.1"]


def test_a_long_field_is_cut_and_says_how_long_it_was(console: io.StringIO) -> None:
    log.info("event", extra={"text": "x" * 100_000})

    assert len(console.getvalue()) < 2 * logs.MAX_FIELD_CHARS
    assert "(100000 characters)" in console.getvalue()


def test_a_key_at_the_place_of_the_cut_is_redacted_before_the_cut(console: io.StringIO) -> None:
    shown = 12  # of the key: too few characters to be recognised as one
    log.info("event", extra={"text": " " * (logs.MAX_FIELD_CHARS - shown) + KEY})

    assert KEY[:shown] not in console.getvalue()
    assert "qms_[red" in console.getvalue()


def test_an_extra_field_never_replaces_one_of_ours(console: io.StringIO) -> None:
    log.info("event", extra={"level": "fatal", "time": "then"})

    assert " level=info " in console.getvalue()
    assert "level_=fatal time_=then" in console.getvalue()


def test_odd_values_become_json_that_any_reader_takes(tmp_path: Path) -> None:
    path = tmp_path / "qms.log"
    logs.configure(LogOptions(file=path), io.StringIO())
    nested: dict[str, Any] = {}
    nested["self"] = nested

    log.info("event", extra={"a": float("nan"), "b": Path("x"), "c": {"k": (1, 2)}, "d": nested})

    (record,) = in_file(path)
    assert (record["a"], record["b"], record["c"]) == ("nan", "x", {"k": [1, 2]})
    assert "self" in record["d"]


def test_configuring_again_replaces_the_earlier_setup() -> None:
    first, second = io.StringIO(), io.StringIO()
    logs.configure(LogOptions(level="info"), first)
    logs.configure(LogOptions(level="warning"), second)

    log.info("quiet")
    log.warning("loud")

    assert first.getvalue() == ""
    assert second.getvalue().count("\n") == 1


def test_the_level_can_change_while_running(console: io.StringIO) -> None:
    logs.set_level("error")
    log.warning("quiet")
    assert console.getvalue() == ""

    with pytest.raises(ValueError, match="unknown log level: loud"):
        logs.set_level("loud")


class BrokenStream(io.StringIO):
    """A console that went away."""

    def write(self, text: str) -> int:
        raise OSError(5, "Input/output error")


def test_a_record_that_cannot_be_written_is_reported_once_without_its_arguments(
    capsys: pytest.CaptureFixture[str],
) -> None:
    logs.configure(LogOptions(), BrokenStream())

    log.info("key %s", KEY)
    log.info("key %s", KEY)

    assert capsys.readouterr().err == "log records for the console are lost: OSError\n"


def test_a_library_that_logs_every_session_is_heard_in_trouble_only() -> None:
    stream = io.StringIO()
    logs.configure(LogOptions(level="debug"), stream)

    logging.getLogger("mcp.server").info("Created new transport with session ID: secret")
    logging.getLogger("mcp.server").warning("something is wrong")

    assert "secret" not in stream.getvalue()
    assert "something is wrong" in stream.getvalue()


@pytest.mark.attack(88)
@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_the_log_and_what_was_set_aside_of_it_are_for_their_owner_alone(
    tmp_path: Path, umask: int
) -> None:
    before = os.umask(umask)
    try:
        logs.configure(LogOptions(file=tmp_path / "logs" / "qms.log", max_bytes=200), io.StringIO())
        for number in range(9):
            log.warning("record %s", number)
    finally:
        os.umask(before)

    assert len(list((tmp_path / "logs").iterdir())) > 2
    assert too_open(tmp_path / "logs") == []
