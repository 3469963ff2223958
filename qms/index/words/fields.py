"""The text fields of the keyword index, and the tokens of an entry in each."""

import msgspec

from qms.index.indexed_entry import IndexDocument
from qms.memory.entry import split_id
from qms.text.dates import instant_terms
from qms.text.names import names_and_humps, own_name
from qms.text.terms import ENGLISH, NO_LANGUAGE, language_of, plain_words, stems, words

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
    """The tokens of every text field of one entry, in order, and its language."""

    language: str
    fields: dict[str, list[str]]


def field_tokens(document: IndexDocument) -> FieldTokens:
    """Return the tokens of an entry for the keyword index.

    `stem` and `exact` are its text; `title`, `tags` and `keywords` are stemmed like the text.
    `names` are paths, symbols and its own id as written. `parts` are the words inside symbols like
    `getUserName`, stemmed as English, and those of its source. `when` is its date.
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
    """Return the distinct stems of a query word in these languages."""
    return tuple(dict.fromkeys(stems([word], language)[0] for language in languages))


def part_stem(word: str) -> str:
    """Return the stem of a query word for the field `parts`."""
    return stems([word], ENGLISH)[0]


def main_languages(counts: dict[str, int], at_most: int) -> tuple[str, ...]:
    """Return the languages to stem a query in, the most frequent first."""
    ranked = sorted(counts, key=lambda language: (-counts[language], language))
    return tuple(ranked[:at_most]) or (ENGLISH, NO_LANGUAGE)
