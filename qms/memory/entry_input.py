"""Builds the document to store from the entry or patch of a request; pure functions."""

from datetime import datetime, timedelta
from typing import Any

import msgspec

from qms.memory.access import GUARDED_FIELDS, AccessTier, Caller, may_set
from qms.memory.bodies import Kind, body_from_text
from qms.memory.entry import Document, Retention, agent_named
from qms.memory.errors import invalid
from qms.memory.limits import Limits
from qms.memory.retention import MAX_TTL_SECONDS, RetentionLengths, expiry
from qms.memory.validation import check, complete, instant_text, normalise, version_of

TTL_SECONDS = "ttlSeconds"
"""A key of requests only: seconds until the entry expires; stored as `ttlUtc`."""

_FIXED_FIELDS = ("id", "project", "schemaVersion")


class EntryRules(msgspec.Struct, frozen=True, kw_only=True):
    """The limits and retention lengths for the entries of a project."""

    project: str
    limits: Limits = Limits()
    lengths: RetentionLengths = RetentionLengths()


def new_document(
    given: Document, *, local_id: str, now: datetime, caller: Caller, rules: EntryRules
) -> Document:
    """Return the stored form of a new entry.

    Raises:
        InvalidInputError: names the field.
    """
    given = with_end(given, now)
    document = complete(given, project=rules.project, local_id=local_id, instant=now, is_new=True)
    check_end(document, now)
    document = _stamped(document, now)
    if document.get("agentId") is None:
        document["agentId"] = caller.agent_id or agent_named(caller.user)
    if document.get("ttlUtc") is None:
        _set_expiry(document, now, rules)
    check(document, rules.project, rules.limits)
    return normalise(document)


def replaced_document(
    given: Document,
    before: Document,
    *,
    shown: Document | None = None,
    now: datetime,
    caller: Caller,
    rules: EntryRules,
) -> Document:
    """Return the stored form of a full replacement, or `before` itself if it changes nothing.

    Guarded fields that the caller may not set stay when omitted, `createdUtc` stays when omitted,
    and the author always stays. Stored values are not checked again: an entry that the server
    returned can be sent back. `shown` is what the caller sees of `before`, if not all.

    Raises:
        InvalidInputError: names the field.
    """
    given = with_end(given, now)
    local_id = before["id"].partition(":")[2]
    document = complete(given, project=rules.project, local_id=local_id, instant=now, is_new=False)
    times = document["timestamps"]
    if isinstance(times, dict) and "createdUtc" not in (given.get("timestamps") or {}):
        created = before["timestamps"]["createdUtc"]
        document = {**document, "timestamps": {**times, "createdUtc": created}}
    document = _stamped(document, now)
    keep_guarded(document, before, caller.access)
    keep_author(document, before)
    if is_same(document, before if shown is None else shown):
        return before
    check_end(document, now)
    if document.get("ttlUtc") is None:
        _set_expiry(document, now, rules)
    check(document, rules.project, rules.limits, known=before)
    return normalise(document, like=before)


def patched_document(
    patch: Document, before: Document, *, now: datetime, rules: EntryRules
) -> Document:
    """Return the stored form after an RFC 7386 merge patch.

    Raises:
        InvalidInputError: names the field; the id, project and schema version cannot change.
    """
    patch = with_end(patch, now)
    known = {**before, "project": rules.project}
    for field in _FIXED_FIELDS:
        if field in patch and patch[field] != known[field]:
            raise invalid(field, "cannot be changed by a patch")
    document: Document = merge_patch(before, _with_body_object(patch, before))
    document = _stamped(document, now)
    keep_author(document, before)
    check_end(document, now)
    if "retention" in patch and "ttlUtc" not in patch:
        _set_expiry(document, now, rules)
    check(document, rules.project, rules.limits, known=before)
    return normalise(document, like=before)


def is_same(first: Document, second: Document) -> bool:
    """Say whether two documents are equal apart from `updatedUtc`."""
    # Compare canonical JSON: in Python 1, 1.0 and True are equal.
    return version_of(_without_update(first)) == version_of(_without_update(second))


def merge_patch(target: Any, patch: Any) -> Any:
    """Return `target` changed by an RFC 7386 merge patch."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge_patch(result.get(key), value)
    return result


def _stamped(document: Document, now: datetime) -> Document:
    times = document.get("timestamps")
    if not isinstance(times, dict):
        return document
    return {**document, "timestamps": {**times, "updatedUtc": instant_text(now)}}


def keep_author(document: Document, before: Document) -> None:
    """Keep the author that the entry had before, or none."""
    document.pop("agentId", None)
    if "agentId" in before:
        document["agentId"] = before["agentId"]


def keep_guarded(document: Document, before: Document, access: AccessTier | None = None) -> None:
    """Keep the guarded fields that a full replacement omits and its caller may not set.

    Without a tier all of them are kept: the command has no way to take one away on purpose.
    """
    for field in GUARDED_FIELDS:
        if field in document or field not in before:
            continue
        if access is None or not may_set(access, field):
            document[field] = before[field]


def with_end(given: Document, now: datetime) -> Document:
    """Return the given document with `ttlUtc` in place of `ttlSeconds`."""
    if given.get(TTL_SECONDS) is None:
        return {key: value for key, value in given.items() if key != TTL_SECONDS}
    if given.get("ttlUtc") is not None:
        raise invalid(TTL_SECONDS, "cannot be combined with ttlUtc: give one of them")
    seconds = given[TTL_SECONDS]
    if type(seconds) is not int or not 1 <= seconds <= MAX_TTL_SECONDS:
        raise invalid(
            TTL_SECONDS,
            f"must be a whole number from 1 to {MAX_TTL_SECONDS}",
            minimum=1,
            maximum=MAX_TTL_SECONDS,
        )
    ends = instant_text(now + timedelta(seconds=seconds))
    return {**{key: value for key, value in given.items() if key != TTL_SECONDS}, "ttlUtc": ends}


def check_end(document: Document, now: datetime) -> None:
    """Raise `InvalidInputError` for a `ttlUtc` in the past, unless the entry is permanent."""
    given = document.get("ttlUtc")
    if document.get("isPermanent") is True:
        return
    try:
        ends = datetime.fromisoformat(given) if isinstance(given, str) else None
    except ValueError:
        return  # `check` names the field
    if ends is not None and ends.tzinfo is not None and ends <= now:
        raise invalid("ttlUtc", "is in the past: leave it out, or delete the entry")


def _set_expiry(document: Document, now: datetime, rules: EntryRules) -> None:
    try:
        retention = Retention(document.get("retention", Retention.LONG))
    except ValueError:
        return  # `check` names the field
    ends = expiry(retention, now, rules.lengths)
    document.pop("ttlUtc", None)
    if ends is not None:
        document["ttlUtc"] = instant_text(ends)


def _with_body_object(patch: Document, before: Document) -> Document:
    body, kind = patch.get("body"), patch.get("kind", before["kind"])
    if isinstance(body, str) and isinstance(kind, str) and kind in frozenset(Kind):
        return {**patch, "body": body_from_text(Kind(kind), body)}
    return patch


def _without_update(document: Document) -> Document:
    times = document["timestamps"]
    if not isinstance(times, dict):
        return document  # `check` names the field
    kept = {key: at for key, at in times.items() if key != "updatedUtc"}
    return {**document, "timestamps": kept}
