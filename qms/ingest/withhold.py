"""What a project's policy makes of secrets in what a caller sends."""

from typing import assert_never

from qms.codec.lines import encode_line
from qms.config.settings import SecretsPolicy
from qms.domain.entry import Document
from qms.domain.errors import invalid
from qms.domain.leaks import REDACTED, Leak, find_leaks, may_leak, redacted

Warnings = tuple[str, ...]


def withhold(given: Document, policy: SecretsPolicy) -> tuple[Document, Warnings]:
    """Return what may be stored of an entry or a patch, and what its writer should know.

    It works on what was sent, before a title is cut out of the body: half a secret is not found.

    Raises:
        InvalidInputError: the policy refuses secrets; field and kind are named, the secret is not.
    """
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
