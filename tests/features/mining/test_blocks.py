import pytest

from qms.features.mining.blocks import find_code, find_steps, without_code

CODE = "a = 1\nb = 2\nc = 3\nd = 4"


def fenced(language: str, code: str = CODE) -> str:
    return f"before\n```{language}\n{code}\n```\nafter"


def test_code_is_found_with_its_language_and_name() -> None:
    code = "import os\n\n\nasync def fetch(url):\n    x = 1\n    return x"

    (found,) = find_code(fenced("Python", code))

    assert (found.language, found.name, found.text) == ("python", "fetch", code)


@pytest.mark.parametrize(
    "text",
    [
        fenced("text"),
        fenced(""),
        fenced("python", "a = 1\nb = 2"),
        fenced("python", "\n\n\n\n\n"),
        fenced("python", "a = 1\n" * 20_000),
        "```python\nnever closed\n" + CODE,
        "no code",
    ],
)
def test_what_is_short_no_code_or_never_closed_is_left_alone(text: str) -> None:
    assert list(find_code(text)) == []


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("export default function App() {", "App"),
        ("pub fn main() {", "main"),
        ("CREATE TABLE IF NOT EXISTS users (", "users"),
        ("public static class Box {", "Box"),
        ("x = 5", ""),
    ],
)
def test_the_name_is_the_first_thing_that_code_defines(line: str, name: str) -> None:
    (found,) = find_code(fenced("any", f"{line}\n1\n2\n3"))

    assert found.name == name


def test_prose_is_what_is_neither_code_nor_quoted() -> None:
    text = f"one\n{fenced('sql')}\n> quoted\ntwo"

    assert without_code(text).split() == ["one", "before", "after", "two"]


def test_steps_are_found_with_the_line_above_them() -> None:
    text = (
        "### Setup:\n\n1. Install it.\n2. **Run** the tests.\n   More.\n3) Open the page.\n\nDone."
    )

    (found,) = find_steps(text)

    assert found.heading == "Setup"
    assert found.steps == ["Install it.", "Run the tests.", "Open the page."]


@pytest.mark.parametrize(
    "text",
    [
        "1. Red\n2. Green\n3. Blue",
        "1. Run it.\n2. Stop it.",
        "2. Run it.\n3. Stop it.\n4. Start it.",
        "1.5 is more than 1.2. Run.",
    ],
)
def test_a_list_of_things_is_no_procedure(text: str) -> None:
    assert list(find_steps(text)) == []


def test_two_lists_in_one_text_are_two_procedures() -> None:
    one = "1. Run a.\n2. Run b.\n3. Run c.\n"

    assert [len(found.steps) for found in find_steps(one + "\nThen:\n" + one)] == [3, 3]
