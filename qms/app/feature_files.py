"""The store files of all features: erasure, backups and `memoryctl doctor` go through this list."""

from qms.features.proposals.proposals_file import Proposals
from qms.features.sync.peers_file import Peers
from qms.features.transfer.moves_file import Moves
from qms.store.feature_files import Declared

FEATURE_FILES: Declared = (Moves, Peers, Proposals)
