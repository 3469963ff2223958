"""The cache of summaries: by version, bounded, sealed, and without what left the store."""

from pathlib import Path

import pytest

from qms.index.summary_cache import MAX_SUMMARIES, KeptSummary, SummaryCache
from tests.support.boxes import StoreBox, entry
from tests.support.index_files import flip_byte


def cache_of(box: StoreBox, max_summaries: int = MAX_SUMMARIES) -> SummaryCache:
    path = box.folder / "indexes" / "summaries.json"
    cache = SummaryCache(path, box.disk, max_summaries=max_summaries)
    box.store.subscribe(cache.follow)
    return cache


def kept(box: StoreBox, cache: SummaryCache, local: str, version: str = "1") -> str | None:
    return cache.get(box.store.view, f"p:{local}", version, "extractive")


def keep(box: StoreBox, cache: SummaryCache, *locals_: str) -> None:
    for local in locals_:
        made = KeptSummary("1", "extractive", f"sum of {local}")
        cache.put(box.store.view, f"p:{local}", made)


def filled(tmp_path: Path, max_summaries: int = MAX_SUMMARIES) -> tuple[StoreBox, SummaryCache]:
    box = StoreBox(tmp_path)
    box.put(entry("a"), entry("b"), entry("c"))
    cache = cache_of(box, max_summaries)
    keep(box, cache, "a", "b", "c")
    return box, cache


def test_a_summary_is_found_again_for_its_version_and_method_only(tmp_path: Path) -> None:
    box, cache = filled(tmp_path)
    cache.save()

    again = cache_of(box)

    assert kept(box, again, "a") == "sum of a"
    assert kept(box, again, "a", version="2") is None
    assert again.get(box.store.view, "p:a", "1", "llm") is None
    assert not again.is_changed


def test_what_changes_or_leaves_the_store_leaves_the_file(tmp_path: Path) -> None:
    box, cache = filled(tmp_path)
    cache.save()
    box.put(entry("a", title="Other"))
    box.remove("b")
    cache.save()

    text = (box.folder / "indexes" / "summaries.json").read_text(encoding="utf-8")

    assert "sum of c" in text
    assert "sum of a" not in text
    assert "sum of b" not in text


def test_what_left_while_nobody_looked_is_forgotten_at_the_next_start(tmp_path: Path) -> None:
    box, cache = filled(tmp_path)
    cache.save()
    box.reopen()
    box.remove("b")

    again = cache_of(box)

    assert kept(box, again, "b") is None
    assert again.is_changed


def test_the_least_recently_wanted_give_way(tmp_path: Path) -> None:
    box, cache = filled(tmp_path, max_summaries=3)
    kept(box, cache, "a")
    box.put(entry("d"))
    keep(box, cache, "d")

    assert kept(box, cache, "b") is None
    assert kept(box, cache, "a") == "sum of a"


@pytest.mark.fault("F09")
def test_a_flipped_byte_in_the_summaries_is_found(tmp_path: Path) -> None:
    box, cache = filled(tmp_path)
    cache.save()
    path = box.folder / "indexes" / "summaries.json"
    good = path.read_bytes()
    for at in range(0, len(good), 7):
        path.write_bytes(good)
        flip_byte(path, at)
        assert kept(box, cache_of(box), "a") is None
