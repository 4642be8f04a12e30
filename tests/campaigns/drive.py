"""Run random programs in worker processes: a crash or a hang is a find, and ends nothing.

Program number k of a seed is the same in every run and with any number of workers. A worker says
which number it takes before it starts on it, so that the one that killed it is known.

    parent  -- (first, last) -->  worker      a chunk of numbers
    parent  <--   number     --   worker      about to start
    parent  <--   Drawn      --   worker      done with it
    parent  <--    None      --   worker      the chunk is done
"""

from __future__ import annotations

import gc
import importlib
import multiprocessing
import os
import signal
import time
import traceback
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any

from hybridjit.collection import no_collection
from tests.campaigns.drawn import Drawn
from tests.campaigns.machines import Try, try_on_machine
from tests.emulated.machine import emulated
from tests.emulated.process import NotEmulated
from tests.support.parallel_programs import on_threads

# Seconds between two lines of progress, after which a program counts as hanging, and a process that
# has not begun: on a busy machine its imports take long.
PAUSE = 30.0
PATIENCE = 300.0
PATIENCE_TO_BEGIN = 600.0
# Numbers per message, and per worker: new processes keep what leaks from adding up.
CHUNK = 20
CHUNKS_PER_WORKER = 100
_SPAWN = multiprocessing.get_context("spawn")


@dataclass(frozen=True, slots=True)
class Plan:
    """Which programs are tried: `count` of them, from number `first` of a seed.

    `module` has the function `try_number`. With `seconds`, no new programs are begun after that.
    With `parallel`, all loops that can run on several threads do, as if much were to be done.
    With `processor`, code is made for another one, and emulated.
    """

    module: str
    count: int
    seed: int = 0
    first: int = 0
    workers: int = 0
    seconds: float | None = None
    parallel: bool = False
    processor: str | None = None

    @contextmanager
    def machine(self) -> Generator[None]:
        """Where the programs run."""
        with (
            on_threads() if self.parallel else nullcontext(),
            nullcontext() if self.processor is None else emulated(self.processor),
        ):
            yield

    def chunks(self) -> Iterator[tuple[int, int]]:
        """The numbers, a few at a time."""
        last = self.first + self.count
        for first in range(self.first, last, CHUNK):
            yield first, min(first + CHUNK, last)


@dataclass(slots=True)
class _Worker:
    """A process, what it is doing, and since when."""

    plan: Plan
    process: Any
    pipe: Connection
    left: range = range(0)  # numbers of its chunk that it has not started on
    number: int | None = None
    since: float = field(default_factory=time.monotonic)
    chunks: int = 0

    def give(self, chunk: tuple[int, int]) -> None:
        self.left, self.number, self.since = range(*chunk), None, time.monotonic()
        self.chunks += 1
        self.pipe.send(chunk)

    def note(self, number: int) -> None:
        self.number, self.since = number, time.monotonic()
        self.left = range(number + 1, self.left.stop)

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def run(plan: Plan, say: Callable[[str], None] = print) -> Drawn:
    """Try all programs of the plan; say what is found when it is found."""
    return _Run(plan, say).run()


class _Run:
    def __init__(self, plan: Plan, say: Callable[[str], None]) -> None:
        self.plan, self.say = plan, say
        self.chunks = plan.chunks()
        self.rests: list[tuple[int, int]] = []  # what workers left that died
        self.drawn = Drawn()
        self.start = self.reported = time.monotonic()

    def run(self) -> Drawn:
        count = self.plan.workers or os.cpu_count() or 1
        workers = [worker for _ in range(count) if (worker := self._hire()) is not None]
        try:
            while workers:
                workers = [kept for worker in workers if (kept := self._serve(worker)) is not None]
                self._report()
                wait([worker.pipe for worker in workers], timeout=1.0)
        finally:
            for worker in workers:
                worker.end()
        return self.drawn

    def _hire(self) -> _Worker | None:
        chunk = self._next_chunk()
        if chunk is None:
            return None
        ours, theirs = _SPAWN.Pipe()
        process = _SPAWN.Process(target=_work, args=(self.plan, theirs), daemon=True)
        process.start()
        theirs.close()
        worker = _Worker(self.plan, process, ours)
        worker.give(chunk)
        return worker

    def _next_chunk(self) -> tuple[int, int] | None:
        if self.plan.seconds is not None and time.monotonic() - self.start > self.plan.seconds:
            return None
        return self.rests.pop() if self.rests else next(self.chunks, None)

    def _serve(self, worker: _Worker) -> _Worker | None:
        """Take what a worker says; the worker that goes on, which may be another."""
        try:
            while worker.pipe.poll():
                message = worker.pipe.recv()
                if message is None:
                    return self._go_on(worker)
                self._take(worker, message)
        except (EOFError, OSError):
            worker.process.join()
            return self._replace(worker, f"the process ended with {worker.process.exitcode}")
        patience = PATIENCE_TO_BEGIN if worker.number is None else PATIENCE
        if time.monotonic() - worker.since > patience:
            return self._replace(worker, f"no answer after {patience:.0f} s")
        return worker

    def _take(self, worker: _Worker, message: int | Drawn) -> None:
        if isinstance(message, int):
            worker.note(message)
            return
        for failure in message.failures:
            self._fail(worker, failure)
        message.failures.clear()
        self.drawn.add(message)

    def _fail(self, worker: _Worker, failure: str) -> None:
        text = f"{self.plan.module} --seed {self.plan.seed} --first {worker.number}:\n{failure}"
        self.drawn.failures.append(text)
        self.say(text)

    def _go_on(self, worker: _Worker) -> _Worker | None:
        if worker.chunks >= CHUNKS_PER_WORKER:
            worker.end()
            return self._hire()
        chunk = self._next_chunk()
        if chunk is None:
            worker.end()
            return None
        worker.give(chunk)
        return worker

    def _replace(self, worker: _Worker, reason: str) -> _Worker | None:
        self._fail(worker, reason)
        self.drawn.counts["programs"] += 1
        if worker.left and worker.number is not None:
            self.rests.append((worker.left.start, worker.left.stop))
        worker.end()
        return self._hire()

    def _report(self) -> None:
        if time.monotonic() - self.reported > PAUSE:
            self.reported = time.monotonic()
            self.say(self.drawn.summary(self.reported - self.start))


def _work(plan: Plan, pipe: Connection) -> None:
    """The life of a worker."""
    try_number: Try = importlib.import_module(plan.module).try_number
    gc.freeze()  # what is imported stays: collections need not walk it, a tenth of the time
    with plan.machine():
        try:
            while True:
                with no_collection():  # which would take a tenth of the time
                    for number in range(*pipe.recv()):
                        signal.alarm(2 * int(PATIENCE))  # ends what hangs in C, parent or no parent
                        pipe.send(number)
                        pipe.send(_try(try_number, plan.seed, number))
                gc.collect()
                pipe.send(None)
        except (EOFError, BrokenPipeError):  # the parent is gone
            return


def _try(try_number: Try, seed: int, number: int) -> Drawn:
    drawn = Drawn()
    try:
        return try_on_machine(try_number, seed, number)
    except NotEmulated:
        drawn.counts["not emulated"] += 1
    except Exception:  # whatever it is, it is a find
        drawn.failures.append(traceback.format_exc(limit=-4))
    drawn.counts["programs"] += 1
    return drawn
