"""listCurated and coldStart through the real application."""

from typing import Any

from tests.support.house import Door, House


def store(door: Door, local: str, /, **fields: Any) -> None:
    door("upsertEntry", entry={"id": local, "kind": "note", "body": f"text of {local}", **fields})


def locals_of(items: list[dict[str, Any]]) -> list[str]:
    return [item["id"].partition(":")[2] for item in items]


def test_the_most_trusted_entries_come_first(as_admin: Door, as_reader: Door) -> None:
    store(as_admin, "plain")
    store(as_admin, "rule", curationTier="canonical")
    store(as_admin, "advice", curationTier="curated")

    assert locals_of(as_reader("listCurated")["items"]) == ["rule", "advice"]
    assert locals_of(as_reader("listCurated", tier="curated")["items"]) == ["advice"]


def test_curated_entries_come_whole_when_asked_for_and_within_a_budget(as_admin: Door) -> None:
    for number in range(6):
        store(as_admin, f"rule{number}", curationTier="canonical")

    whole = as_admin("listCurated", include="full")["items"]
    few = as_admin("listCurated", maxTokens=120)["items"]

    assert {"id", "body"} <= set(whole[0])
    assert 0 < len(few) < 6


def test_a_cold_start_names_each_entry_once_in_its_most_binding_list(as_admin: Door) -> None:
    store(as_admin, "note")
    store(as_admin, "rule", curationTier="canonical", pinned=True)
    store(as_admin, "law", curationTier="canonical")
    store(as_admin, "todo", kind="task", body={"summary": "Write it", "status": "open"})
    store(as_admin, "over", kind="task", body={"summary": "Wrote it", "status": "Done"})

    answer = as_admin("coldStart")

    assert locals_of(answer["pinned"]) == ["rule"]
    assert locals_of(answer["canonical"]) == ["law"]
    assert locals_of(answer["openTasks"]) == ["todo"]
    assert locals_of(answer["recent"]) == ["over", "note"]
    assert answer["openTasks"][0]["snippet"] == "Write it"


def test_a_cold_start_keeps_to_its_budget_and_to_its_part_of_the_project(as_admin: Door) -> None:
    for number in range(20):
        store(as_admin, f"n{number}", namespace="here" if number % 2 else "there")

    small = as_admin("coldStart", maxTokens=200)
    here = as_admin("coldStart", namespace="here")

    assert 0 < len(small["recent"]) < 20
    assert len(here["recent"]) == 10


def test_many_canonical_entries_leave_room_for_open_tasks_and_news(as_admin: Door) -> None:
    for number in range(45):
        store(as_admin, f"rule{number}", curationTier="canonical")
    store(as_admin, "chore", kind="task", body={"summary": "Sweep"})
    store(as_admin, "news")

    answer = as_admin("coldStart")
    told = as_admin.send("coldStart", {"format": "toon"}).body.decode()

    assert 5 < len(answer["canonical"]) < 45
    assert locals_of(answer["openTasks"]) == ["chore"]
    assert locals_of(answer["recent"]) == ["news"]
    assert told.index("rule44") < told.index("chore") < told.index("news")


def test_what_is_expired_is_no_first_sight(house: House, as_admin: Door) -> None:
    store(as_admin, "brief", retention="short", pinned=True)
    house.clock.move(days=1)

    assert as_admin("coldStart")["pinned"] == []


def test_what_was_replaced_is_shown_neither_first_nor_as_curated(as_admin: Door) -> None:
    store(as_admin, "old", curationTier="canonical", pinned=True)
    old = as_admin("getEntry", id="old")["entry"]["id"]

    replaces = [{"type": "supersedes", "targetId": old}]
    store(as_admin, "new", curationTier="canonical", relations=replaces)

    answer = as_admin("coldStart")
    assert locals_of(as_admin("listCurated")["items"]) == ["new"]
    assert answer["pinned"] == answer["recent"] == []
    assert locals_of(answer["canonical"]) == ["new"]
