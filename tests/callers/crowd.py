"""Threads that call the same kernels at once, and what else threads do meanwhile.

Each thread takes random steps of a table. Threads only call and note; what came out is compared
when all have ended.
"""

from __future__ import annotations

import contextvars
import gc
import random
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import hybridjit as hj
from hybridjit import Kernel, config, hybrid
from tests.arrays.pool import quiet
from tests.callers.scripts import AnyKernel, Call, Script
from tests.support.oracle import Outcome, fresh_copies

Array = Any
STEPS_OF_A_THREAD = 30
# Python looks for another thread to run so often, in seconds: as often as it can.
SWITCH_INTERVAL = 1e-6
PATIENCE = 240.0
# Settings that a thread may change for a call, while others call with theirs.
SCOPES: tuple[config.Changes, ...] = (
    {"interpret": True},
    {"parallel": True},
    {"parallel": False},
    {"cache_enabled": False},
    {"verify": True},
    {"traceback": "full"},
)


@dataclass(frozen=True, slots=True)
class Made:
    """A call that a thread made, in which way, and what came out."""

    script: Script
    call: Call
    way: str
    outcome: Outcome


@dataclass
class Caller:
    """A thread: what it calls, and what came of it."""

    scripts: Sequence[Script]
    random: random.Random
    made: list[Made] = field(default_factory=list[Made])
    steps: Counter[str] = field(default_factory=Counter[str])
    failures: list[str] = field(default_factory=list[str])

    def run(self) -> None:
        for _ in range(STEPS_OF_A_THREAD):
            (name,) = self.random.choices(list(STEPS), [weight for weight, _ in STEPS.values()])
            self.steps[name] += 1
            STEPS[name][1](self)

    def pick(self) -> tuple[Script, Call]:
        script = self.random.choice(self.scripts)
        return script, self.random.choice(script.calls)

    def call(self, way: str = "call", kernel: AnyKernel | None = None) -> Outcome:
        """Call one of the kernels, or another one in its place, and note what came out."""
        script, call = self.pick()
        outcome = _outcome(kernel or script.kernel, call.args)
        self.made.append(Made(script, call, way, outcome))
        return outcome


def _outcome(kernel: AnyKernel, args: Sequence[Any]) -> Outcome:
    copies = fresh_copies(args)
    try:
        with np.errstate(all="ignore"):
            return Outcome(kernel(*copies), None, copies, "")
    except Exception as error:
        return Outcome(None, error, copies, "")


def _in_scope(caller: Caller) -> None:
    changes = caller.random.choice(SCOPES)
    with config.scope(**changes):
        caller.call("interpreted" if "interpret" in changes else "in a scope")


def _on_other_threads(caller: Caller) -> None:
    with hj.threads(caller.random.randint(1, 4)):
        caller.call("on so many threads")


def _copy(caller: Caller) -> None:
    """A kernel of the same function that knows nothing: its code is found on disk, or made."""
    script, call = caller.pick()
    outcome = _outcome(script.kernel.copy(), call.args)
    caller.made.append(Made(script, call, "a copy", outcome))


def _back(caller: Caller) -> None:
    """Calls from a function that a kernel calls back; what it raises comes out as itself."""
    rounds, raised = caller.random.randint(1, 3), list[Exception]()

    def again(number: int) -> None:
        outcome = caller.call("from a callback")
        if outcome.error is not None and caller.random.random() < 0.5:
            raised.append(outcome.error)
            raise outcome.error

    kernel, a = calls_back(again), np.zeros(3)
    try:
        total = kernel(a, rounds)
    except Exception as error:
        if raised != [error] or raised[0] is not error:
            raise
        return
    if raised or total != rounds * (rounds + 1) // 2 or a.sum() != total:
        caller.failures.append(f"callbacks: {total} and {a}, raised {raised}, {rounds} rounds")


def calls_back(function: Callable[[int], None]) -> AnyKernel:
    """A kernel that calls a function of Python in each round of a loop."""
    again = hybrid.packed(function, name="again")

    @hybrid.script
    def kernel(a: Array, rounds: int) -> float:
        total = 0.0
        for i in range(rounds):
            a[i] += i + 1
            again(i)
            total += a[i]
        return total

    return kernel


def _clear(caller: Caller) -> None:
    caller.random.choice(caller.scripts).kernel.clear()


def _clear_disk(caller: Caller) -> None:
    hj.cache.clear()


def _look(caller: Caller) -> None:
    kernel = caller.random.choice(caller.scripts).kernel
    assert kernel.cache_info() is not None
    assert kernel.__name__ in kernel._repr_html_()


def _collect(caller: Caller) -> None:
    gc.collect()


STEPS: dict[str, tuple[int, Callable[[Caller], object]]] = {
    "call": (60, Caller.call),
    "in a scope": (8, _in_scope),
    "on so many threads": (6, _on_other_threads),
    "a copy": (2, _copy),
    "from a callback": (4, _back),
    "clear": (2, _clear),
    "clear the disk": (1, _clear_disk),
    "look": (2, _look),
    "collect": (1, _collect),
}


def run_crowd(callers: Sequence[Caller]) -> None:
    """Let all run at once, in the settings of this thread; fail if one of them never ends."""
    barrier = threading.Barrier(len(callers))
    threads = [_started(caller, barrier) for caller in callers]
    with quiet(), _often_switched():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
    hanging = [thread.ident for thread in threads if thread.is_alive()]
    if hanging:
        frames: Any = vars(sys)["_current_frames"]()
        stacks = ["".join(traceback.format_stack(frames[ident])) for ident in hanging if ident]
        raise AssertionError("\n\n".join(["threads hang:", *stacks]))


def _started(caller: Caller, barrier: threading.Barrier) -> threading.Thread:
    count = hj.get_num_threads()

    def work() -> None:
        try:
            barrier.wait()
            with hj.threads(count):
                caller.run()
        except Exception:
            caller.failures.append(traceback.format_exc())

    # A thread begins without the settings of the one that starts it.
    settings = contextvars.copy_context()
    return threading.Thread(target=settings.run, args=(work,), daemon=True)


@contextmanager
def _often_switched() -> Generator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def kernel_of(script: Script, *, parallel: bool) -> AnyKernel:
    """Another kernel of the script, which nobody has called."""
    return Kernel(script.kernel.__hybrid_function__, parallel=parallel or None)
