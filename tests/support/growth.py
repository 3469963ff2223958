"""How the work of a pattern or a function grows with its text, by CPU time at growing sizes."""

import re
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from re import _constants, _parser
from typing import Any

Make = Callable[[int], str]
"""Make a text of about so many characters."""

FACTOR = 4
MOST_RATIO = 8.0
"""Linear work at `FACTOR` times the text is 4, quadratic 16; the middle leaves room for noise."""

_SIZES = (8, 16, 24, 48, 128, 512, 2048)
_REPEATS = 3
_TRIES = 3
_PAIRS_OF = 7
_MOST_LEADS = 10
_MOST_LETTERS = 24
sre: Any = _constants
_POOL = "a0 \n.-#"
_CATEGORIES = {
    sre.CATEGORY_DIGIT: "0",
    sre.CATEGORY_SPACE: " \n",
    sre.CATEGORY_WORD: "a0_",
    sre.CATEGORY_NOT_SPACE: "a",
    sre.CATEGORY_NOT_WORD: " .",
    sre.CATEGORY_NOT_DIGIT: "a",
}


def slowest_growth(
    work: Callable[[str], object],
    make: Make,
    *,
    sizes: Iterable[int] = _SIZES,
    unnoticed_s: float = 0.0005,
) -> float:
    """Return the growth of CPU time for four times the text, where it first is too much, or 1.

    Work below `unnoticed_s` is not compared: at the largest size, quadratic work takes longer.
    """
    before = ""
    for size in sizes:
        text = make(size)
        if _cpu(work, text) > unnoticed_s and before:
            ratio = min(_ratio(work, before, text) for _ in range(_TRIES))
            growth = ratio * FACTOR * len(before) / len(text)
            if growth > MOST_RATIO:
                return growth
        before = text
    return 1.0


def _ratio(work: Callable[[str], object], small: str, large: str) -> float:
    return _least(work, large) / max(_least(work, small), 1e-6)


def _cpu(work: Callable[[str], object], text: str) -> float:
    start = time.thread_time()
    work(text)
    return time.thread_time() - start


def _least(work: Callable[[str], object], text: str) -> float:
    return min(_cpu(work, text) for _ in range(_REPEATS))


def texts_against(pattern: str, flags: int) -> Iterator[tuple[str, Make]]:
    """Yield texts made against a pattern: its parts repeated, after what leads to each repeat."""
    tree = _parser.parse(pattern, flags)
    leads = list(dict.fromkeys(_leads(tree, "")))[:_MOST_LEADS]
    letters = list(dict.fromkeys([*_letters(tree), *_POOL]))[:_MOST_LETTERS]
    few = letters[:_PAIRS_OF]
    units = [*letters, *(a + b for a, b in product(few, few) if a != b), *filter(None, leads)]
    units += [lead + letter for lead in leads for letter in few]
    pairs = [*product([""], units), *product(filter(None, leads), letters)]
    for (lead, unit), end in product(dict.fromkeys(pairs), ("", "\0")):
        yield repr((lead, unit, end)), _repeated(lead, unit, end)


def _repeated(lead: str, unit: str, end: str) -> Make:
    return lambda size: lead + unit * max(1, size // len(unit)) + end


def _leads(tree: Any, before: str) -> Iterator[str]:
    """Yield a text that leads to each repeat of a pattern, and one that passes it once."""
    for op, value in tree:
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            yield before
            yield before + _sample(value[2])
            yield from _leads(value[2], before)
        elif op is sre.SUBPATTERN:
            yield from _leads(value[3], before)
        elif op is sre.ATOMIC_GROUP:
            yield from _leads(value, before)
        elif op is sre.BRANCH:
            for branch in value[1]:
                yield from _leads(branch, before)
        before += _sample([(op, value)])


def _sample(tree: Any) -> str:
    """Return a short text that a part of a pattern matches, or nearly."""
    return "".join(_one(op, value) for op, value in tree)


def _one(op: Any, value: Any) -> str:
    match op:
        case sre.LITERAL:
            return chr(value)
        case sre.NOT_LITERAL:
            return "a" if value != ord("a") else "b"
        case sre.ANY:
            return "a"
        case sre.IN:
            return _member(value)
        case sre.BRANCH:
            return _sample(value[1][0])
        case sre.SUBPATTERN:
            return _sample(value[3])
        case sre.ATOMIC_GROUP:
            return _sample(value)
        case sre.MAX_REPEAT | sre.MIN_REPEAT | sre.POSSESSIVE_REPEAT:
            return str(_sample(value[2]) * min(value[0], 64))
        case _:
            return ""


def _member(items: Any) -> str:
    fitting = [letter for letter in "a0_ .-\n#A<" + "".join(_in(items)) if _has(items, letter)]
    return str(fitting[0]) if fitting else ""


def _has(items: Any, letter: str) -> bool:
    return re.match(_spelled(items), letter) is not None


def _spelled(items: Any) -> str:
    """Return a class of characters as a pattern again."""
    names = {
        sre.CATEGORY_DIGIT: r"\d",
        sre.CATEGORY_NOT_DIGIT: r"\D",
        sre.CATEGORY_SPACE: r"\s",
        sre.CATEGORY_NOT_SPACE: r"\S",
        sre.CATEGORY_WORD: r"\w",
        sre.CATEGORY_NOT_WORD: r"\W",
    }
    parts = []
    for op, value in items:
        if op is sre.NEGATE:
            parts.append("^")
        elif op is sre.LITERAL:
            parts.append(re.escape(chr(value)))
        elif op is sre.RANGE:
            parts.append(f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}")
        else:
            parts.append(names[value])
    return f"[{''.join(parts)}]"


def _letters(tree: Any) -> Iterator[str]:
    """Yield the characters that a pattern speaks of."""
    for op, value in tree:
        if op in (sre.LITERAL, sre.NOT_LITERAL):
            yield chr(value)
        elif op is sre.IN:
            yield from _in(value)
        elif op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            yield from _letters(value[2])
        elif op is sre.SUBPATTERN:
            yield from _letters(value[3])
        elif op is sre.ATOMIC_GROUP:
            yield from _letters(value)
        elif op in (sre.ASSERT, sre.ASSERT_NOT):
            yield from _letters(value[1])
        elif op is sre.BRANCH:
            for branch in value[1]:
                yield from _letters(branch)


def _in(items: Any) -> Iterator[str]:
    for op, value in items:
        if op is sre.LITERAL:
            yield chr(value)
        elif op is sre.RANGE:
            yield chr(value[0])
        elif op is sre.CATEGORY:
            yield from _CATEGORIES[value]
