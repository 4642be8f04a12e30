"""Many random scripts of whole arrays against NumPy; one that differs is printed.

    python -m tests.array_campaign --count 50000 --seed 1 --native-every 10

Script number k of a seed is the same in every run: `--first k --count 1` repeats it.
"""

from __future__ import annotations

import argparse
import linecache
import re
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from hybridjit import Kernel, config
from hybridjit.errors import HybridError, ParseError, TypeMismatch
from hybridjit.frontend.specs import ArraySpec, Spec
from hybridjit.interp.run import compile_func
from hybridjit.runtime.arguments import flatten, share_memory, spec_of_argument
from tests.poisoned import poisoned_arrays
from tests.random_array_expressions import MATH
from tests.random_array_values import np
from tests.random_arrays import PARAMETERS, Generator, Program, define

# Seconds between two lines of progress.
PAUSE = 30.0
# Every so many scripts are translated for sizes that are known at run time only.
SYMBOLIC_EVERY = 4


class Refused(Exception):
    """The script uses something that the language does not have."""


@dataclass(slots=True)
class Tally:
    """What has been seen so far."""

    scripts: int = 0
    expressions: int = 0
    native: int = 0
    symbolic: int = 0
    refused: Counter[str] = field(default_factory=Counter[str])
    failures: list[str] = field(default_factory=list[str])
    start: float = field(default_factory=time.monotonic)

    def __str__(self) -> str:
        seconds = time.monotonic() - self.start
        refused = sum(self.refused.values())
        return (
            f"{self.scripts} scripts of {self.expressions} expressions ({self.native} native, "
            f"{self.symbolic} with run-time sizes, {refused} refused), "
            f"{len(self.failures)} mismatches, {self.scripts / seconds:.0f} scripts/s"
        )


def main() -> int:
    """Run the campaign that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first script")
    parser.add_argument("--native-every", type=int, default=10, metavar="K")
    options = parser.parse_args()
    tally, reported = Tally(), time.monotonic()
    with config.scope(cache_enabled=False):
        for number in range(options.first, options.first + options.count):
            is_native = number % options.native_every == 0 or options.count == 1
            try_script(tally, f"{options.seed}/{number}", number, is_native)
            if time.monotonic() - reported > PAUSE:
                reported = time.monotonic()
                print(f"{tally}; next is script {number + 1}", flush=True)
    for message, count in tally.refused.most_common(25):
        print(f"{count:7} refused: {message}")
    print(tally)
    return 1 if tally.failures else 0


def try_script(tally: Tally, seed: str, number: int, is_native: bool) -> None:
    """One script in every way."""
    program = Generator(seed).program()
    tally.scripts += 1
    is_symbolic = number % SYMBOLIC_EVERY == 1
    try:
        check_program(program, seed, is_native=is_native, is_symbolic=is_symbolic)
    except Refused as refusal:
        tally.refused[str(refusal)] += 1
    except Exception:  # whatever it is, it is reported and the campaign goes on
        tally.failures.append(f"script {seed}:\n{program.text}{traceback.format_exc(limit=-3)}")
        print(tally.failures[-1], flush=True)
    else:
        tally.expressions += program.count
        tally.native += is_native
        tally.symbolic += is_symbolic
    linecache.cache.pop(f"<random array script {seed}>", None)


def check_program(
    program: Program, seed: str, *, is_native: bool, is_symbolic: bool = False
) -> None:
    """Fail unless NumPy, the interpreter and native code agree."""
    function = define(program.text, seed)
    kernel: Kernel[..., Any] = Kernel(function)
    expected = run(function, program)
    found = run(_refusing(kernel.interpret), program)
    compare(found, expected, program)
    if is_symbolic:
        compare(run(_sized(kernel), program), expected, program)
    if is_native:
        with poisoned_arrays():
            native = run(kernel, program)
        compare_native(native, found, program)


def _sized(kernel: Kernel[..., Any]) -> Any:
    def run_way(*args: Any) -> Any:
        return run_with_sizes(kernel, args)

    return run_way


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


def run_with_sizes(kernel: Kernel[..., Any], args: Sequence[Any]) -> Any:
    """Run the script as it is translated for sizes that are known at run time only."""
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
    return compile_func(func)(flat)


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


if __name__ == "__main__":
    sys.exit(main())
