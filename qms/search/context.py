"""Context: a turn's neighbours and its conversation lend it score.

An answer often stands beside the turn that has the question's words. Measured on dialogues:
neighbours at 0.3 to 0.5 and the conversation's best at 0.3 to 0.7 differ by about a point. An entry
outside of any conversation is one of its own: else turns would outweigh notes where both are kept.
"""

from typing import NamedTuple

import msgspec
import numpy as np

from qms.index.arrays import IntArray
from qms.search.hits import NOBODY, Candidates, Column
from qms.search.level import Levelled


class ContextWeights(msgspec.Struct, frozen=True, kw_only=True):
    """How much of its surroundings' score an entry gets."""

    neighbours: float = 0.3
    conversation: float = 0.6


class Situated(msgspec.Struct, frozen=True, kw_only=True):
    """Candidates of one store, with both scores as their surroundings make them."""

    levelled: Levelled
    text: Column
    vector: Column


DEFAULT_CONTEXT = ContextWeights()


def add_context(found: Levelled, weights: ContextWeights = DEFAULT_CONTEXT) -> Situated:
    """Return the candidates with both scores in context."""
    around = found.candidates
    talks = _talks(around.conversation)
    return Situated(
        levelled=found,
        text=_in_context(found.text, around, talks, weights),
        vector=_in_context(found.vector, around, talks, weights),
    )


class _Talks(NamedTuple):
    """The rows that are turns, and a number from 0 for the conversation of each."""

    turns: IntArray
    numbers: IntArray
    talks: int


def _talks(conversation: IntArray) -> _Talks:
    turns = np.flatnonzero(conversation != NOBODY)
    known, numbers = np.unique(conversation[turns], return_inverse=True)
    return _Talks(turns, numbers, len(known))


def _in_context(
    scores: Column, around: Candidates, talks: _Talks, weights: ContextWeights
) -> Column:
    beside = _at(scores, around.previous) + _at(scores, around.following)
    best = _best_in_conversation(scores, talks)
    result: Column = scores + weights.neighbours * beside + weights.conversation * best
    return result


def _at(scores: Column, rows: IntArray) -> Column:
    """Return the scores of rows, 0 for `NOBODY`."""
    return np.where(rows == NOBODY, 0.0, scores[rows])


def _best_in_conversation(scores: Column, talks: _Talks) -> Column:
    best = scores.copy()
    of_conversation = np.full(talks.talks, -np.inf)
    np.maximum.at(of_conversation, talks.numbers, scores[talks.turns])
    best[talks.turns] = of_conversation[talks.numbers]
    return best
