"""The memory of the thread pool: words that its threads share, and the ticket each works with.

Words that different threads write lie on cache lines of their own.
"""

from __future__ import annotations

from enum import IntEnum

from hybridjit.codegen.sites import HELD, RECORD_WORDS
from hybridjit.codegen.sites import MAX_WORDS as ERROR_WORDS

# No more threads than this work on one loop.
MAX_THREADS = 256


class Pool(IntEnum):
    """The words of the pool."""

    # Written by Python.
    LIMIT = 0  # how many threads work on a loop
    KEY = 1  # pthread's key of the limit of a thread, where that is not 0
    SPINS = 2  # how often a worker looks for a loop before it sleeps
    GENERATION = 3  # how many forks lie between this process and the one that made the pool
    CLOSED = 4  # the process ends: no worker begins another chunk
    PARKED = 5  # the caller that was at a loop then waits for the end

    # The caller whose loop the workers are at holds BUSY.
    BUSY = 8
    WORKERS = 9  # how many there are

    # The high half numbers the loops, the low half counts the seats that are still free.
    GATE = 16

    SIGNAL = 24  # idle workers sleep until it changes
    SLEEPERS = 25

    # The loop; written before the gate opens.
    BODY = 32
    CONTEXT = 33
    COUNT = 34
    GRAIN = 35

    NEXT = 40  # the first iteration that nobody has taken

    FINISHED = 48  # workers that took a seat and are done
    WAITING = 49  # the caller sleeps until all of them are

    # The failure of the lowest iterations so far: where, its status, what it left to show.
    FAILED_AT = 56
    LOCK = 57
    STATUS = 58
    ERROR = 64

    SIZE = 64 + ERROR_WORDS


class Ticket(IntEnum):
    """The words of one thread at work. The error record comes first: kernels see it as that.

    No array is held for it: what a callback is given in a parallel loop is a copy.
    """

    ERROR = 0
    HELD = HELD
    BEGIN = RECORD_WORDS  # the first iteration of the chunk
    IS_CALLER = RECORD_WORDS + 1
    IS_SHARED = RECORD_WORDS + 2  # other threads may be at the same loop
    POLLED_AT = RECORD_WORDS + 3  # when signals were looked for, in milliseconds
    GENERATION = RECORD_WORDS + 4  # that of the process which began the loop
    STOPPED = RECORD_WORDS + 5  # the status of a loop that a signal ended; the next is of a fork
    STATUS = RECORD_WORDS + 6  # how the loop ends in a child that was forked inside of it

    SIZE = RECORD_WORDS + 8
