"""From what a caller sent to the document that will be stored; pure functions on values."""

from datetime import datetime, timedelta
from typing import Any

import msgspec

from qms.codec.documents import check, complete, instant_text, normalise
from qms.domain.access import GUARDED_FIELDS, Caller, may_set
from qms.domain.bodies import Kind, body_from_text
from qms.domain.entry import Document, Retention, agent_named
from qms.domain.errors import invalid
from qms.domain.lifecycle import MAX_TTL_SECONDS, RetentionLengths, expiry
from qms.domain.limits import Limits

TTL_SECONDS = "ttlSeconds"
"""A key of requests only: the entry's end, counted from now; `ttlUtc` is what is stored."""

_FIXED_FIELDS = ("id", "project", "schemaVersion")


class EntryRules(msgspec.Struct, frozen=True, kw_only=True):
    """What a project asks of its entries."""

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
    document = complete(given, project=rules.project, local_id=local_id, instant=now)
    document = _stamped(document, now)
    if document.get("agentId") is None:
        document["agentId"] = caller.agent_id or agent_named(caller.user)
    if document.get("ttlUtc") is None:
        _set_expiry(document, now, rules)
    check(document, rules.project, rules.limits)
    return normalise(document)


def replaced_document(
    given: Document, before: Document, *, now: datetime, caller: Caller, rules: EntryRules
) -> Document:
    """Return the stored form of a full replacement.

    Guarded fields that the caller may not set stay as they are when omitted; who made the entry
    and when stays in any case.

    Raises:
        InvalidInputError: names the field.
    """
    given = with_end(given, now)
    local_id = before["id"].partition(":")[2]
    document = complete(given, project=rules.project, local_id=local_id, instant=now)
    times = document["timestamps"]
    if isinstance(times, dict) and "createdUtc" not in (given.get("timestamps") or {}):
        created = before["timestamps"]["createdUtc"]
        document = {**document, "timestamps": {**times, "createdUtc": created}}
    document = _stamped(document, now)
    for field in GUARDED_FIELDS:
        if field not in given and field in before and not may_set(caller.access, field):
            document[field] = before[field]
    keep_author(document, before)
    if document.get("ttlUtc") is None:
        _set_expiry(document, now, rules)
    check(document, rules.project, rules.limits)
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
    if "retention" in patch and "ttlUtc" not in patch:
        _set_expiry(document, now, rules)
    check(document, rules.project, rules.limits)
    return normalise(document, like=before)


def is_same(first: Document, second: Document) -> bool:
    """Say whether two stored documents differ in nothing but the time of their last change."""
    return _without_update(first) == _without_update(second)


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
    """Let an entry have the author that it had before, or none."""
    document.pop("agentId", None)
    if "agentId" in before:
        document["agentId"] = before["agentId"]


def with_end(given: Document, now: datetime) -> Document:
    """Return what was given with its end as an instant, which is not in the past."""
    if given.get(TTL_SECONDS) is None:
        _check_end(given.get("ttlUtc"), now)
        return {key: value for key, value in given.items() if key != TTL_SECONDS}
    if given.get("ttlUtc") is not None:
        raise invalid(TTL_SECONDS, "and ttlUtc both say when the entry ends: give one of them")
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


def _check_end(given: object, now: datetime) -> None:
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
    times = {key: at for key, at in document["timestamps"].items() if key != "updatedUtc"}
    return {**document, "timestamps": times}
