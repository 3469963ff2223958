"""Runs of a sync between two real projects, cut off anywhere, while others write."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from qms.cli.sync_run import Direction, Portions, Report, SyncSide, sync
from qms.features.sync import sync_commands
from qms.memory.validation import version_of
from tests.support.house import CONFIGURATION, Clock, Door, House

Content = dict[str, dict[str, Any]]


class CutOff(Exception):  # noqa: N818 - what a kill looks like from inside
    pass


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[House, House]]:
    """Two houses with the same project and clocks of their own."""
    houses = []
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        houses.append(House(tmp_path / name, Clock()))
    yield houses[0], houses[1]
    for house in houses:
        house.close()


def run(
    here: House,
    there: House,
    direction: str = "merge",
    *,
    dry_run: bool = False,
    calls: int = -1,
    portions: Portions | None = None,
) -> Report:
    """Sync two houses; after so many calls of commands the run is cut off."""
    left = calls

    def side(name: str, house: House) -> SyncSide:
        door = house.door("admin")

        def call(command: str, request: dict[str, Any]) -> Any:
            nonlocal left
            if left == 0:
                raise CutOff
            left -= 1
            return door(command, **request)

        return SyncSide(name, call, portions)

    return sync(side("here", here), side("there", there), Direction(direction), dry_run=dry_run)


def content(house: House) -> Content:
    """Return all entries of a project as they are stored."""
    records = house.store().view.records.values()
    return {record.header.id: record.document() for record in records}


def archived(house: House) -> list[tuple[str, str]]:
    return [(one.entry["id"], one.reason) for one in house.store().archive.entries()]


def remember(door: Door, name: str, text: str = "text", **more: Any) -> str:
    entry = {"id": name, "kind": "note", "title": name, "body": text, **more}
    stored: str = door("upsertEntry", entry=entry)["id"]
    return stored


def change_at_random(house: House, rng: random.Random, count: int) -> None:
    door = house.door("admin")
    for _ in range(count):
        house.clock.move(minutes=rng.randint(-5, 9))
        name = f"n{rng.randint(0, 11)}"
        roll = rng.random()
        if roll < 0.6:
            target = f"projA:n{rng.randint(12, 20)}"
            relations = [{"type": "ref", "targetId": target, "weight": 0.5}]
            remember(door, name, f"text {rng.random()}", relations=relations, unknown={"kept": 1})
        elif roll < 0.85:
            door.send("deleteEntry", {"id": name})
        else:
            door.send("patchEntry", {"id": name, "patch": {"tags": [f"t{rng.random()}"]}})


def check_diverging(pair: tuple[House, House], seed: int) -> None:
    rng = random.Random(seed)
    here, there = pair
    for _ in range(3):
        change_at_random(here, rng, 12)
        change_at_random(there, rng, 12)
        first, second = (here, there) if rng.random() < 0.5 else (there, here)

        report = run(first, second)

        assert report.faults == []
        assert content(here) == content(there)
        again = run(second, first)
        assert (again.ours, again.theirs) == ({}, {})


@pytest.mark.parametrize("seed", range(5))
def test_diverged_projects_come_to_equal_content(pair: tuple[House, House], seed: int) -> None:
    check_diverging(pair, seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5, 105))
def test_a_hundred_diverged_projects_come_to_equal_content(
    pair: tuple[House, House], seed: int
) -> None:
    check_diverging(pair, seed)


def check_either_order(folder: Path, seed: int) -> None:
    """Let two pairs of the same history sync, each from another side."""
    outcomes = []
    for first in ("here", "there"):
        houses = {}
        for name in ("here", "there"):
            (folder / first / name).mkdir(parents=True)
            houses[name] = House(folder / first / name, Clock())
        rng = random.Random(seed)
        second = "there" if first == "here" else "here"
        for _ in range(2):
            for house in houses.values():
                change_at_random(house, rng, 10)
            run(houses[first], houses[second])
        assert content(houses["here"]) == content(houses["there"])
        outcomes.append(content(houses["here"]))
        for house in houses.values():
            house.close()
    assert outcomes[0] == outcomes[1] != {}


@pytest.mark.parametrize("seed", range(3))
def test_it_does_not_matter_which_side_syncs(tmp_path: Path, seed: int) -> None:
    check_either_order(tmp_path, seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3, 53))
def test_it_never_matters_which_side_syncs(tmp_path: Path, seed: int) -> None:
    check_either_order(tmp_path, seed)


def test_pulling_and_pushing_write_one_side_only(pair: tuple[House, House]) -> None:
    here, there = pair
    remember(here.door("writer"), "ours")
    remember(there.door("writer"), "theirs")

    run(here, there, "pull")
    assert (len(content(here)), len(content(there))) == (2, 1)
    run(here, there, "push")
    assert content(here) == content(there)


def test_entries_travel_as_they_are(pair: tuple[House, House]) -> None:
    here, there = pair
    remember(here.door("writer"), "target")
    source = remember(
        here.door("admin"),
        "source",
        relations=[{"type": "ref", "targetId": "projA:target", "metadata": {"why": "x"}}],
        agentId="alice",
        curationTier="canonical",
        isPermanent=True,
        strange={"kept": [1, 2]},
    )
    there.clock.move(days=30)

    run(here, there)

    assert content(there) == content(here)
    assert there.door("reader")("getLinks", id=source)["links"][0]["targetId"] == "projA:target"
    version = here.door("reader")("getEntry", id=source)["version"]
    assert there.door("reader")("getEntry", id=source)["version"] == version


def test_a_conflict_keeps_the_loser_in_its_archive(pair: tuple[House, House]) -> None:
    here, there = pair
    both = remember(here.door("writer"), "both")
    run(here, there)
    here.clock.move(hours=1)
    remember(here.door("writer"), "both", "later")
    remember(there.door("writer"), "both", "earlier")

    report = run(here, there)

    assert report.conflicts == [both]
    assert content(here) == content(there)
    assert content(there)[both]["body"] == {"text": "later"}
    assert archived(there) == [(both, "superseded")]
    [kept] = there.store().archive.entries()
    assert kept.entry["body"] == {"text": "earlier"}


def test_a_change_on_one_side_wins_whatever_the_clocks_say(pair: tuple[House, House]) -> None:
    here, there = pair
    entry_id = remember(there.door("writer"), "x", "first")
    run(here, there)
    here.clock.move(days=-300)
    remember(here.door("writer"), "x", "second")

    report = run(here, there)

    assert report.conflicts == []
    assert content(there)[entry_id]["body"] == {"text": "second"}


def test_a_deletion_reaches_the_other_side_with_its_reason(pair: tuple[House, House]) -> None:
    here, there = pair
    entry_id = remember(here.door("writer"), "x")
    run(here, there)
    here.door("writer")("forgetEntries", ids=[entry_id])

    run(there, here)

    assert content(there) == {}
    assert archived(there) == [(entry_id, "forgotten")]


def test_a_side_that_lost_its_entries_catches_up(pair: tuple[House, House]) -> None:
    here, there = pair
    for number in range(5):
        remember(here.door("writer"), f"n{number}")
    run(here, there)
    before = content(there)
    for entry_id in before:
        here.door("writer")("deleteEntry", id=entry_id)
    here.door("admin")("purgeArchive", all=True)

    run(here, there)

    assert content(here) == content(there) == before


def test_what_has_expired_is_not_looked_at(pair: tuple[House, House]) -> None:
    here, there = pair
    remember(here.door("writer"), "x", ttlSeconds=60)
    here.clock.move(minutes=2)
    there.clock.move(minutes=2)

    report = run(here, there)

    assert (report.ours, report.theirs) == ({}, {})
    assert content(there) == {}


def test_a_dry_run_says_what_would_be_done_and_does_nothing(pair: tuple[House, House]) -> None:
    here, there = pair
    remember(here.door("writer"), "x")
    files = sorted(path for path in here.root.rglob("*"))

    report = run(here, there, dry_run=True)

    assert report.theirs == {"create": 1}
    assert content(there) == {}
    assert sorted(path for path in here.root.rglob("*")) == files


def test_a_run_that_is_cut_off_anywhere_is_finished_by_the_next(pair: tuple[House, House]) -> None:
    few = Portions(apply_entries=3)
    here, there = pair
    rng = random.Random(7)
    cut = 0
    common: set[str] = set()
    for calls in range(40):
        change_at_random(here, rng, 6)
        change_at_random(there, rng, 6)
        # What both had and one has changed since is replaced, as by every update.
        written = {*versions(here), *versions(there)} - common
        try:
            run(here, there, calls=calls, portions=few)
        except CutOff:
            cut += 1
        run(there, here, portions=few)
        assert content(here) == content(there)
        common = set(versions(here))
        assert written <= {*common, *history(here), *history(there)}
    assert cut > 10


def versions(house: House) -> list[str]:
    return [record.version() for record in house.store().view.records.values()]


def history(house: House) -> list[str]:
    return [version_of(one.entry) for one in house.store().archive.entries()]


def test_somebody_who_writes_meanwhile_loses_nothing(pair: tuple[House, House]) -> None:
    here, there = pair
    entry_id = remember(here.door("writer"), "x", "first")
    run(here, there)
    remember(here.door("writer"), "x", "second")
    door = there.door("admin")

    def meanwhile(command: str, request: dict[str, Any]) -> Any:
        if command == "syncApply":
            remember(there.door("writer"), "x", "meanwhile")
        return door(command, **request)

    ours = SyncSide("here", lambda command, request: here.door("admin")(command, **request))
    report = sync(ours, SyncSide("there", meanwhile), Direction.MERGE, dry_run=False)

    [fault] = report.faults
    assert (fault.side, fault.id, fault.code) == ("there", entry_id, "conflict")
    assert content(there)[entry_id]["body"] == {"text": "meanwhile"}
    assert run(here, there).conflicts == [entry_id]
    assert content(here) == content(there)


def test_an_entry_beyond_the_other_sides_limits_is_named_and_the_rest_goes_on(
    pair: tuple[House, House],
) -> None:
    here, there = pair
    there.set_limits(textBytes=10)
    long = remember(here.door("writer"), "long", "more than ten bytes")
    short = remember(here.door("writer"), "short", "few")

    report = run(here, there)

    assert [(one.id, one.code) for one in report.faults] == [(long, "invalidInput")]
    assert list(content(there)) == [short]


def test_many_entries_go_page_by_page(
    pair: tuple[House, House], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sync_commands, "PAGE", 7)
    small = Portions(read_ids=7, apply_entries=7, apply_bytes=500)
    here, there = pair
    entries = [{"id": f"n{number}", "kind": "note", "body": f"{number}"} for number in range(50)]
    here.door("writer")("bulkImport", entries=entries)

    assert run(there, here, portions=small).ours == {"create": 50}
    assert content(here) == content(there)


@pytest.mark.attack(89)
def test_relations_into_projects_that_one_side_does_not_open_stay_where_they_are(
    tmp_path: Path,
) -> None:
    houses = []
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        text = f'{CONFIGURATION}[endpoint.only-{name}]\nslug = "only-{name}"\n'
        houses.append(House(tmp_path / name, Clock(), text=text))
    here, there = houses
    ours = [{"type": "ref", "targetId": "only-here:x"}, {"type": "ref", "targetId": "absent:x"}]
    theirs = [{"type": "ref", "targetId": "only-there:x"}]
    both = {"type": "ref", "targetId": "projB:x"}
    remember(here.door("admin"), "n1", "one", relations=[*ours, both])

    report = run(here, there)

    assert report.theirs == {"create": 1}
    assert content(there)["projA:n1"]["relations"] == [both]
    there.clock.move(minutes=1)
    remember(there.door("admin"), "n1", "two", relations=[both, *theirs])
    assert run(there, here).theirs == {"update": 1}
    assert [content(one)["projA:n1"]["body"]["text"] for one in houses] == ["two", "two"]
    assert content(here)["projA:n1"]["relations"] == [*ours, both]
    assert content(there)["projA:n1"]["relations"] == [both, *theirs]
    for _ in range(2):
        again = run(here, there)
        assert (again.ours, again.theirs, again.faults) == ({}, {}, [])
    assert archived(here) == archived(there) == []
    for house in houses:
        house.close()


@pytest.mark.attack(89)
def test_a_conflict_replaces_an_entry_and_keeps_what_is_hidden(pair: tuple[House, House]) -> None:
    here, there = pair
    hidden = {"type": "ref", "targetId": "closed:x"}
    remember(here.door("admin"), "n1", "one", relations=[hidden])
    there.clock.move(minutes=5)
    remember(there.door("admin"), "n1", "two")

    report = run(here, there)

    assert report.conflicts == ["projA:n1"]
    assert content(here)["projA:n1"]["body"]["text"] == "two"
    assert content(here)["projA:n1"]["relations"] == [hidden]
    assert "relations" not in content(there)["projA:n1"]
