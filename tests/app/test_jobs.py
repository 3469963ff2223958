from datetime import timedelta

from qms.app.jobs import LOADING_S, PERIOD_S, Jobs
from tests.conftest import EntryMaker
from tests.support.house import Clock, Door, House


def jobs_of(house: House) -> Jobs:
    return Jobs(house.catalog, lambda: house.configuration.settings, house.clock)


def load_all(house: House) -> None:
    for project in house.catalog.projects:
        house.store(project)


def test_a_round_takes_out_what_is_past_its_end_in_every_open_store(
    house: House, as_writer: Door, entry: EntryMaker, clock: Clock
) -> None:
    load_all(house)
    for project in ("projA", "projB"):
        as_writer.at(project)("upsertEntry", entry=entry(ttlSeconds=60))
    clock.move(seconds=60)

    assert jobs_of(house).tick() == PERIOD_S
    assert [len(house.store(project).view) for project in ("projA", "projB")] == [0, 0]


def test_more_than_one_batch_goes_in_one_round(
    house: House, as_writer: Door, entry: EntryMaker, clock: Clock
) -> None:
    for _ in range(3):
        as_writer("bulkImport", entries=[entry(ttlSeconds=60) for _ in range(700)])
    clock.move(seconds=60)
    jobs_of(house).tick()

    assert len(house.store().view) == 0


def test_what_expired_is_the_systems_doing_in_the_journal(
    house: House, as_writer: Door, entry: EntryMaker, clock: Clock
) -> None:
    as_writer("upsertEntry", entry=entry(ttlSeconds=60))
    clock.move(seconds=60)
    jobs_of(house).tick()

    change_set = house.store().uncut()[-1][1]
    assert (change_set.command, change_set.user) == ("expire", "system")


def test_an_entry_extended_meanwhile_stays(
    house: House, as_writer: Door, entry: EntryMaker, clock: Clock
) -> None:
    made = as_writer("upsertEntry", entry=entry(ttlSeconds=60))["id"]
    clock.move(seconds=59)
    as_writer("promoteEntry", id=made)
    clock.now += timedelta(days=2)
    jobs_of(house).tick()

    assert made in house.store().view.records


def test_a_store_that_takes_no_writes_does_not_stop_the_round(
    house: House, as_writer: Door, entry: EntryMaker, clock: Clock
) -> None:
    as_writer("upsertEntry", entry=entry(ttlSeconds=60))
    as_writer.at("projB")("upsertEntry", entry=entry(ttlSeconds=60))
    house.store().close()
    clock.move(seconds=60)
    jobs_of(house).tick()

    assert len(house.store("projB").view) == 0


def test_stores_still_to_be_opened_bring_the_next_round_soon(house: House) -> None:
    assert jobs_of(house).tick() == LOADING_S
