"""Taking a backup: it holds the present, whatever the change log knows of the way there."""

from pathlib import Path

from tests.support.house import Clock
from tests.support.stores import UnsyncedDisk
from tests.support.workshop import Workshop


def test_a_differential_holds_an_edit_that_no_change_set_tells_of(tmp_path: Path) -> None:
    shop = Workshop(tmp_path, Clock(), UnsyncedDisk())
    shop.write(a="one", b="two")
    shop.back_up("full")
    shop.restart()
    folder = tmp_path / "MemoryStores" / "p"
    shop.catalog.remove("p")
    (folder / ".qms" / "base.jsonl").unlink()
    entries = folder / "entries.jsonl"
    entries.write_bytes(entries.read_bytes().replace(b'"one"', b'"by hand"'))
    shop.catalog.register(["p"])
    shop.clock.move(minutes=1)
    shop.write(b="three")
    taken = shop.back_up("differential")
    shop.clock.move(minutes=1)
    shop.write(a="later", b="later")

    shop.restore(taken)

    assert shop.state() == {"a": "by hand", "b": "three"}
    shop.close()
