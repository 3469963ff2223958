"""The server as `qms serve` runs it, with the rows of the conformance suite in its tables."""

import sys
from pathlib import Path
from unittest.mock import patch

from qms.app.console import serve
from qms.app.http_server import Served
from qms.app.table import COMMANDS
from qms.commands.command import Command
from qms.commands.schemas import Schema, request_schema
from qms.mcp import tools
from tests.conformance.forms import CONTACT
from tests.conformance.offers import OFFERS
from tests.conformance.rows import ROWS, WITH_OWN_SCHEMA


def schema_of(command: Command) -> Schema:
    """Return a schema as the product makes it; one tool of the suite has keywords it never uses."""
    return CONTACT if command.name == WITH_OWN_SCHEMA else request_schema(command)


def main() -> None:
    """Serve the root that is named, on a free port."""
    with patch.object(tools, "request_schema", schema_of):
        serve(
            Path(sys.argv[1]),
            host="127.0.0.1",
            port=0,
            echo=lambda line: print(line, flush=True),
            served=Served(COMMANDS + ROWS, OFFERS),
        )


if __name__ == "__main__":
    main()
