"""Sample exports, made to the real formats, whole and broken."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from qms.disk import json_frames
from qms.features.mining.conversation import Conversation, Message, Problem
from qms.features.mining.memories import Memory, find_memories
from qms.features.mining.mining_formats import FORMATS, at_least, read_export
from qms.features.mining.slack import plain_text

DATA = Path(__file__).parents[2] / "data" / "mining"


def read(path: Path, form: str, min_messages: int = 1) -> tuple[list[Conversation], list[Problem]]:
    with read_export(path, form, min_messages=min_messages) as (_, found):
        everything = list(found)
    talks = [one for one in everything if isinstance(one, Conversation)]
    return talks, [one for one in everything if isinstance(one, Problem)]


def memories(talks: list[Conversation]) -> list[tuple[str, str]]:
    return [(one.rule, one.title) for talk in talks for one in find_memories(talk)]


CLAUDE = [
    ("decision", "We decided to use TOML because comments survive."),
    ("preference", "I prefer tabs over spaces in examples, and please always add type hints."),
    ("fact", "Remember that the staging database runs on port 5433."),
    ("code", "python: load_settings · Settings loader"),
    ("fact", "Our build server is jenkins-3."),
    ("procedure", "To roll out a release"),
]


@pytest.mark.parametrize("name", ["claude.json", "claude-lines.jsonl"])
def test_a_claude_export_is_read_as_an_array_and_as_lines(name: str) -> None:
    talks, problems = read(DATA / name, "claude", 3)

    assert problems == []
    assert [len(talk.messages) for talk in talks] == [5, 3]
    assert talks[0].id == "11111111-aaaa-4000-8000-000000000001"
    assert memories(talks) == CLAUDE


def test_of_code_that_was_revised_the_last_version_is_kept() -> None:
    talks, _ = read(DATA / "claude.json", "claude")

    (code,) = [one for one in find_memories(talks[0]) if one.rule == "code"]

    assert "strict=True" in code.body["snippet"]


def test_of_an_export_that_is_cut_off_everything_before_the_cut_is_found() -> None:
    talks, (problem,) = read(DATA / "claude-cut-off.json", "claude")

    assert memories(talks)[:5] == CLAUDE[:5]
    assert {talk.id for talk in talks} == {
        "11111111-aaaa-4000-8000-000000000001",
        "11111111-aaaa-4000-8000-000000000002",
    }
    assert "ends inside" in str(problem)


def test_wrong_types_cost_only_the_message_or_conversation_that_has_them() -> None:
    talks, problems = read(DATA / "claude-wrong-types.json", "claude", 3)

    assert memories(talks) == [CLAUDE[0], CLAUDE[2], CLAUDE[3]]
    assert len(problems) == 4
    assert all("byte" in str(problem) for problem in problems)


def test_bytes_that_are_no_text_are_replaced_and_the_rest_is_found() -> None:
    talks, problems = read(DATA / "claude-bad-utf8.json", "claude", 3)

    assert problems == []
    assert memories(talks)[0] == ("decision", "We decided to use TOML�� because comments survive.")
    assert memories(talks)[1:] == CLAUDE[1:]


@pytest.mark.parametrize("name", ["empty.json", "no-conversations.json"])
@pytest.mark.parametrize("form", FORMATS)
def test_an_empty_export_holds_nothing(name: str, form: str) -> None:
    talks, _ = read(DATA / name, form)

    assert sum(len(talk.messages) for talk in talks) == 0


def test_of_a_chatgpt_export_the_branch_last_seen_counts() -> None:
    talks, problems = read(DATA / "chatgpt.json", "chatgpt")

    assert problems == []
    assert memories(talks) == [
        ("fact", "We use restic for backups."),
        ("fact", "Our retention is thirty days."),
        ("decision", "Let's go with weekly snapshots, because the disk is small."),
        ("procedure", "Backups"),
        ("preference", "I never use cloud storage for this."),
    ]
    moment = talks[0].messages[0].at_utc
    assert moment is not None
    assert moment.isoformat() == "2025-03-04T09:10:02.250000+00:00"


def test_a_bad_message_of_a_chatgpt_export_does_not_end_the_branch() -> None:
    talks, (problem,) = read(DATA / "chatgpt-wrong-types.json", "chatgpt")

    assert len(memories(talks)) == 5
    assert "author" in str(problem)


def test_a_chatgpt_branch_that_runs_in_a_circle_ends(tmp_path: Path) -> None:
    export = json.loads((DATA / "chatgpt.json").read_bytes())
    export[0]["mapping"]["root"]["parent"] = "q3"
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(export), encoding="utf-8")

    talks, _ = read(path, "chatgpt")

    assert len(talks[0].messages) < 10


def test_a_slack_export_is_read_as_a_folder_and_as_the_archive_it_came_in(tmp_path: Path) -> None:
    packed = shutil.make_archive(str(tmp_path / "slack"), "zip", DATA / "slack")

    for path in (DATA / "slack", Path(packed)):
        talks, problems = read(path, "slack", 3)
        assert problems == []
        assert [(talk.id, talk.path) for talk in talks] == [
            ("general", "general/2025-03-04.json"),
            ("general", "general/2025-03-05.json"),
        ]
        assert memories(talks) == [
            ("decision", "@Bo Lind we agreed to freeze deploys on Fridays & holidays"),
            ("fact", "FYI: the wiki lives at the ops wiki (https://wiki.example.com/ops)"),
        ]
        assert talks[0].messages[0].author == "anna.b"


def test_a_broken_slack_export_costs_only_what_is_broken() -> None:
    talks, problems = read(DATA / "slack-broken", "slack")

    assert memories(talks) == [
        ("fact", "We use PostgreSQL 16 in staging."),
        ("fact", "Remember that the wiki is read-only on Sundays."),
    ]
    assert [(one.path, one.reason.rpartition("`$.")[2].rstrip("`")) for one in problems] == [
        ("users.json", "profile"),
        ("users.json", "id"),
        *(("general/2025-03-04.json", field) for field in ("text", "user", "ts")),
        ("general/2025-03-05.json", "the file ends inside of it"),
    ]


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("<#C1|general> <!here>", "#general @here"),
        ("<!subteam^S1|@ops>", "@@ops"),
        ("<https://a.example>", "https://a.example"),
        ("a &lt;b&gt; &amp;amp;", "a <b> &amp;"),
        ("<@U9> 1 < 2", "@U9 1 < 2"),
    ],
)
def test_slack_markup_is_read_as_people_see_it(given: str, shown: str) -> None:
    assert plain_text(given, {}) == shown


def test_of_claude_code_only_what_people_and_the_assistant_said_counts() -> None:
    talks, problems = read(DATA / "claude-code.jsonl", "claude-code")

    assert memories(talks) == [
        ("fact", "We use pytest with xdist here."),
        ("preference", "Always run the linter before you commit."),
    ]
    assert (talks[0].id, talks[0].title) == ("s-1", "Fix the checkout tests")
    assert len(problems) == 2


def test_a_conversation_that_is_too_large_is_read_message_by_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole, _ = read(DATA / "claude.json", "claude", 3)
    monkeypatch.setattr(json_frames, "MAX_FRAME_BYTES", 2500)

    talks, problems = read(DATA / "claude.json", "claude", 3)

    assert problems == []
    assert [talk.id for talk in talks][:5] == [whole[0].id] * 5
    found = [one for one in memories(talks) if one[0] != "code"]
    assert found == [one for one in CLAUDE if one[0] != "code"]


def test_the_parts_of_a_conversation_are_counted_together() -> None:
    message = Message(id="m", text="hello", is_person=True)

    def parts() -> Iterator[Conversation | Problem]:
        for owner in ("short", "long", "long"):
            yield Conversation(id=owner, title="", path="", messages=[message, message])
        yield Problem("file", None, "reason")

    found = list(at_least(parts(), 3))

    assert [one.id if isinstance(one, Conversation) else None for one in found] == [
        "long",
        "long",
        None,
    ]


@pytest.mark.parametrize(
    ("given", "iso"),
    [
        ("2025-03-04T09:00:00Z", "2025-03-04T09:00:00+00:00"),
        ("2025-03-04T10:00:00+01:00", "2025-03-04T09:00:00+00:00"),
        ("2025-03-04", "2025-03-04T00:00:00+00:00"),
        ("1741079100.000200", "2025-03-04T09:05:00.000200+00:00"),
        (1741079100, "2025-03-04T09:05:00+00:00"),
        ("yesterday", None),
        (1e300, None),
        (float("nan"), None),
        (None, None),
    ],
)
def test_moments_are_read_in_the_ways_of_every_format(
    given: str | float | None, iso: str | None
) -> None:
    moment = Message(id="", text="", is_person=True, at=given).at_utc

    assert (moment.isoformat() if moment else None) == iso


def test_a_memory_says_by_which_rule_it_was_found() -> None:
    talks, _ = read(DATA / "chatgpt.json", "chatgpt")

    found: list[Memory] = list(find_memories(talks[0]))

    assert {one.method for one in found} == {"rule"}
