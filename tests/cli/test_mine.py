import json
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from qms.cli import mine, skipped
from qms.features.mining import claude_code
from tests.cli.conftest import Terminal
from tests.support.chat_endpoint import Endpoint, Step, chat_endpoint
from tests.support.terminal import on_a_terminal

DATA = Path(__file__).parents[1] / "data" / "mining"
CLAUDE = str(DATA / "claude.json")
SLACK = str(DATA / "slack")


def mined(ctl: Terminal) -> list[dict[str, object]]:
    items: list[dict[str, object]] = ctl.ok("list", "--tag", "mined", "--json").json["items"]
    return items


def test_what_conversations_say_is_stored_with_the_way_back(ctl: Terminal) -> None:
    result = ctl.ok("mine", CLAUDE, "--format", "claude", "--namespace", "chats")

    found = ctl.ok("list", "--source-type", "claude", "--include", "full", "--json").json["items"]
    assert "6 memories stored" in result.err
    assert len(found) == 6
    (decision,) = [entry for entry in found if entry["kind"] == "decision"]
    assert decision["body"]["decision"] == "We decided to use TOML because comments survive."
    assert decision["source"] == {"type": "claude", "path": "claude.json"}
    assert decision["metadata"]["conversationId"] == "11111111-aaaa-4000-8000-000000000001"
    assert decision["metadata"]["messageId"].endswith("10001")
    assert decision["timestamps"]["sourceUtc"] == "2025-03-04T09:01:00.123Z"
    assert (decision["retention"], decision["namespace"]) == ("mid", "chats")
    assert decision["ttlUtc"]


def test_a_second_run_stores_nothing_twice(ctl: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mine, "BATCH_ENTRIES", 2)
    first = ctl.ok("mine", CLAUDE, "--format", "claude", "--json").json
    before = ctl.ok("list", "--include", "full", "--json").json

    second = ctl.ok("mine", CLAUDE, "--format", "claude", "--json").json

    assert (first["imported"], first["known"]) == (6, 0)
    assert (second["imported"], second["known"]) == (0, 6)
    assert ctl.ok("list", "--include", "full", "--json").json == before


def test_what_a_person_changed_or_deleted_stays_so(ctl: Terminal) -> None:
    ctl.ok("mine", CLAUDE, "--format", "claude")
    one, other = [str(item["id"]) for item in mined(ctl)][:2]
    ctl.ok("update", one, "--title", "mine now")
    ctl.ok("delete", other, "--yes")

    ctl.ok("mine", CLAUDE, "--format", "claude")

    assert len(mined(ctl)) == 5
    assert ctl.ok("get", one, "--json").json["entry"]["title"] == "mine now"


def test_a_run_that_was_cut_short_goes_on_where_it_was(
    ctl: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mine, "BATCH_ENTRIES", 2)
    whole = (DATA / "claude.json").read_bytes()
    part = tmp_path / "conversations.json"
    part.write_bytes(whole[: len(whole) * 7 // 10])
    assert ctl("mine", str(part), "--format", "claude").code == 2
    part.write_bytes(whole)

    rest = ctl.ok("mine", str(part), "--format", "claude", "--json").json

    assert rest["known"] > 0
    assert rest["known"] + rest["imported"] == 6
    assert len(mined(ctl)) == 6


def test_a_trial_run_stores_nothing(ctl: Terminal) -> None:
    result = ctl.ok("mine", SLACK, "--format", "slack", "--dry-run")

    assert result.out.split() == ["RULE", "NEW", "decision", "1", "fact", "1"]
    assert "2 memories would be stored" in result.err
    assert mined(ctl) == []


def test_short_conversations_are_left_out_unless_asked_for(files: Terminal) -> None:
    result = files.ok("mine", CLAUDE, "--format", "claude", "--min-messages", "2", "--json")

    assert result.json["byRule"]["fact"] == 3


def test_what_is_left_out_is_said_and_ends_with_a_failure(ctl: Terminal) -> None:
    result = ctl("mine", str(DATA / "claude-wrong-types.json"), "--format", "claude")

    assert result.code == 2
    assert "warning: 1 refused, Expected" in result.err
    assert ": claude-wrong-types.json, byte 2,639\n" in result.err
    assert len(mined(ctl)) == 3


def test_many_problems_of_one_kind_are_counted_and_a_few_places_shown(
    files: Terminal, tmp_path: Path
) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_bytes(b'{"type":\n' * 2000)

    result = files("mine", str(path), "--format", "claude-code")

    (warning,) = (line for line in result.err.splitlines() if line.startswith("warning:"))
    assert warning.startswith("warning: 2,000 refused, ")
    assert warning.endswith("talk.jsonl, byte 36, 1,995 more")


def test_many_kinds_of_problems_are_counted_and_a_few_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    items = skipped.SkippedItems()
    for number in range(skipped.MAX_PROBLEMS + 50):
        items.complain(f"line {number}", f"reason {number}")

    with pytest.raises(click.exceptions.Exit):
        items.end()

    said = capsys.readouterr().err
    assert said.count("warning:") == skipped.SHOWN_PROBLEMS + 1
    assert f"and {skipped.MAX_PROBLEMS + 50 - skipped.SHOWN_PROBLEMS:,} more" in said


def test_a_secret_that_the_project_refuses_is_named_and_the_rest_is_stored(
    files: Terminal, tmp_path: Path
) -> None:
    files.edit_settings("[endpoint.default]\n", '[endpoint.default]\nsecrets = "refuse"\n')
    talk = json.loads((DATA / "claude.json").read_bytes())
    key = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    talk[0]["chat_messages"][4]["content"][0]["text"] = f"Remember that the token is {key}"
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(talk), encoding="utf-8")

    result = files("mine", str(path), "--format", "claude", "--json")

    assert result.code == 2
    assert result.json["imported"] == 5
    assert result.json["problemCount"] == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((str(DATA / "empty.json"), "--format", "claude"), "contains no conversation"),
        ((CLAUDE, "--format", "chatgpt"), "mapping"),
        ((CLAUDE,), "--format"),
        ((CLAUDE, "--format", "claude", "--namespace", "a b"), "namespace"),
    ],
)
def test_a_line_that_cannot_be_carried_out_is_refused(
    files: Terminal, words: tuple[str, ...], said: str
) -> None:
    result = files("mine", *words)

    assert result.code == 2
    assert said in result.err


def test_a_missing_export_is_not_found(files: Terminal) -> None:
    assert files("mine", "gone.json", "--format", "claude").code == 4


def test_a_terminal_shows_how_far_it_is(files: Terminal) -> None:
    screen = on_a_terminal("mine", CLAUDE, "--format", "claude")

    assert screen.code == 0
    assert "mining [##" in screen.text


@pytest.fixture
def endpoint(files: Terminal) -> Iterator[Endpoint]:
    with chat_endpoint() as opened:
        files.edit_settings('baseUrl = ""', f'baseUrl = "{opened.url}"')
        files.edit_settings('# The model to use there.\nmodel = ""', 'model = "m"')
        yield opened


PICKED = json.dumps({"memories": [{"rule": "fact", "text": "Staging listens on port 5433."}]})


def test_a_language_model_picks_the_sentences_once(files: Terminal, endpoint: Endpoint) -> None:
    endpoint.script = [PICKED]

    first = files.ok("mine", CLAUDE, "--format", "claude", "--llm", "--json").json
    again = files.ok("mine", CLAUDE, "--format", "claude", "--llm", "--json").json

    assert first["byMethod"] == {"llm": 2}
    assert first["byRule"] == {"fact": 2, "code": 1, "procedure": 1}
    assert (again["imported"], again["byMethod"]) == (0, {})
    assert len(endpoint.requests) == 2
    assert "def load_settings" not in endpoint.texts[0]
    listed = files.ok("list", "--metadata", "method=llm", "--include", "full", "--json").json
    origin = [one["metadata"]["messageId"][-1] for one in listed["items"]]
    assert "5" in origin


@pytest.mark.parametrize("step", [500, "no JSON"])
def test_where_the_model_fails_the_rule_mines(
    files: Terminal, endpoint: Endpoint, step: Step
) -> None:
    endpoint.script = [step]

    result = files.ok("mine", CLAUDE, "--format", "claude", "--llm")

    assert "6 memories stored" in result.err
    assert "the language model read 0 of them, the rule 2" in result.err


def test_the_next_part_of_a_conversation_is_read_too(
    files: Terminal, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claude_code, "SLICE_MESSAGES", 1)
    monkeypatch.setattr(mine, "BATCH_ENTRIES", 1)
    endpoint.script = [PICKED]

    files("mine", str(DATA / "claude-code.jsonl"), "--format", "claude-code", "--llm")

    assert [text.split()[0] for text in endpoint.texts] == ["Fix", "Always"]
