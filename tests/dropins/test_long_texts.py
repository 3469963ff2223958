"""A text beyond `textBytes` is refused by the tools of other servers, too."""

import pytest

from qms.memory.limits import DEFAULT_LIMITS
from tests.dropins.conftest import ToolMaker

LONG = "x" * (DEFAULT_LIMITS.text_bytes + 1)


@pytest.mark.attack("83")
def test_drop_ins_name_the_limit(tools: ToolMaker) -> None:
    server_memory, ai_memory = tools("serverMemory"), tools("aiMemory")
    entity = {"name": "a", "entityType": "b", "observations": [LONG]}

    told = [
        server_memory("create_entities", entities=[entity]),
        ai_memory("memory_store", title="a", content="b", metadata={"c": LONG}),
    ]

    assert all(one.is_error and "textBytes" in one.text for one in told)
