"""Which machine a program is compiled for, and which steps of the compiler it took.

Random programs are small, and much of the compiler is for large ones. So some of them meet a
machine to which they are large, on one thread or on several.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial
from typing import Any
from unittest.mock import patch

from hybridjit.codegen.emit import memory, stream_stores, vector_memory
from hybridjit.lowering import pipeline
from hybridjit.optimize import array_nests
from hybridjit.runtime import compiler
from tests.campaigns.drawn import Drawn
from tests.support.parallel_programs import on_threads
from tests.support.small_machine import small_machine

# Tries the program with a number, and says what it drew; whatever it raises is a failure.
Try = Callable[[int, int], Drawn]

# The steps of the optimiser, and what else depends on sizes: none is to be counted zero times.
STEPS = (
    *("compute_inline", "reverse_compute_inline", "contract", "merge", "store_once"),
    *("merge_folds", "reduce_in_lanes", "unroll_and_jam", "sink", "squares"),
    *("ravel", "unravel"),
    *("gemm", "interchange", "add_terms", "sum_in_register", "sums_in_lanes", "in_register"),
    *("stream", "prefetch"),
)


@contextmanager
def _small_on_threads() -> Generator[None]:
    with small_machine(), on_threads(2):
        yield


MACHINES: dict[str, Callable[[], AbstractContextManager[None]]] = {
    "usual": nullcontext,
    "small": partial(small_machine, by_element=False),
    "small, by element": partial(small_machine, by_element=True),
    "small, on threads": _small_on_threads,
}
# Of ten programs; campaigns draw other things by the remainder for small numbers.
_TURNS = (*("usual",) * 5, *("small", "small, by element") * 2, "small, on threads")


def machine_of(number: int) -> str:
    """The machine that the program with this number meets."""
    return _TURNS[number * 7 // 3 % len(_TURNS)]


def try_on_machine(try_number: Try, seed: int, number: int) -> Drawn:
    """A program on its machine; what it drew, and the steps that were taken for it."""
    name = machine_of(number)
    steps: Counter[str] = Counter(dict.fromkeys(STEPS, 0))
    with MACHINES[name](), counted(steps):
        try:
            drawn = try_number(seed, number)
        except Exception as error:
            raise AssertionError(f"on the machine '{name}': {error}") from error
    drawn.failures[:] = [f"on the machine '{name}': {failure}" for failure in drawn.failures]
    drawn.count("machines", [name])
    drawn.count("steps", steps)
    return drawn


@contextmanager
def counted(steps: Counter[str]) -> Generator[None]:
    """Count the steps that are taken for the programs that are compiled meanwhile."""
    whole: Any = compiler.make_fast
    folds: Any = array_nests.merge_folds
    passes: Any = pipeline.lower_steps
    stream: Any = stream_stores.begin_stream
    prefetch: Any = memory.call_prefetch

    def make_fast(*args: Any, **options: Any) -> Any:
        made = whole(*args, **options)
        steps.update(decision.step for decision in made.decisions.taken)
        return made

    def merge_folds(body: Any, fusion: Any, target: Any, decisions: Any) -> Any:
        before = len(decisions.taken)
        made = folds(body, fusion, target, decisions)
        steps["merge_folds"] += len(decisions.taken) - before
        return made

    def lower_steps(*args: Any, **options: Any) -> Iterator[Any]:
        for step in passes(*args, **options):
            steps[step.name] += step.changed
            yield step

    def begin_stream(*args: Any) -> bool:
        found = stream(*args)
        steps["stream"] += found
        return found

    def call_prefetch(*args: Any) -> None:
        steps["prefetch"] += 1
        prefetch(*args)

    with ExitStack() as patches:
        for module, function in (
            *((compiler, make_fast), (array_nests, merge_folds), (pipeline, lower_steps)),
            *((stream_stores, begin_stream), (vector_memory, call_prefetch)),
        ):
            patches.enter_context(patch.object(module, function.__name__, function))
        yield
