"""Hypothesis strategies for JSON values and entries."""

from typing import Any

from hypothesis import strategies as st

from qms.memory.bodies import Kind, body_from_text
from qms.memory.entry import FIELD_DEFAULTS, Document
from tests.support.boxes import entry

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
main_texts = text.filter(lambda value: bool(value.strip()))
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | text
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)
_known: dict[str, st.SearchStrategy[Any]] = {
    "tags": st.lists(main_texts, max_size=3),
    "keywords": st.lists(text, max_size=3),
    "source": st.none() | st.dictionaries(text, values, max_size=2),
    "retention": st.sampled_from(["short", "mid", "long"]),
    "ttlUtc": st.none() | st.just("2030-01-01T00:00:00Z"),
    "priority": st.integers(1, 10),
    "confidence": st.sampled_from([0, 0.5, 1, 1.0]),
    "curationTier": st.sampled_from(["provisional", "curated", "canonical"]),
    "isPermanent": st.booleans(),
    "pinned": st.booleans(),
    "agentId": st.none() | st.just("ai:one"),
    "namespace": st.none() | st.just("n"),
    "epicSlug": st.none() | text,
    "epicCase": st.none() | text,
    "metadata": st.dictionaries(text, values, max_size=2),
    "embedding": st.none() | st.lists(st.floats(-1, 1), max_size=3),
}
_unknown = st.dictionaries(text.map("x-".__add__), values, max_size=3)


@st.composite
def documents(draw: st.DrawFn, local: str = "a") -> Document:
    """Draw a valid entry: any kind, any known fields, unknown ones, in any order."""
    kind = draw(st.sampled_from(list(Kind)))
    body = {**draw(_unknown), **body_from_text(kind, draw(main_texts))}
    document = entry(local, kind=kind.value, title=draw(main_texts), body=body)
    document |= draw(st.fixed_dictionaries({}, optional=_known))
    document |= draw(_unknown)
    keys = draw(st.permutations(list(document)))
    return {key: document[key] for key in keys}


def with_written_defaults(document: Document) -> Document:
    """Return the document with every default that it leaves out written out."""
    return {**FIELD_DEFAULTS, "project": "p", **document}
