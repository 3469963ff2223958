import io
import json
import sys

import pytest

from tests.cli.conftest import Terminal


def feed(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    """Put bytes on standard input."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))


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


def test_remember_reads_the_text_from_standard_input(
    ctl: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed(monkeypatch, "\ufefflines\nwith ünïcode\n".encode())

    entry_id = ctl.remember("-")

    entry = ctl.ok("get", entry_id, "--json").json["entry"]
    assert entry["body"]["text"] == "lines\nwith ünïcode"


@pytest.mark.parametrize("text", [b"", b" \n", b"\xff\xfe"])
def test_an_empty_or_broken_text_is_refused_before_anything_is_opened(
    files: Terminal, monkeypatch: pytest.MonkeyPatch, text: bytes
) -> None:
    feed(monkeypatch, text)

    result = files("remember", "-")

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
    assert "it was there already" in again.err


def test_a_title_can_be_updated_instead_of_doubled(ctl: Terminal) -> None:
    first = ctl.remember("old", "--title", "Port")

    again = ctl.ok("remember", "new", "--title", "port", "--on-duplicate-title", "update")

    assert again.line == first
    assert "updated, version" in again.err


def test_update_changes_named_fields_only(ctl: Terminal) -> None:
    ctl.remember("text", "--id", "a", "--tag", "x", "--priority", "9")

    result = ctl.ok("update", "a", "--title", "New", "--tag", "y", "--tag", "z")

    assert result.line == "default:a"
    entry = ctl.ok("get", "a", "--json").json["entry"]
    assert (entry["title"], entry["tags"], entry["priority"]) == ("New", ["y", "z"], 9)


def test_update_takes_a_body_a_patch_and_fields_to_clear(
    ctl: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    ctl.remember("text", "--id", "a", "--namespace", "n", "--tag", "x")
    feed(monkeypatch, b'{"metadata":{"a":1},"title":"from the patch"}')

    ctl.ok("update", "a", "--patch", "-", "--body", "other", "--clear", "tags", "--title", "T")

    entry = ctl.ok("get", "a", "--json").json["entry"]
    assert (entry["body"], entry["metadata"], entry["title"]) == ({"text": "other"}, {"a": 1}, "T")
    assert "tags" not in entry


def test_update_prints_the_object_that_the_api_answers(ctl: Terminal) -> None:
    ctl.remember("text", "--id", "a")

    printed = ctl.ok("update", "a", "--title", "T", "--json").json

    assert printed == ctl.api("default", "getEntry", id="a")


@pytest.mark.attack(74)
def test_a_stale_version_is_a_conflict_with_exit_code_5(ctl: Terminal) -> None:
    ctl.remember("text", "--id", "a")
    version = ctl.ok("get", "a", "--json").json["version"]
    ctl.ok("update", "a", "--title", "first", "--if-version", version)

    for words in (
        ("update", "a", "--title", "second"),
        ("remember", "second", "--id", "a"),
        ("delete", "a", "--yes"),
    ):
        assert ctl(*words, "--if-version", version).code == 5

    assert ctl.ok("get", "a", "--json").json["entry"]["title"] == "first"


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ((), "patch"),
        (("--patch", "[1]"), "patch"),
        (("--patch", "{"), "patch"),
        (("--patch", '{"a":1,"a":2}'), "patch"),
        (("--metadata", "novalue"), "metadata"),
        (("--patch", "-", "--body", "-"), "body"),
    ],
)
def test_an_update_that_says_nothing_or_nonsense_is_refused(
    files: Terminal, words: tuple[str, ...], field: str
) -> None:
    result = files("update", "a", *words)

    assert result.code == 2
    assert f"error: {field}: " in result.err


def test_delete_moves_to_the_archive(ctl: Terminal) -> None:
    ctl.remember("text", "--id", "a")

    result = ctl.ok("delete", "a", "--yes")

    assert result.out == ""
    assert "a deleted; it is kept in the archive" in result.err
    assert ctl("get", "a").code == 4
    ctl.stop()
    archive = ctl.entries_file().with_name("archive.jsonl").read_text(encoding="utf-8")
    assert json.loads(archive)["entry"]["id"] == "default:a"


def test_delete_prints_the_object_that_the_api_answers(ctl: Terminal) -> None:
    ctl.remember("text", "--id", "a")

    assert ctl.ok("delete", "a", "--yes", "--json").json == {"deleted": True}


def test_delete_asks_and_without_anybody_there_refuses(ctl: Terminal) -> None:
    ctl.remember("text", "--id", "a", "--title", "Precious")

    result = ctl("delete", "a")

    assert result.code == 2
    assert "Precious" in result.err
    assert "hint: pass --yes" in result.err
    assert ctl("get", "a").code == 0


def test_a_dry_run_deletes_nothing(ctl: Terminal) -> None:
    ctl.remember("text", "--id", "a")
    ctl.remember("stays", "--id", "b", "--permanent")

    result = ctl("delete", "a", "b", "--dry-run", "--json")

    assert result.code == 5
    assert result.json["a"] == {"deleted": False}
    assert result.json["b"]["error"]["code"] == "conflict"
    assert ctl.ok("delete", "b", "--dry-run", "--force").code == 0
    assert ctl.ok("get", "a").code == ctl.ok("get", "b").code == 0


def test_partial_failure_is_failure(ctl: Terminal) -> None:
    for name in ("a", "b"):
        ctl.remember(name, "--id", name)

    result = ctl("delete", "a", "absent", "b", "--yes", "--json")

    assert result.code == 4
    assert result.json["a"] == result.json["b"] == {"deleted": True}
    assert result.json["absent"]["error"]["code"] == "notFound"
    assert "error: absent: there is no entry" in result.err


def test_a_permanent_entry_needs_force(ctl: Terminal) -> None:
    ctl.remember("stays", "--id", "a", "--permanent")

    assert ctl("delete", "a", "--yes").code == 5
    assert ctl("delete", "a", "--yes", "--force").code == 0


def test_one_version_fits_one_memory(files: Terminal) -> None:
    assert files("delete", "a", "b", "--if-version", "0" * 16, "--yes").code == 2
