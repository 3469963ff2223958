import pytest

from qms.cli.arguments import leaves, verb_first
from qms.cli.program import program
from tests.cli.conftest import Terminal


@pytest.mark.parametrize("place", range(3))
def test_options_stand_anywhere_on_the_line(files: Terminal, place: int) -> None:
    files.remember("a fact", "--kind", "fact")
    parts = [["--kind", "fact"], ["--json", "--limit=5"]]
    parts.insert(place, ["list"])

    result = files.ok(*(word for part in parts for word in part))

    assert [item["title"] for item in result.json["items"]] == ["a fact"]


def test_options_stand_between_a_noun_and_its_verb(files: Terminal) -> None:
    assert files.ok("--root", str(files.root), "stores", "--json", "verify", "default").json == {
        "items": []
    }


def test_no_option_takes_a_value_for_one_verb_and_none_for_another() -> None:
    kinds: dict[str, set[bool]] = {}
    for _, command in leaves(program):
        for option in command.params:
            for name in option.opts if option.param_type_name == "option" else ():
                kinds.setdefault(name, set()).add(getattr(option, "is_flag", False))

    assert [name for name, found in kinds.items() if len(found) > 1] == []


def test_what_follows_a_double_dash_is_no_option(files: Terminal) -> None:
    files.ok("remember", "--id", "a", "--", "--json")

    assert files.ok("get", "a", "--json").json["entry"]["body"] == {"text": "--json"}


@pytest.mark.parametrize(
    ("words", "error", "hint"),
    [
        (["lst"], "memoryctl has no command 'lst'", "did you mean list?"),
        (["stores", "verfy"], "memoryctl stores has no command 'verfy'", "did you mean verify?"),
        (["list", "--jsn"], "memoryctl list has no option '--jsn'", "did you mean --json?"),
        (["--limt", "5", "list"], "memoryctl has no option '--limt'", "did you mean --limit?"),
        (["list", "--tag", "x", "--Q"], "memoryctl list has no option '--Q'", "see `memoryctl"),
        (["xyzzy"], "memoryctl has no command 'xyzzy'", "see `memoryctl --help`"),
        (["stores"], "memoryctl stores needs one of verify", "see `memoryctl stores --help`"),
        (["get"], "missing argument 'ID'", "see `memoryctl get --help`"),
        (["list", "--kind", "song"], "invalid value for '--kind'", "see `memoryctl list --help`"),
        (["list", "--limit", "0"], "invalid value for '--limit'", "see `memoryctl list --help`"),
        (["list", "--updated-after", "soon"], "invalid value for '--updated-after'", "see"),
    ],
)
def test_a_mistake_is_named_with_a_way_on(
    files: Terminal, words: list[str], error: str, hint: str
) -> None:
    result = files(*words)

    assert result.code == 2
    assert result.out == ""
    assert f"error: {error}" in result.err
    assert f"hint: {hint}" in result.err


def test_a_bare_call_prints_the_help(files: Terminal) -> None:
    result = files.ok()

    assert result.out == files.ok("--help").out
    assert "\nCare:\n" in result.out


@pytest.mark.parametrize(
    ("words", "plain"),
    [
        (["projects", "create", "website"], ["projects", "add", "website"]),
        (
            ["users", "create", "ann", "--tier", "reader"],
            ["users", "add", "ann", "--tier", "reader"],
        ),
        (["--json", "config", "check"], ["config", "validate", "--json"]),
    ],
)
def test_other_words_that_people_type_are_understood(words: list[str], plain: list[str]) -> None:
    assert verb_first(words, program) == plain


def test_other_options_that_people_type_are_understood(ctl: Terminal) -> None:
    entry_id = ctl.remember("Kept", "--id", "kept")

    assert ctl.ok("logs", "--lines", "1").code == 0
    assert ctl.ok("rebuild", "default", "--wait").code == 0
    assert ctl.ok("copy", entry_id, "--to", "shared").line == "shared:kept"
    for words in (["copy", entry_id], ["copy", entry_id, "shared", "--to", "shared"]):
        refused = ctl(*words)
        assert (refused.code, "name the other project once" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["--help"], ["--help"]),
        (["--json", "--help"], ["--help"]),
        (["stores", "--help"], ["stores", "--help"]),
        (["--help", "list"], ["list", "--help"]),
        (["--version"], ["--version"]),
        (["--key", "list", "get", "a"], ["get", "--key", "list", "a"]),
        (["get", "--", "-a"], ["get", "--", "-a"]),
    ],
)
def test_the_verb_comes_first(words: list[str], wanted: list[str]) -> None:
    assert verb_first(words, program) == wanted
