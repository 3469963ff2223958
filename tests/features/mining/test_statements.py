import pytest

from qms.features.mining.statements import MAX_CHARACTERS, MAX_STATEMENTS, find_statements


def found(text: str) -> list[tuple[str, str]]:
    return [(one.rule, one.text) for one in find_statements(text)]


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ("decision", "We decided to drop Python 3.10."),
        ("decision", "I've settled on SQLite for the cache."),
        ("decision", "Let's go with the second option."),
        ("decision", "We're going to use Terraform from here."),
        ("decision", "Decision: the API stays on REST."),
        ("preference", "I prefer short answers."),
        ("preference", "I really dislike long functions."),
        ("preference", "I don't like semicolons."),
        ("preference", "Please never push to main."),
        ("preference", "Always write tests first."),
        ("preference", "From now on, answer in German."),
        ("preference", "My favourite editor is Helix."),
        ("fact", "My daughter is called Ida."),
        ("fact", "I'm a nurse in Oslo."),
        ("fact", "I live near the river."),
        ("fact", "We use PostgreSQL 16 in production."),
        ("fact", "Our staging server runs on port 8443."),
        ("fact", "The build cache is stored in S3."),
        ("fact", "Remember: the deploy key expires in May."),
    ],
)
def test_a_sentence_worth_keeping_is_found_by_its_rule(rule: str, sentence: str) -> None:
    text = f"Hello there. {sentence} What else?"

    assert found(text) == [(rule, sentence)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Should we use PostgreSQL here?",
        "Do you think we use too much memory",
        "If we use a cache, it gets faster.",
        "My question is about joins.",
        "It never works on Mondays.",
        "I like that idea a lot.",
        "Skimmy is here for us.",
        "We use it.",
        "Can you explain how we run the tests?",
        "because we use " + "x" * 600,
    ],
)
def test_questions_doubts_and_chatter_are_left_alone(text: str) -> None:
    assert found(text) == []


def test_several_sentences_of_one_message_are_told_apart() -> None:
    text = "- We use Golang. We decided to stay\n2) I prefer small PRs! ok; we run nightly builds"

    assert found(text) == [
        ("fact", "We use Golang."),
        ("decision", "We decided to stay"),
        ("preference", "I prefer small PRs!"),
        ("fact", "we run nightly builds"),
    ]


def test_what_was_asked_to_be_remembered_is_surer() -> None:
    (asked,) = find_statements("Remember that the door code is 12.")
    (said,) = find_statements("Our door code is twelve now.")

    assert asked.confidence > said.confidence


def test_typographic_apostrophes_and_odd_letters_do_no_harm() -> None:
    assert found("İ. Let’s use the İstanbul region.")[0][0] == "decision"


def test_a_message_gives_only_so_much() -> None:
    many = "We use tool number one here. " * 50
    late = "x. " * MAX_CHARACTERS + "We decided to stop."

    assert len(found(many)) == MAX_STATEMENTS
    assert found(late) == []
