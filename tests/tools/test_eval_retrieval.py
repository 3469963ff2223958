"""The scorer asks a real server, and nothing of the answers is in what it imports."""

import hashlib
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from tools.benchmarks.longmemeval import NotTheFileError, read_longmemeval
from tools.benchmarks.retrieval_entries import Form, Times, entries_of, names_of
from tools.benchmarks.retrieval_keyword import keyword_answers
from tools.benchmarks.retrieval_scores import rows_of, score
from tools.benchmarks.retrieval_sets import Item, MemorySet, Question
from tools.eval_retrieval import main

TURN = Item(
    id="answer_1", text="Tim: roses", conversation_id="c", role="Tim", when="1:56 pm on 8 May, 2023"
)
NOTE = Item(id="answer_2", text="cars", title="8 May, 2023")
SET = MemorySet(
    set="toy",
    store="one",
    docs=[TURN, NOTE],
    questions=[Question(text="Who has roses?", gold={"answer_1": 1}, type="x")],
)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_a_server_is_started_filled_asked_and_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "toy.jsonl"
    path.write_bytes(msgspec.json.encode(SET) + b"\n")
    arguments = (str(path), "--serve", "--root", str(tmp_path / "roots"))

    first, again = run(*arguments), run(*arguments)

    assert first.exit_code == again.exit_code == 0, first.output + again.output
    assert "toy  1          100.0 · 100.0 · 100.0 · 100.0" in first.stdout
    assert again.stdout == first.stdout


def test_a_server_is_either_started_or_named() -> None:
    assert run("--serve", "--url", "http://127.0.0.1:1").exit_code == 2
    assert run().exit_code == 2


@pytest.mark.parametrize(
    ("times", "title", "timestamps"),
    [
        (Times.TITLE, "1:56 pm on 8 May, 2023", None),
        (Times.SOURCE, None, {"sourceUtc": "2023-05-08T13:56:00Z"}),
        (Times.CREATED, None, {"createdUtc": "2023-05-08T13:56:00Z"}),
        (Times.NONE, None, None),
    ],
)
def test_the_time_of_a_turn_goes_where_it_is_asked_to(
    times: Times, title: str | None, timestamps: dict[str, str] | None
) -> None:
    turn, note = entries_of(SET, "p", Form(times=times))

    assert (turn.get("title"), turn.get("timestamps")) == (title, timestamps)
    assert note["title"] == "8 May, 2023"


def test_plain_memories_carry_no_conversation_and_no_role() -> None:
    turn, _ = entries_of(SET, "p", Form(plain=True))

    assert turn["body"] == {"content": "Tim: roses"}


def test_what_a_set_calls_its_memories_is_not_imported() -> None:
    entries = list(entries_of(SET, "p", Form()))

    assert b"answer_" not in msgspec.json.encode(entries)
    assert names_of(SET, "p", [entry["id"] for entry in entries]) == ["answer_1", "answer_2"]


def longmemeval(path: Path) -> str:
    """Write a file of two questions, the second without an answer; return its sha256."""

    def case(name: str, gold: list[str]) -> dict[str, Any]:
        return {
            "question_id": name,
            "question_type": "single-session-user",
            "question": "What degree do I have?",
            "answer": "physics",
            "haystack_session_ids": ["s1", "answer_s2"],
            "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"],
            "haystack_sessions": [
                [{"role": "user", "content": "Hello"}],
                [{"role": "user", "content": "My degree is in physics", "has_answer": True}],
            ],
            "answer_session_ids": gold,
        }

    content = msgspec.json.encode([case("q1", ["answer_s2"]), case("q2_abs", ["answer_s2"])])
    path.write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def test_longmemeval_counts_all_questions_and_those_that_have_an_answer(tmp_path: Path) -> None:
    sha256 = longmemeval(tmp_path / "s.json")

    stores = list(read_longmemeval(tmp_path / "s.json", sha256))

    answered = [(one.questions[0], score(["answer_s2"], one.questions[0].gold)) for one in stores]
    rows = {row.name: row.questions for row in rows_of("longmemeval", {False: answered})}
    assert rows == {"longmemeval, 500": 2, "longmemeval, 470": 1}
    assert stores[0].docs[1].text == "user: My degree is in physics"
    assert stores[0].docs[1].title == "2023/05/21 (Sun) 10:00"


def test_another_file_than_the_published_one_is_refused(tmp_path: Path) -> None:
    longmemeval(tmp_path / "s.json")

    with pytest.raises(NotTheFileError, match="sha256"):
        list(read_longmemeval(tmp_path / "s.json"))
    assert run("--serve", "--longmemeval", str(tmp_path / "s.json")).exit_code == 1


def test_plain_keyword_engines_are_asked_for_sets_without_known_figures() -> None:
    docs = [Item(id="a", text="Tim grows roses"), Item(id="b", text="A rose is grown by Tom")]
    asked = [
        Question(text="grows", gold={"a": 1.0}),
        Question(text="(rosing) NOT*", gold={"b": 1.0}),
    ]
    given = MemorySet(set="toy", store="one", docs=docs, questions=asked)

    engines = keyword_answers([given])

    assert len(engines) == 3
    (row,) = rows_of("toy", {False: engines[0]}, engines)
    assert row.keyword is not None
    assert row.keyword[1] > row.scores[1]
    assert not row.is_reached
