"""The process under the emulator, and the stretch of memory that it shares with this one."""

from __future__ import annotations

import ctypes
import itertools
import mmap
import os
import struct
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from tests.emulated.processors import Machine

HERE = Path(__file__).parent
# Where the stretch is, in both processes.
STRETCH = 0x2000_0000_0000
SIZE = 1 << 30
_LOAD, _CALL, _DROP = range(3)
_MAP_FIXED_NOREPLACE = 0x100000


class NotEmulated(BaseException):
    """A kernel calls what there is in this process only. No program expects such an error."""


class Process:
    """The process under the emulator, and the memory that it shares with this one.

    One that a kernel ended is followed by another, to which code comes when it is called. A child
    that was forked uses the process of its parent, which waits for it, and leaves all as it is.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.folder = tempfile.TemporaryDirectory(prefix="hybridjit-emulated-")
        self._build()
        self._file = os.memfd_create("stretch")
        os.ftruncate(self._file, SIZE)
        _map(self._file)
        self._owner = os.getpid()
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
        path = Path(self.folder.name) / f"{os.getpid()}.{number}.so"
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
        while self._dropped and os.getpid() == self._owner:
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
