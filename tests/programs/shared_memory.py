"""Random scripts whose arguments lie in each other's memory, natively against plain Python.

Arrays of one type share memory; see tests/campaigns.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy

from hybridjit import Kernel, config
from hybridjit.errors import DivisionByZero, ParseError, ScheduleError
from hybridjit.ir.expr import Div
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.visit import walk
from tests.arrays.generate import make_program
from tests.arrays.program import defined
from tests.campaigns.drawn import Drawn
from tests.differential.test_native import is_exact
from tests.programs.campaign import has_inexact_calls
from tests.programs.kinds import ROOMY, TAME
from tests.programs.program import forget_sources, program_from_seed
from tests.support.optimized import is_ordered
from tests.support.oracle import (
    Outcome,
    assert_same_outcome,
    fresh_copies,
    run_native,
    run_once,
    run_plain,
)

np: Any = numpy
Array = Any
AnyKernel = Kernel[..., Any]
# Every so many scripts are about whole arrays.
ARRAYS_EVERY = 2
# Memory has room for the largest array and so many elements more.
ROOM = (0, 1, 3, 16)


def try_number(seed: int, number: int) -> Drawn:
    """One script, called with arrays that overlap."""
    generator = random.Random(f"{seed}/{number}")
    drawn = Drawn()
    make = _array_script if number % ARRAYS_EVERY == 0 else _script
    with (
        config.scope(cache_enabled=False, verify=False),
        make(seed, number) as (text, kernel, args),
    ):
        arguments = _Overlapping(args, generator)
        if kernel is None or not arguments.places:
            return drawn
        drawn.counts["programs"] += 1
        drawn.count("kinds", ["arrays" if make is _array_script else "programs"])
        try:
            drawn.counts["native"] += _check(kernel, arguments)
        except Exception as error:
            raise AssertionError(f"{error}\n{text}\n{arguments.places}") from error
    drawn.count_arrays(args)
    return drawn


def _check(kernel: AnyKernel, arguments: _Overlapping) -> bool:
    """Whether the script could be held against plain Python, or NumPy."""
    try:
        func = kernel.prim_func(*arguments.make())
    except (ParseError, ArithmeticError, LookupError, ValueError, TypeError):
        return False
    if not is_exact(func) or not is_ordered(func) or _divides_complex(func):
        return False
    plain, found = (_run(way, kernel, arguments) for way in (run_plain, run_native))
    if isinstance(found.error, ParseError | ScheduleError | DivisionByZero):
        return False  # a whole array by zero is an error here, and a warning in NumPy
    assert_same_outcome(found, plain)
    return True


def _divides_complex(func: PrimFunc) -> bool:
    """Whether results may differ from NumPy's in their last bits."""
    return any(isinstance(node, Div) and node.dtype.is_complex for node in walk(func.body))


def _run(way: Callable[..., Any], kernel: AnyKernel, arguments: _Overlapping) -> Outcome:
    """What a call does with new memory: copies of arguments would not share theirs."""
    args = arguments.make()

    def call(kernel: AnyKernel) -> Any:
        return way(kernel, *args)

    outcome = run_once(call, kernel, [])
    return Outcome(outcome.result, outcome.error, args, outcome.output)


class _Overlapping:
    """Arguments like others; `places` are where arrays of one type lie in their common memory."""

    def __init__(self, args: Sequence[Any], generator: random.Random) -> None:
        self.args = args
        self.places: dict[int, tuple[int, bool]] = {}
        self.sizes: dict[Any, int] = {}
        for dtype, positions in _by_type(args).items():
            largest = max(args[position].size for position in positions)
            self.sizes[dtype] = largest + generator.choice(ROOM)
            for position in positions:
                last = self.sizes[dtype] - args[position].size
                self.places[position] = generator.randint(0, last), generator.random() < 0.3

    def make(self) -> list[Any]:
        """The arguments, in new memory."""
        made = fresh_copies(self.args)
        memory = {dtype: np.zeros(size, dtype) for dtype, size in self.sizes.items()}
        for position, (start, is_turned) in self.places.items():
            array: Array = self.args[position]
            part = memory[array.dtype][start : start + array.size].reshape(array.shape)
            part[...] = array
            made[position] = part[::-1] if is_turned and array.ndim else part
        return made


def _by_type(args: Sequence[Any]) -> dict[Any, list[int]]:
    """The positions of the arrays of each type of which there are several."""
    found: dict[Any, list[int]] = {}
    for position, arg in enumerate(args):
        if isinstance(arg, np.ndarray) and arg.size:
            found.setdefault(arg.dtype, []).append(position)
    return {dtype: positions for dtype, positions in found.items() if len(positions) > 1}


Script = tuple[str, AnyKernel | None, Sequence[Any]]


@contextmanager
def _script(seed: int, number: int) -> Generator[Script]:
    program = program_from_seed((seed << 36) + number, ROOMY if number % 4 == 1 else TAME)
    try:
        kernel = None if has_inexact_calls(program.source) else program.kernel
        yield program.source, kernel, program.args
    finally:
        forget_sources()


@contextmanager
def _array_script(seed: int, number: int) -> Generator[Script]:
    program = make_program(f"{seed}/{number}")
    with defined(program) as function:
        yield program.text, Kernel(function), list(program.calls[0].make().values())
