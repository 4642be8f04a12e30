"""A process that does jobs: `python -m hybridjit.tuning.worker`.

It reads calls from its standard input and writes what came of them to its standard output, both
pickled, with their length before them. What is large and was sent before, such as the arguments of
a program, is sent once. What code prints goes to standard error. It ends when its input does, that
is, with the process that started it, whatever happens to that.
"""

from __future__ import annotations

import ctypes
import io
import os
import pickle
import signal
import struct
import sys
from typing import IO, Any

from hybridjit.tuning.patience import obey_alarms

LENGTH = struct.Struct("<Q")
_LARGE = 1 << 16  # bytes that are sent once
_PR_SET_PDEATHSIG = 1


class Sender:
    """Writes messages; large bytes that it wrote before, by their number."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._numbers: dict[int, int] = {}
        self._sent: list[bytes] = []  # they stay, so that nothing else gets their addresses

    def send(self, message: Any) -> None:
        """Write a message."""
        text = io.BytesIO()
        pickler = _Pickler(text, self._numbers)
        pickler.dump(message)
        for part in (pickle.dumps(pickler.found), text.getbuffer()):
            self._pipe.write(LENGTH.pack(len(part)))
            self._pipe.write(part)
        self._pipe.flush()
        for large in pickler.found:
            self._numbers[id(large)] = len(self._sent)
            self._sent.append(large)


class _Pickler(pickle.Pickler):
    def __init__(self, file: IO[bytes], numbers: dict[int, int]) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self._numbers = dict(numbers)
        self.found: list[bytes] = []

    def persistent_id(self, obj: Any) -> int | None:
        if type(obj) is not bytes or len(obj) < _LARGE:
            return None
        if id(obj) not in self._numbers:
            self._numbers[id(obj)] = len(self._numbers)
            self.found.append(obj)
        return self._numbers[id(obj)]


class Receiver:
    """Reads what a sender writes."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._large: list[bytes] = []

    def receive(self) -> Any:
        """Read a message; EOFError if there is none any more."""
        self._large += pickle.loads(self._part())
        return _Unpickler(io.BytesIO(self._part()), self._large).load()

    def _part(self) -> bytes:
        head = self._pipe.read(LENGTH.size)
        if len(head) < LENGTH.size:
            raise EOFError
        size = LENGTH.unpack(head)[0]
        data = self._pipe.read(size)
        if len(data) < size:
            raise EOFError
        return data


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: IO[bytes], large: list[bytes]) -> None:
        super().__init__(file)
        self._large = large

    def persistent_load(self, pid: int) -> bytes:
        return self._large[pid]


def main() -> None:
    """Do what is asked until nobody asks any more."""
    answers = Sender(os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who asked decides
    obey_alarms()
    _die_with_parent()
    calls = Receiver(sys.stdin.buffer)
    _limit_memory(calls.receive())
    while True:
        try:
            call, args = calls.receive()
        except EOFError:
            return
        try:
            answer = (True, call(*args))
        except MemoryError:
            answer = (False, "MemoryError: it wanted more memory than it may have")
        except Exception as error:
            answer = (False, f"{type(error).__name__}: {error}")
        answers.send(answer)


def _die_with_parent() -> None:
    """Not to be left over, even in a loop that never ends, when the parent is killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))


def _limit_memory(limit: int) -> None:
    """At most so many bytes more than now, so that a candidate does not take all there is."""
    try:
        import resource  # noqa: PLC0415 (not on every system)

        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + limit, used + limit))
    except (ImportError, OSError, ValueError):
        return


if __name__ == "__main__":
    main()
