"""A text beyond the limit of a query is refused before anything is opened or waited for."""

from typing import Any

import pytest

from tests.support.house import Door, House

LONG = "word " * (64 * 1024 // 5)
COMMANDS: dict[str, dict[str, Any]] = {
    "searchEntries": {"query": {"text": LONG}},
    "recall": {"context": LONG},
    "expandQuery": {"query": LONG},
    "search_nodes": {"query": LONG},
    "memory_search": {"query": LONG},
    "memory_recall": {"context": LONG},
    "memory_expand_query": {"query": LONG},
    "forgetEntries": {"pattern": LONG},
    "memory_forget": {"pattern": LONG},
}


@pytest.mark.attack(37)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_long_text_waits_for_no_store_and_no_index(
    house: House, as_writer: Door, command: str
) -> None:
    refused = as_writer.fails(command, **COMMANDS[command])

    assert (refused.status, refused.details["limit"]) == (400, "queryBytes")
    assert house.catalog.loaded("projA") is None
    as_writer("listEntries")
    assert house.catalog.loaded("projA") is not None
