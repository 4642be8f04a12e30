"""Random scripts of whole arrays against NumPy: in the interpreter, as they are written and after
optimisation, and natively.

See tests/campaigns.
"""

from __future__ import annotations

import linecache
import re
import warnings
from dataclasses import replace
from functools import partial
from typing import Any, cast

from hybridjit import Kernel, config
from hybridjit.errors import HybridError, ParseError, TypeMismatch
from hybridjit.interp.run import compile_func
from hybridjit.optimize.optimize import optimize
from hybridjit.processor import current_target
from hybridjit.runtime.arguments import flatten, share_memory, spec_of_argument
from hybridjit.scalars.specs import ArraySpec, Spec
from tests.campaigns.drawn import Drawn, size_class
from tests.support.optimized import is_ordered, run_optimized
from tests.support.poisoned import poisoned_arrays
from tests.support.random_array_expressions import MATH
from tests.support.random_array_values import LONG_SIZES, Style, np
from tests.support.random_arrays import PARAMETERS, Generator, Program, define

# Every so many scripts are translated for sizes that are known at run time only.
SYMBOLIC_EVERY = 4
# Every so many have arrays of several vectors and a rest.
LONG_EVERY = 2
LONG = Style(sizes=LONG_SIZES, most=4000)
# Every so many have results of computed size.
SELECTING_EVERY = 3
# Every so many multiply matrices.
MULTIPLYING_EVERY = 5


class Refused(Exception):
    """The script uses something that the language does not have."""


def try_number(seed: int, number: int) -> Drawn:
    """One script in every way."""
    label = f"{seed}/{number}"
    style = LONG if number % LONG_EVERY == 0 else Style()
    style = replace(
        style,
        selects=number % SELECTING_EVERY == 0,
        multiplies=number % MULTIPLYING_EVERY == 2,
    )
    program = Generator(label, style).program()
    drawn = Drawn()
    drawn.counts["programs"] += 1
    try:
        with config.scope(cache_enabled=False):
            check_program(program, label, is_native=True, is_symbolic=number % SYMBOLIC_EVERY == 1)
    except Refused as refusal:
        drawn.count("refused", [str(refusal)])
    except Exception as error:
        raise AssertionError(f"{error}\n{program.text}{program.arguments}") from error
    else:
        drawn.counts["native"] += 1
        drawn.counts["expressions"] += program.count
        plans = program.arguments.plans.values()
        drawn.count("types", [plan.dtype for plan in plans])
        drawn.count("sizes", [size_class(size) for plan in plans for size in plan.shape])
    finally:
        linecache.cache.pop(f"<random array script {label}>", None)
    return drawn


def check_program(
    program: Program, seed: str, *, is_native: bool, is_symbolic: bool = False
) -> None:
    """Fail unless NumPy, the interpreter, before and after optimisation, and native code agree."""
    function = define(program.text, seed)
    kernel: Kernel[..., Any] = Kernel(function)
    expected = run(function, program)
    found = run(_refusing(kernel.interpret), program)
    compare(found, expected, program)
    fast = run(partial(run_optimized, kernel), program)
    arguments = program.arguments.make()
    func = kernel.prim_func(*(arguments[name] for name in PARAMETERS))
    compare_optimized(fast, found, program, is_exact=is_ordered(func))
    if is_symbolic:
        compare(run(partial(run_with_sizes, kernel, is_fast=False), program), expected, program)
        compare(run(partial(run_with_sizes, kernel, is_fast=True), program), expected, program)
    if is_native:
        with poisoned_arrays():
            native = run(kernel, program)
        compare_native(native, fast, program)


def _refusing(way: Any) -> Any:
    """A way to run a kernel, which tells what the language lacks from what is wrong."""

    def run_way(*args: Any) -> Any:
        try:
            return way(*args)
        except (ParseError, TypeMismatch) as error:
            raise Refused(re.sub(r"'.*?'|`.*?`|\d+", "_", error.message)) from None

    return run_way


def run(way: Any, program: Program) -> list[Any]:
    """The results of a run, and the arrays after it."""
    arguments = program.arguments.make()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = way(*(arguments[name] for name in PARAMETERS))
    results = list(cast("tuple[Any, ...]", result)) if isinstance(result, tuple) else [result]
    return [*results, *(arguments[name] for name in program.arrays)]


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


def compare(found: list[Any], expected: list[Any], program: Program) -> None:
    """Types and shapes are equal, and values: bit for bit, or within the tolerance."""
    tolerances = [*program.results, *program.arrays.values()]
    for position, (got, want) in enumerate(zip(found, expected, strict=True)):
        compare_values(np.asarray(got), np.asarray(want), tolerances[position], position)


def compare_optimized(
    found: list[Any], expected: list[Any], program: Program, *, is_exact: bool
) -> None:
    """The optimiser changes no bit where no order is open, and else stays within the tolerance."""
    if not is_exact:
        compare(found, expected, program)
        return
    for position, (got, want) in enumerate(zip(found, expected, strict=True)):
        compare_values(np.asarray(got), np.asarray(want), 0, position)


def compare_values(got: Any, want: Any, tolerance: float, position: int) -> None:
    """One result."""
    assert got.dtype == want.dtype, f"{position}: dtype {got.dtype}, expected {want.dtype}"
    assert got.shape == want.shape, f"{position}: shape {got.shape}, expected {want.shape}"
    if tolerance == 0:
        assert is_same(got, want), f"{position}: {got!r}, expected {want!r}"
    else:
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


def is_same(got: Any, want: Any) -> bool:
    """True if values are equal bit for bit; a NaN is a NaN."""
    if got.dtype.kind == "c":
        return is_same(got.real, want.real) and is_same(got.imag, want.imag)
    if got.dtype.kind != "f":
        return bool((got == want).all())
    both = np.isnan(got) & np.isnan(want)
    same = (got == want) & (np.signbit(got) == np.signbit(want))
    return bool((both | same).all())


def compare_native(found: list[Any], expected: list[Any], program: Program) -> None:
    """Native code gives what the interpreter gives: bit for bit, functions like exp apart."""
    if any(f"np.{name}(" in program.text for name in MATH):
        compare(found, expected, program)
        return
    for position, (got, want) in enumerate(zip(found, expected, strict=True)):
        compare_values(np.asarray(got), np.asarray(want), 0, position)
