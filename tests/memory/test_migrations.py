"""Older schema versions."""

from typing import Any

import pytest

from qms.memory.bodies import Kind, body_from_text
from qms.memory.entry import SCHEMA_VERSION
from qms.memory.limits import DEFAULT_LIMITS
from qms.memory.migrations import is_newer, is_older, migrate
from qms.memory.validation import check
from tests.support.boxes import EARLIER, PROJECT, entry


@pytest.mark.parametrize("kind", Kind)
def test_the_draft_format_of_every_kind_becomes_a_valid_entry(kind: Kind) -> None:
    draft = entry(
        schemaVersion=0, kind=kind.value, body="Text", timestamps=..., createdUtc=EARLIER,
        updatedUtc=EARLIER,
    )  # fmt: skip
    migrated = migrate(draft)

    check(migrated, PROJECT, DEFAULT_LIMITS)
    assert migrated["body"] == body_from_text(kind, "Text")
    assert migrated["timestamps"] == {"createdUtc": EARLIER, "updatedUtc": EARLIER}
    assert draft["schemaVersion"] == 0


def test_the_present_format_stays_the_same_object() -> None:
    document = entry()

    assert migrate(document) is document


@pytest.mark.parametrize(
    ("version", "older", "newer"),
    [
        (0, True, False),
        (SCHEMA_VERSION, False, False),
        (SCHEMA_VERSION + 1, False, True),
        (-1, False, False),
        (True, False, False),
        (False, False, False),
        ("0", False, False),
        (0.0, False, False),
        (None, False, False),
    ],
)
def test_only_whole_numbers_are_versions(version: Any, older: bool, newer: bool) -> None:
    document = entry(schemaVersion=version)

    assert (is_older(document), is_newer(document)) == (older, newer)


@pytest.mark.parametrize(
    "hostile", [{"timestamps": 5}, {"body": 5}, {"kind": []}, {"kind": "poem"}]
)
def test_a_broken_draft_is_migrated_without_failing(hostile: dict[str, Any]) -> None:
    migrate(entry(schemaVersion=0, createdUtc=EARLIER, **hostile))
