"""memoryctl remember, on a server and on files."""

import json

import pytest

from tests.cli.conftest import Terminal


def test_remember_prints_the_id_and_stores_the_text(ctl: Terminal) -> None:
    result = ctl.ok("remember", "Staging runs PostgreSQL 16")

    entry = ctl.ok("get", result.line, "--json").json["entry"]
    assert entry["kind"] == "note"
    assert entry["body"] == {"text": "Staging runs PostgreSQL 16"}
    assert "stored, version " in result.err


def test_what_was_remembered_is_in_the_file_once_nothing_runs(ctl: Terminal) -> None:
    entry_id = ctl.remember("kept")
    ctl.stop()

    (line,) = ctl.entries_file().read_text(encoding="utf-8").splitlines()

    assert json.loads(line)["id"] == entry_id


def test_remember_fills_every_field_that_has_an_option(ctl: Terminal) -> None:
    ctl.remember(
        "text", "--id", "full", "--title", "T", "--tag", "a", "--keyword", "k", "--namespace", "n",
        "--priority", "9", "--confidence", "0.5", "--pinned", "--permanent",
        "--curation-tier", "canonical", "--retention", "mid", "--ttl", "2099-12-31",
        "--epic-slug", "e", "--epic-case", "c", "--metadata", "a=1", "--metadata", "b=x=y",
        "--source-type", "cli",
    )  # fmt: skip

    entry = ctl.ok("get", "full", "--json").json["entry"]

    wanted = {
        "title": "T", "tags": ["a"], "keywords": ["k"], "namespace": "n", "priority": 9,
        "confidence": 0.5, "pinned": True, "isPermanent": True, "curationTier": "canonical",
        "retention": "mid", "ttlUtc": "2099-12-31T00:00:00Z", "epicSlug": "e", "epicCase": "c",
        "metadata": {"a": 1, "b": "x=y"}, "source": {"type": "cli"},
    }  # fmt: skip
    assert wanted.items() <= entry.items()


def test_remember_reads_the_text_from_standard_input(ctl: Terminal) -> None:
    entry_id = ctl.remember("-", typed="\ufefflines\nwith ünïcode\n".encode())

    entry = ctl.ok("get", entry_id, "--json").json["entry"]
    assert entry["body"]["text"] == "lines\nwith ünïcode"


@pytest.mark.parametrize("text", [b"", b" \n", b"\xff\xfe"])
def test_an_empty_or_broken_text_is_refused_before_anything_is_opened(
    files: Terminal, text: bytes
) -> None:
    result = files("remember", "-", typed=text)

    assert result.code == 2
    assert "error: text: " in result.err


def test_bytes_that_are_no_text_are_refused(ctl: Terminal) -> None:
    result = ctl("remember", "broken \udcff argument")

    assert result.code == 2
    assert "UTF-8" in result.err


def test_remember_answers_what_the_api_answers(ctl: Terminal) -> None:
    first = ctl.ok("remember", "same", "--json").json
    again = ctl.ok("remember", "same", "--json")

    assert first["created"] is True
    assert again.json == ctl.api("default", "upsertEntry", entry={"kind": "note", "body": "same"})
    assert again.json["duplicateOf"] == first["id"]
    assert "already stored" in again.err


def test_a_title_can_be_updated_instead_of_doubled(ctl: Terminal) -> None:
    first = ctl.remember("old", "--title", "Port")

    again = ctl.ok("remember", "new", "--title", "port", "--on-duplicate-title", "update")

    assert again.line == first
    assert "updated, version" in again.err
