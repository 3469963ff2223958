"""Reads the agent id from QMS_AGENT_ID: the author of what is written."""

import os

from qms.memory.entry import AGENT_ID
from qms.memory.errors import invalid

AGENT_VARIABLE = "QMS_AGENT_ID"


def named_agent() -> str | None:
    """Return the agent that the environment names, if any.

    Raises:
        InvalidInputError: it is not a valid agent id.
    """
    given = os.environ.get(AGENT_VARIABLE) or None
    if given is not None and not AGENT_ID.fullmatch(given):
        raise invalid(AGENT_VARIABLE, "must be 1 to 128 of A-Z a-z 0-9 _ - : @ . /")
    return given
