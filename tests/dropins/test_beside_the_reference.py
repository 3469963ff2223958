"""The same calls to the reference server and to ours: the same texts and contents come back."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.dropins.conftest import Told, ToolMaker
from tests.dropins.reference import reference_server

CALLS = 80
NAMES = ["John_Smith", "Anthropic", "jo hansen", "Jo Hansen", "Zoë", "東京"]
TYPES = ["works_at", "works at", "kennt", "見る", "supersedes"]
TEXTS = ["Speaks fluent Spanish", "Graduated in 2019", "prefers tea", "Ünïcode", "a|b\nc"]


def some_call(rng: random.Random) -> tuple[str, dict[str, Any]]:
    """Return a call that both servers are meant to answer alike."""
    names = rng.sample(NAMES, k=rng.randint(1, 3))
    texts = rng.sample(TEXTS, k=rng.randint(0, 3))
    source, target = rng.sample(NAMES, k=2)
    relations = [{"from": source, "to": target, "relationType": rng.choice(TYPES)}]
    kinds = rng.choice(["person", "organization", ""])
    entities = [{"name": one, "entityType": kinds, "observations": texts} for one in names]
    calls: dict[str, dict[str, Any]] = {
        "create_entities": {"entities": entities},
        "create_relations": {"relations": relations},
        "add_observations": {"observations": [{"entityName": names[0], "contents": texts}]},
        "delete_entities": {"entityNames": names[:1]},
        "delete_observations": {"deletions": [{"entityName": names[0], "observations": texts[:1]}]},
        "delete_relations": {"relations": relations},
        "read_graph": {},
        "search_nodes": {"query": rng.choice([*NAMES, *TEXTS, "PERSON", "s", "nothing"])},
        "open_nodes": {"names": names},
    }
    weights = [4, 6, 3, 1, 2, 1, 3, 3, 3]
    name = rng.choices(list(calls), weights)[0]
    return name, calls[name]


def in_one_order(told: Told) -> Any:
    """Return an answer without the order of its items: ours stand where their entries do."""
    if told.is_error:
        return "error"
    return {
        key: sorted(json.dumps(item, sort_keys=True) for item in value)
        if isinstance(value, list)
        else value
        for key, value in told.content.items()
    }


@pytest.mark.needs("server-memory")
@pytest.mark.parametrize("seed", [1, 2])
def test_the_same_calls_get_the_same_answers(tools: ToolMaker, tmp_path: Path, seed: int) -> None:
    ours = tools("serverMemory", "writer")
    rng = random.Random(seed)
    with reference_server(tmp_path / "memory.jsonl") as reference:
        for _ in range(CALLS):
            name, arguments = some_call(rng)
            theirs, own = reference.call(name, **arguments), ours(name, **arguments)
            assert in_one_order(own) == in_one_order(theirs), (name, arguments)
            if theirs.is_error:
                assert theirs.text in own.text
            elif {"entities", "relations"}.isdisjoint(theirs.content):
                assert own.text == theirs.text
