"""The server as `qms serve` runs it, with the rows of the conformance suite in its tables."""

import sys
from pathlib import Path

from qms.host.console import serve
from qms.host.listening import Served
from qms.service.table import TABLE
from tests.conformance.offers import OFFERS
from tests.conformance.rows import ROWS


def main() -> None:
    """Serve the root that is named, on a free port."""
    serve(
        Path(sys.argv[1]),
        host="127.0.0.1",
        port=0,
        echo=lambda line: print(line, flush=True),
        served=Served(TABLE + ROWS, OFFERS),
    )


if __name__ == "__main__":
    main()
