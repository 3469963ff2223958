"""Record what a checkout says on the wire, and compare two recordings.

`record CHECKOUT OUT` lets the programs of a checkout live through the scripts of `tools/wire` and
writes down what they answered, printed, logged and left on disk, with placeholders for what differs
from one run to the next. `compare A B` shows what differs between two recordings; `accept` makes
the recording of this checkout the one that the tests compare with.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.wire.comparison import compare  # noqa: E402 - found by the path above, as a script too
from tools.wire.recording import PARTS, record  # noqa: E402 - likewise

ACCEPTED = ROOT / "tests" / "data" / "wire"


def programs_of(checkout: Path) -> Path:
    """Return the folder of a checkout's programs."""
    return checkout.resolve() / ".venv" / ("Scripts" if sys.platform == "win32" else "bin")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    verbs = parser.add_subparsers(dest="verb", required=True)
    recording = verbs.add_parser("record", help="record a checkout")
    recording.add_argument("checkout", type=Path)
    recording.add_argument("out", type=Path)
    recording.add_argument("--part", action="append", choices=PARTS, help="only this; repeatable")
    comparing = verbs.add_parser("compare", help="show what differs between two recordings")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--allow", type=Path, help="a file of differences that are meant")
    verbs.add_parser("accept", help="make this checkout's recording the one of the tests")
    given = parser.parse_args()
    match given.verb:
        case "record":
            record(programs_of(given.checkout), given.out, given.part or PARTS)
        case "accept":
            record(programs_of(ROOT), ACCEPTED)
        case _:
            difference = compare(given.before, given.after, given.allow)
            print(difference, end="")
            return 1 if difference else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
