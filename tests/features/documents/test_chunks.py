"""Chunks: loss-free, cut where people would, with their heading and page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qms.features.documents.chunks import MOST_CHUNKS, Chunk, chunks_of
from qms.features.documents.document_formats import FileToRead
from qms.features.documents.extract import Extractor
from qms.features.documents.parsers import plain
from qms.features.documents.pieces import Piece, PieceKind, joined
from qms.memory.errors import InvalidInputError
from tests.features.documents.conftest import DATA

SENTENCE = "The harbour master counted every vessel twice before noon. "


def markdown(text: str, size: int = 800) -> list[Chunk]:
    return chunks_of(plain.markdown(text), size)


def test_chunks_of_every_test_file_join_to_its_text(extractor: Extractor) -> None:
    for name in ("columns.pdf", "report.docx", "report.html", "slides.pptx", "sheet.xlsx"):
        pieces = extractor.read(FileToRead((DATA / name).read_bytes(), name)).extracted.pieces
        chunks = chunks_of(pieces, 200)

        assert "".join(one.text for one in chunks) == joined(pieces)
        assert all(joined(pieces)[one.start : one.end] == one.text for one in chunks)


@given(st.text(alphabet="ab. #`|-~=\n\té。", max_size=400), st.integers(1, 90))
def test_chunks_of_any_text_join_to_it(text: str, size: int) -> None:
    for pieces in (plain.markdown(text), plain.paragraphs(text), plain.rows(text)):
        assert "".join(one.text for one in chunks_of(pieces, size)) == text


def test_a_heading_begins_a_chunk_and_none_ends_with_one() -> None:
    chunks = markdown(f"# A\n\n## B\n\n{SENTENCE}\n\n## C\n\n{SENTENCE}")

    assert [one.heading for one in chunks] == ["A > B", "A > C"]
    assert [one.text.split("\n")[0] for one in chunks] == ["# A", "## C"]


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    chunks = markdown(SENTENCE * 100)

    assert len(chunks) > 5
    assert all(one.text.startswith("The harbour") for one in chunks)
    assert all(len(one.text) <= 801 for one in chunks)


def test_an_abbreviation_does_not_end_a_sentence() -> None:
    chunks = markdown("Boats, e.g. Aurora and Dr. Smith's yacht, left. " * 10, 60)

    assert all(one.text.startswith("Boats") for one in chunks)


@pytest.mark.parametrize(
    "block",
    [
        "```python\n" + "value = compute(value)\n\n" * 80 + "```\n",
        "| a | b |\n|---|---|\n" + "| some cell | another cell |\n" * 80,
        "~~~~\n" + "# no heading\n```\n" * 60 + "~~~~\n",
    ],
)
def test_code_fences_and_tables_are_not_torn(block: str) -> None:
    chunks = markdown(f"{SENTENCE * 12}\n\n{block}\n{SENTENCE * 12}")

    assert sum(block in one.text for one in chunks) == 1


def test_a_very_long_table_is_cut_between_its_rows() -> None:
    rows = "| some cell | another cell |\n" * 2_000
    chunks = markdown(f"| a | b |\n|---|---|\n{rows}")

    assert len(chunks) > 10
    assert all(one.text.startswith("|") for one in chunks)


def test_a_page_begins_a_chunk_so_that_its_number_is_right() -> None:
    pieces = [Piece("one. ", PieceKind.TEXT, 0, 1), Piece("two. ", PieceKind.TEXT, 0, 2)]

    assert [(one.text, one.page) for one in chunks_of(pieces)] == [("one. ", 1), ("two. ", 2)]


def test_the_words_before_a_chunk_are_kept_beside_its_text() -> None:
    chunks = chunks_of(plain.paragraphs(SENTENCE * 100), 300, 30)

    assert chunks[0].before == ""
    assert chunks[1].before == "vessel twice before noon."
    assert chunks_of(plain.paragraphs(SENTENCE * 100), 300, 0)[1].before == ""


def test_more_chunks_than_a_document_may_have_are_refused() -> None:
    with pytest.raises(InvalidInputError, match=f"{MOST_CHUNKS:,} chunks"):
        chunks_of(plain.rows("a b\n\n" * (MOST_CHUNKS + 1)), 3)
