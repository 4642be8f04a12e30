"""Hold a random array script against NumPy: in the interpreter, as it is written and after
optimisation, for sizes known at run time only, and natively.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import Any

from hybridjit import Kernel
from hybridjit.errors import HybridError, ParseError, RefutedIndex, ShapeMismatch, TypeMismatch
from hybridjit.interp.run import compile_func
from hybridjit.optimize.optimize import optimize
from hybridjit.processor import current_target
from hybridjit.runtime.arguments import flatten, share_memory, spec_of_argument
from hybridjit.scalars.specs import ArraySpec, Spec
from tests.arrays.pool import Noted, largest, quiet
from tests.arrays.program import Program, defined
from tests.arrays.values import np
from tests.differential.test_native import is_exact
from tests.support.array_results import assert_close, translated_once
from tests.support.optimized import is_ordered, run_optimized
from tests.support.oracle import Outcome, fresh, run_interpreted, run_once, run_plain
from tests.support.poisoned import run_poisoned

# What one rounding can change, times a number of them.
_ROUNDING = {2: 16 * 4e-3, 4: 16 * 3e-6, 8: 16 * 1e-13}
# Where scales are not known, they are so many times the largest number in sight.
_IN_SIGHT = 6.25
# The interpreter runs this many calls of a script, of arguments with at most so many elements.
_MOST_CALLS, _MOST_ELEMENTS = 4, 700


class Refused(Exception):
    """The script uses something that the language does not have."""


def check_program(program: Program, *, is_native: bool, is_symbolic: bool = False) -> None:
    """Fail unless NumPy, the interpreter, before and after optimisation, and native code agree."""
    with quiet(), translated_once(), defined(program) as function:
        kernel: Kernel[..., Any] = Kernel(function)
        for number, arguments in enumerate(program.calls):
            args = list(arguments.make().values())
            Call(program, kernel, args, number).check(is_native, is_symbolic)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a script, and what it is held against."""

    program: Program
    kernel: Kernel[..., Any]
    args: list[Any]
    number: int

    def check(self, is_native: bool, is_symbolic: bool) -> None:
        """Fail unless all ways to run it agree with NumPy."""
        expected, fast = run_once(run_plain, self.kernel, self.args), None
        elements = sum(np.size(arg) for arg in self.args)
        if self.number < _MOST_CALLS and elements <= _MOST_ELEMENTS:
            fast = self._interpret(expected, is_symbolic and self.number == 0)
        if not is_native:
            return
        native = run_once(run_poisoned, self.kernel, self.args)
        self.compare(native, expected, "native code")
        # Code for sizes that are known at run time only may add in another order.
        if fast is not None and self.number == 0 and is_exact(self.kernel.prim_func(*self.args)):
            self.compare(native, fast, "native code", is_exact=True)

    def _interpret(self, expected: Outcome, is_symbolic: bool) -> Outcome:
        """What the optimised program gives.

        By another kernel: a translation for the exact sizes would be run natively, too, in the
        place of the one for any size that calls of several sizes lead to.
        """
        kernel = fresh(self.kernel)
        found = run_once(run_interpreted, kernel, self.args)
        self.compare(found, expected, "the interpreter")
        fast = run_once(run_optimized, kernel, self.args)
        is_exact = found.error is not None or is_ordered(kernel.prim_func(*self.args))
        self.compare(fast, found, "the optimised program", is_exact=is_exact)
        for is_fast in (False, True) if is_symbolic else ():
            sized = run_once(partial(run_with_sizes, is_fast=is_fast), kernel, self.args)
            self.compare(sized, expected, "the program for any sizes")
        return fast

    def compare(self, found: Outcome, expected: Outcome, way: str, is_exact: bool = False) -> None:
        """Types and shapes are equal, and values: bit for bit, or within the tolerance."""
        try:
            self._compare_errors(found.error, expected.error)
            if isinstance(found.error, RefutedIndex):
                return  # the compiler saw it coming: nothing has run, nothing was written
            values = _values(expected)
            given = zip(self.program.arrays.values(), self.args, strict=False)
            notes = [note for note, arg in given if isinstance(arg, np.ndarray)]
            notes += self.program.results
            sight = None
            if not self.program.is_sized:
                sight = max((largest(np.asarray(value)) for value in values), default=1.0)
            for got, want, note in zip(_values(found), values, notes, strict=False):
                assert isinstance(got, list) == isinstance(want, list)
                bound = _bound(np.asarray(want).dtype, Noted() if is_exact else note, sight)
                assert_close(got, want, bound)
        except AssertionError as error:
            raise AssertionError(f"call {self.number}, {way}: {error}") from found.error

    def _compare_errors(self, found: Exception | None, expected: Exception | None) -> None:
        if isinstance(found, Refused):
            raise found
        if isinstance(found, type(expected)):
            return
        # Shapes must fit on all ways through a script, whichever is taken.
        has_ways = isinstance(found, ShapeMismatch) and re.search(
            r"\b(if|for)\b", self.program.text
        )
        if isinstance(found, (ParseError, TypeMismatch)) or has_ways:
            raise Refused(re.sub(r"'.*?'|`.*?`|\d+", "_", getattr(found, "message", str(found))))
        raise AssertionError(f"raised {found!r}, expected {expected!r}")


def _values(outcome: Outcome) -> list[Any]:
    """The arrays after a run, and its results."""
    result: Any = outcome.result
    results: list[Any] = [*result] if isinstance(result, tuple) else [result]
    arrays = [arg for arg in outcome.arguments if isinstance(arg, np.ndarray)]
    return arrays if outcome.error is not None else arrays + results


def _bound(dtype: Any, note: Noted, sight: float | None) -> float:
    """How far off a value of a type may be; 0 if it must be equal bit for bit."""
    if note.is_exact or dtype.kind not in "fc":
        return 0
    size = dtype.itemsize // (2 if dtype.kind == "c" else 1)
    return _ROUNDING[size] * max(1.0, note.scale if sight is None else _IN_SIGHT * sight)


def run_with_sizes(kernel: Kernel[..., Any], /, *args: Any, is_fast: bool) -> Any:
    """Run the script as it is translated for sizes that are known at run time only, or what the
    optimiser makes of that.
    """
    names = kernel.signature.parameters
    exact = [spec_of_argument(name, value) for name, value in zip(names, args, strict=True)]
    specs = [_open(name, spec) for name, spec in zip(names, exact, strict=True)]
    try:
        func = kernel.prim_func(*specs)
    except HybridError as error:
        raise Refused(f"for run-time sizes: {error.message}") from None
    flat = flatten(exact, args)
    summary = kernel.summary(*exact)
    if share_memory(summary.header, summary.written, flat):
        raise Refused("arguments that share memory, for run-time sizes")
    return compile_func(optimize(func, current_target()).func if is_fast else func)(flat)


def _open(name: str, spec: Spec) -> Spec:
    if not isinstance(spec, ArraySpec):
        return spec
    sizes = [f"{name}{axis}" if size != 1 else 1 for axis, size in enumerate(spec.shape)]
    return ArraySpec(spec.dtype, tuple(sizes))
