"""Context: a turn's neighbours and its conversation lend it score.

An answer often stands beside the turn that has the question's words. Measured on dialogues:
neighbours at 0.3 to 0.5 and the conversation's best at 0.3 to 0.7 differ by about a point. An entry
outside of any conversation is one of its own: else turns would outweigh notes where both are kept.
"""

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
    return Situated(
        levelled=found,
        text=_in_context(found.text, around, weights),
        vector=_in_context(found.vector, around, weights),
    )


def _in_context(scores: Column, around: Candidates, weights: ContextWeights) -> Column:
    beside = _at(scores, around.previous) + _at(scores, around.following)
    best = _best_in_conversation(scores, around.conversation)
    result: Column = scores + weights.neighbours * beside + weights.conversation * best
    return result


def _at(scores: Column, rows: IntArray) -> Column:
    """Return the scores of rows, 0 for `NOBODY`."""
    return np.where(rows == NOBODY, 0.0, scores[rows])


def _best_in_conversation(scores: Column, conversation: IntArray) -> Column:
    best = scores.copy()
    turns = np.flatnonzero(conversation != NOBODY)
    if len(turns):
        _, numbers = np.unique(conversation[turns], return_inverse=True)
        of_conversation = np.full(int(numbers.max()) + 1, -np.inf)
        np.maximum.at(of_conversation, numbers, scores[turns])
        best[turns] = of_conversation[numbers]
    return best
