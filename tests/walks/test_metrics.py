import subprocess

import pytest
from prometheus_client.parser import text_string_to_metric_families

from qms.telemetry import metrics
from tests.conftest import EntryMaker
from tests.support.asgi import Answer
from tests.support.house import Door, House, key_of


def scrape(house: House, user: str | None = "admin") -> Answer:
    headers = [("x-api-key", key_of(user))] if user else []
    return house.client.request("GET", "/metrics", headers=headers)


def samples(house: House) -> dict[tuple[str, tuple[str, ...]], float]:
    """Return every value by its name and the values of its labels."""
    answer = scrape(house)
    assert answer.status == 200
    families = text_string_to_metric_families(answer.body.decode())
    return {
        (one.name, tuple(sorted(one.labels.values()))): one.value
        for family in families
        for one in family.samples
    }


@pytest.mark.attack(1)
def test_nothing_is_measured_for_whoever_has_no_key(house: House) -> None:
    assert scrape(house, user=None).status == 401


@pytest.mark.parametrize("user", ["reader", "writer", "curator"])
def test_only_an_admin_reads_the_metrics(house: House, user: str) -> None:
    answer = scrape(house, user)

    assert (answer.status, answer.json["error"]["code"]) == (403, "notAllowed")


def test_an_admin_of_one_project_does_not_read_the_metrics(house: House) -> None:
    house.reconfigure(lambda text: text + '[permissions.projA]\nreader = "admin"\n')

    assert scrape(house, "reader").status == 403


def test_a_command_is_counted_with_its_outcome(
    house: House, as_writer: Door, entry: EntryMaker
) -> None:
    before = samples(house)
    as_writer("upsertEntry", entry=entry())
    as_writer.fails("getEntry", id="nowhere")
    after = samples(house)

    def rise(*labels: str, name: str = "qms_mcp_requests_total") -> float:
        key = (name, tuple(sorted(labels)))
        return after.get(key, 0.0) - before.get(key, 0.0)

    assert rise("api", "upsertEntry", "ok") == 1
    assert rise("api", "getEntry", "notFound") == 1
    assert rise("api", "upsertEntry", name="qms_mcp_request_duration_seconds_count") == 1
    assert rise(name="qms_journal_group_records_count") >= 1
    assert rise(name="qms_queue_commands") == 0


def test_folds_and_hand_edits_are_counted(house: House, as_writer: Door, entry: EntryMaker) -> None:
    before = samples(house)
    as_writer("upsertEntry", entry=entry())
    house.store().fold()
    file = house.entries_file()
    file.write_bytes(file.read_bytes() + b'{"kind":"note","body":{"text":"by hand"}}\n')
    house.store().reload()
    after = samples(house)

    assert after["qms_fold_duration_seconds_count", ("folded",)] > before.get(
        ("qms_fold_duration_seconds_count", ("folded",)), 0
    )
    assert after["qms_reload_entries_total", ("added",)] == (
        before.get(("qms_reload_entries_total", ("added",)), 0) + 1
    )


def test_a_store_shows_its_figures_to_whoever_may_open_it(
    house: House, as_writer: Door, entry: EntryMaker
) -> None:
    as_writer("upsertEntry", entry=entry())

    found = samples(house)

    assert found["qms_store_entry_count", ("projA",)] == 1
    assert found["qms_store_entry_sum", ("projA",)] == house.store().status().bytes
    assert found["qms_store_pending_journal", ("projA",)] == 1
    assert ("qms_store_entry_count", ("closed",)) not in found


@pytest.mark.attack(66)
def test_made_up_names_never_become_labels(house: House, as_admin: Door) -> None:
    as_admin.send("invented", {})
    before = len(samples(house))
    for number in range(5_000):
        as_admin.at(f"made{number}").send(f"up{number}", {})
        as_admin.send(f"up{number}", {})

    assert len(samples(house)) == before


def test_no_label_of_a_counter_names_a_project() -> None:
    labels = {name for one in metrics.REGISTRY.collect() for s in one.samples for name in s.labels}

    assert labels <= {"door", "command", "outcome", "change", "le"}


@pytest.mark.needs("promtool")
def test_promtool_finds_nothing_to_improve(house: House, as_reader: Door) -> None:
    as_reader("listEntries")
    page = scrape(house).body

    checked = subprocess.run(
        ["promtool", "check", "metrics"], input=page, capture_output=True, check=False, timeout=60
    )

    assert (checked.stdout, checked.stderr, checked.returncode) == (b"", b"", 0)
