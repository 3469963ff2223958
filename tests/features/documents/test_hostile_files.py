"""Files made to harm: refused with a reason, inside the worker, and nothing is written."""

import io
import zipfile
import zlib

import psutil
import pytest

from qms.features.documents.document_formats import FileToRead
from qms.features.documents.extract import FILE_BYTES, Extractor
from qms.features.documents.pieces import MEGABYTE, joined
from qms.memory.errors import InvalidInputError
from qms.sandbox.walls import Bounds
from tests.features.documents.conftest import DATA

pytestmark = pytest.mark.attack("93")

BODY = "word/document.xml"
SPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def package(**parts: bytes) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in parts.items():
            made.writestr(name, data)
    return held.getvalue()


def word(inner: str, before: str = "") -> bytes:
    body = f"<w:body>{inner}</w:body>"
    text = f'<?xml version="1.0"?>{before}<w:document xmlns:w="{SPACE}">{body}</w:document>'
    return package(**{BODY: text.encode()})


def workbook(target: str) -> tuple[bytes, bytes]:
    """Return a workbook whose one sheet is at `target`, and its relations."""
    sheets = '<sheets><sheet name="s" r:id="a"/></sheets>'
    book = f'<workbook xmlns="{SHEETS}" xmlns:r="{RELATIONS}">{sheets}</workbook>'
    relation = f'<Relationship Id="a" Type="{RELATIONS}/worksheet" Target="{target}"/>'
    return book.encode(), f"<Relationships>{relation}</Relationships>".encode()


def refusal(extractor: Extractor, data: bytes, name: str = "file") -> str:
    with pytest.raises(InvalidInputError) as caught:
        extractor.read(FileToRead(data, name))
    return caught.value.message


def test_a_package_that_unpacks_to_more_than_its_ratio_allows_is_refused(
    extractor: Extractor,
) -> None:
    bomb = word("<w:p><w:r><w:t>" + " " * 30 * MEGABYTE + "</w:t></w:r></w:p>")

    assert "more than 200 times its size" in refusal(extractor, bomb)


def test_a_package_that_unpacks_to_more_than_64_mib_is_refused(extractor: Extractor) -> None:
    # Two signs in turn pack badly enough to stay below the ratio.
    noise = bytes(zlib.crc32(b"%d" % one) % 16 + 97 for one in range(MEGABYTE)) * 30
    parts = {BODY: b"<x/>", "word/styles.xml": b"<x>" + noise[: 3 * MEGABYTE] * 22 + b"</x>"}

    assert "unpacks to more than" in refusal(extractor, package(**parts))


def test_a_package_within_a_package_is_not_opened(extractor: Extractor) -> None:
    inner = word("<w:p><w:r><w:t>inner text</w:t></w:r></w:p>")
    outer = package(**{BODY: b"<w:document xmlns:w='%b'/>" % SPACE.encode(), "word/in.docx": inner})

    assert "no text was found" in refusal(extractor, outer)


def test_entities_that_multiply_are_refused(extractor: Extractor) -> None:
    entities = '<!ENTITY a "lol">' + "".join(
        f'<!ENTITY {name} "{"&" + before + ";" * 1}{("&" + before + ";") * 9}">'
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    bomb = word("<w:p><w:r><w:t>&i;</w:t></w:r></w:p>", f"<!DOCTYPE x [{entities}]>")

    assert "declares a document type" in refusal(extractor, bomb)


def test_an_external_reference_is_not_followed(extractor: Extractor) -> None:
    declared = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
    message = refusal(extractor, word("<w:p><w:r><w:t>&e;</w:t></w:r></w:p>", declared))

    assert "declares a document type" in message
    assert "root:" not in message


def test_elements_nested_very_deeply_are_refused(extractor: Extractor) -> None:
    deep = word("<w:p>" * 20_000 + "</w:p>" * 20_000)

    assert "nested more than" in refusal(extractor, deep)


def test_a_page_nested_very_deeply_ends_at_the_deadline_or_is_refused() -> None:
    quick = Extractor(Bounds(deadline_s=5.0))
    page = b"<html>" + b"<div>" * 100_000 + b"deep"

    message = refusal(quick, page)

    assert "nested more than" in message or "longer than 5 s" in message


def test_names_that_lead_out_of_a_package_read_nothing_outside(extractor: Extractor) -> None:
    book, rels = workbook("../../../../etc/passwd")
    made = package(**{"xl/workbook.xml": book, "xl/_rels/workbook.xml.rels": rels})

    assert "no text was found" in refusal(extractor, made)


@pytest.mark.parametrize("name", ["report.docx", "slides.pptx", "sheet.xlsx", "report.epub"])
@pytest.mark.parametrize("part", [0.3, 0.9])
def test_a_package_that_is_cut_off_is_refused(extractor: Extractor, name: str, part: float) -> None:
    data = (DATA / name).read_bytes()

    message = refusal(extractor, data[: int(len(data) * part)], name)

    assert "damaged" in message or "ZIP archive" in message


def test_a_pdf_that_is_cut_off_is_refused_or_read_in_part(extractor: Extractor) -> None:
    data = (DATA / "columns.pdf").read_bytes()

    assert "the document cannot be read" in refusal(extractor, data[:3000])


def test_an_encrypted_pdf_is_refused_as_such(extractor: Extractor) -> None:
    data = (DATA / "encrypted" / "report.pdf").read_bytes()

    assert "it is encrypted" in refusal(extractor, data)


def test_an_encrypted_package_is_refused_as_such(extractor: Extractor) -> None:
    data = bytearray(word("<w:p/>"))
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + flags] |= 1

    assert "encrypted" in refusal(extractor, bytes(data))


@pytest.mark.parametrize(
    ("data", "name", "told"),
    [
        (b"plain text", "file.pdf", "application/pdf"),
        (b"%PDF-1.7 no more", "file.txt", "cannot be read"),
        (b"PK\x03\x04 rubbish", "file.docx", "ZIP archive"),
        (b"\x89PNG\r\n\x1a\n", "notes.md", "a PNG image"),
        (b"\xd0\xcf\x11\xe0" + bytes(600), "old.docx", "encrypted or older than 2007"),
        (bytes(range(256)) * 50, "noise.txt", "cannot be read"),
    ],
)
def test_a_name_that_lies_does_not_mislead(
    extractor: Extractor, data: bytes, name: str, told: str
) -> None:
    assert told in refusal(extractor, data, name)


def test_a_million_empty_rows_give_the_one_that_is_not(extractor: Extractor) -> None:
    rows = "".join(f'<row r="{one}"/>' for one in range(1, 1_000_000))
    cell = '<row><c t="inlineStr"><is><t>the only cell</t></is></c></row>'
    sheet = f'<worksheet xmlns="{SHEETS}"><sheetData>{rows}{cell}</sheetData></worksheet>'
    book, rels = workbook("s.xml")
    made = package(
        **{
            "xl/workbook.xml": book,
            "xl/_rels/workbook.xml.rels": rels,
            "xl/s.xml": sheet.encode(),
        }
    )

    assert joined(extractor.read(FileToRead(made)).extracted.pieces) == "# s\n\nthe only cell\n\n"


def test_a_line_of_five_megabytes_is_read(extractor: Extractor) -> None:
    line = b"word " * MEGABYTE

    assert len(joined(extractor.read(FileToRead(line, "long.txt")).extracted.pieces)) == len(line)


def test_a_file_over_25_mib_is_refused_before_anything_reads_it(extractor: Extractor) -> None:
    assert "at most 26,214,400 are read" in refusal(extractor, bytes(FILE_BYTES + 1))


def test_a_reader_that_needs_too_much_memory_is_ended_and_the_server_stays_small() -> None:
    small = Extractor(Bounds(memory_bytes=64 * MEGABYTE))
    before = psutil.Process().memory_info().rss
    page = b"<html>" + b"<p>x</p>" * 1_500_000

    message = refusal(small, page)

    assert "more memory" in message or "Can't parse" in message  # as its parser says it
    assert psutil.Process().memory_info().rss - before < 100 * MEGABYTE
