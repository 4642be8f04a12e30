"""Processes that may crash, hang or run out of memory: an executor of concurrent.futures.

    with Workers(2) as workers:
        future = workers.submit(measure, job)
        future.result()     # what it gave, or a WorkerError that says how it ended

A thread for each process hands it one call after the other. One that does not answer in time is
killed; the next call gets a new process. Unlike a ProcessPoolExecutor, one death is the end of one
call and not of all.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import IO, Any, TypeVar

from hybridjit.errors import TuneError
from hybridjit.tuning.worker import Receiver, Sender

T = TypeVar("T")
_MODULE = "hybridjit.tuning.worker"
TIMEOUT = 60.0  # seconds for one call
MEMORY = 8 << 30  # bytes that a worker may use: of a machine that has less, half


class WorkerError(TuneError):
    """A call that did not come back: its process died, or took too long."""


class LateError(WorkerError):
    """It took too long."""


class Workers(Executor):
    """So many processes, which are started when there is something to do."""

    def __init__(self, count: int, timeout: float = TIMEOUT, memory: int | None = None) -> None:
        self._calls: queue.SimpleQueue[tuple[Future[Any], Any, Any] | None] = queue.SimpleQueue()
        self._timeout = timeout
        self._memory = _usual_memory() if memory is None else memory
        self._closed = False
        self._processes: set[_Process] = set()
        self._busy: dict[Future[Any], _Process] = {}
        self._threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Have a function called in one of the processes."""
        if self._closed or kwargs:
            raise RuntimeError("workers that are closed" if self._closed else "no keywords here")
        future: Future[T] = Future()
        self._calls.put((future, fn, args))
        return future

    def abandon(self, future: Future[Any]) -> None:
        """End a call, whatever it does: with its process, if it runs already."""
        future.cancel()
        process = self._busy.get(future)
        if process is not None:
            process.kill()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes; with `cancel_futures` at once, whatever they do."""
        self._closed = True
        if cancel_futures:
            with contextlib.suppress(queue.Empty):
                while entry := self._calls.get_nowait():
                    entry[0].cancel()
            for process in list(self._processes):
                process.kill()
        for _ in self._threads:
            self._calls.put(None)
        for thread in self._threads if wait else ():
            thread.join()

    def __exit__(self, *details: object) -> None:
        self.shutdown(cancel_futures=True)

    def _serve(self) -> None:
        process: _Process | None = None
        while (entry := self._calls.get()) is not None:
            future, call, args = entry
            if not future.set_running_or_notify_cancel():
                continue
            process = process or self._start()
            self._busy[future] = process
            try:
                is_good, answer = process.ask((call, args), self._timeout)
            except WorkerError as error:
                self._processes.discard(process)
                process = None
                self._end(future, error)
            except BaseException as error:  # the call cannot be sent
                self._end(future, error)
            else:
                self._end(future, None if is_good else WorkerError(answer), answer)
        if process is not None:
            self._processes.discard(process)
            process.end()

    def _end(self, future: Future[Any], error: BaseException | None, answer: Any = None) -> None:
        """Tell what came of a call; only then is its process free for another."""
        del self._busy[future]
        if error is None:
            future.set_result(answer)
        else:
            future.set_exception(error)

    def _start(self) -> _Process:
        process = _Process(self._memory)
        self._processes.add(process)
        return process


class _Process:
    def __init__(self, memory: int) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", _MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input: IO[bytes] = self._process.stdin
        self._output: IO[bytes] = self._process.stdout
        self._calls, self._answers = Sender(self._input), Receiver(self._output)
        self._calls.send(memory)

    def ask(self, message: Any, timeout: float) -> Any:
        """What the process answers."""
        is_late = threading.Event()

        def stop() -> None:
            is_late.set()
            self.kill()

        timer = threading.Timer(timeout, stop)
        timer.start()
        try:
            self._calls.send(message)
            return self._answers.receive()
        except (EOFError, BrokenPipeError):
            if is_late.is_set():
                self.end()
                raise LateError(f"it took more than {timeout:g} s") from None
            raise WorkerError(f"its process {_how_it_ended(self.end())}") from None
        finally:
            timer.cancel()

    def kill(self) -> None:
        self._process.kill()

    def end(self) -> int:
        """Let it end, and say how it did."""
        with contextlib.suppress(BrokenPipeError):
            self._input.close()
        try:
            code = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self._output.close()
        return code


def _how_it_ended(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"died of {signal.Signals(-code).name}"
    except ValueError:
        return f"died of signal {-code}"


def _usual_memory() -> int:
    try:
        there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return MEMORY
    return min(MEMORY, there // 2)
