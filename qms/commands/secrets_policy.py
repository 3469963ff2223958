"""Applies a project's secrets policy to the entries and patches that callers send."""

from typing import assert_never

from qms.config.settings import SecretsPolicy
from qms.memory.entry import Document
from qms.memory.errors import invalid
from qms.memory.limits import Limits
from qms.memory.lines import encode_line
from qms.memory.validation import check_texts
from qms.text.secrets import REDACTED, Leak, find_leaks, may_leak, redacted

Warnings = tuple[str, ...]


def withhold(
    given: Document, policy: SecretsPolicy, limits: Limits, *, known: Document | None = None
) -> tuple[Document, Warnings]:
    """Return an entry or a patch as it may be stored, and warnings for its writer.

    It works on the input as sent, before a title is cut out of the body: half a secret is not
    found. A field that equals the one in `known`, the stored entry, may hold longer texts.

    Raises:
        InvalidInputError: the policy refuses secrets; field and kind are named, the secret is not.
            Or a text is over its limit; limits are checked before the search for secrets.
    """
    check_texts(given, limits, known=known)
    leaks = find_leaks(given) if may_leak(encode_line(given)) else []
    if not leaks:
        return given, ()
    match policy:
        case SecretsPolicy.WARN:
            return given, _warnings(leaks, "it is stored as it is")
        case SecretsPolicy.REDACT:
            return redacted(given), _warnings(leaks, f"{REDACTED} is stored in its place")
        case SecretsPolicy.REFUSE:
            first = leaks[0]
            raise invalid(
                first.field,
                f"seems to hold {first.what}, which this project refuses to store",
                secret=first.what,
            )
        case _:
            assert_never(policy)


def _warnings(leaks: list[Leak], outcome: str) -> Warnings:
    return tuple(f"{leak.field}: seems to hold {leak.what}; {outcome}" for leak in leaks)
