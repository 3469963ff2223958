"""The reading order of a page: columns one after the other, rows of a table across."""

from collections.abc import Iterable, Iterator
from itertools import accumulate, pairwise
from operator import sub
from typing import NamedTuple

_STEP = 2.0
"""The resolution, in points, at which a gutter between columns is looked for."""

_NARROW = 0.62
"""A segment wider than this part of the text is not in a column."""

_COLUMN_SIGNS = 14
"""Lines of a column have so many signs on average; cells of a table have fewer."""

_COLUMN_LINES = 4
_IN_ORDER = 0.85
"""If so many lines follow downwards, the order of the file is kept."""


_GAP = 1.2
"""A gap between words wider than so many heights of the line may divide cells or columns."""

_OWN_GAP = 2.5
"""It does if it is so many times as wide as the usual gap of its line."""

_SURE_GAP = 4.0
"""It does in any case if it is wider than so many heights."""


class Boxes(NamedTuple):
    """The places of the words of a line."""

    lefts: list[float]
    rights: list[float]
    bottoms: list[float]
    tops: list[float]


class Segment(NamedTuple):
    """A part of a line, in points from the lower left corner of the page."""

    left: float
    right: float
    bottom: float
    top: float
    text: str
    line: int
    """Segments of one line of the file have the same number."""


class Line(NamedTuple):
    """A line in reading order; its cells, if it seems to be a row of a table."""

    cells: tuple[str, ...]
    left: float = 0.0
    right: float = 0.0
    bottom: float = 0.0
    size: float = 0.0
    column: int = 0
    """Changes where the text jumps to another column."""
    column_left: float = 0.0
    column_right: float = 0.0
    height_on_page: float = 0.5
    """Its place on the page: 0 is the lower edge, 1 the upper."""

    @property
    def text(self) -> str:
        """The whole line."""
        return " ".join(self.cells) if len(self.cells) > 1 else self.cells[0]

    @classmethod
    def placeless(cls, text: str) -> "Line":
        """Return a line whose place is not known."""
        return cls((text.strip(),))


def segments_of(words: list[str], boxes: Boxes, line: int) -> Iterator[Segment]:
    """Yield the parts of a line that no wide gap divides."""
    gaps = list(map(sub, boxes.lefts[1:], boxes.rights))
    height = boxes.tops[0] - boxes.bottoms[0]
    least = _GAP * height
    first = 0
    if gaps and max(gaps) > least:
        usual = sorted(gaps)[len(gaps) // 2]
        least = min(max(least, _OWN_GAP * usual), _SURE_GAP * height)
        for place, gap in enumerate(gaps, 1):
            if gap > least:
                yield _segment(words, boxes, first, place, line)
                first = place
    yield _segment(words, boxes, first, len(words), line)


def _segment(words: list[str], boxes: Boxes, first: int, end: int, line: int) -> Segment:
    # Boxes differ from letter to letter, and brackets are high: the usual height is the line's.
    bottom = boxes.bottoms[first]
    heights = sorted(map(sub, boxes.tops[first:end], boxes.bottoms[first:end]))
    top = bottom + heights[(len(heights) - 1) // 2]
    text = " ".join(words[first:end])
    return Segment(boxes.lefts[first], boxes.rights[end - 1], bottom, top, text, line)


def lines_in_order(segments: list[Segment], width: float, height: float) -> list[Line]:
    """Return the lines of a page in the order in which people read them."""
    if not segments:
        return []
    gutters = _gutters(segments, width)
    if not gutters:
        return _lines(segments, 0, height)
    found: list[Line] = []
    for band in _bands(segments, gutters):
        for column in _columns(band, gutters):
            found += _lines(column, len(found) + 1, height)
    return found


def _gutters(segments: list[Segment], width: float) -> list[float]:
    """Return the middles of the vertical strips that divide the page into columns."""
    left = min(one.left for one in segments)
    extent = max(one.right for one in segments) - left
    narrow = [one for one in segments if one.right - one.left < _NARROW * extent]
    if extent < width * 0.3 or sum(len(one.text) for one in narrow) * 2 < sum(
        len(one.text) for one in segments
    ):
        return []
    edges = [0] * (int(extent / _STEP) + 3)
    for one in narrow:
        edges[int((one.left - left) / _STEP)] += 1
        edges[int((one.right - left) / _STEP) + 1] -= 1
    used = list(accumulate(edges))
    middles = [left + place * _STEP for place in _valleys(used)]
    return middles if _are_columns(narrow, middles) else []


def _valleys(used: list[int]) -> Iterable[float]:
    """Yield the middles of the unused stretches between used ones, two steps wide or more."""
    first: int | None = None
    for place, count in enumerate(used):
        if count and first is not None:
            if place - first >= 2 and first > 0:
                yield (first + place) / 2
            first = None
        elif not count and first is None:
            first = place


def _are_columns(narrow: list[Segment], middles: list[float]) -> bool:
    """Say whether each part between the strips holds running text, and not cells of a table."""
    parts = _columns(narrow, middles)
    return len(parts) == len(middles) + 1 and all(
        len(part) >= _COLUMN_LINES
        and sum(len(one.text) for one in part) >= _COLUMN_SIGNS * len(part)
        for part in parts
    )


def _columns(segments: list[Segment], middles: list[float]) -> list[list[Segment]]:
    parts: list[list[Segment]] = [[] for _ in range(len(middles) + 1)]
    for one in segments:
        parts[sum(one.left > middle for middle in middles)].append(one)
    return [part for part in parts if part]


def _bands(segments: list[Segment], middles: list[float]) -> list[list[Segment]]:
    """Return the segments from top to bottom, divided where one crosses a gutter."""
    across = [one for one in segments if any(one.left < m < one.right for m in middles)]
    within = [one for one in segments if not any(one.left < m < one.right for m in middles)]
    bands: list[list[Segment]] = []
    for wide in sorted(across, key=lambda one: -one.bottom):
        above = [one for one in within if one.bottom > wide.bottom]
        within = [one for one in within if one.bottom <= wide.bottom]
        bands += [above] if above else []
        bands.append([wide])
    return [*bands, within] if within else bands


def _lines(segments: list[Segment], column: int, height: float) -> list[Line]:
    """Return the lines of one column."""
    rows: dict[int, list[Segment]] = {}
    for one in segments:
        rows.setdefault(one.line, []).append(one)
    ordered = _downwards(list(rows.values()))
    left = min(one.left for one in segments)
    right = max(one.right for one in segments)
    return [
        Line(
            tuple(one.text for one in row),
            row[0].left,
            row[-1].right,
            row[0].bottom,
            row[0].top - row[0].bottom,
            column,
            left,
            right,
            row[0].bottom / height if height else 0.5,
        )
        for row in ordered
    ]


def _downwards(rows: list[list[Segment]]) -> list[list[Segment]]:
    """Return rows as the file has them, or from top to bottom if the file jumps about."""
    steps = [a[0].bottom >= b[0].bottom - 1 for a, b in pairwise(rows)]
    if sum(steps) >= _IN_ORDER * len(steps):
        return rows
    return sorted(rows, key=lambda row: (-round(row[0].bottom), row[0].left))
