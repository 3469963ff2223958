"""Files of features that exist in tests only: one that backups include, and a cache."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from qms.app.feature_files import FEATURE_FILES
from qms.disk.disk import Disk
from qms.features.proposals.proposals_file import Proposal, ProposalKind, Proposals
from qms.features.sync.peers_file import PeerBase, Peers
from qms.features.transfer.moves_file import Move, Moves
from qms.store.feature_files import Declared, FeatureFile, FeatureFiles

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class Remarks(FeatureFile):
    """Remarks on entries by their ids, in one file: a memory of its own."""

    place = "remarks.json"
    is_cache = False
    in_backups = True

    def __init__(self, disk: Disk, path: Path) -> None:
        self._disk = disk
        self._path = path

    def all(self) -> dict[str, str]:
        """Return every remark."""
        if not self._path.exists():
            return {}
        return msgspec.json.decode(self._disk.read(self._path), type=dict[str, str])

    def put(self, remarks: dict[str, str]) -> None:
        """Replace all remarks."""
        self._disk.put(self._path, msgspec.json.encode(remarks))

    def forget(self, entry_id: str) -> None:
        """Remove the remark on an entry."""
        rest = {one: text for one, text in self.all().items() if one != entry_id}
        if rest != self.all():
            self.put(rest)


class Hints(FeatureFile):
    """Computed hints on entries, a file each: a cache in a folder."""

    place = "hints"
    is_cache = True
    in_backups = False

    def __init__(self, disk: Disk, path: Path) -> None:
        self._disk = disk
        self._folder = path

    def put(self, entry_id: str, text: str) -> None:
        """Keep the hint on an entry."""
        self._disk.make_folder(self._folder)
        self._disk.put(self._path(entry_id), text.encode())

    def forget(self, entry_id: str) -> None:
        """Remove the hint on an entry."""
        self._disk.remove(self._path(entry_id))

    def _path(self, entry_id: str) -> Path:
        return self._folder / f"{entry_id.replace(':', '-')}.txt"


DECLARED: Declared = (*FEATURE_FILES, Remarks, Hints)


def write_all(features: FeatureFiles, entry_id: str) -> None:
    """Write something about an entry into every declared file; a file unknown here fails."""
    for kind in DECLARED:
        _WRITERS[kind](features, entry_id)


def _write_moves(features: FeatureFiles, entry_id: str) -> None:
    move = Move(source_id=entry_id, target_id="p:gone", user="admin", access="admin", at_utc=NOW)
    with features.get(Moves).under_way(move):
        pass


def _write_proposals(features: FeatureFiles, entry_id: str) -> None:
    proposal = Proposal(
        entry_id=entry_id,
        version="v",
        kind=ProposalKind.TAGS,
        model="m",
        proposed_utc=NOW,
        tags=("tag",),
    )
    features.get(Proposals).replace(entry_id, [proposal])


def _write_peers(features: FeatureFiles, entry_id: str) -> None:
    features.get(Peers).remember("b" * 32, "a" * 32, PeerBase("token", {entry_id: "v"}))


_WRITERS: dict[type[FeatureFile], Callable[[FeatureFiles, str], None]] = {
    Moves: _write_moves,
    Proposals: _write_proposals,
    Peers: _write_peers,
    Remarks: lambda features, one: features.get(Remarks).put({one: "a remark"}),
    Hints: lambda features, one: features.get(Hints).put(one, "a hint"),
}
