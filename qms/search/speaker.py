"""The speaker factor: turns of the speaker that a query names, or of the user, count more."""

from collections.abc import Sequence

import numpy as np

from qms.search.hits import Column
from qms.text.terms import ENGLISH, language_of, words

FACTOR = 1.25
USER = "user"

FIRST_PERSON: dict[str, frozenset[str]] = {
    language: frozenset(text.split())
    for language, text in {
        "english": "i me my mine myself we us our ours ourselves",
        "german": "ich mich mir mein meine meinen meinem meiner meines wir uns unser unsere "
        "unseren unserem unserer",
        "french": "je j moi me m mon ma mes mien mienne nous notre nos",
        "spanish": "yo me mi mis mio mia mios mias nosotros nosotras nos nuestro nuestra "
        "nuestros nuestras",
        "italian": "io me mi mio mia miei mie noi ci nostro nostra nostri nostre",
        "portuguese": "eu me mim meu minha meus minhas nos nosso nossa nossos nossas",
        "dutch": "ik me mij mijn wij we ons onze",
        "swedish": "jag mig min mitt mina vi oss var vart vara",
        "danish": "jeg mig min mit mine vi os vores",
        "norwegian": "jeg meg min mitt mine vi oss var vart vare",
        "finnish": "mina minun minua minulla minulle minut me meidan meilla meille",
        "polish": "ja mnie mi moj moja moje moich my nas nam nasz nasza nasze",
        "russian": "я меня мне мной мой моя мое мои моего моей моих мы нас нам наш наша наше наши",
        "turkish": "ben beni bana benim biz bizi bize bizim",
    }.items()
}
"""First-person words per language, folded as the index folds them."""


def speaker_factors(roles: Sequence[str | None], asked: Sequence[str]) -> Column:
    """Return the factor for the score of each turn.

    Turns of the speakers that the query names count more, unless it names all. If it names none and
    is in the first person, the user's turns count more.
    """
    names = {role for role in roles if role}
    wanted = _named(names, frozenset(asked)) if names else set()
    if not wanted and speaks_of_self(asked):
        wanted = {name for name in names if name.casefold() == USER}
    if not wanted or wanted == names:
        return np.ones(len(roles))
    return np.array([FACTOR if role in wanted else 1.0 for role in roles])


def speaks_of_self(asked: Sequence[str]) -> bool:
    """Say whether the words include the first person."""
    own = FIRST_PERSON.get(language_of(list(asked)), FIRST_PERSON[ENGLISH])
    return not own.isdisjoint(asked)


def _named(names: set[str], asked: frozenset[str]) -> set[str]:
    named = set()
    for name in names:
        parts = words(name)
        if parts and asked.issuperset(parts):
            named.add(name)
    return named
