"""Entries that are not in the keyword index's files yet, searched in RAM with the same scores.

A `Generation` collects what `apply` brings until a commit takes it over. `add` only appends: a
writer never waits for a reader. Readers do the rest when they come: under the one lock that all
readers of an index share they take in what has been appended, and score it. Of what a large import
has left they take in only what a glance at the text finds promising; a commit takes in the rest.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from heapq import nlargest
from itertools import chain
from operator import itemgetter

import msgspec

from qms.index.bm25 import K1, idf, norm_line, phrase_frequency, stored_length
from qms.index.changes import Change
from qms.index.documents import IndexDocument
from qms.index.glance import Tail
from qms.index.keys import key_of
from qms.index.keyword_fields import (
    EXACT,
    NAMES,
    PARTS,
    STEM,
    TEXT_FIELDS,
    FieldTokens,
    field_tokens,
)
from qms.index.keyword_query import Clause, Plan
from qms.index.keyword_segments import FileStatistics

FEW_UNREAD = 150
"""So many new documents a search takes in; it only glances at more of them."""

MOST_CHOSEN = 40
"""How many documents are taken in at most after a glance at all."""

_GLANCED_FIELDS = frozenset({STEM, EXACT, NAMES, PARTS})
"""Fields of which a glance can tell about how many entries hold a term."""


class Pending(msgspec.Struct, frozen=True):
    """An entry that waits for a commit, with its tokens."""

    document: IndexDocument
    tokens: FieldTokens


_Holder = tuple[str, int]
"""An entry, and how often a term stands in it."""

_Counts = _Holder | dict[str, int]
"""The entries that hold a term. Most terms have one, which needs a quarter of the memory."""

_NO_COUNTS: Mapping[str, int] = {}


class Generation:
    """Changes between two commits: the latest state of each entry that they touched."""

    def __init__(self) -> None:
        self._inbox: list[Change] = []
        self._taken = 0
        self._added = 0
        self._analysed = 0
        self._skimmed = 0
        self._tail: Tail | None = None
        self.entries: dict[str, Pending | None] = {}
        self.keys: dict[str, int] = {}
        self.languages: dict[str, int] = {}
        self.lengths: dict[str, dict[str, int]] = {field: {} for field in TEXT_FIELDS}
        self._postings: dict[str, dict[str, _Counts]] = {field: {} for field in TEXT_FIELDS}
        self._totals = dict.fromkeys(TEXT_FIELDS, 0)
        self._documents = 0

    def add(self, change: Change) -> None:
        """Append a change; every search that starts after this sees it."""
        self._added += len(change.put)
        self._inbox.append(change)

    @property
    def unread(self) -> int:
        """Return how many documents no reader has taken in yet."""
        return self._added - self._analysed

    @property
    def is_empty(self) -> bool:
        """Say whether nothing has been added."""
        return not self._inbox

    @property
    def is_skimmed(self) -> bool:
        """Say whether its last changes are known by a glance only."""
        return self._tail is not None

    def __len__(self) -> int:
        """Return how many changes it holds, each entry of a large one counted."""
        return max(len(self._inbox), self._added)

    @property
    def sequence(self) -> int:
        """Return the sequence of the last change; there must be one."""
        return self._inbox[-1].sequence

    def take_in(self) -> None:
        """Analyse what has been appended since the last call; the caller holds the lock."""
        while self._taken < len(self._inbox):
            change = self._inbox[self._taken]
            for entry_id in change.removed:
                self._forget(entry_id)
                self.entries[entry_id] = None
                self.keys[entry_id] = key_of(entry_id)
            for document in change.put:
                self._forget(document.id)
                self._remember(document, field_tokens(document))
            self._taken += 1
            self._analysed += len(change.put)

    def skim(self) -> Tail:
        """Return what is not taken in as plain text; the caller holds the lock.

        From then on nothing more is taken in: the next commit is not far.
        """
        if self._tail is None:
            self._tail, self._skimmed = Tail(), self._taken
        end = len(self._inbox)
        self._tail.follow(self._inbox[self._skimmed : end])
        self._skimmed = end
        return self._tail

    @classmethod
    def of_chosen(cls, tail: Tail, chosen: Iterable[IndexDocument], plan: Plan) -> "Generation":
        """Return a tail as if its entries had no text but the chosen ones the words of a plan."""
        made = cls()
        made.entries = dict.fromkeys(tail.ids)
        asked = _terms_by_field(plan)
        for document in chosen:
            made._remember(document, tail.tokens_of(document), asked)
        made.keys = tail.keys
        return made

    def all_keys(self) -> Iterator[tuple[str, int]]:
        """Yield the id and the key of every entry that readers have met, also by a glance."""
        yield from self.keys.items()
        if self._tail is not None:
            yield from self._tail.keys.items()

    def _remember(
        self,
        document: IndexDocument,
        tokens: FieldTokens,
        asked: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        for field, found in tokens.fields.items():
            postings = self._postings[field]
            self._totals[field] += len(found)
            self.lengths[field][document.id] = stored_length(len(found))
            counts = Counter(found) if asked is None else _counts_of(asked.get(field, ()), found)
            for term, count in counts.items():
                postings[term] = _joined(postings.get(term), (document.id, count))
        self._documents += 1
        self.languages[tokens.language] = self.languages.get(tokens.language, 0) + 1
        self.entries[document.id] = Pending(document, tokens)
        self.keys[document.id] = key_of(document.id)

    def _forget(self, entry_id: str) -> None:
        pending = self.entries.pop(entry_id, None)
        if pending is None:
            return
        for field, found in pending.tokens.fields.items():
            self._totals[field] -= len(found)
            postings = self._postings[field]
            for term in set(found):
                held = postings[term]
                if isinstance(held, tuple) or len(held) == 1:
                    del postings[term]
                else:
                    del held[entry_id]
        self._documents -= 1
        self.languages[pending.tokens.language] -= 1

    def latest(self) -> dict[str, IndexDocument | None]:
        """Return the last state of each entry, None for a removed one; no lock is needed."""
        found: dict[str, IndexDocument | None] = {}
        for change in list(self._inbox):
            found.update(dict.fromkeys(change.removed))
            found.update((document.id, document) for document in change.put)
        return found

    def tokens_of(self, document: IndexDocument) -> FieldTokens:
        """Return the tokens of one of the latest documents, again only if no reader was first."""
        pending = self.entries.get(document.id)
        if pending is not None and pending.document is document:
            return pending.tokens
        return field_tokens(document)

    def pending(self, entry_id: str) -> Pending:
        """Return an entry that has text here."""
        found = self.entries[entry_id]
        assert found is not None, "only entries with text have postings"
        return found

    @property
    def documents(self) -> int:
        """Return how many entries it holds text of."""
        return self._documents

    def tokens(self, field: str) -> int:
        """Return how many tokens a field holds in all entries."""
        return self._totals[field]

    def counts(self, field: str, term: str) -> Mapping[str, int]:
        """Return how often a term stands in each entry that holds it."""
        held = self._postings[field].get(term, _NO_COUNTS)
        return dict((held,)) if isinstance(held, tuple) else held

    def places(self, field: str, term: str, entry_id: str) -> list[int]:
        """Return where a term stands in an entry; few are asked for, so none are kept."""
        tokens = self.pending(entry_id).tokens.fields[field]
        return [place for place, found in enumerate(tokens) if found == term]


def _joined(held: _Counts | None, holder: _Holder) -> _Counts:
    if held is None:
        return holder
    if isinstance(held, tuple):
        return dict((held, holder))
    entry_id, count = holder
    held[entry_id] = count
    return held


def _terms_by_field(plan: Plan) -> dict[str, set[str]]:
    asked: defaultdict[str, set[str]] = defaultdict(set)
    for clause in chain(plan.scored, *plan.required):
        asked[clause.field].update(clause.terms)
    return asked


def _counts_of(terms: Iterable[str], found: list[str]) -> dict[str, int]:
    return {term: count for term in terms if (count := found.count(term))}


class Overlay:
    """The generations that a search sees, oldest first; made and used under the readers' lock."""

    def __init__(self, generations: Iterable[Generation], files: FileStatistics) -> None:
        self._files = files
        self._taken_in = [found for found in generations if not found.is_empty]
        self._generations = self._taken_in
        self._tails: list[Tail] = []
        self._chosen: list[Generation] = []
        for generation in self._generations:
            if generation.unread > FEW_UNREAD or generation.is_skimmed:
                self._tails.append(generation.skim())
            else:
                generation.take_in()
        self._read = files.documents + sum(found.documents for found in self._generations)
        self._documents = self._read + sum(map(len, self._tails))
        self._idf: dict[tuple[str, str], float] = {}

    def look_over(self, plan: Plan, passes: Callable[[IndexDocument], bool], limit: int) -> None:
        """Take in what matches a plan best of all that is only skimmed."""
        most = min(limit, MOST_CHOSEN)
        promising = [
            (score, document, tail)
            for tail in self._tails
            for score, document in tail.promising(plan, passes, most)
        ]
        chosen: dict[Tail, list[IndexDocument]] = {tail: [] for tail in self._tails}
        for _, document, tail in nlargest(most, promising, key=itemgetter(0)):
            chosen[tail].append(document)
        generations: list[Generation] = []
        for generation in self._generations:
            generations.append(generation)
            if generation.is_skimmed:
                tail = generation.skim()
                self._chosen.append(Generation.of_chosen(tail, chosen[tail], plan))
                generations.append(self._chosen[-1])
                self._read += len(chosen[tail])
        self._generations = generations

    def outdated(self, known: Mapping[int, str]) -> list[str]:
        """Return the ids whose state in the files, which know these keys, is out of date."""
        outdated: list[str] = []
        for generation in self._generations:
            # Ids are not looked up there: a commit takes those of removed entries out meanwhile.
            if found := known.keys() & generation.keys.values():
                outdated += (one for one, key in generation.keys.items() if key in found)
        return outdated

    def languages(self) -> dict[str, int]:
        """Return how many entries of each language there are, those in the files included."""
        counts = dict(self._files.summary.languages)
        here = [part.languages for part in self._generations]
        for found in (*here, *(tail.languages for tail in self._tails)):
            for language, count in found.items():
                if count:
                    counts[language] = counts.get(language, 0) + count
        return counts

    def hits(
        self, plan: Plan, passes: Callable[[IndexDocument], bool], limit: int
    ) -> list[tuple[str, float]]:
        """Return the best pending entries that match the plan and pass, best first."""
        found: list[tuple[str, float]] = []
        for at, generation in enumerate(self._generations):
            newer = self._generations[at + 1 :]
            scores = self._scores_in(generation, plan)
            room = limit
            for entry_id in sorted(scores, key=scores.__getitem__, reverse=True):
                if not room:
                    break
                if not (newer and any(entry_id in other.entries for other in newer)) and passes(
                    generation.pending(entry_id).document
                ):
                    found.append((entry_id, scores[entry_id]))
                    room -= 1
        return found

    def look_for(self, plan: Plan) -> None:
        """Find how rare the words of a plan are in what is only skimmed."""
        for tail in self._tails:
            tail.look_for(plan)

    def boost(self, clause: Clause) -> float:
        """Return what the files' score of a clause is to be multiplied by.

        The files weigh a term by how rare it is in them; this weighs it by how rare it is in files
        and overlay together, so that hits of both can be compared.
        """
        here = sum(
            idf(self._files.holders(clause.field, t), self._files.documents) for t in clause.terms
        )
        return self._clause_idf(clause) / here

    def _scores_in(self, generation: Generation, plan: Plan) -> dict[str, float]:
        scores: dict[str, float] = {}
        for clause in plan.scored:
            self._add_clause(generation, clause, scores)
        for group in plan.required:
            holders: set[str] = set()
            for clause in group:
                holders.update(found for found, _ in _frequencies(generation, clause, 0))
            scores = {found: score for found, score in scores.items() if found in holders}
        return scores

    def _add_clause(self, generation: Generation, clause: Clause, scores: dict[str, float]) -> None:
        frequencies = _frequencies(generation, clause, self._rarest(clause))
        if not frequencies:
            return
        weight = clause.weight * self._clause_idf(clause) * (K1 + 1)
        lengths = generation.lengths[clause.field]
        least, slope = norm_line(self._average(clause.field))
        for entry_id, frequency in frequencies:
            counted = weight * frequency / (frequency + least + slope * lengths[entry_id])
            scores[entry_id] = scores.get(entry_id, 0.0) + counted

    def _average(self, field: str) -> float:
        tokens = sum(generation.tokens(field) for generation in self._generations)
        return (self._files.tokens(field) + tokens) / self._read

    def rarity(self, clause: Clause) -> float:
        """Return how rare the terms of a clause are, in files and overlay together."""
        return self._clause_idf(clause) if self._documents else 0.0

    def _clause_idf(self, clause: Clause) -> float:
        return sum(self._term_idf(clause.field, term) for term in clause.terms)

    def _term_idf(self, field: str, term: str) -> float:
        known = self._idf.get((field, term))
        if known is None:
            known = self._idf[field, term] = idf(self._holders(field, term), self._documents)
        return known

    def _holders(self, field: str, term: str) -> int:
        held = self._files.holders(field, term) + sum(
            len(generation.counts(field, term)) for generation in self._taken_in
        )
        if self._tails:
            held += self._skimmed_holders(field, term)
        return min(held, self._documents)

    def _skimmed_holders(self, field: str, term: str) -> int:
        """Return about how many of the entries that are only skimmed hold a term in a field.

        A glance cannot tell fields apart; those that were chosen show what share holds it there.
        """
        anywhere = sum(tail.holders(field, term) for tail in self._tails)
        if field in _GLANCED_FIELDS:
            return anywhere
        there = sum(len(chosen.counts(field, term)) for chosen in self._chosen)
        return anywhere * there // max(1, sum(chosen.documents for chosen in self._chosen))

    def _rarest(self, clause: Clause) -> int:
        if not clause.slop:
            return 0
        first, second = (self._holders(clause.field, term) for term in clause.terms)
        return int(second < first)


def _frequencies(generation: Generation, clause: Clause, rarest: int) -> list[tuple[str, int]]:
    counts = [generation.counts(clause.field, term) for term in clause.terms]
    if len(counts) == 1:
        return list(counts[0].items())
    frequencies: list[tuple[str, int]] = []
    for entry_id in min(counts, key=len):
        if all(entry_id in found for found in counts):
            positions = [generation.places(clause.field, t, entry_id) for t in clause.terms]
            if frequency := phrase_frequency(positions, clause.slop, rarest):
                frequencies.append((entry_id, frequency))
    return frequencies
