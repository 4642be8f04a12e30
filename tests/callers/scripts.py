"""Scripts that several threads call, as other campaigns make them, with the arguments of calls.

What plain Python does with the arguments is known before, and compared after all threads have
ended: what catches warnings and output is not made for threads.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from hybridjit import Kernel
from hybridjit.errors import ParseError, ScheduleError, TypeMismatch
from hybridjit.scalars.contents import with_arrays
from tests.arrays import check as array_scripts
from tests.arrays.generate import make_program as make_array_script
from tests.arrays.program import defined
from tests.differential.test_native import is_exact
from tests.loops import run as loop_programs
from tests.loops.generate import make_program as make_loops
from tests.programs.campaign import has_inexact_calls
from tests.programs.kinds import FAILING, ROOMY
from tests.programs.program import forget_sources, program_from_seed
from tests.support.choices import Choices
from tests.support.oracle import (
    Outcome,
    assert_same_outcome,
    fresh_copies,
    run_interpreted,
    run_once,
    run_plain,
)

AnyKernel = Kernel[..., Any]
# Calls of an array script, and those of a program: its arguments, and others of the same types.
MOST_CALLS = 5
OTHER_VALUES = 3


class Refused(Exception):
    """The script uses something that the language does not have."""


@dataclass(frozen=True, eq=False)
class Call:
    """The arguments of a call, what plain Python does with them, and how that is compared.

    `error` is what the interpreter raises, where native code is to say the same.
    """

    args: Sequence[Any]
    expected: Outcome
    compare: Callable[[Outcome, Outcome], None]
    error: Exception | None = None

    def check(self, found: Outcome) -> None:
        """Fail unless the outcome is that of plain Python."""
        is_refusal = isinstance(found.error, ParseError | TypeMismatch | ScheduleError)
        if is_refusal and not isinstance(found.error, type(self.expected.error)):
            message = str(getattr(found.error, "message", found.error))
            raise Refused(re.sub(r"'.*?'|`.*?`|\d+", "_", message)) from found.error
        try:
            self.compare(found, self.expected)
        except (loop_programs.Refused, array_scripts.Refused) as refusal:
            raise Refused(str(refusal)) from refusal


@dataclass(frozen=True, eq=False)
class Script:
    """A kernel, and calls of it of several shapes or values."""

    kind: str
    text: str
    kernel: AnyKernel
    calls: Sequence[Call]


@contextmanager
def loops(label: str) -> Generator[Script | None]:
    """Loops, at several sizes: the second one makes code for any."""
    rng = random.Random(label)
    program = make_loops(Choices(rng.randrange))
    if program.way == "captured":
        yield None
        return
    cases = list(loop_programs.cases(program, rng, label))
    kernel: AnyKernel = Kernel(cases[0].function)
    calls = [
        Call(
            case.args,
            run_once(run_plain, kernel, case.args),
            partial(loop_programs.check_outcome, kernel, case),
        )
        for case in cases
    ]
    yield Script("loops", program.text, kernel, calls)


@contextmanager
def programs(label: str) -> Generator[Script | None]:
    """Statements of every kind, many of which fail for some values."""
    rng = random.Random(label)
    program = program_from_seed(rng.randrange(1 << 60), rng.choice((FAILING, FAILING, ROOMY)))
    kernel = program.kernel
    try:
        if has_inexact_calls(program.source) or not is_exact(kernel.prim_func(*program.args)):
            yield None
            return
    except (ParseError, TypeMismatch):
        yield None
        return
    every = [program.args, *(_other_values(program.args, rng) for _ in range(OTHER_VALUES))]
    calls = [
        Call(
            args,
            run_once(run_plain, kernel, args),
            assert_same_outcome,
            run_once(run_interpreted, kernel, args).error,
        )
        for args in every
    ]
    try:
        yield Script("programs", program.source, program.kernel, calls)
    finally:
        forget_sources()


def _other_values(args: Sequence[Any], rng: random.Random) -> list[Any]:
    """Arguments whose arrays have the same elements at other places."""

    def shuffle(array: Any) -> Any:
        order = rng.sample(range(array.size), array.size)
        array[...] = array.reshape(-1)[order].reshape(array.shape)
        return array

    return [with_arrays(arg, shuffle) for arg in fresh_copies(args)]


@contextmanager
def arrays(label: str) -> Generator[Script | None]:
    """Statements of whole arrays, of the shapes that the campaign calls them with."""
    program = make_array_script(label)
    with defined(program) as function:
        kernel: AnyKernel = Kernel(function)
        calls = [_array_call(program, kernel, number) for number in range(len(program.calls))]
        yield Script("arrays", program.text, kernel, calls[:MOST_CALLS])


def _array_call(program: Any, kernel: AnyKernel, number: int) -> Call:
    args = list(program.calls[number].make().values())
    held = array_scripts.Call(program, kernel, args, number)
    return Call(
        args, run_once(run_plain, kernel, args), partial(held.compare, way="on several threads")
    )


KINDS = {"loops": loops, "programs": programs, "arrays": arrays}
