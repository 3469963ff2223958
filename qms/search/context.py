"""The context stage: adds to a turn's scores those of its neighbours and its conversation.

An answer is often beside the turn that has the question's words. Measured on dialogues: neighbours
at 0.3 to 0.5 and the conversation's best at 0.3 to 0.7 differ by about a point. An entry outside of
any conversation counts as its own conversation: else turns would outweigh notes.
"""

from typing import NamedTuple

import msgspec
import numpy as np

from qms.index.arrays import IntArray
from qms.search.hits import NOBODY, Candidates, Column
from qms.search.normalize import Normalized


class ContextWeights(msgspec.Struct, frozen=True, kw_only=True):
    """The weights of neighbours and of the best turn of the conversation."""

    neighbours: float = 0.3
    conversation: float = 0.6


class Situated(msgspec.Struct, frozen=True, kw_only=True):
    """Candidates of one store, with both scores in context."""

    levelled: Normalized
    text: Column
    vector: Column


DEFAULT_CONTEXT = ContextWeights()


def add_context(found: Normalized, weights: ContextWeights = DEFAULT_CONTEXT) -> Situated:
    """Return the candidates with both scores in context."""
    around = found.candidates
    grouped = _grouped(around.conversation)
    return Situated(
        levelled=found,
        text=_in_context(found.text, around, grouped, weights),
        vector=_in_context(found.vector, around, grouped, weights),
    )


class _Grouped(NamedTuple):
    """The rows that are turns, and a number from 0 for the conversation of each."""

    turns: IntArray
    numbers: IntArray
    conversations: int


def _grouped(conversation: IntArray) -> _Grouped:
    turns = np.flatnonzero(conversation != NOBODY)
    known, numbers = np.unique(conversation[turns], return_inverse=True)
    return _Grouped(turns, numbers, len(known))


def _in_context(
    scores: Column, around: Candidates, grouped: _Grouped, weights: ContextWeights
) -> Column:
    beside = _at(scores, around.previous) + _at(scores, around.following)
    best = _best_in_conversation(scores, grouped)
    result: Column = scores + weights.neighbours * beside + weights.conversation * best
    return result


def _at(scores: Column, rows: IntArray) -> Column:
    """Return the scores of rows, 0 for `NOBODY`."""
    return np.where(rows == NOBODY, 0.0, scores[rows])


def _best_in_conversation(scores: Column, grouped: _Grouped) -> Column:
    best = scores.copy()
    of_conversation = np.full(grouped.conversations, -np.inf)
    np.maximum.at(of_conversation, grouped.numbers, scores[grouped.turns])
    best[grouped.turns] = of_conversation[grouped.numbers]
    return best
