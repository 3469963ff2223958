"""What hostile code would try inside a worker; each sends `done`, or the error that stopped it."""

import ctypes
import encodings.idna  # noqa: F401 - imported before the walls, as a worker has to
import mmap
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

from qms.sandbox.child import Channel

_libc = ctypes.CDLL(None, use_errno=True)
IO_URING_SETUP, PTRACE, MEMFD_CREATE, UNSHARE, MOUNT = 425, 101, 319, 272, 165


def _read(told: str) -> None:
    Path("/etc/hostname").read_bytes()


def _write(told: str) -> None:
    Path(told).write_bytes(b"x")


def _list(told: str) -> None:
    list(Path("/").iterdir())


def _remove(told: str) -> None:
    Path(told).write_bytes(b"x")
    Path(told).unlink()


def _connect(told: str) -> None:
    with socket.create_connection(("127.0.0.1", int(told)), timeout=5):
        pass


def _local_socket(told: str) -> None:
    socket.socketpair()[0].close()


def _datagram(told: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.sendto(b"x", ("127.0.0.1", 9))


def _fork(told: str) -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def _run(told: str) -> None:
    subprocess.run(["/bin/true"], check=True)


def _replace(told: str) -> None:
    """Become another program; one that answers in this form shows that it worked."""
    os.execv("/bin/sh", ["sh", "-c", "exit 7"])


def _thread(told: str) -> None:
    thread = threading.Thread(target=time.sleep, args=(0,))
    thread.start()
    thread.join()


def _signal(told: str) -> None:
    os.kill(int(told), 0)


def _executable(told: str) -> None:
    mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC).close()


def _gigabyte(told: str) -> None:
    bytearray(1 << 30)


def _call(number: int, *arguments: object) -> Callable[[str], None]:
    def run(told: str) -> None:
        if _libc.syscall(number, *arguments) == -1:
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error))

    return run


_PROBES: dict[str, Callable[[str], None]] = {
    "read": _read,
    "write": _write,
    "list": _list,
    "remove": _remove,
    "connect": _connect,
    "local socket": _local_socket,
    "datagram": _datagram,
    "fork": _fork,
    "run": _run,
    "replace": _replace,
    "thread": _thread,
    "signal": _signal,
    "executable memory": _executable,
    "gigabyte": _gigabyte,
    "memfd": _call(MEMFD_CREATE, b"x", 0),
    "namespace": _call(UNSHARE, 0x20000),
    "io_uring": _call(IO_URING_SETUP, 4, ctypes.create_string_buffer(120)),
    "trace": _call(PTRACE, 0, 0, 0, 0),
}


def probe(channel: Channel) -> None:
    """Try what the message names: a probe, a bar and what it is told."""
    name, _, told = channel.receive().decode().partition("|")
    try:
        _PROBES[name](told)
    except (OSError, MemoryError, RuntimeError) as error:
        channel.send(f"{type(error).__name__}: {error}".encode())
    else:
        channel.send(b"done")


def sleep(channel: Channel) -> None:
    """Never answer."""
    channel.receive()
    while True:
        pass


def crash(channel: Channel) -> None:
    """Die as a native library dies."""
    channel.receive()
    ctypes.string_at(0)


def fail(channel: Channel) -> None:
    """Raise an error of the work."""
    raise ValueError(channel.receive().decode())


def allocate(channel: Channel) -> None:
    """Take the memory that the message names, keep it, and say so."""
    taken = bytearray(int(channel.receive()))
    taken[::4096] = b"x" * len(taken[::4096])
    channel.send(b"done")
    channel.receive()


def flood(channel: Channel) -> None:
    """Send a message that is longer than a message may be."""
    channel.send(bytes(int(channel.receive())))


def babble(channel: Channel) -> None:
    """Print to standard output, which must not get between the frames."""
    os.write(1, b"\x00\x01 noise of a library\n")
    channel.send(channel.receive())


def environment(channel: Channel) -> None:
    """Send the names of the environment variables, and the open descriptors."""
    found = [name for name in range(256) if _is_open(name)]
    channel.send(f"{sorted(os.environ)} {found}".encode())


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True
