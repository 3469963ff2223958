"""The drawing of the layers is the one that the import check enforces."""

import re
import tomllib

from tests.house.pages import ROOT, code_blocks, read


def enforced_layers(contract: str = "layers") -> list[str]:
    contracts = tomllib.loads(read("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    layers: list[str] = next(found for found in contracts if found["id"] == contract)["layers"]
    return [" ".join(layer.split()) for layer in layers]


def drawn_layers(bottom: str = "memory ") -> list[str]:
    drawing = next(block for block in code_blocks(read("ARCHITECTURE.md")) if bottom in block)
    heads = [re.split(r" {3,}", line)[0] for line in drawing.strip().split("\n")]
    return [" ".join(head.split()) for head in heads]


def test_the_drawing_equals_the_layers_that_the_import_check_enforces() -> None:
    assert drawn_layers() == enforced_layers()


def test_the_lines_of_features_equal_those_that_the_import_check_enforces() -> None:
    assert drawn_layers("entries | lists") == enforced_layers("features")


def test_a_room_stands_in_parentheses_exactly_while_it_is_empty() -> None:
    rooms = [room.strip() for layer in enforced_layers() for room in layer.split("|")]
    built = {path.parent.name for path in (ROOT / "qms").glob("*/__init__.py")}

    assert {room for room in rooms if not room.startswith("(")} == built


def test_every_room_has_a_row_that_says_what_it_owns() -> None:
    page = read("ARCHITECTURE.md")
    rooms = [room.strip("() ") for layer in enforced_layers() for room in layer.split("|")]

    assert [room for room in rooms if f"| `{room}` |" not in page] == []


def test_the_page_carries_the_walks_the_invariants_and_both_orders() -> None:
    headings = re.findall(r"^## (.+)$", read("ARCHITECTURE.md"), re.MULTILINE)

    assert {"The idea", "Layers", "Invariants", "Walks", "Lock order", "Start order"} <= set(
        headings
    )
