"""Run a random loop program: its arguments at several sizes, natively and in plain Python."""

from __future__ import annotations
import __future__

import linecache
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from hybridjit import Kernel, config, hybrid
from hybridjit.errors import ParseError, RefutedIndex, ScheduleError, TypeMismatch
from tests.loops.generate import TABLES, LoopProgram
from tests.programs.data import plain_values, with_layout
from tests.programs.scope import Array
from tests.support.oracle import Outcome, assert_same, run_native, run_once, run_plain

# Arrays of unknown types have no static types worth the name.
np: Any = numpy

# Up to eight vectors of sixteen lanes and a rest; up to three vectors where loops multiply, and one
# of four loops, which take plain Python seconds all the same.
LONG = (0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 20, 24, 31, 32, 33, 40, 63, 64, 67, 100, 131)
SHORT = (0, 1, 2, 3, 5, 8, 13, 16, 17, 20, 33)
SHORTEST = (0, 1, 2, 3, 5, 8, 9, 13, 16, 17)
ROWS = (0, 1, 2, 3, 4, 4, 5, 5, 9)
# Sizes that a program runs at; if they are constants of it, each needs code of its own.
SIZES_PER_PROGRAM = {"captured": 1, "shapes": 5, "arguments": 5}
SIZES_OF_FOUR_LOOPS = 2
# Errors that hoisted checks may raise one before the other.
_FAILURES = (IndexError, ZeroDivisionError)


class Refused(Exception):
    """The program has what the language does not, or shares what threads may not."""


@dataclass(frozen=True, slots=True)
class Case:
    """A program at one size."""

    function: Any
    args: tuple[Any, ...]
    sizes: Mapping[str, int]


def cases(program: LoopProgram, rng: random.Random, label: str) -> Iterator[Case]:
    """The program at several sizes. One function for all, unless it captures them."""
    shared = None if program.way == "captured" else define(program.text, label, {})
    long = LONG if program.order < 2 else SHORT if program.order < 4 else SHORTEST
    count = SIZES_PER_PROGRAM[program.way]
    for _ in range(count if program.order < 4 else min(count, SIZES_OF_FOUR_LOOPS)):
        sizes = {"n": rng.choice(ROWS), "m": rng.choice(long)}
        function = shared or define(program.text, label, sizes)
        # Sizes that are arguments may be smaller than the arrays, which then have one shape.
        shapes = {"n": ROWS[-1], "m": long[-1]} if program.way == "arguments" else sizes
        arrays = _arrays(program, shapes, rng)
        numbers = tuple(sizes.values()) if program.way == "arguments" else ()
        yield Case(function, (*arrays, *numbers), sizes)


def _arrays(program: LoopProgram, sizes: Mapping[str, int], rng: random.Random) -> list[Any]:
    """Arrays for these sizes; now and then two of them are one."""
    generator = np.random.default_rng(rng.randrange(1 << 30))
    arrays = [
        with_layout(_values(array, sizes, generator), layout)
        for array, layout in zip(program.arrays, program.layouts, strict=True)
    ]
    if rng.random() < 0.04 and _is_alike(arrays[0], arrays[1]):
        arrays[1] = arrays[0]
    return [*arrays, *(generator.permutation(sizes[size]) for size in TABLES)]


def _values(array: Array, sizes: Mapping[str, int], generator: Any) -> Any:
    shape = tuple(extent.at(sizes) for extent in array.shape)
    return plain_values(generator, array.type, shape, has_special=True)


def _is_alike(a: Any, b: Any) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype


def define(text: str, label: str, captured: Mapping[str, int]) -> Any:
    """The function `kernel` of this text, which can be read back; it knows the captured names."""
    file = f"<loop program {label}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {name: getattr(hybrid, name) for name in hybrid.__all__}
    names |= {"np": numpy, "__name__": "loop_program", **captured}
    exec(compile(text, file, "exec", __future__.annotations.compiler_flag), names)
    return names["kernel"]


def check(program: LoopProgram, rng: random.Random, label: str) -> Iterator[Case]:
    """Fail unless native code does at every size what plain Python does; yield what was run."""
    kernel: Kernel[..., Any] | None = None
    for case in cases(program, rng, label):
        if kernel is None or program.way == "captured":
            kernel = Kernel(case.function)
        check_case(kernel, case)
        yield case


def check_case(kernel: Kernel[..., Any], case: Case) -> None:
    """Fail unless native code and plain Python agree on the arguments of a case."""
    expected = run_once(run_plain, kernel, case.args)
    with config.scope(cache_enabled=False, verify=False):
        found = run_once(run_native, kernel, case.args)
    check_outcome(kernel, case, found, expected)


def check_outcome(kernel: Kernel[..., Any], case: Case, found: Outcome, expected: Outcome) -> None:
    """Fail unless what native code did with a case is what plain Python does."""
    if isinstance(found.error, (ParseError, ScheduleError, TypeMismatch)):
        raise Refused(str(found.error.message)) from found.error
    hold_against_plain(kernel, case.args, found, expected)


def hold_against_plain(
    kernel: Kernel[..., Any], args: Sequence[Any], found: Outcome, expected: Outcome
) -> None:
    """Fail unless what was found is what plain Python gave, or NumPy only warns of a zero."""
    if isinstance(found.error, ZeroDivisionError) and expected.error is None:
        strict = run_once(_run_strictly, kernel, args)
        if isinstance(strict.error, FloatingPointError):
            return
    compare(found, expected)


def _run_strictly(kernel: Kernel[..., Any], *args: Any) -> Any:
    """Plain Python with an error where NumPy's integers would go on with 0, and ours would not.

    Floats that are divided by zero end it, too: whether ours was right to raise is not known then.
    """
    with np.errstate(divide="raise"):
        return run_plain(kernel, *args)


def compare(found: Outcome, expected: Outcome) -> None:
    """Fail unless both ended alike; after an error, arrays may hold other elements."""
    if expected.error is not None:
        wanted = _FAILURES if isinstance(expected.error, _FAILURES) else type(expected.error)
        if not isinstance(found.error, wanted):
            raise AssertionError(f"raised {found.error!r}, expected {expected.error!r}")
        return
    if found.error is not None:
        kind = "refuted" if isinstance(found.error, RefutedIndex) else "raised"
        raise AssertionError(f"{kind} {found.error!r}, expected a result") from found.error
    assert_same(found.result, expected.result)
    for position, pair in enumerate(zip(found.arguments, expected.arguments, strict=True)):
        try:
            assert_same(*pair)
        except AssertionError as error:
            raise AssertionError(f"argument {position}: {error}") from None
