"""What the rules take for a contradiction, and what not."""

from datetime import UTC, datetime

import pytest

from qms.index.claims.claims import Claim, claim_of, disagreement
from qms.memory.validation import complete, header_of


def claim(text: str, **fields: str) -> Claim:
    given = {"kind": "fact", "body": text, **fields}
    document = complete(given, project="p", local_id="x", instant=datetime(2026, 1, 1, tzinfo=UTC))
    found = claim_of(header_of(document), document)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("The staging database listens on 5433", "Staging databases listen on 5432", "value"),
        ("The default branch is main", "The default branch is master", "value"),
        ("Rate limit: 100/min", "Rate limit: 200/min", "value"),
        ("The API runs version v2.1.0 now", "The API runs version v2.2.0 now", "value"),
        ("Deploys run at night", "Deploys do not run at night", "negation"),
        ("Deploys run at night", "Deploys don’t run at night", "negation"),
        ("The cache is enabled", "The cache is disabled", "negation"),
        ("We use tabs in Python", "We never use tabs in Python", "negation"),
        ("Der Server ist aktiv", "Der Server ist nicht aktiv", "negation"),
        ("Release two is on 2024-05-01", "Release two is on 2024-06-01", "date"),
        ("The freeze begins on May 3rd", "The freeze begins on May 4th", "date"),
        ("Use PostgreSQL 15", "Use MySQL 8", "value"),
        ("We use Postgres for orders", "Please use MariaDB for orders", "value"),
        ("The project uses PostgreSQL 15", "The project uses PostgreSQL 16", "value"),
        ("We use tabs in Go", "The team uses spaces in Go", "value"),
        ("Use pnpm", "Do not use pnpm", "negation"),
    ],
)
def test_claims_about_one_subject_disagree(one: str, other: str, reason: str) -> None:
    assert disagreement(claim(one), claim(other)) == reason
    assert disagreement(claim(other), claim(one)) == reason


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Alice is in Berlin", "Bob is in Berlin"),
        ("The port is 5432", "The port is not 5433"),
        ("The cache isn't enabled", "The cache is disabled"),
        ("Test 7 passes on Linux", "Test 8 passes on Linux"),
        ("Server1 is down", "Server2 is down"),
        ("The timeout is 30 seconds", "The timeout is 30 seconds by default"),
        ("It is 1", "It is 2"),
        ("Use PostgreSQL 15 for orders", "Use SQLite for tests"),
        ("Use PostgreSQL 15", "Use pytest 8"),
        ("Use PostgreSQL 15", "Never use MySQL 8"),
        ("Use PostgreSQL", "Use Postgres"),
        ("Use PostgreSQL instead of MySQL", "Use MySQL instead of PostgreSQL"),
        ("PostgreSQL is fast", "MySQL is old"),
        ("", "…"),
        ("The release was on 2024-05-01", "The release was in 2024"),
    ],
)
def test_claims_that_may_both_be_true_do_not(one: str, other: str) -> None:
    assert disagreement(claim(one, title="A"), claim(other, title="B")) is None


def test_another_value_under_the_same_title_is_suspected() -> None:
    one, other = claim("5432", title="Port"), claim("We moved it to 5433", title="PORT")

    assert disagreement(one, other) == "value"


def test_denying_something_else_under_the_same_title_is_not() -> None:
    one = claim("Lunch is at noon", title="News")
    other = claim("Nobody has seen the cat, not even Kim", title="News")

    assert disagreement(one, other) is None


def test_namespaces_keep_subjects_apart() -> None:
    one = claim("The branch is main", title="A", namespace="a")
    other = claim("The branch is master", title="B", namespace="b")

    assert disagreement(one, other) is None


def test_only_facts_notes_and_decisions_claim() -> None:
    given = {"kind": "question", "body": "Is the branch main?"}
    document = complete(given, project="p", local_id="x", instant=datetime(2026, 1, 1, tzinfo=UTC))

    assert claim_of(header_of(document), document) is None
