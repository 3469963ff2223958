"""Imports are bounded in rows, bytes and time while they are read, whatever the format."""

import io
import json
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from qms.disk import export_files
from qms.disk.archives import Member
from qms.disk.export_files import Export, open_export
from qms.features.transfer.importers.import_formats import FORMATS, ImportFormat, Wanted, read_items
from qms.features.transfer.importers.items import MAX_LINE_BYTES, Broken, Found
from qms.features.transfer.importers.table import MAX_COLUMNS
from qms.features.transfer.meter import Bounds, Meter
from qms.memory.errors import InvalidInputError
from tests.support import hostile_texts

NOW = datetime(2026, 3, 1, tzinfo=UTC)
EIGHT_MEGABYTES = 8 << 20
A_BUFFER = 2 << 20
"""More is never read ahead of what is counted."""


def lines(line: str) -> Callable[[int], str]:
    return lambda size: line * (size // len(line))


def array_of(item: str, before: str, after: str) -> Callable[[int], str]:
    return lambda size: before + ",".join([item] * (size // len(item))) + after


MANY_ROWS: dict[str, list[Callable[[int], str]]] = {
    "csv": [hostile_texts.TABLE, lambda size: "text,b\n" + "a\n" * (size // 2)],
    "jsonl": [lines("{}\n"), lines("x\n")],
    "json": [array_of("{}", "[", "]"), array_of("{}", '{"entries":[', "]}")],
    "aiMemory": [
        array_of('{"title":"a","content":"b"}', '{"memories":[', "]}"),
        array_of('{"source_id":"a","target_id":"b"}', '{"links":[', "]}"),
    ],
    "serverMemory": [
        lines('{"type":"entity","name":"a"}\n'),
        lines('{"type":"relation","from":"a","to":"b","relationType":"c"}\n'),
    ],
}
"""Files of many small rows, some of them broken, and of many links."""


def read(form: str, text: str, bounds: Bounds) -> tuple[Export, int]:
    """Read all of a text, and return what it was read from and how many items it held."""
    data = text.encode()
    meter = Meter(bounds)
    file = Member("a", len(data), lambda: io.BytesIO(data))
    export = Export([file], {}, is_one_file=True, while_reading=meter.check_time)
    kept = list(read_items(form, export, Wanted(project="p", now=NOW, meter=meter)))
    return export, len(kept)


CASES = [(form, number) for form, made in MANY_ROWS.items() for number in range(len(made))]


@pytest.mark.slow
@pytest.mark.attack("85")
@pytest.mark.parametrize(("form", "number"), CASES)
def test_too_many_rows_are_refused_while_they_are_read(form: str, number: int) -> None:
    text = MANY_ROWS[form][number](EIGHT_MEGABYTES)
    tracemalloc.start()
    try:
        with pytest.raises(InvalidInputError) as refused:
            read(form, text, Bounds(rows=1000))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert refused.value.details["limit"] == "importRows"
    assert "importRows" in refused.value.message
    # The encoded text itself, a few chunks of a file, and a thousand rows.
    assert peak < EIGHT_MEGABYTES + 12 * (1 << 20)


@pytest.mark.attack("85")
def test_no_more_than_a_buffer_is_read_beyond_the_last_row() -> None:
    data = hostile_texts.TABLE(EIGHT_MEGABYTES).encode()
    meter = Meter(Bounds(rows=1000))
    export = Export([Member("a", len(data), lambda: io.BytesIO(data))], {}, is_one_file=True)

    with pytest.raises(InvalidInputError):
        list(read_items("csv", export, Wanted(project="p", now=NOW, meter=meter)))

    assert meter.rows == 1001
    assert export.read_bytes < A_BUFFER


def test_as_many_rows_as_the_limit_are_read() -> None:
    assert read("csv", "text,b\n" + "a,b\n" * 1000, Bounds(rows=1000))[1] == 1000


@pytest.mark.attack("85")
def test_rows_that_become_far_larger_than_the_file_are_refused() -> None:
    names = ",".join(f"{number:04}{'n' * 2000}" for number in range(999))
    text = f"text,{names}\n" + ("a" + ",1" * 999 + "\n") * 100

    with pytest.raises(InvalidInputError) as refused:
        read("csv", text, Bounds(bytes=4 << 20))

    assert (refused.value.details["limit"], refused.value.details["maximum"]) == (
        "importBytes",
        4 << 20,
    )


@pytest.mark.attack("85")
@pytest.mark.parametrize("form", sorted(set(ImportFormat) - {"markdown"}))
@pytest.mark.parametrize("text", [lines("\n"), lines(" \n"), lines("["), lines("{")])
def test_what_takes_too_long_is_refused_without_a_single_row(
    form: str, text: Callable[[int], str]
) -> None:
    with pytest.raises(InvalidInputError) as refused:
        read(form, "text\n" + text(1 << 18), Bounds(seconds=0))

    assert refused.value.details["limit"] == "importSeconds"


@pytest.mark.attack("85")
def test_a_table_of_a_million_columns_is_refused() -> None:
    with pytest.raises(InvalidInputError) as refused:
        read("csv", "text," + ",".join("a" * 1_000_000) + "\n", Bounds())
    assert (refused.value.details["limit"], refused.value.details["maximum"]) == (
        "columns",
        MAX_COLUMNS,
    )


@pytest.mark.attack("85")
@pytest.mark.parametrize("cell", [",", '"', "a\n"])
def test_a_row_without_an_end_is_not_read_into_memory(cell: str) -> None:
    data = ('text\na\n"' + cell * (EIGHT_MEGABYTES // len(cell))).encode()
    export = Export([Member("a", len(data), lambda: io.BytesIO(data))], {}, is_one_file=True)

    items = list(FORMATS["csv"].read(export, Wanted(project="p", now=NOW)))

    assert isinstance(items[0], Found)
    assert isinstance(items[-1], Broken)
    assert export.read_bytes < MAX_LINE_BYTES + A_BUFFER


@pytest.mark.attack("85")
@pytest.mark.parametrize("form", sorted(set(ImportFormat) - {"markdown", "csv"}))
def test_json_nested_without_end_is_named_and_costs_no_other_row(form: str) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    whole = {"jsonl": deep, "serverMemory": deep}.get(form, f'{{"entries":[{{"a":{deep}}}]}}')

    export, _ = read(form, whole, Bounds())

    assert export.read_bytes >= len(whole)


@pytest.mark.attack("85")
def test_a_folder_of_too_many_files_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_files, "MAX_FILES", 10)
    for number in range(10):
        (tmp_path / f"{number}.md").write_text("a", encoding="utf-8")

    with open_export(tmp_path, FORMATS["markdown"].files) as export:
        assert len(export.members) == 10
    (tmp_path / "one more.md").write_text("a", encoding="utf-8")
    with (
        pytest.raises(InvalidInputError) as refused,
        open_export(tmp_path, FORMATS["markdown"].files),
    ):
        pass
    assert (refused.value.details["limit"], refused.value.details["maximum"]) == ("files", 10)


def test_aliases_of_a_note_are_bounded() -> None:
    aliases = json.dumps([f"a{number}" for number in range(100_000)])
    text = f"---\naliases: {aliases}\n---\nsee [[a5]] and [[a99999]]\n"
    other = "---\ntitle: other\n---\n[[a5]] [[a99999]]\n"
    members = [
        Member(name, len(data), lambda data=data: io.BytesIO(data))  # type: ignore[misc]  # default
        for name, data in (("a.md", text.encode()), ("b.md", other.encode()))
    ]

    found = list(FORMATS["markdown"].read(Export(members, {}), Wanted(project="p", now=NOW)))

    linked = [one.document.get("relations", []) for one in found if isinstance(one, Found)]
    assert [len(relations) for relations in linked] == [0, 1]
