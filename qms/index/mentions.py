"""Whether an entry holds a word of a query that says something, wherever it stands."""

from qms.index.documents import IndexDocument
from qms.index.keyword_fields import KEYWORDS, NAMES, PARTS, STEM, TAGS, TITLE, field_tokens
from qms.index.keyword_query import KeywordQuery
from qms.index.terms import ENGLISH, stems


def mentions(query: KeywordQuery, document: IndexDocument) -> bool:
    """Say whether one of the query's words, small ones aside, or names is in an entry."""
    tokens = field_tokens(document)
    asked = [*query.content, *query.added]
    kept = {one for field in (STEM, TITLE, TAGS, KEYWORDS) for one in tokens.fields[field]}
    return not (
        kept.isdisjoint(stems(asked, tokens.language))
        and set(tokens.fields[PARTS]).isdisjoint(stems([*asked, *query.parts], ENGLISH))
        and set(tokens.fields[NAMES]).isdisjoint(query.names)
    )
