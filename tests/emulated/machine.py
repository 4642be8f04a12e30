"""Run the code of kernels for another processor, by an emulator, whatever the host is.

Everything but the code itself runs here as always: kernels are compiled for the other processor,
and each call goes to a process under QEMU that shares memory with this one. What that code is
given is copied there and back, between words that nobody may change.

    with emulated("haswell"):
        kernel(a, b)

It needs qemu-user-static and the C compiler for the other processor (Debian: qemu-user-static,
gcc-x86-64-linux-gnu or gcc-aarch64-linux-gnu). Loops on threads run their chunks one by one.
Functions of this process that a kernel calls are not there: such kernels raise NotEmulated.
"""

from __future__ import annotations

import ctypes
import itertools
import mmap
import os
import shutil
import struct
import subprocess
import tempfile
import weakref
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import llvmlite.binding
import numpy as np

from hybridjit import config, processor
from hybridjit.codegen.engine import Library
from hybridjit.codegen.hidden_reference import hide
from hybridjit.codegen.math import elementary
from hybridjit.codegen.pool.names import POLL, RUN, STATE
from hybridjit.codegen.sites import ADAPTER, RECORD_WORDS
from hybridjit.ir.signature import ArrayResult
from hybridjit.runtime import native
from hybridjit.runtime.dispatch.native_calls import NativeCalls
from hybridjit.target import Target

HERE = Path(__file__).parent
llvm: Any = llvmlite.binding

# Where the shared stretch of memory is, in both processes, and what is between two arrays in it.
STRETCH = 0x2000_0000_0000
SIZE = 1 << 30
GAP = 128
_CANARY = 0x5C
_LOAD, _CALL, _DROP = range(3)
_MAP_FIXED_NOREPLACE = 0x100000


class NotEmulated(BaseException):
    """A kernel calls what there is in this process only. No error of a program: nobody expects it."""


@dataclass(frozen=True)
class Machine:
    """A processor, and the tools that make and run code for it."""

    triple: str
    cpu: str
    features: str
    tools: str  # the prefix of the C compiler and the linker
    emulator: str
    emulated: str = "max"  # the processor that the emulator plays

    @property
    def target(self) -> Target:
        return Target(self.triple, self.cpu, self.features)

    @property
    def missing(self) -> list[str]:
        """The programs that are not installed."""
        programs = (f"{self.tools}gcc", f"{self.tools}ld", self.emulator)
        return [program for program in programs if shutil.which(program) is None]


def _features(text: str) -> str:
    return ",".join(f"+{name}" for name in text.split())


_SSE2 = "64bit cmov cx8 fxsr mmx sse sse2"
_SSE4 = f"{_SSE2} cx16 sahf popcnt sse3 ssse3 sse4.1 sse4.2"
_AVX2 = f"{_SSE4} avx avx2 fma f16c bmi bmi2 lzcnt movbe xsave"
_X86 = ("x86_64-linux-gnu-", "qemu-x86_64-static")
_ARM = ("aarch64-linux-gnu-", "qemu-aarch64-static")
MACHINES = {
    "x86-64": Machine("x86_64-unknown-linux-gnu", "x86-64", _features(_SSE2), *_X86),
    "nehalem": Machine("x86_64-unknown-linux-gnu", "nehalem", _features(_SSE4), *_X86),
    "haswell": Machine("x86_64-unknown-linux-gnu", "haswell", _features(_AVX2), *_X86),
    "cortex-a72": Machine(
        "aarch64-unknown-linux-gnu", "cortex-a72", _features("neon fp-armv8"), *_ARM
    ),
}


class _Process:
    """The process under the emulator, and the memory that it shares with this one.

    One that a kernel ended is followed by another, to which code comes when it is called.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.folder = tempfile.TemporaryDirectory(prefix="hybridjit-emulated-")
        self._build()
        self._file = os.memfd_create("stretch")
        os.ftruncate(self._file, SIZE)
        _map(self._file)
        self._paths: dict[int, Path] = {}
        self._dropped: list[int] = []
        self._numbers = itertools.count()
        self._start()

    def _build(self) -> None:
        compiler = f"{self.machine.tools}gcc"
        folder = Path(self.folder.name)
        libraries = ("-Wl,--no-as-needed", "-ldl", "-lm")  # which a process of Python has
        _run(compiler, "-O1", "-rdynamic", "-o", folder / "runner", HERE / "runner.c", *libraries)
        definition = f"-DSTRETCH={STRETCH:#x}ull"
        _run(
            *(compiler, "-O1", "-fPIC", "-fno-builtin", definition),
            *("-c", HERE / "memory.c", "-o", folder / "memory.o"),
        )

    def _start(self) -> None:
        machine = self.machine
        runner = str(Path(self.folder.name) / "runner")
        root = f"/usr/{machine.tools.rstrip('-')}"
        self._loaded: dict[int, int] = {}  # where the process has which code
        self._process = subprocess.Popen(
            [
                *(machine.emulator, "-cpu", machine.emulated, "-L", root),
                *(runner, str(self._file), hex(STRETCH), hex(SIZE)),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=[self._file],
            bufsize=0,
        )
        self._answer()

    def link(self, image: bytes) -> int:
        """Make a library of object code; its number."""
        number = next(self._numbers)
        path = Path(self.folder.name) / f"{number}.so"
        unlinked = path.with_suffix(".o")
        unlinked.write_bytes(image)
        _run(
            *(f"{self.machine.tools}ld", "-shared", "-Bsymbolic", "-o", path),
            *(unlinked, path.parent / "memory.o"),
        )
        unlinked.unlink()
        self._paths[number] = path
        return number

    def call(self, number: int, words: int) -> int:
        """Run code on words that lie in the shared memory."""
        if self._process.poll() is not None:
            self._stop()
            self._start()
        self._drop_all()
        if number not in self._loaded:
            self._loaded[number] = self._load(self._paths[number])
        return self._ask(_CALL, self._loaded[number], words)

    def _load(self, path: Path) -> int:
        text = os.fsencode(path)
        place = self._ask(_LOAD, len(text), 0, text)
        if place == 0:
            raise NotEmulated("the code could not be loaded")
        return place

    def drop(self, number: int) -> None:
        """Unload code, before the next call: this may come in the middle of one."""
        self._dropped.append(number)

    def _drop_all(self) -> None:
        while self._dropped:
            number = self._dropped.pop()
            self._paths.pop(number).unlink()
            if number in self._loaded:
                self._ask(_DROP, self._loaded.pop(number), 0)

    def end(self) -> None:
        """End the process, and give the memory back."""
        self._stop()
        _libc().munmap(ctypes.c_void_p(STRETCH), ctypes.c_size_t(SIZE))
        os.close(self._file)
        self.folder.cleanup()

    def _stop(self) -> None:
        with self._process:  # which closes its pipes
            self._process.kill()

    def _ask(self, what: int, first: int, second: int, more: bytes = b"") -> int:
        pipe: Any = self._process.stdin
        pipe.write(struct.pack("<3q", what, first, second) + more)
        return self._answer()

    def _answer(self) -> int:
        pipe: Any = self._process.stdout
        data = pipe.read(8)
        if len(data) < 8:
            raise RuntimeError(f"the emulated process ended with {self._process.wait()}")
        return struct.unpack("<q", data)[0]


def _run(*command: str | Path) -> None:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)


@cache
def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def _map(file: int) -> None:
    """Have the stretch of memory at its address."""
    flags = mmap.MAP_SHARED | _MAP_FIXED_NOREPLACE
    function = _libc().mmap
    function.restype = ctypes.c_void_p
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    place = function(STRETCH, SIZE, mmap.PROT_READ | mmap.PROT_WRITE, flags, file, 0)
    if place != STRETCH:
        raise RuntimeError("the memory for emulated code is taken")


@dataclass
class _Span:
    """Bytes that a call is given, and where they are meanwhile."""

    low: int
    high: int
    place: int = 0


class _Entry:
    """Code in the other process, called as the code of a kernel is."""

    def __init__(self, process: _Process, number: int, results: Sequence[int]) -> None:
        self._process, self._number, self._results = process, number, results
        self.arrays: list[Any] = []  # of the call to come, in the order of its words

    def __call__(self, words: Any) -> int:
        given = list(words)
        count, first = len(self.arrays), len(given) - 1 - len(self._results)
        spans = [_Span(*np.lib.array_utils.byte_bounds(array)) for array in self.arrays]
        ends = [*self._results, 8 * RECORD_WORDS]
        spans += [_Span(low, low + size) for low, size in zip(given[first:], ends, strict=True)]
        merged = _merge(spans)
        end = _place(merged, STRETCH + 64)
        for number in (*range(count), *range(first, len(given))):
            given[number] = _moved(given[number], merged)
        block = (ctypes.c_uint64 * len(given))(*given)
        ctypes.memmove(end, block, ctypes.sizeof(block))
        begin = end + ctypes.sizeof(block) + GAP
        (ctypes.c_uint64 * 2).from_address(STRETCH)[:] = [begin, STRETCH + SIZE]
        status = self._process.call(self._number, end)
        _take_back(merged)
        return status


def _merge(spans: Sequence[_Span]) -> list[_Span]:
    """The spans, one where they overlap."""
    merged: list[_Span] = []
    for span in sorted(spans, key=lambda span: span.low):
        if merged and span.low < merged[-1].high:
            merged[-1].high = max(merged[-1].high, span.high)
        else:
            merged.append(replace(span))
    return merged


def _place(spans: Sequence[_Span], place: int) -> int:
    """Copy the spans to the shared memory, each aligned as it was; what comes after them."""
    for span in spans:
        place += GAP
        span.place = place + (span.low - place) % 64
        size = span.high - span.low
        ctypes.memset(span.place - GAP // 2, _CANARY, size + GAP)
        ctypes.memmove(span.place, span.low, size)
        place = span.place + size
    return place + GAP + -place % 64


def _take_back(spans: Sequence[_Span]) -> None:
    """Copy the spans back; nothing beside them has changed."""
    half = GAP // 2
    untouched = bytes([_CANARY]) * half
    for span in spans:
        size = span.high - span.low
        for place in (span.place - half, span.place + size):
            if ctypes.string_at(place, half) != untouched:
                raise AssertionError("emulated code wrote beside an array")
        ctypes.memmove(span.low, span.place, size)


def _moved(address: int, spans: Sequence[_Span]) -> int:
    span = next(s for s in spans if s.low <= address < s.high or s.low == address == s.high)
    return address - span.low + span.place


def _receive(results: Sequence[Any], words: Iterator[Any]) -> list[Any]:
    """As native.receive, of memory that ends with the call: the arrays are copies."""
    return [
        _receive_array(result, words) if isinstance(result, ArrayResult) else next(words)
        for result in results
    ]


def _receive_array(result: ArrayResult, words: Iterator[Any]) -> Any:
    address = int(next(words))
    shape = [int(next(words)) for _ in range(result.ndim)]
    size = int(np.prod(shape)) * result.dtype.numpy.itemsize
    data = np.frombuffer(bytearray(ctypes.string_at(address, size)), np.uint8)
    return data.view(result.dtype.numpy).reshape(shape)


@contextmanager
def emulated(name: str) -> Generator[None]:
    """Kernels are compiled for a processor of MACHINES and run by its emulator."""
    machine = MACHINES[name]
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    process = _Process(machine)
    attach: Any = native.attach_native

    def link(image: bytes, exports: Sequence[str], imports: Mapping[str, int]) -> Library:
        others = sorted(set(imports) - {RUN, POLL, STATE})
        if others:
            raise NotEmulated(f"the code calls {', '.join(others)}")
        return Library({ADAPTER: process.link(image)}, hide(None))

    def attach_native(func: Any, layout: Any, code: Any, library: Library) -> Any:
        made = attach(func, layout, code, library)
        sizes = [result.dtype.numpy.itemsize for result in made.convention.results]
        number = library.addresses[ADAPTER]
        entry = _Entry(process, number, sizes)
        weakref.finalize(entry, process.drop, number).atexit = False

        def pass_arguments(frame: Any) -> list[int]:
            entry.arrays = [frame[slot] for slot in made.arrays]
            return made.pass_arguments(frame)

        return replace(made, entry=entry, pass_arguments=pass_arguments)

    with ExitStack() as scope:
        scope.callback(process.end)
        for owner, attribute, value in (
            (processor, "host_target", lambda: machine.target),
            (elementary, "orders_zeros", lambda module: _orders_zeros()),
            (native, "link", link),
            (native, "attach_native", attach_native),
            (native, "receive", _receive),
            (NativeCalls, "learn", lambda self, kernel, call: None),
        ):
            scope.enter_context(patch.object(owner, attribute, value))
        scope.enter_context(config.scope(cache_enabled=False))
        yield


def _orders_zeros() -> bool:
    """Whether NumPy, on this processor, has -0.0 as the minimum of 0.0 and -0.0."""
    return bool(np.signbit(np.minimum(-0.0, 0.0)))
