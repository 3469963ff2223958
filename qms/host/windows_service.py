"""Forward to `qms.platforms.windows_service`: earlier launchers and services start this path."""

import sys

from qms.platforms.windows_service import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main(sys.argv))
