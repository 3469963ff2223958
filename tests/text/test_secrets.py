"""Secrets in texts: found by kind and place, taken out, and ordinary texts left alone."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qms.text.secrets import REDACTED, Leak, find_leaks, has_leak, may_leak, redacted
from qms.text.secrets import without_secrets as without
from tests.support.secrets_made_up import ASSIGNED, MADE_UP


@pytest.mark.attack(65)
@pytest.mark.parametrize("what", MADE_UP)
def test_each_kind_of_secret_is_found_named_and_taken_out(what: str) -> None:
    document = {"kind": "note", "body": {"text": f"use {MADE_UP[what]} for it", "context": "none"}}

    assert may_leak(msgspec.json.encode(document))
    assert find_leaks(document) == [Leak("body.text", what)]
    assert redacted(document)["body"] == {"text": f"use {REDACTED} for it", "context": "none"}
    assert not has_leak(redacted(document))


@pytest.mark.attack(65)
@pytest.mark.parametrize(
    "text",
    [
        f"password: {ASSIGNED}",
        f"DB_PASSWORD={ASSIGNED}",
        f'"apiKey": "{ASSIGNED}"',
        f"client_secret => '{ASSIGNED}'",
        f"the access-key := {ASSIGNED}",
    ],
)
def test_a_random_value_with_a_telling_name_is_found_and_the_name_stays(text: str) -> None:
    assert without(text) == text.replace(ASSIGNED, REDACTED)
    assert may_leak(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "The password is kept in the vault, never here",
        "password: see the team's vault entry",
        "token = settings.auth.token_provider",
        "api_key=<your-api-key-goes-here-1a2b3c>",
        "token: 01931c6e-0000-7000-8000-000000000000",
        "secret: ${SECRET_FROM_ENV_1}",
        "tokens: user_identifier_2026",
        "token: 2026-03-01T12:00:00Z",
        "password = os.environ['DB_PASSWORD']",
        "the metric qms_mcp_request_duration_seconds has a label",
        "a commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
        "AKIA is how AWS keys begin",
        "tests use sk-lint and ask-me-anything-about-the-tokens",
        "-----BEGIN CERTIFICATE-----\nMIIEow\n-----END CERTIFICATE-----",
    ],
)
def test_ordinary_texts_about_secrets_are_left_alone(text: str) -> None:
    assert find_leaks({"body": {"text": text}}) == []
    assert without(text) == text


def test_every_field_is_looked_at_and_named() -> None:
    token = MADE_UP["a GitHub token"]
    document = {
        "title": token,
        "tags": ["x", token],
        "metadata": {"deep": [{"er": token}]},
        "timestamps": {"createdUtc": token},
    }

    fields = [leak.field for leak in find_leaks(document)]

    assert fields == ["title", "tags[1]", "metadata.deep[0].er"]


def test_a_secret_used_as_a_name_is_not_repeated() -> None:
    token = MADE_UP["a GitHub token"]

    (leak,) = find_leaks({"metadata": {token: token}})

    assert leak.field == f"metadata.{REDACTED}"


def test_a_private_key_without_an_end_is_taken_out_to_the_last_letter() -> None:
    begun = MADE_UP["a private key"].split("-----END")[0]

    assert without(f"keep this: {begun}") == f"keep this: {REDACTED}"


@given(st.text(), st.sampled_from(sorted(MADE_UP)))
def test_no_text_around_a_secret_makes_the_quick_look_miss_it(text: str, what: str) -> None:
    document = {"body": {"text": f"{text} {MADE_UP[what]} {text}"}}

    assert may_leak(msgspec.json.encode(document))
    assert MADE_UP[what] not in without(document["body"]["text"])
