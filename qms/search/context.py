"""Context: a turn's neighbours and its conversation lend it score.

An answer often stands beside the turn that has the question's words. Measured on dialogues:
neighbours at 0.3 to 0.5 and the conversation's best at 0.3 to 0.7 do equally well.
"""

import msgspec
import numpy as np

from qms.index.arrays import IntArray
from qms.search.hits import NOBODY, Candidates, Column
from qms.search.level import Levelled


class ContextWeights(msgspec.Struct, frozen=True, kw_only=True):
    """How much of its surroundings' score a turn gets."""

    neighbours: float = 0.4
    conversation: float = 0.5
    alone: float = 0.0
    """What an entry outside of any conversation gets of its own score once more."""


DEFAULT_CONTEXT = ContextWeights()


def add_context(found: Levelled, weights: ContextWeights = DEFAULT_CONTEXT) -> Levelled:
    """Return the candidates with both scores as their conversations make them."""
    around = found.candidates
    if not np.any(around.conversation != NOBODY) and not weights.alone:
        return found
    return msgspec.structs.replace(
        found,
        text=_in_context(found.text, around, weights),
        vector=_in_context(found.vector, around, weights),
    )


def _in_context(scores: Column, around: Candidates, weights: ContextWeights) -> Column:
    beside = _at(scores, around.previous) + _at(scores, around.following)
    best = np.where(
        around.conversation == NOBODY,
        weights.alone * scores,
        weights.conversation * _best_in_conversation(scores, around.conversation),
    )
    result: Column = scores + weights.neighbours * beside + best
    return result


def _at(scores: Column, rows: IntArray) -> Column:
    """Return the scores of rows, 0 for `NOBODY`."""
    return np.where(rows == NOBODY, 0.0, scores[rows])


def _best_in_conversation(scores: Column, conversation: IntArray) -> Column:
    if not len(scores):
        return scores
    _, numbers = np.unique(conversation, return_inverse=True)
    best = np.full(int(numbers.max()) + 1, -np.inf)
    np.maximum.at(best, numbers, scores)
    return best[numbers]
