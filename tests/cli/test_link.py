"""memoryctl link, unlink and get --links, on a server and on files."""

import pytest

from tests.cli.conftest import Terminal


@pytest.fixture
def pair(ctl: Terminal) -> Terminal:
    """Two memories."""
    ctl.remember("new", "--id", "new", "--title", "New plan")
    ctl.remember("old", "--id", "old", "--title", "Old plan")
    return ctl


def test_a_link_is_made_once_and_shown_at_both_ends(pair: Terminal) -> None:
    first = pair.ok("link", "new", "old", "--type", "derivedFrom", "--weight", "0.5")
    again = pair.ok("link", "new", "old", "--type", "derivedFrom", "--json")

    assert first.err.endswith("linked\n")
    assert again.json["linked"] is False
    for entry_id, title in (("new", "Old plan"), ("old", "New plan")):
        shown = pair.ok("get", entry_id, "--links").out
        assert "default:new  derivedFrom  default:old" in shown
        assert title in shown
    (link,) = pair.ok("get", "new", "--links", "--json").json["links"]
    assert link["weight"] == 0.5


def test_links_of_one_type_are_taken_away(pair: Terminal) -> None:
    for relation in ("relatedTo", "contradicts"):
        pair.ok("link", "new", "old", "--type", relation)

    trial = pair.ok("unlink", "new", "old", "--type", "contradicts", "--dry-run", "--json")
    done = pair.ok("unlink", "new", "old", "--type", "contradicts", "--yes", "--json")

    assert trial.json["unlinked"] == done.json["unlinked"] == 1
    assert trial.json["version"] != done.json["version"]
    links = pair.ok("get", "new", "--links", "--json").json["links"]
    assert [one["type"] for one in links] == ["relatedTo"]


def test_unlinking_asks_and_says_when_there_is_nothing(pair: Terminal) -> None:
    assert "no such relation" in pair.ok("unlink", "new", "old").err
    pair.ok("link", "new", "default:old", "--metadata", "why=review")

    assert pair("unlink", "new", "old").code == 2
    assert "1 relations removed" in pair.ok("unlink", "new", "old", "--yes").err
    assert "no relations" in pair.ok("get", "new", "--links").err


def test_a_link_to_nothing_is_not_found(pair: Terminal) -> None:
    assert pair("link", "new", "absent").code == 4
