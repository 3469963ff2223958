"""Expiry at its exact second, inside the writer."""

from datetime import timedelta

from qms.features.lifespan.expire import expire, expired_ids
from qms.memory.validation import instant_text
from qms.store.draft import Draft
from tests.support.boxes import NOW, StoreBox, entry

SECOND = timedelta(seconds=1)


def test_an_entry_is_past_its_end_from_that_second_on(tmp_store: StoreBox) -> None:
    tmp_store.put(
        entry("over", ttlUtc=instant_text(NOW)),
        entry("soon", ttlUtc=instant_text(NOW + SECOND)),
        entry("never"),
    )
    view = tmp_store.store.view

    assert expired_ids(view, NOW - SECOND) == []
    assert expired_ids(view, NOW) == ["p:over"]
    assert set(expired_ids(view, NOW + SECOND)) == {"p:over", "p:soon"}
    assert len(expired_ids(view, NOW + SECOND, most=1)) == 1


def test_what_was_extended_meanwhile_or_is_gone_stays_out_of_it(tmp_store: StoreBox) -> None:
    tmp_store.put(*(entry(name, ttlUtc=instant_text(NOW)) for name in ("a", "b", "c")))
    chosen = expired_ids(tmp_store.store.view, NOW)
    tmp_store.put(entry("b", ttlUtc=instant_text(NOW + SECOND)))
    tmp_store.remove("c")

    def plan(draft: Draft) -> list[str]:
        return expire(draft, chosen, NOW, keep=True)

    assert tmp_store.store.commit(tmp_store.origin("expire"), plan) == ["p:a"]
    assert set(tmp_store.store.view.records) == {"p:b"}


def test_the_archive_keeps_what_expired_unless_told_otherwise(tmp_store: StoreBox) -> None:
    tmp_store.put(*(entry(name, ttlUtc=instant_text(NOW)) for name in ("kept", "lost")))

    for name, keep in (("p:kept", True), ("p:lost", False)):
        tmp_store.store.commit(
            tmp_store.origin(),
            lambda draft, name=name, keep=keep: expire(draft, [name], NOW, keep=keep),  # type: ignore[misc]  # bound for each turn
        )

    archived = tmp_store.store.archive.entries()
    assert [(one.entry["id"], one.reason) for one in archived] == [("p:kept", "expired")]
