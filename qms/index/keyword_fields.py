"""The text fields of the keyword index and what each holds of an entry."""

import msgspec

from qms.domain.entry import split_id
from qms.index.dates import instant_terms
from qms.index.documents import IndexDocument
from qms.index.names import names_and_humps, own_name
from qms.index.terms import ENGLISH, NO_LANGUAGE, language_of, plain_words, stems, words

STEM = "stem"
EXACT = "exact"
TITLE = "title"
TAGS = "tags"
KEYWORDS = "keywords"
NAMES = "names"
PARTS = "parts"
WHEN = "when"

TEXT_FIELDS = (STEM, EXACT, TITLE, TAGS, KEYWORDS, NAMES, PARTS, WHEN)


class FieldTokens(msgspec.Struct, frozen=True):
    """The tokens of every text field of one entry, in order, and the language it is in."""

    language: str
    fields: dict[str, list[str]]


def field_tokens(document: IndexDocument) -> FieldTokens:
    """Return what the keyword index holds of an entry.

    `stem` and `exact` are its text, `title`, `tags` and `keywords` are stemmed like the text,
    `names` are paths, symbols and its own id as they are written, `parts` the words inside
    symbols like `getUserName`, which are English, and those of its source; `when` is its date.
    """
    text = words(document.text)
    title = words(document.own_title)
    labels = " ".join(document.keywords)
    language = language_of(text or title)
    source = " ".join(document.source)
    names, humps = names_and_humps(f"{document.title} {document.text} {labels} {source}")
    _, local_id = split_id(document.id)
    return FieldTokens(
        language,
        {
            STEM: stems(text, language),
            EXACT: text if document.text.isascii() else plain_words(document.text),
            TITLE: stems(title, language),
            TAGS: stems(words(" ".join(document.tags)), language),
            KEYWORDS: stems(words(labels), language),
            NAMES: [own_name(document.id), own_name(local_id), *names],
            PARTS: stems([*humps, *words(source)], ENGLISH),
            WHEN: instant_terms(document.instant),
        },
    )


def word_stems(word: str, languages: tuple[str, ...]) -> tuple[str, ...]:
    """Return the distinct stems of a query's word in each of the languages of a store."""
    return tuple(dict.fromkeys(stems([word], language)[0] for language in languages))


def part_stem(word: str) -> str:
    """Return a query's word as the words inside symbols are kept."""
    return stems([word], ENGLISH)[0]


def main_languages(counts: dict[str, int], at_most: int) -> tuple[str, ...]:
    """Return the languages that a query is stemmed by: those of most entries first."""
    ranked = sorted(counts, key=lambda language: (-counts[language], language))
    return tuple(ranked[:at_most]) or (ENGLISH, NO_LANGUAGE)
