"""The walls of a worker on Windows: a Job Object around it, and a token without rights.

The server puts the worker into the Job Object before the worker gets its first message. The worker
itself gives up its privileges and lowers its integrity level after its imports.
"""

import ctypes
import sys
from typing import Any

if sys.platform == "win32":
    from ctypes import wintypes

    _kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    _security = ctypes.WinDLL("advapi32", use_last_error=True)
    _kernel.GetCurrentProcess.restype = wintypes.HANDLE
    _kernel.CreateJobObjectW.restype = wintypes.HANDLE

    _ACTIVE_PROCESSES = 0x8
    _PROCESS_MEMORY = 0x100
    _NO_ERROR_BOXES = 0x400
    _ENDS_WITH_JOB = 0x2000
    _EXTENDED_LIMITS = 9
    _UI_LIMITS = 4
    _EVERY_UI_LIMIT = 0xFF

    _TOKEN_ADJUST_DEFAULT, _TOKEN_ADJUST_PRIVILEGES, _TOKEN_QUERY = 0x80, 0x20, 0x8
    _TOKEN_INTEGRITY_LEVEL = 25
    _INTEGRITY = 0x20
    _LABEL_AUTHORITY = (ctypes.c_ubyte * 6)(0, 0, 0, 0, 0, 16)

    class _Limits(ctypes.Structure):
        _fields_ = (
            ("per_process_time", ctypes.c_int64),
            ("per_job_time", ctypes.c_int64),
            ("flags", wintypes.DWORD),
            ("least_working_set", ctypes.c_size_t),
            ("most_working_set", ctypes.c_size_t),
            ("active_processes", wintypes.DWORD),
            ("affinity", ctypes.c_size_t),
            ("priority_class", wintypes.DWORD),
            ("scheduling_class", wintypes.DWORD),
            ("io_counters", ctypes.c_uint64 * 6),
            ("process_memory", ctypes.c_size_t),
            ("job_memory", ctypes.c_size_t),
            ("peak_process_memory", ctypes.c_size_t),
            ("peak_job_memory", ctypes.c_size_t),
        )

    class _Label(ctypes.Structure):
        _fields_ = (("sid", ctypes.c_void_p), ("attributes", wintypes.DWORD))

    def put_into_job(process: Any, memory_bytes: int) -> int | None:
        """Put a process into a Job Object of its own; return the job, or None if refused.

        The process ends when the returned handle is closed, also by the end of the server.
        """
        job = _kernel.CreateJobObjectW(None, None)
        if not job:
            return None
        flags = _ACTIVE_PROCESSES | _PROCESS_MEMORY | _NO_ERROR_BOXES | _ENDS_WITH_JOB
        limits = _Limits(flags=flags, active_processes=1, process_memory=memory_bytes)
        interface = wintypes.DWORD(_EVERY_UI_LIMIT)
        steps = (
            lambda: _set_limits(job, _EXTENDED_LIMITS, limits),
            lambda: _set_limits(job, _UI_LIMITS, interface),
            lambda: _kernel.AssignProcessToJobObject(
                wintypes.HANDLE(job),
                wintypes.HANDLE(int(process._handle)),  # noqa: SLF001 - Popen has no other name for it
            ),
        )
        if all(step() for step in steps):
            return int(job)
        close_job(job)
        return None

    def _set_limits(job: int, kind: int, value: Any) -> bool:
        size = ctypes.sizeof(value)
        return bool(
            _kernel.SetInformationJobObject(wintypes.HANDLE(job), kind, ctypes.byref(value), size)
        )

    def close_job(job: int) -> None:
        """Close a Job Object, which ends what is in it."""
        _kernel.CloseHandle(wintypes.HANDLE(job))

    def restrict_own_token() -> bool:
        """Give up every privilege of this process, and its right to write to anything."""
        token = wintypes.HANDLE()
        rights = _TOKEN_ADJUST_DEFAULT | _TOKEN_ADJUST_PRIVILEGES | _TOKEN_QUERY
        own = wintypes.HANDLE(_kernel.GetCurrentProcess())
        if not _security.OpenProcessToken(own, rights, ctypes.byref(token)):
            return False
        try:
            is_stripped = _security.AdjustTokenPrivileges(token, True, None, 0, None, None)
            return bool(is_stripped) and _lower_integrity(token)
        finally:
            _kernel.CloseHandle(token)

    def _lower_integrity(token: Any) -> bool:
        """Set the integrity level "untrusted": no object of a higher level can be written."""
        sid = ctypes.c_void_p()
        made = _security.AllocateAndInitializeSid(
            ctypes.byref(_LABEL_AUTHORITY), 1, 0, 0, 0, 0, 0, 0, 0, 0, ctypes.byref(sid)
        )
        if not made:
            return False
        try:
            label = _Label(sid.value, _INTEGRITY)
            size = ctypes.sizeof(label) + int(_security.GetLengthSid(sid))
            is_set = _security.SetTokenInformation(
                token, _TOKEN_INTEGRITY_LEVEL, ctypes.byref(label), size
            )
            return bool(is_set) and _integrity_of(token) == 0
        finally:
            _security.FreeSid(sid)

    def _integrity_of(token: Any) -> int | None:
        """Return the integrity level as the system tells it: some accept the call and keep it."""
        length = wintypes.DWORD()
        _security.GetTokenInformation(token, _TOKEN_INTEGRITY_LEVEL, None, 0, ctypes.byref(length))
        data = ctypes.create_string_buffer(length.value)
        found = _security.GetTokenInformation(
            token, _TOKEN_INTEGRITY_LEVEL, data, length, ctypes.byref(length)
        )
        # The level is the last part of the SID at the end.
        return int.from_bytes(data.raw[-4:], "little") if found else None
