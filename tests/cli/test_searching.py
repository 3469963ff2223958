"""`memoryctl search`, on a server and on files."""

import json

from tests.cli.conftest import Terminal


def test_the_best_memory_comes_first(ctl: Terminal) -> None:
    ctl.remember("The lighthouse keeper is called Ada", "--id", "keeper")
    ctl.remember("Buy milk and bread", "--id", "milk")

    lines = ctl.ok("search", "lighthouse keeper").out.splitlines()

    assert lines[0].split()[:2] == ["SCORE", "FOUND"]
    assert "keeper" in lines[1]


def test_json_is_the_answer_of_the_command(ctl: Terminal) -> None:
    ctl.remember("The lighthouse keeper is called Ada", "--id", "keeper", "--tag", "coast")

    found = json.loads(ctl.ok("search", "lighthouse", "--tag", "coast", "--json").out)

    assert [result["entry"]["id"] for result in found["results"]] == ["default:keeper"]
    assert {"results", "mode", "skipped", "omitted"} == set(found)


def test_explain_prints_the_stages(ctl: Terminal) -> None:
    ctl.remember("The lighthouse keeper is called Ada", "--id", "keeper")

    assert "fused" in ctl.ok("search", "lighthouse", "--explain").out
