"""Tell profilers and debuggers of code: with HYBRIDJIT_PERF=1, perf and gdb know kernels by name.

perf reads names and addresses from a file in /tmp, and lines from another (jitdump.py). gdb stops
where a library says that there is new code, and reads an object file from memory, with the lines of
the script: LLVM, which llvmlite holds, has such a place, and a list to put the code in. Systems
other than Linux have neither.
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from typing import Any

import llvmlite.binding as binding

from hybridjit.codegen.elf import Symbol, find_symbols, is_elf, with_address
from hybridjit.codegen.engine import Library
from hybridjit.codegen.kernel import ENTRY
from hybridjit.codegen.sites import ADAPTER
from hybridjit.errors import Span
from hybridjit.record import record
from hybridjit.runtime.jitdump import Loaded, write_functions
from hybridjit.runtime.object_lines import find_rows

_REGISTER = 1  # what happened to the list


class _Entry(ctypes.Structure):
    """One object file, in the list of gdb."""


_Entry._fields_ = [
    ("next", ctypes.POINTER(_Entry)),
    ("previous", ctypes.POINTER(_Entry)),
    ("image", ctypes.c_void_p),
    ("size", ctypes.c_uint64),
]


class _List(ctypes.Structure):
    """The list itself: its version, what happened, to which entry, and the first one."""

    _fields_ = (
        ("version", ctypes.c_uint32),
        ("action", ctypes.c_uint32),
        ("entry", ctypes.POINTER(_Entry)),
        ("first", ctypes.POINTER(_Entry)),
    )


@record(eq=False)
class _Debugger:
    """Where gdb looks: the list, and the function that it stops in."""

    entries: Any
    notify: Any


# What gdb may read as long as the process lives.
_announced: list[tuple[Any, Any]] = []


def announce(image: bytes, library: Library, name: str, span: Span | None) -> None:
    """Let perf and gdb find the code of a kernel, which was linked into this process."""
    if not (sys.platform.startswith("linux") and is_elf(image)):
        return
    symbols = list(find_symbols(image))
    adapter = next(symbol for symbol in symbols if symbol.name == ADAPTER)
    begin = library.addresses[ADAPTER] - adapter.offset
    code = [symbol for symbol in symbols if symbol.section == adapter.section]
    place = "" if span is None else f" {os.path.basename(span.file)}:{span.line}"
    _write_map([(begin + s.offset, s.size, f"{_title(s, name)}{place}") for s in code])
    write_functions(image, _loaded(image, begin, [(s, _title(s, name)) for s in code]))
    _tell_debugger(with_address(image, adapter.section, begin))


def _loaded(image: bytes, begin: int, symbols: list[tuple[Symbol, str]]) -> list[Loaded]:
    rows = find_rows(image)
    return [
        Loaded(
            title,
            begin + symbol.offset,
            ctypes.string_at(begin + symbol.offset, symbol.size),
            [
                (begin + row.offset, row.file, row.line)
                for row in rows
                if 0 <= row.offset - symbol.offset < symbol.size and row.line > 0
            ],
        )
        for symbol, title in symbols
        if symbol.size > 0
    ]


def _title(symbol: Symbol, name: str) -> str:
    if symbol.name == ENTRY:
        return name
    part = symbol.name.removeprefix("hj_").partition(".")[0]
    return f"{name}[{'threads' if part == 'chunk' else part}]"


def _write_map(entries: list[tuple[int, int, str]]) -> None:
    """Add to the file that perf reads for this process."""
    lines = "".join(f"{address:x} {size:x} {name}\n" for address, size, name in entries)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
    descriptor = os.open(f"/tmp/perf-{os.getpid()}.map", flags, 0o600)
    try:
        os.write(descriptor, lines.encode())
    finally:
        os.close(descriptor)


def _tell_debugger(image: bytes) -> None:
    debugger = _find_debugger()
    if debugger is None:
        return
    memory = ctypes.create_string_buffer(image, len(image))
    entries = debugger.entries
    entry = _Entry(entries.first, None, ctypes.addressof(memory), len(image))
    if entries.first:
        entries.first.contents.previous = ctypes.pointer(entry)
    entries.first = entries.entry = ctypes.pointer(entry)
    entries.action = _REGISTER
    _announced.append((entry, memory))
    debugger.notify()


@cache
def _find_debugger() -> _Debugger | None:
    """The place in llvmlite's library that gdb watches; None if its symbols are not there."""
    path: str = vars(binding.ffi)["lib"]._name
    names = frozenset([b"__jit_debug_descriptor", b"__jit_debug_register_code"])
    base = _base_of(path)
    with open(path, "rb") as file:
        found = {symbol.name: symbol.offset for symbol in find_symbols(file.read(), names)}
    if base is None or len(found) < len(names):
        return None
    notify = ctypes.CFUNCTYPE(None)(base + found["__jit_debug_register_code"])
    return _Debugger(_List.from_address(base + found["__jit_debug_descriptor"]), notify)


def _base_of(path: str) -> int | None:
    """Where a library begins in memory."""
    real = os.path.realpath(path)
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            if line.rstrip().endswith(real):
                return int(line.partition("-")[0], 16)
    return None
