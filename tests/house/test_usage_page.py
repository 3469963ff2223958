"""The pages for agents say what the code does: generated parts are current, recipes run."""

import json

from qms.app.table import TABLE
from qms.memory.errors import QmsError
from tests.house.pages import code_blocks, read
from tests.support.house import House
from tools.document_usage import PAGES, fill

CONFIGURED = 'slug = "projA"'


def test_the_generated_parts_of_the_usage_pages_are_current() -> None:
    pages = [page.read_text(encoding="utf-8") for page in PAGES]
    page = "\n".join(pages)

    # `uv run python tools/document_usage.py` brings the pages up to date.
    assert [fill(one) for one in pages] == pages
    assert [row.name for row in TABLE if f"| `{row.name}` |" not in page] == []
    assert [e.code for e in QmsError.__subclasses__() if f"| `{e.code}` |" not in page] == []


def test_every_recipe_for_agents_runs_as_it_stands(house: House) -> None:
    house.reconfigure(lambda text: text.replace(f"[endpoint.projA]\n{CONFIGURED}", DEFAULT))
    house.catalog.register(house.configuration.settings.endpoints)
    door = house.door("writer", "default")
    recipes = [json.loads(block) for block in code_blocks(read("docs/help-agent.md"))]

    assert len(recipes) > 10
    for recipe in recipes:
        ((command, request),) = recipe.items()
        answer = door.send(command, request)
        assert answer.status == 200, (command, answer.body)


DEFAULT = f'[endpoint.default]\nslug = "default"\n[endpoint.projA]\n{CONFIGURED}'
