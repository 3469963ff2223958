"""Stores a document in a process of its own, which somebody may kill: ROOT."""

import sys
from pathlib import Path

import msgspec

from tests.support.house import Clock, House

PROJECT = "projA"
PARAGRAPHS = [
    f"Paragraph {number} tells of the {word} that stood beside the harbour for many years. " * 6
    for number, word in enumerate(("crane", "windmill", "granary", "chapel", "bakery"))
]
BEFORE = "# Harbour\n\n" + "\n\n".join(PARAGRAPHS) + "\n"
AFTER = BEFORE.replace("windmill", "lighthouse").replace("bakery", "brewery") + "\nOne more.\n"


def store(house: House, text: str) -> None:
    """Store the document, in one change."""
    door = house.door("admin")
    door("storeDocument", content=text, mime="text/markdown", id="harbour")


def store_half(house: House) -> None:
    """Leave half of a document behind, as one change for each of its entries would."""
    other = house.door("admin", "projB")
    stored = other("storeDocument", content=AFTER, mime="text/markdown", id="half")
    for entry_id in (stored["id"], *stored["chunkIds"][:2]):
        entry = other("getEntry", id=entry_id)["entry"]
        text = msgspec.json.encode(entry).replace(b"projB", b"projA").replace(b"half", b"harbour")
        imported = house.door("admin")("bulkImport", entries=[msgspec.json.decode(text)])
        assert imported["imported"] == 1, imported


def main() -> None:
    """Store the document in the root of the argument."""
    house = House(Path(sys.argv[1]), Clock())
    store(house, AFTER)
    house.close()


if __name__ == "__main__":
    main()
