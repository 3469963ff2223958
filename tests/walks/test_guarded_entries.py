"""Every mutating command onto a guarded entry, as every tier: the same as the edit by itself.

What a tier may do to a canonical, a permanent or a pinned entry is what `upsertEntry` and
`deleteEntry` answer. Each scenario brings a command onto such an entry, and is compared with them.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from qms.app.table import ADMIN_TABLE, TABLE
from qms.commands.command import Command
from qms.features.proposals.proposals_file import Proposal, ProposalKind, Proposals
from qms.memory.access import GUARDED_FIELDS, AccessTier
from qms.memory.entities import entity_local_id
from tests.support.asgi import Answer
from tests.support.console import Console
from tests.support.house import USERS, Clock, Door, House

pytestmark = pytest.mark.attack(82)

GUARDS: dict[str, dict[str, Any]] = {
    "canonical": {"curationTier": "canonical"},
    "permanent": {"isPermanent": True},
    "pinned": {"pinned": True},
}

Run = Callable[[str], Answer]
"""Runs the command of a scenario as a user."""


class Stage:
    """One unguarded note in its project, which a scenario has guarded and then brings work to."""

    def __init__(self, house: House, user: str, guards: dict[str, Any]) -> None:
        self.house = house
        self.local = f"g{user}"
        self.admin = house.door("admin")
        self.entry_id = f"projA:{self.local}"
        self._guards = guards
        self.note = {
            "id": self.local,
            "kind": "note",
            "title": self.local,
            "body": f"{self.local}first {self.local}first",
            "namespace": "global",
        }
        self.admin("upsertEntry", entry=self.note)

    def guard(self, entry_id: str | None = None) -> None:
        """Guard the note, or the entry that stands for it."""
        self.entry_id = entry_id or self.entry_id
        door = self.admin.at(self.entry_id.partition(":")[0])
        door("patchEntry", id=self.entry_id, patch=self._guards)
        self.house.clock.move(minutes=1)

    def other(self) -> str:
        """Store a second note and return its id."""
        return str(self.admin("upsertEntry", entry={"kind": "note", "body": self.local})["id"])

    def entity(self, **more: Any) -> str:
        """Store an entity that is called like the note and return its id."""
        entity = {"name": self.local, "entityType": "thing", "observations": ["old"], **more}
        self.admin("create_entities", entities=[entity])
        return self.named(self.local)

    def named(self, name: str) -> str:
        """Return the id of an entity."""
        return f"projA:{entity_local_id(name)}"

    def relation(self) -> dict[str, Any]:
        """Return a relation from the entity of the note to another."""
        return {"from": self.local, "to": f"{self.local}-end", "relationType": "knows"}

    def line(self) -> bytes | None:
        """Return the guarded entry as it is stored."""
        record = self.house.store(self.entry_id.partition(":")[0]).view.get(self.entry_id)
        return None if record is None else record.line

    def send(self, command: str, /, **request: Any) -> Run:
        """Return what sends a command of the project."""
        return lambda user: self.house.door(user).send(command, request)


Prepare = Callable[[Stage], Run]


class Scenario(msgspec.Struct, frozen=True):
    """How a command meets a guarded entry, and which edit that is."""

    prepare: Prepare
    same_as: str


def on_note(same_as: str, command: str, request: Callable[[Stage], dict[str, Any]]) -> Scenario:
    def prepare(stage: Stage) -> Run:
        stage.guard()
        return stage.send(command, **request(stage))

    return Scenario(prepare, same_as)


def on_entity(command: str, request: Callable[[Stage], dict[str, Any]]) -> Scenario:
    def prepare(stage: Stage) -> Run:
        stage.guard(stage.entity())
        return stage.send(command, **request(stage))

    return Scenario(prepare, "patch")


def untouched(command: str, **request: Any) -> Scenario:
    return on_note("nothing", command, lambda _stage: request)


def reference(same_as: str, stage: Stage) -> Run:
    """Return the edit by upsertEntry or deleteEntry that a scenario is compared with."""
    stage.guard()
    entry = stage.admin("getEntry", id=stage.entry_id)["entry"]
    match same_as:
        case "replace":
            return stage.send("upsertEntry", entry={**stage.note, "body": "second"})
        case "patch":
            return stage.send("upsertEntry", entry={**entry, "priority": 9})
        case "delete":
            return stage.send("deleteEntry", id=stage.local)
        case "forced delete":
            return stage.send("deleteEntry", id=stage.local, force=True)
        case "move":
            return lambda user: _moved_by_hand(stage, entry, stage.house.door(user))
        case _:
            return stage.send("getEntry", id=stage.local)


def _moved_by_hand(stage: Stage, entry: dict[str, Any], door: Door) -> Answer:
    there = {**entry, "id": stage.local, "project": "projB"}
    stored = door.at("projB").send("upsertEntry", {"entry": there})
    return stored if stored.status != 200 else door.send("deleteEntry", {"id": stage.local})


def _replaced_copy(stage: Stage, command: str) -> Run:
    """Bring an entry into the other project again, where it is guarded meanwhile."""
    stage.admin(command, id=stage.local, toProject="projB")
    if command == "moveEntry":
        stage.admin("restoreEntry", id=stage.local)
    stage.admin("patchEntry", id=stage.local, patch={"body": {"text": "second"}})
    stage.guard(f"projB:{stage.local}")
    return stage.send(command, id=stage.local, toProject="projB")


def _undo(stage: Stage) -> Run:
    forgotten = stage.admin("forgetEntries", ids=[stage.local])
    stage.admin("upsertEntry", entry={**stage.note, "body": "second"})
    stage.guard()
    return stage.send("undoForget", undoId=forgotten["undoId"])


def _unlink(stage: Stage) -> Run:
    other = stage.other()
    stage.admin("linkEntries", sourceId=stage.local, targetId=other)
    stage.guard()
    return stage.send("unlinkEntries", sourceId=stage.local, targetId=other)


def _restore_version(stage: Stage) -> Run:
    version = stage.admin("getEntry", id=stage.local)["version"]
    stage.admin("patchEntry", id=stage.local, patch={"body": {"text": "second"}})
    stage.guard()
    return stage.send("restoreEntry", id=stage.local, version=version)


def _accept(stage: Stage, kind: ProposalKind) -> Run:
    other = stage.other() if kind is ProposalKind.CONTRADICTION else None
    stage.guard()
    proposal = Proposal(
        entry_id=stage.entry_id,
        version=stage.admin("getEntry", id=stage.local)["version"],
        kind=kind,
        model="m",
        proposed_utc=stage.house.clock.now,
        tags=() if other else ("proposed",),
        other_id=other,
    )
    stage.house.store().features.get(Proposals).replace(stage.entry_id, [proposal])
    return stage.send("acceptProposals", ids=[proposal.id])


def _placeholder(stage: Stage) -> Run:
    relation = {"from": f"{stage.local}-start", "to": stage.local, "relationType": "knows"}
    stage.admin("create_relations", relations=[relation])
    stage.guard(stage.named(stage.local))
    entity = {"name": stage.local, "entityType": "thing", "observations": ["new"]}
    return stage.send("create_entities", entities=[entity])


def _relation_gone(stage: Stage) -> Run:
    stage.entity()
    stage.admin("create_relations", relations=[stage.relation()])
    stage.guard(stage.named(stage.local))
    return stage.send("delete_relations", relations=[stage.relation()])


def _loose_placeholder(stage: Stage, command: str) -> Run:
    """Take away the only relation that names a placeholder, which is guarded."""
    stage.entity()
    stage.admin("create_relations", relations=[stage.relation()])
    stage.guard(stage.named(f"{stage.local}-end"))
    if command == "delete_entities":
        return stage.send(command, entityNames=[stage.local])
    return stage.send(command, relations=[stage.relation()])


def _sync(stage: Stage, kind: str) -> Run:
    stage.guard()
    got = stage.admin("getEntry", id=stage.local)
    change: dict[str, Any] = {"id": stage.entry_id, "kind": kind, "expected": got["version"]}
    if kind != "remove":
        kept = {key: one for key, one in got["entry"].items() if key not in GUARDED_FIELDS}
        change["entry"] = {**kept, "body": {"text": "second"}}
    return stage.send("syncApply", changes=[change])


def _restore_backup(stage: Stage, *, has_entry: bool) -> Run:
    if not has_entry:
        stage.admin("deleteEntry", id=stage.local)
    made = stage.admin("backupStore", mode="full")["backupId"]
    if not has_entry:
        stage.admin("upsertEntry", entry=stage.note)
    stage.guard()
    path = "/backups/projA/restore"
    return lambda user: Console(stage.house.client, user).send("POST", path, {"id": made})


def _document(stage: Stage) -> Run:
    name = f"{stage.local}-doc"
    stage.admin("storeDocument", content="first", id=name)
    stage.guard(f"projA:{name}")
    return stage.send("storeDocument", content="second", id=name)


def _broken_reference(stage: Stage) -> Run:
    """Refer to a chunk that a larger one replaced, from an entry that is guarded."""
    name, text = f"{stage.local}-doc", "One short sentence. " * 20
    stored = stage.admin("storeDocument", content=text, id=name, options={"chunkSize": 100})
    chunk = stored["chunkIds"][-1]
    relation = {"type": "ref", "targetId": stored["id"], "metadata": {"chunkId": chunk}}
    stage.admin("patchEntry", id=stage.local, patch={"relations": [relation]})
    stage.admin("storeDocument", content=text, id=name)
    stage.guard()
    return stage.send("validateRefs", documentId=name, repair=True)


def _mend(stage: Stage) -> Run:
    stage.other()  # a file without any good line is held
    stage.guard()
    house, bad = stage.house, b'{"id":"%s",' % stage.entry_id.encode()
    house.store().fold()
    lines = house.entries_file().read_bytes().splitlines()
    number = next(n for n, one in enumerate(lines) if one == stage.line())
    lines[number] = bad
    house.entries_file().write_bytes(b"\n".join(lines) + b"\n")
    stage.admin("reloadStore")
    seen = Console(house.client)("GET", f"/problems/projA/{number + 1}")
    text = msgspec.json.encode({**stage.note, "body": {"text": "second"}}).decode()
    change = {"line": number + 1, "ifVersion": seen["version"], "text": text}
    return lambda user: Console(house.client, user).send("PUT", "/problems/projA", change)


SCENARIOS: dict[str, list[Scenario]] = {
    "remember": [
        on_note("patch", "remember", lambda one: {"id": one.local, "text": "second"}),
        on_note("patch", "remember", lambda one: {"id": one.entry_id, "text": "x", "kind": "fact"}),
    ],
    "upsertEntry": [
        on_note("replace", "upsertEntry", lambda one: {"entry": {**one.note, "body": "second"}}),
        on_note(
            "replace",
            "upsertEntry",
            lambda one: {
                "entry": {**one.note, "id": None, "body": "second"},
                "onDuplicateTitle": "update",
            },
        ),
    ],
    "patchEntry": [
        on_note("patch", "patchEntry", lambda one: {"id": one.local, "patch": {"tags": ["x"]}})
    ],
    "deleteEntry": [
        on_note("delete", "deleteEntry", lambda one: {"id": one.local}),
        on_note("forced delete", "deleteEntry", lambda one: {"id": one.local, "force": True}),
    ],
    "bulkImport": [
        on_note("replace", "bulkImport", lambda one: {"entries": [{**one.note, "body": "second"}]})
    ],
    "promoteEntry": [
        on_note("patch", "promoteEntry", lambda one: {"id": one.local, "retention": "mid"})
    ],
    "forgetEntries": [
        on_note("delete", "forgetEntries", lambda one: {"ids": [one.local]}),
        on_note("delete", "forgetEntries", lambda one: {"pattern": f"{one.local}first"}),
    ],
    "undoForget": [Scenario(_undo, "nothing")],
    "linkEntries": [
        on_note(
            "patch", "linkEntries", lambda one: {"sourceId": one.local, "targetId": one.other()}
        )
    ],
    "unlinkEntries": [Scenario(_unlink, "patch")],
    "resolveContradiction": [
        on_note(
            "patch",
            "resolveContradiction",
            lambda one: {"winner": one.other(), "loser": one.local},
        ),
        on_note(
            "patch",
            "resolveContradiction",
            lambda one: {"winner": one.local, "loser": one.other()},
        ),
    ],
    "consolidateEntries": [
        on_note("delete", "consolidateEntries", lambda one: {"ids": [one.local, one.other()]})
    ],
    # It never takes what is guarded in any way, whatever its caller may do.
    "autoConsolidate": [untouched("autoConsolidate", minCount=2)],
    "moveEntry": [
        on_note("move", "moveEntry", lambda one: {"id": one.local, "toProject": "projB"}),
        Scenario(partial(_replaced_copy, command="moveEntry"), "patch"),
    ],
    "copyEntry": [Scenario(partial(_replaced_copy, command="copyEntry"), "patch")],
    "restoreEntry": [
        Scenario(_restore_version, "replace"),
        on_note("nothing", "restoreEntry", lambda one: {"id": one.local}),
    ],
    "acceptProposals": [
        Scenario(partial(_accept, kind=ProposalKind.TAGS), "patch"),
        Scenario(partial(_accept, kind=ProposalKind.CONTRADICTION), "patch"),
    ],
    "storeDocument": [Scenario(_document, "patch")],
    "validateRefs": [Scenario(_broken_reference, "patch")],
    "autoTag": [on_note("patch", "autoTag", lambda one: {"id": one.local})],
    "create_entities": [Scenario(_placeholder, "patch")],
    "create_relations": [
        on_entity("create_relations", lambda one: {"relations": [one.relation()]})
    ],
    "add_observations": [
        on_entity(
            "add_observations",
            lambda one: {"observations": [{"entityName": one.local, "contents": ["new"]}]},
        )
    ],
    "delete_observations": [
        on_entity(
            "delete_observations",
            lambda one: {"deletions": [{"entityName": one.local, "observations": ["old"]}]},
        )
    ],
    "delete_entities": [
        msgspec.structs.replace(
            on_entity("delete_entities", lambda one: {"entityNames": [one.local]}),
            same_as="delete",
        ),
        Scenario(partial(_loose_placeholder, command="delete_entities"), "delete"),
    ],
    "delete_relations": [
        Scenario(_relation_gone, "patch"),
        Scenario(partial(_loose_placeholder, command="delete_relations"), "delete"),
    ],
    # Erasing is meant for good, and asks for no `force` beside it.
    "eraseEntry": [on_note("forced delete", "eraseEntry", lambda one: {"id": one.local})],
    "syncApply": [
        Scenario(partial(_sync, kind="update"), "replace"),
        Scenario(partial(_sync, kind="replace"), "replace"),
        Scenario(partial(_sync, kind="remove"), "forced delete"),
    ],
    "memory_store": [
        on_note("patch", "memory_store", lambda one: {"title": one.local, "content": "second"})
    ],
    "memory_delete": [on_note("delete", "memory_delete", lambda one: {"id": one.local})],
    "memory_promote": [on_note("patch", "memory_promote", lambda one: {"id": one.local})],
    "memory_forget": [
        on_note("delete", "memory_forget", lambda one: {"pattern": f"{one.local}first"})
    ],
    "memory_update": [
        on_note("patch", "memory_update", lambda one: {"id": one.local, "content": "second"})
    ],
    "memory_link": [
        on_note(
            "patch", "memory_link", lambda one: {"source_id": one.local, "target_id": one.other()}
        )
    ],
    "memory_consolidate": [
        on_note(
            "delete",
            "memory_consolidate",
            lambda one: {"ids": [one.local, one.other()], "title": "Both"},
        )
    ],
    "memory_auto_tag": [on_note("patch", "memory_auto_tag", lambda one: {"id": one.local})],
    "memory_archive_restore": [
        on_note("nothing", "memory_archive_restore", lambda one: {"id": one.local})
    ],
    "restoreBackup": [
        Scenario(partial(_restore_backup, has_entry=True), "replace"),
        Scenario(partial(_restore_backup, has_entry=False), "forced delete"),
    ],
    "changeLine": [Scenario(_mend, "replace")],
}
"""By command; one with several ways onto an entry has several."""

WITHOUT_ENTRIES: dict[str, dict[str, Any]] = {
    "backupStore": {},
    "purgeArchive": {"all": True},
    "gc": {},
    "dismissProposals": {"ids": ["0" * 16]},
    "reloadStore": {},
    "acceptHeld": {},
    "rejectHeld": {},
    "dismissConflicts": {},
    "rebuildIndexes": {},
    "syncBase": {"peer": "0" * 32},
    "memory_archive_purge": {},
}
"""Mutating commands that write onto no entry that a person or a caller guards."""

ADMINISTRATION = {
    *("openSession", "closeSession", "createUser", "changeUser", "removeUser", "createKey"),
    *("revokeKey", "setPermissions", "createProject", "changeProject", "renameProject"),
    *("removeProject", "saveConfig", "decideHeld", "orderBackups", "setBackupSchedule"),
    *("verifyBackup", "pruneBackups", "createSignInLink"),
}
"""Rows of the administration that change settings, keys and backups, and no entry."""

MUTATING: dict[str, Command] = {
    row.name: row for row in (*TABLE, *ADMIN_TABLE) if not row.read_only
}

CASES = [
    pytest.param(name, scenario, id=f"{name}-{number}")
    for name, scenarios in SCENARIOS.items()
    for number, scenario in enumerate(scenarios)
]


class Outcome(msgspec.Struct, frozen=True):
    """What came of an edit of a guarded entry."""

    changed: bool
    code: str | None
    fields: dict[str, Any] | None
    """The guarded fields afterwards; None when the entry is gone."""


def outcome(stage: Stage, run: Run, user: str) -> Outcome:
    before = stage.line()
    assert before is not None
    answer = run(user)
    after = stage.line()
    document = None if after is None else msgspec.json.decode(after)
    return Outcome(
        changed=after != before,
        code=None if answer.status == 200 else answer.json["error"]["code"],
        fields=None if document is None else {one: document.get(one) for one in GUARDED_FIELDS},
    )


def expected(folder: Path, same_as: str, guards: dict[str, Any]) -> dict[str, Outcome]:
    """Return what the edit by itself gives, by user."""
    folder.mkdir()
    house = House(folder, Clock())
    try:
        stages = {user: Stage(house, user, guards) for user in USERS}
        runs = {user: reference(same_as, stage) for user, stage in stages.items()}
        return {user: outcome(stages[user], runs[user], user) for user in USERS}
    finally:
        house.close()


def test_every_mutating_command_has_a_scenario() -> None:
    told = [*SCENARIOS, *WITHOUT_ENTRIES, *ADMINISTRATION]

    assert sorted(told) == sorted(set(told))
    assert set(told) == set(MUTATING)


@pytest.mark.parametrize("guards", GUARDS.values(), ids=GUARDS)
@pytest.mark.parametrize(("name", "scenario"), CASES)
def test_a_command_onto_a_guarded_entry_is_an_edit_of_it(
    house: House, tmp_path: Path, name: str, scenario: Scenario, guards: dict[str, Any]
) -> None:
    wanted = expected(tmp_path / "reference", scenario.same_as, guards)
    stages = {user: Stage(house, user, guards) for user in USERS}
    runs = {user: scenario.prepare(stage) for user, stage in stages.items()}

    for user in USERS:  # the lower tiers first: what they may not do is still undone
        found, right = outcome(stages[user], runs[user], user), wanted[user]
        if AccessTier.from_label(user) < MUTATING[name].least:
            assert found.code == "notAllowed", user
            right = msgspec.structs.replace(right, changed=False)
        elif found.code is not None and scenario.same_as != "nothing":
            assert found.code == right.code, user
        assert found.changed == right.changed, user
        if found.changed:
            assert found.fields == right.fields, user


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("guards", GUARDS.values(), ids=GUARDS)
def test_other_commands_leave_guarded_entries_alone(
    house: House, guards: dict[str, Any], user: str
) -> None:
    stage = Stage(house, user, guards)
    stage.guard()

    for command, request in WITHOUT_ENTRIES.items():
        assert not outcome(stage, stage.send(command, **request), user).changed, command
