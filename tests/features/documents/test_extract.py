"""Files that other programs made: their sentences come out, with page, heading and sheet."""

import pytest

from qms.features.documents.document_formats import FileToRead
from qms.features.documents.extract import Extractor, ReadFile
from qms.features.documents.pieces import PieceKind, joined
from qms.memory.errors import InvalidInputError
from tests.features.documents.conftest import DATA

REPORT = (
    "The lighthouse on Pier Nine was repainted in cobalt blue during the spring of 1987.",
    "The ferry leaves forty minutes after high water, unless the wind blows from the east.",
    "A red pennant closes the inner basin.",
    "Größe und Maße stehen auf dem Typenschild: 4,20 m × 2,75 m.",
    "The plate was replaced in 2003 after the flood.",
    'raise ValueError("too heavy for the winch")',
)
UMLAUTS = (DATA / "source" / "umlauts.txt").read_text(encoding="utf-8")


def read(extractor: Extractor, name: str) -> ReadFile:
    path = DATA / name
    return extractor.read(FileToRead(path.read_bytes(), path.name))


def text_of(extractor: Extractor, name: str) -> str:
    return joined(read(extractor, name).extracted.pieces)


@pytest.mark.parametrize(
    "name",
    [
        "report.docx", "office/report.docx", "report.html", "report.epub", "office/report.pdf",
        "source/report.md",
    ],
)  # fmt: skip
def test_every_sentence_of_the_report_comes_out(extractor: Extractor, name: str) -> None:
    text = " ".join(text_of(extractor, name).split())

    assert [sentence for sentence in REPORT if sentence not in text] == []


@pytest.mark.parametrize(
    "name", ["report.docx", "office/report.docx", "report.html", "report.epub", "office/report.pdf"]
)
def test_a_table_comes_out_row_by_row(extractor: Extractor, name: str) -> None:
    text = text_of(extractor, name)

    assert "Vessel | Berth | Tonnage\nAurora | 4 | 1250\nMeridian | 11 | 8600" in text


@pytest.mark.parametrize(
    "name", ["report.docx", "office/report.docx", "report.html", "report.epub", "source/report.md"]
)
def test_headings_keep_their_level(extractor: Extractor, name: str) -> None:
    found = read(extractor, name).extracted.pieces
    headings = {one.text.strip("# \n"): one.level for one in found if one.kind is PieceKind.HEADING}

    assert headings["Harbour works"] == 1
    assert headings["Tides and timetable"] == 2
    assert headings["Signals"] == 3


def test_large_letters_of_a_pdf_are_headings(extractor: Extractor) -> None:
    pieces = read(extractor, "columns.pdf").extracted.pieces
    headings = [one.text.strip("# \n") for one in pieces if one.kind is PieceKind.HEADING]

    assert headings[:3] == [
        "On harbours and their instruments",
        "1. Chapter about lighthouse keepers",
        "2. Chapter about tidal measurements",
    ]


def test_two_columns_are_read_one_after_the_other_with_their_pages(extractor: Extractor) -> None:
    found = read(extractor, "columns.pdf").extracted
    text = joined(found.pieces)
    numbers = [section * 100 + number for section in range(1, 7) for number in range(1, 8)]
    places = [text.index(f"The observation numbered {number} was recorded") for number in numbers]
    pages = [one.page for one in found.pieces if one.page is not None]

    assert places == sorted(places)
    assert found.pages == 4
    assert pages == sorted(pages)
    assert set(pages) == {1, 2, 3, 4}


def test_words_that_a_line_end_divides_are_whole_again(extractor: Extractor) -> None:
    text = text_of(extractor, "columns.pdf")

    assert text.count("administrative responsibilities and environmental characteristics") == 42
    assert "- " not in text
    assert "\ufffe" not in text


def test_running_headers_and_footers_are_left_out(extractor: Extractor) -> None:
    text = text_of(extractor, "columns.pdf")

    assert "Proceedings of the Harbour Society" not in text
    assert "of the proceedings" not in text


@pytest.mark.parametrize("name", ["slides.pptx", "office/slides.pptx"])
def test_slides_come_in_order_with_their_notes_and_tables(extractor: Extractor, name: str) -> None:
    found = read(extractor, name).extracted
    pages = {one.text.strip("# \n"): one.page for one in found.pieces}

    assert pages["Opening"] == pages["Mention the walnut table before anything else."] == 2
    assert pages["Revenue rose by seven percent."] == 3
    assert "North | 310\nSouth | 275" in joined(found.pieces)


def test_a_sheet_shows_the_values_of_formulas_and_dates_as_dates(extractor: Extractor) -> None:
    text = text_of(extractor, "sheet.xlsx")

    assert text.startswith("# sheet\n\nItem | Price | Count | Total | Ordered\n")
    assert "Brass hinge | 3.25 | 10 | 32.5 | 2024-04-01" in text


@pytest.mark.parametrize(
    "name", ["UTF-8", "UTF-16LE", "UTF-16BE", "bom", "ISO-8859-15", "WINDOWS-1252"]
)
def test_a_text_is_read_in_its_encoding(extractor: Extractor, name: str) -> None:
    assert text_of(extractor, f"umlauts.{name}.txt") == UMLAUTS


@pytest.mark.parametrize(
    ("name", "source"), [("russian.koi8-r.txt", "russian"), ("japanese.sjis.txt", "japanese")]
)
def test_an_encoding_that_was_guessed_is_named(
    extractor: Extractor, name: str, source: str
) -> None:
    found = read(extractor, name).extracted

    expected = (DATA / "source" / f"{source}.txt").read_text(encoding="utf-8")
    assert joined(found.pieces) == expected
    assert "encoding" in found.warnings[0]


def test_a_text_with_windows_line_ends_gets_those_of_unix(extractor: Extractor) -> None:
    found = extractor.read(FileToRead("\ufeffone\r\ntwo\r\n".encode(), "a.txt"))

    assert joined(found.extracted.pieces) == "one\ntwo\n"


@pytest.mark.parametrize("mime", ["image/png", "application/msword", "video/mp4"])
def test_a_type_that_is_not_read_is_refused_by_its_name(extractor: Extractor, mime: str) -> None:
    with pytest.raises(InvalidInputError, match=mime):
        extractor.read(FileToRead(b"some text", None, mime))


def test_a_file_without_any_text_is_refused(extractor: Extractor) -> None:
    with pytest.raises(InvalidInputError, match="no text was found"):
        extractor.read(FileToRead(b"<html><body><script>x</script></body></html>"))


def test_hidden_parts_of_a_page_are_left_out(extractor: Extractor) -> None:
    page = (
        b"<html><p>seen</p><p hidden>secret a</p><p style='display: none'>secret b</p>"
        b"<script>secret c</script><!-- secret d --><nav>secret e</nav></html>"
    )

    assert joined(extractor.read(FileToRead(page)).extracted.pieces) == "seen\n\n"
