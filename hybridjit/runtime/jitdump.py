"""The file that tells `perf inject --jit` of code, with its bytes and its lines.

Written into the folder that JITDUMPDIR names, as LLVM's own tools do, with HYBRIDJIT_PERF=1 only.
perf learns of the file because the process maps it as if it were code.
"""

from __future__ import annotations

import mmap
import os
import struct
import threading
import time
from collections.abc import Sequence
from functools import cache

from hybridjit.errors import ConfigError
from hybridjit.record import record

_MAGIC, _VERSION = 0x4A695444, 1
_LOAD, _LINES = 0, 2
_FILE = struct.Struct("<IIIIIIQQ")
_PREFIX = struct.Struct("<IIQ")
_LOADED = struct.Struct("<IIQQQQ")
_LINES_HEAD, _LINE = struct.Struct("<QQ"), struct.Struct("<QII")
_MACHINE_IN_ELF = 18  # where an object file says for which processor it is


@record
class Loaded:
    """A function: its name, where it was loaded to, its bytes, and where its lines begin."""

    name: str
    address: int
    code: bytes
    lines: Sequence[tuple[int, str, int]]


def write_functions(image: bytes, functions: Sequence[Loaded]) -> None:
    """Add functions, which are those of an object file, to the file of this process."""
    folder = os.environ.get("JITDUMPDIR")
    if folder:
        _open(folder, os.getpid(), _machine(image)).add(functions)


def _machine(image: bytes) -> int:
    return int.from_bytes(image[_MACHINE_IN_ELF : _MACHINE_IN_ELF + 2], "little")


@cache
def _open(folder: str, process: int, machine: int) -> _Dump:
    return _Dump(os.path.join(folder, f"jit-{process}.dump"), process, machine)


class _Dump:
    def __init__(self, path: str, process: int, machine: int) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            self._descriptor = os.open(path, flags, 0o600)
        except OSError as error:
            raise ConfigError(
                f"JITDUMPDIR is {os.path.dirname(path)!r}, where perf's file cannot be made: "
                f"{error.strerror}"
            ) from None
        self._process, self._count, self._lock = process, 0, threading.Lock()
        head = _FILE.pack(_MAGIC, _VERSION, _FILE.size, machine, 0, process, _now(), 0)
        os.write(self._descriptor, head)
        # Never unmapped: this is what perf sees of it.
        self._seen = mmap.mmap(
            self._descriptor, _FILE.size, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC
        )

    def add(self, functions: Sequence[Loaded]) -> None:
        with self._lock:
            os.write(self._descriptor, b"".join(map(self._records, functions)))

    def _records(self, function: Loaded) -> bytes:
        self._count += 1
        rows = [
            _LINE.pack(address, line, 0) + file.encode() + b"\0"
            for address, file, line in function.lines
        ]
        lines = _LINES_HEAD.pack(function.address, len(rows)) + b"".join(rows)
        address, size = function.address, len(function.code)
        thread = threading.get_native_id()
        loaded = _LOADED.pack(self._process, thread, address, address, size, self._count)
        code = _record(_LOAD, loaded + function.name.encode() + b"\0" + function.code)
        return (_record(_LINES, lines) if rows else b"") + code


def _record(kind: int, content: bytes) -> bytes:
    return _PREFIX.pack(kind, _PREFIX.size + len(content), _now()) + content


def _now() -> int:
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)
