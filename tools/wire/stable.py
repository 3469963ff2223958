"""Replace what differs from one run to the next by placeholders that do not.

Equal things stay equal inside of a file: `<id:2>` is the second id that the file names, `<$note>`
the one that a step saved under that name. Times near the recording become their distance in hours.
Times of a script lie before 2021 or after 2045, or are a midnight: these are kept.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

KEPT_PAST = timedelta(days=40)
KEPT_FUTURE = timedelta(days=11 * 366)
NOW = "<now>"
EXAMPLES = {"2026-12-31", "2026-12-31T18:00:00Z"}
"""The moments that help and messages give as examples."""

_ID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_TOKEN = re.compile(
    rf"""
    (?P<id>(?<![0-9a-f]){_ID}(?![0-9a-f]))
    | (?P<key>qms_[A-Za-z0-9_-]{{43}})
    | (?P<stamp>(?<!\d)\d{{8}}T\d{{6,12}}Z)
    | (?P<time>(?<!\d)\d{{4}}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|\+00:00))
    | (?P<day>(?<![\d-])\d{{4}}-\d\d-\d\d(?:[ ]\d\d:\d\d(?::\d\d)?)?(?![\d-]))
    | (?P<short>(?<![A-Za-z0-9_])_[0-9A-Za-z]{{22}}(?![0-9A-Za-z_]))
    | (?P<hash>(?<![0-9A-Za-z])
        (?:[0-9a-f]{{64}}|[0-9a-f]{{40}}|[0-9a-f]{{32}}|[0-9a-f]{{24}}|[0-9a-f]{{16}}|[0-9a-f]{{12}})
        (?![0-9A-Za-z]))
    | (?P<expires>(?<=expires=)[A-Z][a-z]{{2}},[ ][^;]*GMT)
    | (?P<size>(?<=full[ ])[ ]*\d+[ ]+\d{{3,}}|(?<=differential[ ])[ ]*\d+[ ]+\d{{3,}})
    | (?P<pid>(?<=process[ ])\d+)
    | (?P<link>(?<=setup=)[A-Za-z0-9_-]{{43}})
    | (?P<session>(?<=qms_session=)[A-Za-z0-9_-]+)
    | (?P<cursor>(?<=nextCursor:)[A-Za-z0-9_-]+)
    | (?P<float>(?<![\w.])\d+\.\d{{3,}}(?![\w.]))
    """,
    re.VERBOSE,
)

OPAQUE = {
    "nextCursor": "cursor",
    "cursor": "cursor",
    "csrfToken": "csrf",
    "setup": "link",
    "token": "token",
}
"""Fields whose text says nothing: what their placeholders are called."""

UNSTABLE = {
    "bytes",  # those of a backup hold times whose last zeros are left out
    "crc32",
    "fileTimeNs",
    "nextBackupUtc",
    "nextRunUtc",
    "pendingJournal",
    "sandbox",
    "secondsLeft",
    "lastFoldUtc",
}
"""Fields that depend on the clock, on when background work was done, or on the machine."""

_NUDGE = 0.0000371
"""Added before rounding, so that no round number lies on the border of two."""


class Placeholders:
    """What is known of one recording: when it was made, its paths and the names of saved values."""

    def __init__(self, began: datetime, paths: Mapping[str, str]) -> None:
        self.began = began
        self.paths = dict(paths)
        self.names: dict[str, str] = {}

    def name(self, value: str, name: str) -> None:
        """Call a value `<$name>` from now on, if it differs from run to run."""
        found = [match[0] for match in _TOKEN.finditer(value) if _varies(match)]
        if len(found) <= 1:
            self.names[found[0] if found else value] = f"<${name}>"

    def sheet(self) -> "Sheet":
        """Return a numbering of its own, for one file of the recording."""
        return Sheet(self)

    def plain(self, text: str) -> str:
        """Return a text with placeholders for paths alone."""
        for path, placeholder in self.paths.items():
            text = text.replace(path, placeholder)
        return text

    def page(self, text: str) -> str:
        """Return a text whose ids are examples: with placeholders for paths and times alone."""
        sheet = self.sheet()
        return _TOKEN.sub(
            lambda match: _if_now(sheet.token(match), match[0]),
            self.plain(text),
        )


class Sheet:
    """The placeholders of one file."""

    def __init__(self, known: Placeholders) -> None:
        self.known = known
        self._given: dict[str, str] = {}
        self._counts: defaultdict[str, int] = defaultdict(int)

    def text(self, text: str) -> str:
        """Return a text with placeholders."""
        return _TOKEN.sub(self.token, self.known.plain(text))

    def value(self, value: Any, field: str = "") -> Any:
        """Return a value of JSON with placeholders."""
        if field in UNSTABLE:
            return f"<{field}>"
        match value:
            case str():
                if field in OPAQUE and value:
                    return self._numbered(OPAQUE[field], value)
                return self.text(value)
            case float():
                return _rounded(value)
            case list():
                return [self.value(one) for one in value]
            case {"done": _, "total": _, "secondsLeft": _}:
                return {**value, "done": "<done>", "secondsLeft": "<secondsLeft>"}
            case dict():
                return {self.text(key): self.value(one, key) for key, one in value.items()}
            case _:
                return value

    def token(self, match: re.Match[str]) -> str:
        """Return what stands for one thing that was found."""
        kind = match.lastgroup or ""
        found = match[0]
        if kind == "float":
            return f"{_rounded(float(found), 2):.2f}"
        if kind == "time":
            return self._moment(found, datetime.fromisoformat(found))
        if kind == "day":
            return self._moment(found, datetime.fromisoformat(found).replace(tzinfo=UTC), day=True)
        if kind == "size":
            return re.sub(r"\d+$", "<bytes>", found)
        if kind == "stamp":
            at = datetime.strptime(found[:15], "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
            return self._numbered("stamp", found) if self._is_near(at) else found
        return self._numbered(kind, found) if _varies(match) else found

    def _moment(self, found: str, at: datetime, *, day: bool = False) -> str:
        distance = at - self.known.began
        if found in EXAMPLES or found.endswith("T00:00:00Z"):
            return found
        if day and len(found) == len("2026-01-01"):
            return "<day>" if abs(distance) < timedelta(days=2) else found
        if not self._is_near(at):
            return found
        hours = round(distance / timedelta(hours=1))
        return f"<now{hours:+}h>" if hours else NOW

    def _is_near(self, at: datetime) -> bool:
        return -KEPT_PAST < at - self.known.began < KEPT_FUTURE

    def _numbered(self, kind: str, found: str) -> str:
        if found not in self._given:
            name = self.known.names.get(found)
            if name is None:
                self._counts[kind] += 1
                name = f"<{kind}:{self._counts[kind]}>"
            self._given[found] = name
        return self._given[found]


def _if_now(placeholder: str, found: str) -> str:
    return placeholder if placeholder == NOW else found


def _varies(match: re.Match[str]) -> bool:
    """Tell whether a token differs from run to run: zeros and plain words do not."""
    kind, found = match.lastgroup, match[0]
    if kind in {"float", "time", "day", "size"}:
        return False
    return kind != "hash" or len(set(found)) > 1


def _rounded(number: float, digits: int = 3) -> float:
    return round(number + _NUDGE, digits)
