"""The one process on the Windows side: it runs what the tests order, until they hang up.

Wine ends services when the last ordinary process goes; this one stays. It needs the standard
library only, since it is run by the private Python of an installation.
"""

import json
import os
import socket
import subprocess
import sys


def main(port: int) -> None:
    """Take orders, a line of JSON each, and answer each with how it ended."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        orders = connection.makefile("r", encoding="utf-8")
        for order in orders:
            answer = json.dumps(carried_out(**json.loads(order)))
            connection.sendall(answer.encode() + b"\n")


def carried_out(
    command: list[str] | str, environment: dict[str, str], timeout_s: float
) -> dict[str, object]:
    """Run one program to its end."""
    try:
        ended = subprocess.run(
            command,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout_s,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return {"code": -1, "output": f"{error}\n{getattr(error, 'output', '')}"}
    return {"code": ended.returncode, "output": ended.stdout.decode("utf-8", "replace")}


if __name__ == "__main__":
    main(int(sys.argv[1]))
