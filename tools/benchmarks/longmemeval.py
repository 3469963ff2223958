"""LongMemEval as memory sets: one store for each question, its sessions as dated notes."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tools.benchmarks.retrieval_sets import Item, MemorySet, Question

S_CLEANED_SHA256 = "d6f21ea9d60a0d56f34a05b609c79c88a451d2ae03597821ea3d5a9678c3a442"
"""The file of the published figures: the small form, cleaned."""

SET = "longmemeval"
_UNANSWERABLE = "_abs"


class NotTheFileError(Exception):
    """The file is not the one of the published figures."""


class _Turn(msgspec.Struct, frozen=True):
    role: str
    content: str


class _Case(msgspec.Struct, frozen=True):
    question_id: str
    question_type: str
    question: str
    haystack_session_ids: list[str]
    haystack_dates: list[str]
    haystack_sessions: list[list[_Turn]]
    answer_session_ids: list[str]


def read_longmemeval(path: Path, sha256: str = S_CLEANED_SHA256) -> Iterator[MemorySet]:
    """Yield a store for each question.

    Raises:
        NotTheFileError: the file has another sha256.
    """
    content = path.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise NotTheFileError(f"{path.name} has sha256 {found}, not {sha256}")
    for case in msgspec.json.decode(content, type=list[_Case]):
        yield _memory_set(case)


def _memory_set(case: _Case) -> MemorySet:
    sessions = zip(
        case.haystack_session_ids, case.haystack_dates, case.haystack_sessions, strict=True
    )
    kind = "unanswerable" if case.question_id.endswith(_UNANSWERABLE) else "answerable"
    question = Question(
        text=case.question,
        gold=dict.fromkeys(case.answer_session_ids, 1.0),
        type=f"{kind}:{case.question_type}",
    )
    docs = [Item(id=name, title=date, text=_text(turns)) for name, date, turns in sessions]
    return MemorySet(set=SET, store=case.question_id, docs=docs, questions=[question])


def _text(turns: list[_Turn]) -> str:
    return "\n".join(f"{turn.role}: {turn.content}" for turn in turns)
