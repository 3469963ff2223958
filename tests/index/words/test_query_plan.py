"""From the text of a search to a plan."""

import pytest

from qms.index.words.query_plan import KeywordQuery, analyse, make_plan, name_plan

LANGUAGES = ("english", "german")


def test_content_words_are_parted_from_small_ones() -> None:
    query = analyse("What did Caroline say about the support group?")

    assert query.content == ("caroline", "support", "group")
    assert query.small == ("what", "did", "say", "about", "the")
    assert query.pairs == (("caroline", "support"), ("support", "group"))


def test_a_query_of_small_words_only_means_them() -> None:
    assert analyse("to be or not to be").content == ("to", "be", "or", "not")


def test_each_word_counts_once() -> None:
    assert analyse("error Error ERROR log").content == ("error", "log")
    assert analyse("error Error ERROR log").pairs == (("error", "log"),)


@pytest.mark.parametrize(
    "text", ['say "exact words" now', "say “exact words” now", "«exact words»"]
)
def test_quoted_words_are_a_phrase(text: str) -> None:
    query = analyse(text)

    assert query.phrases == ("exact words",)
    assert set(query.content) >= {"exact", "words"}


def test_a_single_quotation_mark_means_nothing() -> None:
    assert analyse('"abc').phrases == ()
    assert analyse('"abc').content == ("abc",)
    assert analyse('"" " "').phrases == ()


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("what is projA:01931c6e-7a of?", ("projA:01931c6e-7a",)),
        ("deploy-guide", ("deploy-guide",)),
        ("deploy", ("deploy",)),
        ("deploy now", ()),
    ],
)
def test_what_may_be_an_id_is_noticed(text: str, ids: tuple[str, ...]) -> None:
    assert analyse(text).ids == ids


def test_paths_are_noticed() -> None:
    assert analyse("open docs/spec.md and user_name").paths == ("docs/spec.md", "spec.md")


def test_words_are_stemmed_for_every_language_of_the_store() -> None:
    plan = make_plan(analyse("Häuser"), LANGUAGES)

    assert {clause.terms for clause in plan.scored if clause.field == "stem"} == {
        ("hauser",),
        ("haus",),
    }


def test_matching_all_requires_each_content_word_somewhere() -> None:
    plan = make_plan(analyse("the red house", match_all=True), LANGUAGES)

    assert len(plan.required) == 2
    assert all({"stem", "title", "tags"} <= {c.field for c in group} for group in plan.required)


@pytest.mark.attack(36)
@pytest.mark.parametrize("text", ["(" * 200, "(" * 3_000, "(" * 100_000, '"' * 50_000, "*", "^~-+"])
def test_signs_alone_ask_for_nothing(text: str) -> None:
    assert analyse(text).is_empty


@pytest.mark.attack(36)
def test_operators_are_words() -> None:
    assert analyse("NOT " * 10_000 + "x").content == ("not",)


@pytest.mark.attack(37)
@pytest.mark.parametrize(
    "text",
    [
        " ".join(f"word{number}" for number in range(200_000)),
        "x" * 1_000_000,
        "猫" * 300_000,
        " ".join(f'"quote {number}"' for number in range(50_000)),
        " ".join(f"a{number}.b/c" for number in range(50_000)),
        " ".join(f"camelCase{number}Hump" for number in range(50_000)),
    ],
)
def test_a_text_beyond_all_limits_makes_a_bounded_plan(text: str) -> None:
    query = analyse(text, match_all=True)
    plan = make_plan(query, ("english", "german", "french", "russian", "polish", ""))

    assert len(query.content) <= 64
    assert len(plan.scored) + sum(map(len, plan.required)) < 5_000
    assert len(name_plan(query).scored) <= 32


@pytest.mark.attack(38)
@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("tag:x OR *", ("tag", "x")),
        ("a^1e400", ("1e400",)),
        ("/(aa+)+$/", ("aa",)),
        ("id:[* TO *] title:secret", ("id", "title", "secret")),
    ],
)
def test_query_syntax_is_plain_words(text: str, content: tuple[str, ...]) -> None:
    assert analyse(text).content == content


def test_an_empty_query_says_so() -> None:
    assert KeywordQuery().is_empty
    assert not analyse("x").is_empty
