"""Names of programs, whole and in parts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qms.text import names as naming
from qms.text.names import is_path, names_and_humps


@pytest.mark.parametrize(
    ("text", "names", "humps"),
    [
        ("call getUserName() now", ["getusername"], ["get", "user", "name"]),
        ("XMLHttpRequest2", ["xmlhttprequest2"], ["xml", "http", "request2"]),
        ("the user_name, please", ["user_name"], []),
        ("see http.server.", ["http.server"], []),
        ("docs/spec.md", ["docs/spec.md", "spec.md"], []),
        (r"C:\logs\app.log", ["c:/logs/app.log", "app.log"], []),
        ("build-42 failed", ["build-42"], []),
        ("__name__ is plain", [], []),
        ("Hello World, nothing here. OK?", [], []),
        ("foo(bar.baz, Qux::quux)", ["bar.baz", "qux::quux"], []),
        ("数据库 データ", [], []),
    ],
)
def test_names_are_found_whole_and_by_their_humps(
    text: str, names: list[str], humps: list[str]
) -> None:
    assert names_and_humps(text) == (names, humps)


def test_a_path_is_told_from_other_names() -> None:
    assert is_path("docs/spec.md")
    assert is_path("spec.md")
    assert not is_path("user_name")
    assert not is_path("2.5")


@given(st.text(alphabet=st.sampled_from("aB_./\\:-# \n7é猫("), max_size=300))
def test_any_text_gives_names_without_spaces(text: str) -> None:
    names, humps = names_and_humps(text)

    assert all(name and not any(map(str.isspace, name)) for name in (*names, *humps))


def test_a_name_beyond_reason_is_not_one() -> None:
    assert names_and_humps("a." * 10_000 + "b") == ([], [])


def test_a_token_as_long_as_a_text_is_looked_into_and_not_remembered() -> None:
    before = naming.cached_token_count()
    endless = "a/b." * 100_000

    assert names_and_humps(f"see {endless} in src/deep/file.py")[0] == [
        "src/deep/file.py",
        "file.py",
    ]
    assert naming.cached_token_count() == before


def test_tokens_are_remembered_up_to_a_limit() -> None:
    for number in range(3 * naming.CACHED_TOKENS):
        names_and_humps(f"step-{number}")

    assert naming.cached_token_count() == naming.CACHED_TOKENS
