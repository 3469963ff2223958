from datetime import UTC, datetime
from pathlib import Path

import pytest

from qms.disk.disk import Disk
from qms.telemetry.audit_chain import AuditedChange, AuditEvent
from qms.telemetry.audit_log import AuditLog
from qms.telemetry.audit_pages import AuditFilter, newest_records

ANYTHING = AuditFilter()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    log = AuditLog(tmp_path / "audit.jsonl", Disk())
    for number in range(1, 8):
        log.note(
            AuditEvent(
                at_utc=datetime(2026, 5, number, tzinfo=UTC),
                user="even" if number % 2 == 0 else "odd",
                key_id=None,
                command="createUser",
                changes=(AuditedChange("create", "x" * number * 40),),
            )
        )
    log.close()
    return log.path


@pytest.mark.parametrize("chunk", [1, 7, 300, 1 << 16])
def test_records_come_from_the_end_whatever_the_chunks(path: Path, chunk: int) -> None:
    page = newest_records(path, ANYTHING, size=10, chunk_bytes=chunk)

    assert [record.seq for record in page.records] == [7, 6, 5, 4, 3, 2, 1]
    assert page.next_before is None


def test_pages_follow_each_other_without_gap_or_repetition(path: Path) -> None:
    seqs: list[int] = []
    before: int | None = None
    while True:
        page = newest_records(path, AuditFilter(user="odd"), size=2, before=before)
        seqs += [record.seq for record in page.records]
        if (before := page.next_before) is None:
            break

    assert seqs == [7, 5, 3, 1]


def test_a_filter_that_fits_little_ends_its_page_early_and_goes_on(path: Path) -> None:
    page = newest_records(path, AuditFilter(user="nobody"), size=2, max_scanned=3)

    assert (page.records, page.next_before) == ([], 5)


def test_a_torn_end_and_lines_that_are_no_records_are_passed_over(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"not a record\n" + b'{"seq":9')

    assert newest_records(path, ANYTHING, size=1).records[0].seq == 7


def test_a_log_that_is_not_there_has_no_records(tmp_path: Path) -> None:
    assert newest_records(tmp_path / "none", ANYTHING, size=1).records == []
