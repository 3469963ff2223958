"""Entries that nobody has taken apart yet, looked over as plain text.

To take an entry apart costs more than to import it. A search amid a large import looks for the
beginnings of its words in plain text instead, and takes only the entries apart that promise most.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

import msgspec
import numpy as np
from numpy.typing import NDArray

from qms.index.bm25 import idf
from qms.index.changes import Change
from qms.index.dates import instant_terms
from qms.index.documents import IndexDocument
from qms.index.keys import key_of
from qms.index.keyword_fields import EXACT, NAMES, WHEN, FieldTokens, field_tokens
from qms.index.keyword_query import Clause, Plan
from qms.index.terms import fold, language_of, words

_STEM_CUT = 2
"""So many letters at the end of a stem may differ from the words that it stands for."""

_LEAST_LETTERS = 2

_LEAST_SHARE = 0.25
"""What counts less than this share of the heaviest text is not looked for by itself: small words
stand nearly everywhere."""

_KEPT_MASKS = 32
"""So many texts that were looked for are remembered, for the next step of the same search."""

_Mask = NDArray[np.bool_]


class _Plain(msgspec.Struct, frozen=True):
    document: IndexDocument
    text: str


class Tail:
    """The last changes of a generation: the latest state of each entry, unread but for its text.

    Whoever calls a method holds the lock that all readers of an index share.
    """

    def __init__(self) -> None:
        self._plain: dict[str, _Plain | None] = {}
        self.keys: dict[str, int] = {}
        self.languages: dict[str, int] = {}
        self._tokens: dict[str, tuple[IndexDocument, FieldTokens]] = {}
        self._there: list[IndexDocument] = []
        self._texts: list[str] = []
        self._masks: dict[str, _Mask] = {}

    def __len__(self) -> int:
        """Return how many entries have text here."""
        return len(self._there)

    @property
    def ids(self) -> Iterable[str]:
        """Return the entries that were put or removed."""
        return self._plain.keys()

    def follow(self, changes: Sequence[Change]) -> None:
        """Take in further changes, oldest first."""
        if not changes:
            return
        for change in changes:
            for entry_id in change.removed:
                self._plain[entry_id] = None
                self.keys[entry_id] = key_of(entry_id)
            for document in change.put:
                self._plain[document.id] = _Plain(document, _plain_text(document))
                self.keys[document.id] = key_of(document.id)
            if change.put:
                # Who imports brings entries of one language, most often.
                language = language_of(words(change.put[0].text))
                self.languages[language] = self.languages.get(language, 0) + len(change.put)
        there = [plain for plain in self._plain.values() if plain is not None]
        self._there = [plain.document for plain in there]
        self._texts = [plain.text for plain in there]
        self._masks.clear()

    def look_for(self, plan: Plan) -> None:
        """Find what of a plan's words is worth looking for; `holders` then knows about it."""
        if len(self._masks) > _KEPT_MASKS:
            self._masks.clear()
        for text in _weights(plan):
            self._mask(text)

    def holders(self, field: str, term: str) -> int:
        """Return about how many entries hold a term; all of them if nobody looked for it."""
        text = needle(field, term)
        is_looked_for = any(known in text for known in self._masks)
        return int(self._mask(text).sum()) if is_looked_for else len(self)

    def promising(
        self, plan: Plan, passes: Callable[[IndexDocument], bool], most: int
    ) -> Iterator[tuple[float, IndexDocument]]:
        """Yield the entries that pass and may match a plan best, the most promising first."""
        scores = self._scores(plan)
        places = np.argsort(-scores, kind="stable")[: int((scores > 0).sum())]
        passing = (place for place in places.tolist() if passes(self._there[place]))
        for place in islice(passing, most):
            yield float(scores[place]), self._there[place]

    def _scores(self, plan: Plan) -> NDArray[np.float64]:
        self.look_for(plan)
        scores = np.zeros(len(self._there))
        for text, weight in _weights(plan).items():
            mask = self._mask(text)
            scores[mask] += weight * idf(int(mask.sum()), len(self._there))
        for group in plan.required:
            scores[~np.logical_or.reduce([self._holds(clause) for clause in group])] = 0.0
        return scores

    def _holds(self, clause: Clause) -> _Mask:
        masks = [self._mask(needle(clause.field, term)) for term in clause.terms]
        return np.asarray(np.logical_and.reduce(masks))

    def _mask(self, text: str) -> _Mask:
        known = self._masks.get(text)
        if known is None:
            known = np.zeros(len(self._there), np.bool_)
            known[self._places_of(text)] = True
            self._masks[text] = known
        return known

    def _places_of(self, text: str) -> list[int]:
        parts = [known for known in self._masks if known in text]
        if not parts:
            return [place for place, plain in enumerate(self._texts) if text in plain]
        places = np.flatnonzero(self._masks[max(parts, key=len)]).tolist()
        return [place for place in places if text in self._texts[place]]

    def tokens_of(self, document: IndexDocument) -> FieldTokens:
        """Return an entry taken apart, again only if nobody was first."""
        known = self._tokens.get(document.id)
        if known is None or known[0] is not document:
            known = self._tokens[document.id] = document, field_tokens(document)
        return known[1]


def needle(field: str, term: str) -> str:
    """Return what stands in the plain text of nearly every entry that holds a term in a field.

    The exceptions are irregular words, such as `dying` for a search for `die`.
    """
    if field in (EXACT, WHEN):
        return term
    if field == NAMES:
        return fold(max(term.removeprefix("=").split("/"), key=len))
    return term[: max(_LEAST_LETTERS, len(term) - _STEM_CUT)] if term.isalpha() else term


def _plain_text(document: IndexDocument) -> str:
    return fold(
        "\n".join(
            (
                document.id,
                document.title,
                document.text,
                *document.tags,
                *document.keywords,
                *document.source,
                *instant_terms(document.instant),
            )
        )
    )


def _weights(plan: Plan) -> dict[str, float]:
    """Return what each piece of text that is worth looking for counts."""
    weights: dict[str, float] = {}
    for text, weight in _needles(plan.scored):
        weights[text] = weights.get(text, 0.0) + weight
    least = _LEAST_SHARE * max(weights.values(), default=0.0)
    heavy = [text for text, weight in weights.items() if weight >= least]
    # A whole word costs little to find where its beginning has been found.
    longer = [text for text in weights if any(part in text for part in heavy) and text not in heavy]
    return {text: weights[text] for text in (*heavy, *longer)}


def _needles(clauses: Iterable[Clause]) -> Iterator[tuple[str, float]]:
    for clause in clauses:
        if not clause.slop:  # the words of a pair count by themselves, too
            for term in clause.terms:
                yield needle(clause.field, term), clause.weight / len(clause.terms)
