"""Cleans up entries and patches of a request: forms, empty fields, main text, unknown keys.

Unknown keys are kept: a newer version or another program may read them. A warning names them, so
that the caller does not assume that the server reads them.
"""

from collections.abc import Collection
from functools import cache
from typing import Any

from qms.memory.bodies import (
    BODY_TYPES,
    GENERAL_NAMES,
    MAIN_FIELDS,
    Kind,
    as_main_text,
    body_fields,
    general_name,
    kind_named,
    renamed_main_text,
    with_main_text,
)
from qms.memory.empty_fields import Fields, fields_of, without_empty_fields
from qms.memory.entry import FIELD_ORDER, Document, Entry, Timestamps
from qms.memory.entry_input import TTL_SECONDS
from qms.memory.errors import invalid
from qms.memory.field_types import forms_of
from qms.memory.forms import Remarks, read_forms
from qms.memory.texts import SHOWN_KEY

Warnings = tuple[str, ...]

MAX_NAMED_KEYS = 10
"""At most this many unknown keys of an entry are named."""

_FREE_TEXTS = frozenset({"epicSlug", "epicCase"})
"""Texts of an entry without a rule: an empty one is stored as it is."""

_ENTRY_FIELDS = (*FIELD_ORDER, TTL_SECONDS)


_VALUE_FORMS = {name: form for name, form in forms_of(Entry).items() if name != "body"}
"""A plain text as body is the main text, whatever it looks like."""


def entry_in_known_forms(given: Document) -> tuple[Document, Warnings]:
    """Return an entry or a patch with values in the forms that its fields take, and remarks."""
    remarks = Remarks()
    entry = read_forms(given, _VALUE_FORMS, remarks, place="entry.", by_type=True)
    kind, body = kind_named(entry.get("kind")), entry.get("body")
    if kind is not None and isinstance(body, dict):
        forms = forms_of(BODY_TYPES[kind])
        entry["body"] = read_forms(body, forms, remarks, place="body.", by_type=True)
    return entry, tuple(remarks.texts)


def sent_entry(given: Document, before: Document | None) -> tuple[Document, Warnings]:
    """Return an entry without empty fields and with its main text in place, and the warnings.

    Values that the stored entry `before` has too are neither dropped nor reported.
    """
    known, empty = before or {}, list[str]()
    whole, assumed = (given, ()) if before is not None else _with_kind(given)
    named, taken = with_main_text(whole, is_new=before is None)
    kind = kind_named(named.get("kind"))
    entry = without_empty_fields(named, _fields_for(kind), empty, known=known)
    unknown = _unknown_keys(entry, known, kind)
    kept = () if before is None else _author_stays(entry, before)
    return entry, (*assumed, *((taken,) if taken else ()), *empty, *unknown, *kept)


def _author_stays(given: Document, before: Document) -> Warnings:
    author = given.get("agentId")
    if author is None or author == before.get("agentId"):
        return ()
    return ("entry.agentId: the author of an entry stays as it is",)


def _time_stays(patch: Document, before: Document) -> Warnings:
    times = patch.get("timestamps")
    updated = times.get("updatedUtc") if isinstance(times, dict) else None
    if updated is None or updated == before["timestamps"]["updatedUtc"]:
        return ()
    return ("entry.timestamps.updatedUtc: is the time of this change",)


def _with_kind(given: Document) -> tuple[Document, Warnings]:
    """Return a new entry with the kind note if it names no kind and has a plain text."""
    if given.get("kind") not in (None, "") or any(
        _folded(key) == "kind" for key in given if key != "kind"
    ):
        return given, ()
    body = given.get("body")
    texts = body if isinstance(body, dict) else given if body in (None, "") else {"text": body}
    if not any(isinstance(texts.get(one), str) and texts[one].strip() for one in GENERAL_NAMES):
        return given, ()
    return {**given, "kind": Kind.NOTE.value}, (
        "entry.kind is missing: the text is kept as a note",
    )


def sent_patch(given: Document, before: Document) -> tuple[Document, Warnings]:
    """Return a merge patch with the main text in place, and the warnings.

    Raises:
        InvalidInputError: the patch of the body names no field of the body.
    """
    formed, remarks = entry_in_known_forms({"kind": before["kind"], **given})
    if "kind" not in given:
        del formed["kind"]
    kind = kind_named(formed.get("kind", before["kind"]))
    if kind is None:
        return formed, remarks  # `check` names the field
    patch, taken = _with_patched_text(formed, before, kind)
    _check_body_patch(patch, before, kind)
    # No warning for a null: it removes an unknown key that the entry has.
    removed = {key: before[key] for key, value in patch.items() if value is None and key in before}
    body, stored = patch.get("body"), before["body"]
    if isinstance(body, dict):
        removed["body"] = {key: 0 for key, value in body.items() if value is None and key in stored}
    unknown = _unknown_keys(patch, removed, kind)
    kept = (*_author_stays(patch, before), *_time_stays(patch, before))
    return patch, (*remarks, *((taken,) if taken else ()), *unknown, *kept)


@cache
def _fields_for(kind: Kind | None) -> Fields:
    """Return which empty values are left out: those that no stored entry can have."""
    fields = {
        name: field._replace(
            is_optional=True,
            takes_null=field.takes_null or name == "id",
            takes_empty_text=name in _FREE_TEXTS,
            parts=None,
        )
        for name, field in fields_of(Entry).items()
    }
    times = {
        name: field._replace(is_optional=True) for name, field in fields_of(Timestamps).items()
    }
    fields["timestamps"] = fields["timestamps"]._replace(parts=times)
    if kind is not None:
        texts = {
            name: field._replace(takes_empty_text=field.takes_text)
            for name, field in fields_of(BODY_TYPES[kind]).items()
        }
        fields["body"] = fields["body"]._replace(parts=texts)
    return fields


def _with_patched_text(
    patch: Document, before: Document, kind: Kind
) -> tuple[Document, str | None]:
    main, body = MAIN_FIELDS[kind][0], patch.get("body")
    if "body" not in patch:
        name = next((one for one in GENERAL_NAMES if isinstance(patch.get(one), str)), None)
        if name is None or name in before:
            return patch, None
        kept = {key: value for key, value in patch.items() if key != name}
        made = {main: as_main_text(kind, patch[name])}
        return {**kept, "body": made}, f"entry.{name} was taken as body.{main}"
    if not isinstance(body, dict) or any(body.get(one) is not None for one in MAIN_FIELDS[kind]):
        return patch, None
    name = general_name(kind, body)
    if name is None or name in before["body"]:
        return patch, None
    renamed = renamed_main_text(kind, body, name)
    return {**patch, "body": renamed}, f"body.{name} was taken as body.{main}"


def _check_body_patch(patch: Document, before: Document, kind: Kind) -> None:
    body = patch.get("body")
    if not isinstance(body, dict) or not body:
        return
    if not body.keys() & {*body_fields(kind), *before["body"]}:
        name, main = next(iter(body))[:SHOWN_KEY], MAIN_FIELDS[kind][0]
        raise invalid(
            f"body.{name}",
            f"is not a field of the body of a {kind}, so the patch would change nothing:"
            f" its main text is body.{main}",
        )


def _unknown_keys(entry: Document, known: Document, kind: Kind | None) -> Warnings:
    """Return a warning for each key of an entry and its body that is neither a field nor known."""
    body, old = entry.get("body"), known.get("body")
    named = [
        _unknown_key(f"entry.{key[:SHOWN_KEY]}", "an entry", key, _ENTRY_FIELDS)
        for key in _first_keys(entry, {*_ENTRY_FIELDS, *known})
    ]
    if kind is not None and isinstance(body, dict):
        fields = body_fields(kind)
        named += (
            _unknown_key(f"body.{key[:SHOWN_KEY]}", f"the body of a {kind}", key, fields)
            for key in _first_keys(body, {*fields, *(old if isinstance(old, dict) else ())})
        )
    if len(named) > MAX_NAMED_KEYS:
        return (
            *named[:MAX_NAMED_KEYS],
            "more unknown keys are kept as they are",
        )
    return tuple(named)


def _first_keys(given: dict[str, Any], known: Collection[str]) -> list[str]:
    """Return the first unknown keys: one more than is named."""
    found: list[str] = []
    for key in given:
        if key not in known:
            found.append(key)
            if len(found) > MAX_NAMED_KEYS:
                break
    return found


def _unknown_key(path: str, thing: str, key: str, fields: Collection[str]) -> str:
    near = _nearest(key, fields)
    hint = f"; did you mean {near}?" if near else ""
    return f"{path} is not a field of {thing}: kept as it is{hint}"


def _nearest(key: str, fields: Collection[str]) -> str | None:
    """Return the field that differs only in case, underscores or a plural; linear in the key."""
    wanted = _folded(key[:SHOWN_KEY])
    return next((field for field in fields if _folded(field) == wanted), None)


def _folded(name: str) -> str:
    return name.replace("_", "").replace("-", "").casefold().removesuffix("s")
