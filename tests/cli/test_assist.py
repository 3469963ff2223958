"""memoryctl expand-query, auto-tag, detect-contradiction and capabilities, without a model."""

from tests.cli.conftest import Terminal


def test_a_query_gets_further_terms(ctl: Terminal) -> None:
    for name in ("one", "two"):
        ctl.remember(f"We migrate the schema {name} with alembic", "--tag", "alembic")

    result = ctl.ok("expand-query", "schema migration", "--limit", "1")

    assert result.line == "alembic"
    assert "found by a rule (no language model is configured)" in result.err
    assert ctl.ok("expand-query", "schema", "--json").json["method"] == "rule"


def test_tags_are_told_or_added(ctl: Terminal) -> None:
    ctl.remember(
        "restic restic backup backup of everything", "--id", "a", "--title", "Restic backup"
    )

    assert ctl.ok("auto-tag", "a", "--dry-run").out.split() == ["restic", "backup"]
    assert "tags" not in ctl.ok("get", "a", "--json").json["entry"]
    ctl.ok("auto-tag", "a")
    assert ctl.ok("get", "a", "--json").json["entry"]["tags"] == ["restic", "backup"]
    assert "no new tags" in ctl.ok("auto-tag", "a").err


def test_two_memories_are_compared(ctl: Terminal) -> None:
    for name, text in (("a", "The port is 5433."), ("b", "The port is 5434."), ("c", "Apples.")):
        ctl.remember(text, "--id", name, "--kind", "fact")

    assert ctl.ok("detect-contradiction", "a", "b").line == "they contradict each other: value"
    assert ctl.ok("detect-contradiction", "a", "c").line == "both may be true"
    assert ctl.ok("detect-contradiction", "a", "b", "--json").json["contradicts"] is True


def test_capabilities_say_what_serves(ctl: Terminal) -> None:
    lines = dict(line.split(maxsplit=1) for line in ctl.ok("capabilities").out.splitlines())

    assert lines["llm"] == "none"
    assert "core" in lines["toolsets"]
    assert ctl.ok("capabilities", "--json").json["version"] == lines["version"]
