"""The worked example of a new command is a command, as it stands on the page."""

import re
import sys
import textwrap
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from qms.app.table import TABLE
from qms.commands.command import Command, collect
from tests.house.pages import read
from tests.support.house import Clock, House
from tests.support.mcp import SessionClient

MODULE = "count_tag_of_the_page"

PYTHON = re.compile(r"^ *```python\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The row that the example declares, in a module of its own."""
    section = read("docs/contributing.md").partition("## Add a command")[2].partition("\n## ")[0]
    (block,) = PYTHON.findall(section)
    path = tmp_path / "count_tag.py"
    path.write_text(textwrap.dedent(block), encoding="utf-8")
    spec = spec_from_file_location(MODULE, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, MODULE, module)
    spec.loader.exec_module(module)
    (declared,) = collect([module])
    return declared


@pytest.fixture
def with_example(row: Command, tmp_path: Path, clock: Clock) -> Iterator[House]:
    root = tmp_path / "root"
    root.mkdir()
    house = House(root, clock, commands=(*TABLE, row))
    yield house
    house.close()


def test_the_command_of_the_page_is_offered_at_every_door(with_example: House) -> None:
    writer, reader = with_example.door("writer"), with_example.door("reader")
    for number in range(3):
        tags = ["search"] if number else []
        writer("upsertEntry", entry={"kind": "note", "body": f"Note {number}", "tags": tags})
    query = "?toolsets=core,lifecycle"
    client = SessionClient(with_example.client, "reader", query=query)

    assert reader("countTag", tag="search") == {"count": 2}
    assert client.call("countTag", tag="search") == {"count": 2}
    assert "countTag" in client.tools()
    described = {one["name"]: one for one in reader("describe")["commands"]}
    assert described["countTag"]["help"] == "Count the entries with a tag"
    paths = with_example.client.request("GET", "/openapi.json").json["paths"]
    assert "/api/v1/{project}/countTag" in paths
    refusal = reader.fails("countTag", tags="search")
    assert (refusal.code, refusal.details["field"]) == ("invalidInput", "tags")
