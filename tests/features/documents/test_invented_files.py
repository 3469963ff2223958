"""Further files made to harm, one for each trick: refused or read in part, and always with why."""

import random
import struct
import zipfile
import zlib
from io import BytesIO

import pytest

from qms.features.documents.document_formats import FileToRead
from qms.features.documents.extract import Extractor
from qms.features.documents.pieces import joined
from qms.memory.errors import InvalidInputError
from tests.features.documents.conftest import DATA
from tests.features.documents.test_hostile_files import (
    BODY,
    SHEETS,
    SPACE,
    package,
    refusal,
    word,
    workbook,
)

pytestmark = pytest.mark.attack("93")

NOISE = random.Random(5)
CONTAINER = b'<container><rootfiles><rootfile full-path="c.opf"/></rootfiles></container>'


def paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def sheet(rows: str, strings: str = "") -> bytes:
    book, rels = workbook("s.xml")
    parts = {
        "xl/workbook.xml": book,
        "xl/_rels/workbook.xml.rels": rels,
        "xl/s.xml": (
            f'<worksheet xmlns="{SHEETS}"><sheetData>{rows}</sheetData></worksheet>'.encode()
        ),
        "xl/sharedStrings.xml": f'<sst xmlns="{SHEETS}">{strings}</sst>'.encode(),
    }
    return package(**parts)


def book(spine: str, **parts: bytes) -> bytes:
    item = '<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>'
    opf = f"<package><manifest>{item}</manifest><spine>{spine}</spine></package>".encode()
    return package(**{"META-INF/container.xml": CONTAINER, "c.opf": opf, **parts})


def pdf(*objects: bytes) -> bytes:
    made, places = bytearray(b"%PDF-1.7\n"), []
    for number, one in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%b\nendobj\n" % (number, one)
    start, count = len(made), len(objects) + 1
    made += b"xref\n0 %d\n0000000000 65535 f \n" % count
    made += b"".join(b"%010d 00000 n \n" % place for place in places)
    made += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (count, start)
    return bytes(made)


def page(contents: bytes, more: bytes = b"") -> tuple[bytes, ...]:
    return (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R " + more + b" >>",
        contents,
    )


def changed(data: bytes, mark: bytes, offset: int, value: int) -> bytes:
    found = bytearray(data)
    place = found.rindex(mark) + offset
    found[place : place + 4] = struct.pack("<I", value)
    return bytes(found)


def text_of(extractor: Extractor, data: bytes) -> str:
    return joined(extractor.read(FileToRead(data)).extracted.pieces)


def noise(length: int) -> str:
    return NOISE.randbytes(length // 2).hex()


def test_a_chapter_that_the_spine_names_again_and_again_is_read_once(extractor: Extractor) -> None:
    chapter = f"<html><body><p>{noise(400_000)}</p></body></html>".encode()

    found = text_of(extractor, book('<itemref idref="a"/>' * 5_000, **{"a.xhtml": chapter}))

    assert 400_000 <= len(found) < 500_000


def test_a_long_string_that_many_cells_share_ends_at_the_limit(extractor: Extractor) -> None:
    cells = '<row><c t="s"><v>0</v></c></row>' * 3_000

    message = refusal(extractor, sheet(cells, f"<si><t>{noise(1_000_000)}</t></si>"))

    assert "MiB of text" in message


def test_numbers_of_strings_that_there_are_not_give_empty_cells(extractor: Extractor) -> None:
    cells = "".join(f'<c t="s"><v>{one}</v></c>' for one in (99_999_999_999, -1, "abc"))
    far = f'<c r="{"Z" * 5_000}1" t="inlineStr"><is><t>far</t></is></c>'

    assert "far" in text_of(extractor, sheet(f"<row>{cells}{far}</row>", "<si><t>a</t></si>"))


@pytest.mark.parametrize(
    ("mark", "offset", "value", "told"),
    [
        (b"PK\x01\x02", 24, 10, "damaged"),  # a size that is too small
        (b"PK\x01\x02", 16, 0, "damaged"),  # another checksum
        (b"PK\x05\x06", 16, 2**32 - 2, "damaged"),  # a directory beyond the end
        (b"PK\x01\x02", 42, 2**31, "damaged"),  # a part beyond the end
    ],
)
def test_a_directory_that_lies_is_refused_as_damage(
    extractor: Extractor, mark: bytes, offset: int, value: int, told: str
) -> None:
    assert told in refusal(extractor, changed(word(paragraph("text")), mark, offset, value))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_bombs_of_other_packers_are_refused(extractor: Extractor, method: int) -> None:
    held = BytesIO()
    with zipfile.ZipFile(held, "w", method) as made:
        made.writestr(BODY, b"<w>" + b" " * (80 * 1024 * 1024))

    message = refusal(extractor, held.getvalue())

    assert "times its size" in message or "more memory" in message


def test_a_package_of_very_many_parts_is_refused(extractor: Extractor) -> None:
    many = {f"f{number}": b"" for number in range(20_001)}

    assert "parts" in refusal(extractor, package(**{BODY: b"<w/>", **many}))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-7"])
def test_another_encoding_hides_no_entities(extractor: Extractor, encoding: str) -> None:
    head = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE w [<!ENTITY a "b">]>'
    text = f'{head}<w:document xmlns:w="{SPACE}"><w:body>{paragraph("&a;")}</w:body></w:document>'

    message = refusal(extractor, package(**{BODY: text.encode(encoding)}))

    assert "document type" in message or "damaged" in message


def test_names_with_nul_and_of_other_folders_write_nothing(extractor: Extractor) -> None:
    held = BytesIO()
    with zipfile.ZipFile(held, "w") as made:
        made.writestr("../../../../tmp/owned-by-a-document", "x")
        made.writestr(BODY, f'<w:document xmlns:w="{SPACE}">{paragraph("kept")}</w:document>')

    assert text_of(extractor, held.getvalue()) == "kept\n\n"


@pytest.mark.parametrize("times", [1, 2])
def test_a_stream_of_a_pdf_that_unpacks_to_very_much_is_refused(
    extractor: Extractor, times: int
) -> None:
    packed = b"q " * 60_000_000
    for _ in range(times):
        packed = zlib.compress(packed, 9)
    filters = b" ".join([b"/FlateDecode"] * times)
    stream = b"<< /Length %d /Filter [%b] >>\nstream\n%b\nendstream" % (
        len(packed),
        filters,
        packed,
    )

    message = refusal(extractor, pdf(*page(stream)))

    assert "cannot be read" in message or "no text was found" in message


def test_pages_that_hold_themselves_end(extractor: Extractor) -> None:
    loop = b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>"

    message = refusal(extractor, pdf(b"<< /Type /Catalog /Pages 2 0 R >>", loop))

    assert "no text was found" in message


def test_a_pdf_that_says_it_has_a_billion_pages_is_refused(extractor: Extractor) -> None:
    pages = b"<< /Type /Pages /Kids [3 0 R] /Count 1000000000 >>"
    one = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>"

    message = refusal(extractor, pdf(b"<< /Type /Catalog /Pages 2 0 R >>", pages, one))

    assert "pages" in message


def test_an_action_of_a_pdf_is_not_run(extractor: Extractor) -> None:
    catalog = b"<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /Launch /F (/bin/sh) >> >>"
    rest = page(b"<< /Length 0 >>\nstream\n\nendstream")[1:]

    assert "no text was found" in refusal(extractor, pdf(catalog, *rest))


@pytest.mark.parametrize("seed", range(5))
def test_a_pdf_with_altered_bytes_is_read_in_part_or_refused(
    extractor: Extractor, seed: int
) -> None:
    rng, data = random.Random(seed), bytearray((DATA / "columns.pdf").read_bytes())
    for _ in range(300):
        data[rng.randrange(len(data))] = rng.randrange(256)

    try:
        found = text_of(extractor, bytes(data))
    except InvalidInputError as error:
        found = error.message

    assert found


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"[" * 1_000_000, "deep.json"),
        (b'"' + b"a," * 1_000_000, "quote.csv"),
        (b"`" * 1_000_000, "fence.md"),
        (b"|a|b|\n|-|-|\n" + b"|1|2|\n" * 100_000, "table.md"),
        (b"#" * 1_000_000, "signs.md"),
    ],
)
def test_text_made_to_be_slow_is_read_whole(extractor: Extractor, data: bytes, name: str) -> None:
    found = extractor.read(FileToRead(data, name)).extracted

    assert joined(found.pieces).encode() == data


@pytest.mark.parametrize("data", [b"\0" * 1_000_000, b"\n" * 1_000_000])
def test_bytes_that_are_no_text_are_refused(extractor: Extractor, data: bytes) -> None:
    assert "text" in refusal(extractor, data, "a.txt")
