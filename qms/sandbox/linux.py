"""The walls of a worker on Linux: no_new_privs, Landlock, seccomp and resource limits.

They are set by the worker on itself, through ctypes, and cannot be taken back. Each function
returns whether the kernel accepted its wall.
"""

import ctypes
import os
import platform
import signal
import struct
import sys
from collections.abc import Iterable

_libc = ctypes.CDLL(None, use_errno=True)

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2

_LANDLOCK_CREATE_RULESET = 444  # the same number on every architecture
_LANDLOCK_RESTRICT_SELF = 446
_LANDLOCK_VERSION = 1
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}
"""How many rights to files each version of Landlock knows, from its first version on."""
_NET_RIGHTS = 0b11  # bind and connect over TCP, since version 4
_SCOPES = 0b11  # abstract sockets and signals, since version 6

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000

_ALLOWED = {
    "x86_64": {
        "read": 0, "write": 1, "close": 3, "fstat": 5, "poll": 7, "lseek": 8, "munmap": 11,
        "brk": 12, "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15, "readv": 19,
        "writev": 20, "sched_yield": 24, "mremap": 25, "madvise": 28, "nanosleep": 35,
        "getpid": 39, "exit": 60, "gettimeofday": 96, "sigaltstack": 131, "gettid": 186,
        "time": 201, "futex": 202, "restart_syscall": 219, "clock_gettime": 228,
        "clock_getres": 229, "clock_nanosleep": 230, "exit_group": 231, "ppoll": 271,
        "set_robust_list": 273, "getrandom": 318, "membarrier": 324, "rseq": 334,
    },
    "aarch64": {
        "close": 57, "lseek": 62, "read": 63, "write": 64, "readv": 65, "writev": 66,
        "ppoll": 73, "fstat": 80, "exit": 93, "exit_group": 94, "futex": 98,
        "set_robust_list": 99, "nanosleep": 101, "clock_gettime": 113, "clock_getres": 114,
        "clock_nanosleep": 115, "sched_yield": 124, "restart_syscall": 128, "sigaltstack": 132,
        "rt_sigaction": 134, "rt_sigprocmask": 135, "rt_sigreturn": 139, "gettimeofday": 169,
        "getpid": 172, "gettid": 178, "brk": 214, "munmap": 215, "mremap": 216, "madvise": 233,
        "getrandom": 278, "membarrier": 283, "rseq": 293,
    },
}  # fmt: skip
"""What a locked interpreter needs: its pipes, its memory, its clock; all else is refused."""

_WITHOUT_EXEC = {"x86_64": {"mmap": 9, "mprotect": 10}, "aarch64": {"mmap": 222, "mprotect": 226}}
"""Allowed unless they ask for memory that can be executed."""

_PROT_EXEC = 4

_LD_WORD = 0x20
_JUMP_EQUAL = 0x15
_JUMP_AT_LEAST = 0x35
_JUMP_BITS = 0x45
_RETURN = 0x06
_AT_NUMBER, _AT_ARCH, _AT_THIRD_ARGUMENT = 0, 4, 16 + 2 * 8
_KILL, _REFUSE, _PASS = 0x80000000, 0x00050001, 0x7FFF0000  # refused with EPERM


def die_with_parent() -> None:
    """Have the kernel end this process when the server ends."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def drop_privileges() -> bool:
    """Give up every way to gain rights, and being inspected by other processes of the user."""
    _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    return int(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) == 0


def close_files() -> bool:
    """Refuse every file, TCP port, foreign signal and abstract socket by Landlock."""
    version = _libc.syscall(_LANDLOCK_CREATE_RULESET, None, 0, _LANDLOCK_VERSION)
    if version < 1:
        return False
    rights = max(count for since, count in _FILE_RIGHTS.items() if since <= version)
    fields = [(1 << rights) - 1]
    fields += [_NET_RIGHTS] if version >= 4 else []
    fields += [_SCOPES] if version >= 6 else []
    handled = struct.pack(f"={len(fields)}Q", *fields)
    rules = _libc.syscall(_LANDLOCK_CREATE_RULESET, handled, len(handled), 0)
    if rules < 0:
        return False
    is_closed = int(_libc.syscall(_LANDLOCK_RESTRICT_SELF, rules, 0)) == 0
    os.close(rules)
    return is_closed


def filter_system_calls() -> bool:
    """Refuse every system call that is not in the list of this architecture."""
    machine = platform.machine()
    if sys.byteorder != "little" or machine not in _AUDIT_ARCH:
        return False
    program = b"".join(_filter(machine))
    count = len(program) // 8
    code = ctypes.create_string_buffer(program, len(program))
    address = ctypes.addressof(code)
    head = ctypes.create_string_buffer(struct.pack("@HP", count, address))
    return int(_libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, head, 0, 0)) == 0


def _filter(machine: str) -> Iterable[bytes]:
    yield _step(_LD_WORD, _AT_ARCH)
    yield _step(_JUMP_EQUAL, _AUDIT_ARCH[machine], 1, 0)
    yield _step(_RETURN, _KILL)
    yield _step(_LD_WORD, _AT_NUMBER)
    yield _step(_JUMP_AT_LEAST, _X32_BIT, 0, 1)
    yield _step(_RETURN, _KILL)
    for number in _ALLOWED[machine].values():
        yield _step(_JUMP_EQUAL, number, 0, 1)
        yield _step(_RETURN, _PASS)
    for number in _WITHOUT_EXEC[machine].values():
        yield _step(_JUMP_EQUAL, number, 0, 4)
        yield _step(_LD_WORD, _AT_THIRD_ARGUMENT)
        yield _step(_JUMP_BITS, _PROT_EXEC, 0, 1)
        yield _step(_RETURN, _REFUSE)
        yield _step(_RETURN, _PASS)
    yield _step(_RETURN, _REFUSE)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)
