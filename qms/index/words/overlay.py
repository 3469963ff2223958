"""The overlay: entries not in the keyword files yet, searched in RAM with the same scores.

A `Generation` collects changes until a commit writes them. `add` only appends: a writer never waits
for a reader. Readers analyse the appended documents at search time, under a lock that all readers
of an index share. A hidden generation is left out until it is committed or shown.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

import msgspec

from qms.index.entry_keys import key_of
from qms.index.indexed_entry import IndexDocument
from qms.index.words.bm25 import K1, idf, norm_line, phrase_frequency, stored_length
from qms.index.words.fields import TEXT_FIELDS, FieldTokens, field_tokens
from qms.index.words.query_plan import Clause, Plan
from qms.index.words.segments import FileStatistics


class Change(msgspec.Struct, frozen=True):
    """The index documents that a ChangeSet put, and the ids that it removed."""

    sequence: int
    put: tuple[IndexDocument, ...] = ()
    removed: tuple[str, ...] = ()


class Pending(msgspec.Struct, frozen=True):
    """An entry that is not committed yet, with its tokens."""

    document: IndexDocument
    tokens: FieldTokens


_Holder = tuple[str, int]
"""An entry, and how often it contains a term."""

_Counts = _Holder | dict[str, int]
"""The entries that contain a term. Most terms have one; a tuple needs a quarter of the memory."""

_NO_COUNTS: Mapping[str, int] = {}


class Generation:
    """Changes between two commits: the latest state of each entry that they touched."""

    def __init__(self, *, is_hidden: bool = False) -> None:
        self.is_hidden = is_hidden
        """Searches leave it out: its writer commits it before it is answered."""
        self._inbox: list[Change] = []
        self._taken = 0
        self._added = 0
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
    def is_empty(self) -> bool:
        """Say whether nothing has been added."""
        return not self._inbox

    @property
    def is_searched(self) -> bool:
        """Say whether searches read it."""
        return not (self.is_hidden or self.is_empty)

    def __len__(self) -> int:
        """Return how many changes it holds; each entry of a change counts."""
        return max(len(self._inbox), self._added)

    @property
    def sequence(self) -> int:
        """Return the sequence of the last change; there must be one."""
        return self._inbox[-1].sequence

    def take_in(self) -> None:
        """Analyse the documents appended since the last call; the caller holds the lock."""
        fresh = self._inbox[self._taken :]
        last = {document.id: document for change in fresh for document in change.put}
        for change in fresh:
            for entry_id in change.removed:
                self._forget(entry_id)
                self.entries[entry_id] = None
                self.keys[entry_id] = key_of(entry_id)
            for document in change.put:
                # One entry may have been written many times since the last search.
                if last[document.id] is document:
                    self._forget(document.id)
                    self._remember(document, field_tokens(document))
            self._taken += 1

    def _remember(self, document: IndexDocument, tokens: FieldTokens) -> None:
        for field, found in tokens.fields.items():
            postings = self._postings[field]
            self._totals[field] += len(found)
            self.lengths[field][document.id] = stored_length(len(found))
            for term, count in Counter(found).items():
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
        """Return the latest document of each entry, None for a removed one; needs no lock."""
        found: dict[str, IndexDocument | None] = {}
        for change in list(self._inbox):
            found.update(dict.fromkeys(change.removed))
            found.update((document.id, document) for document in change.put)
        return found

    def tokens_of(self, document: IndexDocument) -> FieldTokens:
        """Return the tokens of a latest document; reuse them if a reader has analysed it."""
        pending = self.entries.get(document.id)
        if pending is not None and pending.document is document:
            return pending.tokens
        return field_tokens(document)

    def pending(self, entry_id: str) -> Pending:
        """Return an entry that has text in this generation."""
        found = self.entries[entry_id]
        assert found is not None, "only entries with text have postings"
        return found

    @property
    def documents(self) -> int:
        """Return how many entries have text in this generation."""
        return self._documents

    def tokens(self, field: str) -> int:
        """Return how many tokens a field holds in all entries."""
        return self._totals[field]

    def counts(self, field: str, term: str) -> Mapping[str, int]:
        """Return how often a term occurs in each entry that contains it."""
        held = self._postings[field].get(term, _NO_COUNTS)
        return dict((held,)) if isinstance(held, tuple) else held

    def places(self, field: str, term: str, entry_id: str) -> list[int]:
        """Return the positions of a term in an entry; rarely needed, so not stored."""
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


class Overlay:
    """The generations that a search sees, oldest first; made and used under the readers' lock."""

    def __init__(self, generations: Iterable[Generation], files: FileStatistics) -> None:
        self._files = files
        self._generations = [one for one in generations if one.is_searched]
        for generation in self._generations:
            generation.take_in()
        self._documents = files.documents + sum(one.documents for one in self._generations)
        self._idf: dict[tuple[str, str], float] = {}

    def outdated(self, known: Mapping[int, str]) -> list[str]:
        """Return the ids whose version in the files (`known`: keys in the files) is outdated."""
        outdated: list[str] = []
        for generation in self._generations:
            # Ids are not read from `known`: a concurrent commit drops those of removed entries.
            if found := known.keys() & generation.keys.values():
                outdated += (one for one, key in generation.keys.items() if key in found)
        return outdated

    def languages(self) -> dict[str, int]:
        """Return the number of entries per language, in files and overlay."""
        counts = dict(self._files.summary.languages)
        for generation in self._generations:
            for language, count in generation.languages.items():
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

    def boost(self, clause: Clause) -> float:
        """Return the factor for the files' score of a clause.

        The files use the idf of their own documents; this replaces it by the idf over files and
        overlay together, so that hits of both can be compared.
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
        return (self._files.tokens(field) + tokens) / self._documents

    def rarity(self, clause: Clause) -> float:
        """Return the idf of a clause over files and overlay together."""
        return self._clause_idf(clause) if self._documents else 0.0

    def _clause_idf(self, clause: Clause) -> float:
        return sum(self._term_idf(clause.field, term) for term in clause.terms)

    def _term_idf(self, field: str, term: str) -> float:
        known = self._idf.get((field, term))
        if known is None:
            known = self._idf[field, term] = idf(self._holders(field, term), self._documents)
        return known

    def _holders(self, field: str, term: str) -> int:
        held = self._files.holders(field, term)
        held += sum(len(generation.counts(field, term)) for generation in self._generations)
        return min(held, self._documents)

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
