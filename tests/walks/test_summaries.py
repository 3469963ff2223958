"""summaries through the real application."""

from typing import Any

from tests.support.house import Door, House

LONG = " ".join(
    f"The librarian thread rebuilds index number {n} of the store every night." for n in range(20)
)


def store(door: Door, local: str, /, **fields: Any) -> str:
    answer = door("upsertEntry", entry={"id": local, "kind": "note", **fields})
    return str(answer["id"])


def summed(door: Door, *ids: str) -> list[tuple[str, str]]:
    found = door("summaries", ids=list(ids))["summaries"]
    assert [one["id"] for one in found] == list(ids)
    return [(one["method"], one["summary"]) for one in found]


def test_what_an_entry_says_of_itself_comes_first(as_writer: Door, as_reader: Door) -> None:
    by_metadata = store(as_writer, "a", body=LONG, metadata={"summary": "Nightly rebuilds"})
    by_body = store(as_writer, "b", body={"text": LONG, "summary": "Rebuilds at night"})
    short = store(as_writer, "c", body="An apple a day")
    task = store(as_writer, "d", kind="task", body={"summary": "Buy apples"})

    assert summed(as_reader, by_metadata, by_body, short, task) == [
        ("given", "Nightly rebuilds"),
        ("given", "Rebuilds at night"),
        ("given", "An apple a day"),
        ("given", "Buy apples"),
    ]


def test_a_long_text_is_summed_up_once_for_each_version(house: House, as_writer: Door) -> None:
    entry_id = store(as_writer, "a", body=LONG)
    ((method, summary),) = summed(as_writer, entry_id)
    house.indexer.work()
    path = house.entries_file().parent / "indexes" / "summaries.json"

    assert method == "extractive"
    assert summary in LONG or all(part in LONG for part in summary.split(". "))
    assert len(summary) < len(LONG)
    assert summary in path.read_text(encoding="utf-8")
    as_writer("patchEntry", id=entry_id, patch={"body": {"text": LONG.replace("night", "noon")}})
    assert "noon" in summed(as_writer, entry_id)[0][1]


def test_an_llm_that_is_not_there_is_not_claimed(house: House, as_writer: Door) -> None:
    house.reconfigure(lambda text: text + '\n[global.summarizer]\nmodel = "llm"\n')

    assert summed(as_writer, store(as_writer, "a", body=LONG))[0][0] == "extractive"


def test_summaries_of_shared_entries_and_of_none(as_writer: Door) -> None:
    shared = store(as_writer.at("shared"), "s", body=LONG)

    assert summed(as_writer, shared)[0][0] == "extractive"
    assert summed(as_writer) == []


def test_an_entry_that_is_not_there_is_named(as_reader: Door) -> None:
    failure = as_reader.fails("summaries", ids=["projA:none"])

    assert (failure.code, failure.details["id"]) == ("notFound", "projA:none")


def test_too_many_ids_are_refused_by_the_limit(as_reader: Door) -> None:
    failure = as_reader.fails("summaries", ids=["a"] * 201)

    assert (failure.code, failure.details["field"]) == ("invalidInput", "ids")
