"""The rule of a sync, on sides that are nothing but versions."""

from datetime import UTC, datetime, timedelta

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from qms.features.sync.rule import Side, Step, StepKind, SyncedVersion, Trace, next_base, steps

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
IDS = ("a", "b", "c")


class Model:
    """A side in a dictionary, which does what steps say, and archives like a store."""

    def __init__(self) -> None:
        self.entries: dict[str, SyncedVersion] = {}
        self.archive: dict[str, list[Trace]] = {}

    def side(self) -> Side:
        gone = {one: told[-1] for one, told in self.archive.items() if one not in self.entries}
        return Side(self.entries, gone)

    def versions(self) -> dict[str, str]:
        return {entry_id: one.version for entry_id, one in self.entries.items()}

    def drop(self, entry_id: str, reason: str) -> None:
        trace = Trace(self.entries.pop(entry_id).version, reason)
        self.archive.setdefault(entry_id, []).append(trace)

    def take(self, wanted: list[Step], source: "Model") -> None:
        for step in wanted:
            before = self.entries.get(step.id)
            assert (before.version if before else None) == step.expected
            if step.kind in (StepKind.REMOVE, StepKind.REPLACE):
                self.drop(step.id, step.reason or "superseded")
            if step.kind is not StepKind.REMOVE:
                self.entries[step.id] = source.entries[step.id]

    def all_versions(self) -> set[str]:
        archived = {trace.version for told in self.archive.values() for trace in told}
        return archived | set(self.versions().values())


class Pair(msgspec.Struct):
    """Two sides and what they had in common."""

    ours: Model
    theirs: Model
    base: dict[str, str]

    def sync(self, direction: str = "merge") -> int:
        """Bring them into step and return how many steps that took."""
        plan = steps(self.ours.side(), self.theirs.side(), self.base)
        done = 0
        if direction != "pull":
            self.theirs.take(plan.theirs, self.ours)
            done += len(plan.theirs)
        if direction != "push":
            self.ours.take(plan.ours, self.theirs)
            done += len(plan.ours)
        self.base = next_base(self.ours.versions(), self.theirs.versions(), self.base)
        return done


edits = st.tuples(
    st.sampled_from(["ours", "theirs"]),
    st.sampled_from(IDS),
    st.sampled_from(["put", "drop"]),
    st.integers(0, 3),
)
moves = st.one_of(
    edits, st.sampled_from(["pull", "push", "merge"]).map(lambda one: ("sync", one, "", 0))
)


def play(script: list[tuple[str, str, str, int]]) -> tuple[Pair, Pair]:
    """Play a script on two pairs, the second one seen from the other side."""
    pairs = [Pair(Model(), Model(), {}) for _ in range(2)]
    mirror = {"ours": "theirs", "theirs": "ours", "pull": "push", "push": "pull"}
    for number, (who, what, action, minutes) in enumerate(script):
        for is_mirrored, pair in enumerate(pairs):
            if who == "sync":
                pair.sync(mirror.get(what, what) if is_mirrored else what)
                continue
            model: Model = getattr(pair, mirror[who] if is_mirrored else who)
            if action == "put":
                version = f"v{number:02}"
                # Clocks differ: a later edit may well carry an earlier time.
                at = EPOCH + timedelta(minutes=minutes)
                model.entries[what] = SyncedVersion(version, at)
            elif what in model.entries:
                model.drop(what, "deleted")
    return pairs[0], pairs[1]


@given(st.lists(moves, max_size=14))
def test_two_diverged_sides_come_to_equal_content_whoever_syncs(
    script: list[tuple[str, str, str, int]],
) -> None:
    pair, mirrored = play(script)

    pair.sync()
    mirrored.sync()

    assert pair.ours.entries == pair.theirs.entries
    assert mirrored.ours.entries == mirrored.theirs.entries == pair.ours.entries
    assert pair.base == pair.ours.versions()


@given(st.lists(moves, max_size=14))
def test_a_second_sync_has_nothing_to_do(script: list[tuple[str, str, str, int]]) -> None:
    pair, _ = play(script)

    pair.sync()

    assert pair.sync() == 0


@given(st.lists(moves, max_size=14))
def test_pulling_and_pushing_is_merging(script: list[tuple[str, str, str, int]]) -> None:
    pair, other = play(script)

    pair.sync("pull")
    pair.sync("push")
    other.sync("merge")

    assert pair.ours.entries == pair.theirs.entries == other.ours.entries


@given(st.lists(moves, max_size=14))
def test_nothing_that_was_written_last_on_a_side_is_lost(
    script: list[tuple[str, str, str, int]],
) -> None:
    pair, _ = play(script)
    # What both had and one has changed since is replaced, as by every update.
    before = set(pair.ours.versions().values()) | set(pair.theirs.versions().values())
    common = set(pair.base.values())

    pair.sync()

    after = pair.ours.all_versions() | pair.theirs.all_versions()
    assert before - common <= after


@given(st.lists(edits, max_size=10), st.lists(moves, max_size=14))
def test_a_forgotten_base_loses_no_change(
    first: list[tuple[str, str, str, int]], second: list[tuple[str, str, str, int]]
) -> None:
    pair, _ = play([*first, ("sync", "merge", "", 0), *second])
    pair.base = {}
    before = set(pair.ours.versions().values()) | set(pair.theirs.versions().values())

    pair.sync()

    assert pair.ours.entries == pair.theirs.entries
    assert before <= pair.ours.all_versions() | pair.theirs.all_versions()


def test_what_is_missing_without_a_trace_was_not_deleted() -> None:
    standing = SyncedVersion("v1", EPOCH)
    plan = steps(Side({}), Side({"a": standing}), {"a": "v1"})

    assert plan.theirs == []
    assert [(one.kind, one.version) for one in plan.ours] == [(StepKind.CREATE, "v1")]


def test_a_change_beats_a_deletion() -> None:
    changed = Side({"a": SyncedVersion("v2", EPOCH)})
    plan = steps(Side({}, {"a": Trace("v1", "deleted")}), changed, {"a": "v1"})

    assert plan.theirs == []
    assert plan.ours[0].kind is StepKind.CREATE


def test_a_deletion_keeps_its_reason() -> None:
    there = Side({"a": SyncedVersion("v1", EPOCH)})
    plan = steps(Side({}, {"a": Trace("v2", "forgotten")}), there, {"a": "v1"})

    assert [(one.kind, one.reason) for one in plan.theirs] == [(StepKind.REMOVE, "forgotten")]
