"""A process that does jobs: `python -m hybridjit.tuning.worker`.

It reads calls from its standard input and writes what came of them to its standard output, both
pickled, with their length before them. What code prints goes to standard error. It ends when its
input does, that is, with the process that started it, whatever happens to that.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import struct
import sys
from typing import IO, Any

LENGTH = struct.Struct("<Q")
_PR_SET_PDEATHSIG = 1


def send(pipe: IO[bytes], message: Any) -> None:
    """Write a message."""
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.write(LENGTH.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Any:
    """Read a message; EOFError if there is none any more."""
    head = pipe.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    size = LENGTH.unpack(head)[0]
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError
    return pickle.loads(data)


def main() -> None:
    """Do what is asked until nobody asks any more."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who asked decides
    _die_with_parent()
    limit = receive(sys.stdin.buffer)
    _limit_memory(limit)
    while True:
        try:
            call, args = receive(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = (True, call(*args))
        except MemoryError:
            answer = (False, "MemoryError: it wanted more memory than it may have")
        except Exception as error:
            answer = (False, f"{type(error).__name__}: {error}")
        send(answers, answer)


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
