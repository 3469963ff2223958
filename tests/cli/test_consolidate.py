"""memoryctl consolidate, contradictions, resolve and duplicates, on a server and on files."""

from tests.cli.conftest import Terminal


def test_two_memories_become_one(ctl: Terminal) -> None:
    ctl.remember("Monday was quiet.", "--id", "a", "--tag", "week", "--priority", "8")
    ctl.remember("Tuesday was loud.", "--id", "b", "--tag", "noise")
    words = ("consolidate", "a", "b", "--title", "The week", "--body", "Quiet, then loud.")

    assert ctl(*words).code == 2
    trial = ctl.ok(*words, "--dry-run", "--json").json
    made = ctl.ok(*words, "--yes").line

    assert (trial["id"], trial["consolidated"], trial["method"]) == (None, 2, "given")
    entry = ctl.ok("get", made, "--json").json["entry"]
    assert entry["body"]["text"] == "Quiet, then loud."
    assert (entry["tags"], entry["priority"]) == (["week", "noise"], 8)
    archived = ctl.ok("archive", "list", "--reason", "consolidated", "--json").json["items"]
    assert {one["id"] for one in archived} == {"default:a", "default:b"}


def test_the_summary_may_come_from_standard_input(files: Terminal) -> None:
    for name in ("a", "b"):
        files.remember(name, "--id", name)

    made = files.ok("consolidate", "a", "b", "--body", "-", "--yes", typed=b"both\n").line

    assert files.ok("get", made, "--json").json["entry"]["body"]["text"] == "both"


def test_memories_with_the_same_first_tag_are_consolidated(ctl: Terminal) -> None:
    for number in range(3):
        ctl.remember(f"step {number}", "--tag", "deploy", "--retention", "short")
    ctl.remember("apart", "--tag", "other")

    trial = ctl.ok("auto-consolidate", "--dry-run", "--json").json
    assert [len(group["ids"]) for group in trial["groups"]] == [3]
    assert "nothing to consolidate" in ctl.ok("auto-consolidate", "--min-count", "4").err
    made = ctl.ok("auto-consolidate", "--short-only", "--yes").line

    assert ctl.ok("get", made, "--json").json["entry"]["tags"] == ["deploy"]
    assert len(ctl.ok("list", "--json").json["items"]) == 2


def test_a_contradiction_is_listed_and_resolved(ctl: Terminal) -> None:
    ctl.remember("The port of staging is 5432", "--id", "old", "--kind", "fact")
    ctl.remember("The port of staging is 5433", "--id", "new", "--kind", "fact")
    assert "value" in ctl.ok("contradictions").out

    assert ctl("resolve", "new", "old").code == 2
    ctl.ok("resolve", "new", "old", "--dry-run")
    resolved = ctl.ok("resolve", "new", "old", "--yes", "--json").json

    assert (resolved["winner"], resolved["loser"]) == ("default:new", "default:old")
    loser = ctl.ok("get", "old", "--json").json["entry"]
    assert (loser["priority"], loser["confidence"]) == (1, 0.1)
    assert "nothing found" in ctl.ok("contradictions").err


def test_duplicates_are_looked_for(server: Terminal) -> None:
    server.remember("apples", "--id", "a")

    result = server.ok("duplicates", "--threshold", "0.99")

    assert (result.out, "nothing found" in result.err) == ("", True)
    answer = server.ok("duplicates", "--json").json
    assert answer["pairs"] == []
