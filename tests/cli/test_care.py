"""`memoryctl`'s verbs for care: they work in a project that allows keys the core alone."""

import pytest

from tests.cli.conftest import Terminal


@pytest.fixture
def core_only(ctl: Terminal) -> Terminal:
    ctl.allow("core")
    return ctl


@pytest.mark.attack(90)
def test_every_verb_for_care_works_where_keys_have_the_core_alone(core_only: Terminal) -> None:
    ctl = core_only
    kept, gone = ctl.remember("Kept for long"), ctl.remember("Gone by tomorrow")
    ctl.ok("delete", gone, "--yes")

    for verb in ("verify", "problems", "conflicts", "reload"):
        ctl.ok("stores", verb, "default")
    ctl.ok("stores", "conflicts", "default", "--dismiss", "--yes")
    assert [one["id"] for one in ctl.ok("archive", "list", "--json").json["items"]] == [gone]
    assert ctl.ok("archive", "stats", "--json").json["archived"] == 1
    ctl.ok("archive", "restore", gone)
    assert ctl.ok("history", kept, "--json").json["items"]
    assert ctl.ok("stats", "--json").json["entries"] == 2
    ctl.ok("rebuild", "default")
    ctl.ok("erase", gone, "--yes")
    ctl.ok("archive", "purge", "--all", "--yes")


@pytest.mark.attack(90)
def test_a_key_has_no_verb_of_a_toolset_that_is_not_allowed(server: Terminal) -> None:
    server.allow("core")

    refused = server("promote", "anything")

    assert refused.code == 4
    assert "toolset lifecycle" in refused.err


def test_a_toolset_that_is_not_built_is_no_valid_setting(files: Terminal) -> None:
    files.allow("core", "analytics")

    refused = files("config", "validate")

    assert refused.code == 2
    assert "toolset analytics is not built; use lite, core, lifecycle" in refused.err


@pytest.mark.attack(90)
def test_the_owner_of_the_machine_is_asked_for_the_tier_alone(files: Terminal) -> None:
    files.allow("core")
    files.remember("The parser is released on Mondays")

    assert "Mondays" in files.ok("recall", "parser").out
