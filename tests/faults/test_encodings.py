"""Byte order marks, line ends, other encodings: read right or refused, never rewritten."""

import pytest

from qms.memory.errors import ConflictError
from qms.store import render as render_module
from qms.store.options import FoldOutcome
from tests.support.boxes import StoreBox, entry, line_of, statement

BOM = b"\xef\xbb\xbf"
A, B, C = (line_of(entry(local)) for local in "abc")
SEPARATORS = "one\u2028two\u2029three\u0085four\x0bfive"

FILES: dict[str, bytes] = {
    "byte order mark": BOM + A + b"\n" + B + b"\n" + C + b"\n",
    "CRLF": b"".join(line + b"\r\n" for line in (A, B, C)),
    "BOM and CRLF": BOM + b"".join(line + b"\r\n" for line in (A, B, C)),
    "no final newline": b"\n".join((A, B, C)),
    "CRLF without a final newline": b"\r\n".join((A, B, C)),
    "blank lines": b"\n\n" + A + b"\n  \n" + B + b"\n\t\r\n" + C + b"\n\n\n",
    "blanks around": b"".join(b"  " + line + b" \t\n" for line in (A, B, C)),
    "line separators in texts": b"\n".join(
        (A, line_of(entry("b", note=SEPARATORS)), line_of(entry("c", title="a\u2028b")))
    ),
    "spaces and written defaults": b"".join(
        line[:-1] + b' , "pinned" : false , "tags":[ ] }\n' for line in (A, B, C)
    ),
    "escapes": b"".join(line.replace(b"Title", b"T\\u0069tle") + b"\n" for line in (A, B, C)),
}


def check_untouched(box: StoreBox, data: bytes) -> None:
    """Check that changing one entry and adding one leaves every other byte as it was."""
    box.save(data)
    box.open()
    assert set(box.documents()) == {"a", "b", "c"}
    assert box.codes() == []
    before = box.lines()
    box.put(statement("b", "changed"), entry("new"))
    box.fold()
    after = box.lines()
    place = next(index for index, line in enumerate(before) if b'"p:b"' in line)
    expected = [*before, line_of(entry("new"))]
    expected[place] = line_of(statement("b", "changed"))
    assert after == expected
    box.reopen()
    assert box.text("b") == "changed"
    assert set(box.documents()) == {"a", "b", "c", "new"}
    assert box.lines() == expected


@pytest.mark.fault("F12")
@pytest.mark.parametrize("name", FILES)
def test_untouched_lines_are_byte_equal_after_a_fold(tmp_store: StoreBox, name: str) -> None:
    check_untouched(tmp_store, FILES[name])


@pytest.mark.fault("F12")
@pytest.mark.parametrize("name", FILES)
def test_opening_and_folding_without_a_change_leaves_the_file_alone(
    tmp_store: StoreBox, name: str
) -> None:
    tmp_store.save(FILES[name])
    tmp_store.open()
    tmp_store.fold()
    tmp_store.reopen()

    assert tmp_store.path.read_bytes().removesuffix(b"\n") == FILES[name].removesuffix(b"\n")


@pytest.mark.fault("F12")
def test_separators_that_are_no_newlines_come_back_in_their_texts(tmp_store: StoreBox) -> None:
    tmp_store.put(statement("a", SEPARATORS))
    tmp_store.reopen()

    assert tmp_store.text("a") == SEPARATORS
    assert len(tmp_store.lines()) == 1


@pytest.mark.fault("F12")
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le"])
@pytest.mark.parametrize("live", [True, False], ids=["live", "offline"])
def test_utf_16_is_refused_with_a_message_and_nothing_is_lost(
    tmp_store: StoreBox, encoding: str, live: bool
) -> None:
    tmp_store.put(entry("a"), entry("b"))
    tmp_store.fold()
    if not live:
        tmp_store.close()
    mark = {"utf-16": b"", "utf-16-be": b"\xfe\xff", "utf-16-le": b"\xff\xfe"}[encoding]
    foreign = mark + (A + b"\n" + B + b"\n").decode().encode(encoding)
    tmp_store.save(foreign)
    tmp_store.store.reload()

    assert set(tmp_store.documents()) == {"a", "b"}
    assert tmp_store.codes() == [("held", None)]
    assert "UTF-16" in tmp_store.store.problems()[0].reason
    tmp_store.put(entry("c"))
    assert tmp_store.store.fold() is FoldOutcome.HELD
    assert tmp_store.path.read_bytes() == foreign
    with pytest.raises(ConflictError, match="UTF-8"):
        tmp_store.store.accept_held()
    tmp_store.save_lines(A, line_of(statement("b", "by hand")))
    assert not tmp_store.store.reload().held
    assert tmp_store.text("b") == "by hand"
    assert set(tmp_store.documents()) == {"a", "b", "c"}


@pytest.mark.fault("F12")
def test_a_rejected_utf_16_file_is_kept_aside_and_ours_written_again(
    tmp_store: StoreBox,
) -> None:
    tmp_store.save_lines(B, b"bad", A)
    tmp_store.open()
    tmp_store.fold()
    foreign = (A + b"\n" + B).decode().encode("utf-16")
    tmp_store.save(foreign)
    tmp_store.store.reload()
    tmp_store.store.reject_held()
    tmp_store.put(entry("c"))
    tmp_store.fold()
    tmp_store.reopen()

    assert tmp_store.lines() == [B, b"bad", A, C]
    assert (tmp_store.own / "kept-1.jsonl").read_bytes() == foreign
    assert tmp_store.codes() == [("notJson", 2)]


@pytest.mark.fault("F12")
def test_the_check_notices_a_fold_that_writes_lines_anew(
    tmp_store: StoreBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = render_module.render
    monkeypatch.setattr(
        "qms.store.fold.render",
        lambda image, view, pending, *rest: honest(image, view, [*pending, *view.records], *rest),
    )
    with pytest.raises(AssertionError):
        check_untouched(tmp_store, FILES["CRLF"])
