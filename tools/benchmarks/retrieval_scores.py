"""The measures of retrieval, the goals of each set, and the table of both."""

import math
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from tools.benchmarks.retrieval_sets import Question

TOP = 10
_ALL = 100.0
MEASURES = ("any@5", "any@10", "frac@10", "nDCG@10")

Scores = tuple[float, float, float, float]
Answered = tuple[Question, Scores]


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the table: a set or a part of it, with its goals and scores."""

    name: str
    questions: int
    scores: Scores
    keyword: Scores | None = None
    goal: Scores | None = None

    @property
    def is_reached(self) -> bool:
        """Say whether every measure is at its goal and above the best plain keyword engine."""
        at_goal = all(map(_at_least, self.scores, self.goal or self.scores))
        return at_goal and all(map(_above, self.scores, self.keyword or (-1.0,) * 4))


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """The questions of a set that a line covers, and how its memories are imported."""

    name: str
    set: str
    type_prefix: str = ""
    plain: bool = False
    """Whether the memories are imported without conversation and role."""
    keyword: Scores | None = None
    goal: Scores | None = None


PARTS = (
    Part(
        name="session",
        set="locomo-session",
        keyword=(92.6, 97.6, 94.9, 81.7),
        goal=(94.5, 98.0, 95.5, 86.5),
    ),
    Part(
        name="turn",
        set="locomo-turn",
        keyword=(55.9, 64.5, 59.1, 45.1),
        goal=(76.0, 85.5, 80.0, 58.5),
    ),
    Part(
        name="turn, plain",
        set="locomo-turn",
        plain=True,
        keyword=(55.9, 64.5, 59.1, 45.1),
        goal=(66.0, 75.5, 70.5, 53.5),
    ),
    Part(
        name="beam, all",
        set="beam-100k",
        keyword=(52.1, 60.0, 41.9, 32.9),
        goal=(67.0, 74.0, 57.5, 48.5),
    ),
    Part(
        name="beam, core:",
        set="beam-100k",
        type_prefix="core:",
        keyword=(78.5, 86.5, 65.0, 51.8),
        goal=(88.0, 91.0, 77.0, 67.5),
    ),
    Part(
        name="beam, plain",
        set="beam-100k",
        plain=True,
        keyword=(52.1, 60.0, 41.9, 32.9),
        goal=(53.0, 60.0, 43.0, 34.5),
    ),
    Part(name="longmemeval, 500", set="longmemeval"),
    Part(name="longmemeval, 470", set="longmemeval", type_prefix="answerable:"),
)
"""Known sets with their goals, measured before development began; see docs/benchmarks.md."""


def parts_of(name: str) -> list[Part]:
    """Return the lines of a set; a single one for an unknown set."""
    known = [part for part in PARTS if name.casefold().startswith(part.set)]
    return known or [Part(name=name, set=name)]


def rows_of(
    name: str,
    answered: Mapping[bool, Sequence[Answered]],
    keyword: Sequence[Sequence[Answered]] = (),
) -> Iterator[Row]:
    """Yield the lines of a set from the answers without and with plain memories.

    `keyword` has the answers of plain engines, for sets without known figures.
    """
    for part in parts_of(name):
        chosen = _chosen(part, answered.get(part.plain, ()))
        if chosen:
            yield Row(
                name=part.name,
                questions=len(chosen),
                scores=_mean(chosen),
                keyword=part.keyword or _best([_chosen(part, one) for one in keyword]),
                goal=part.goal,
            )


def _chosen(part: Part, answered: Sequence[Answered]) -> list[Scores]:
    return [scores for question, scores in answered if question.type.startswith(part.type_prefix)]


def _best(engines: Sequence[list[Scores]]) -> Scores | None:
    """Return the best of several engines for each measure."""
    if not engines:
        return None
    first, second, third, fourth = map(max, zip(*map(_mean, engines), strict=True))
    return first, second, third, fourth


def score(ranked: Sequence[str], gold: Mapping[str, float]) -> Scores:
    """Return the four measures of one answer, from 0 to 1."""
    found = [gold.get(entry_id, 0.0) for entry_id in ranked[:TOP]]
    gains = sum(gain / math.log2(place + 2) for place, gain in enumerate(found))
    best = sorted(gold.values(), reverse=True)[:TOP]
    ideal = sum(gain / math.log2(place + 2) for place, gain in enumerate(best))
    hits = sum(gain > 0 for gain in found)
    return (
        float(any(found[:5])),
        float(hits > 0),
        hits / len(gold) if gold else 0.0,
        gains / ideal if ideal else 0.0,
    )


def table(rows: Sequence[Row], *, markdown: bool = False) -> str:
    """Return the lines: scores, then the best plain keyword engine's, then the goals."""
    head = ["set", "questions", " · ".join(MEASURES), "best plain keyword engine", "goal", ""]
    cells = [head, *map(_cells, rows)]
    if markdown:
        cells.insert(1, ["---"] * len(head))
        return "\n".join(f"| {' | '.join(line)} |" for line in cells)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    )


def _cells(row: Row) -> list[str]:
    verdict = ("reached" if row.goal else "ahead") if row.is_reached else "missed"
    figures = map(_text, (row.scores, row.keyword, row.goal))
    return [row.name, str(row.questions), *figures, verdict if row.goal or row.keyword else ""]


def _text(scores: Scores | None) -> str:
    return " · ".join(f"{value:.1f}" for value in scores) if scores else ""


def _mean(scores: Sequence[Scores]) -> Scores:
    first, second, third, fourth = (
        100 * sum(column) / len(scores) for column in zip(*scores, strict=True)
    )
    return first, second, third, fourth


def _at_least(value: float, goal: float) -> bool:
    return round(value, 1) >= goal


def _above(value: float, other: float) -> bool:
    return round(value, 1) > round(other, 1) or value == _ALL
