"""Hold a random script against plain Python and NumPy: values, kinds of objects, and memory.

Of an array that is returned, its memory is told in terms of the arguments of the same run: in which
of them it lies, how far from its beginning, with which strides and base, and whether it may be
written to.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from hybridjit import Kernel, ParseError, TypeMismatch
from tests.arrays.pool import quiet
from tests.brought.classes import Body, Model, Pair
from tests.brought.generate import Program
from tests.brought.values import FOREIGN, as_plain, memory_of, np, own_array
from tests.support.array_results import assert_close
from tests.support.oracle import Run, fresh, run_interpreted, run_native, run_plain

_NAMES = {"np": np, "Pair": Pair, "Body": Body, "Model": Model}


class Refused(Exception):
    """The script uses something that the language does not have."""


@dataclass(frozen=True, slots=True)
class Ran:
    """One run: what came out or was raised, and the arguments as they are after it."""

    args: list[Any]
    result: Any = None
    error: Exception | None = None


def check_program(program: Program) -> None:
    """Fail unless plain Python, the interpreter and native code agree, in each call twice."""
    with quiet(), defined(program) as function:
        kernel: Kernel[..., Any] = Kernel(function)
        exact = fresh(kernel)
        for size in program.sizes:
            expected = _run(run_plain, kernel, program, size)
            ways = ((run_interpreted, exact), (run_native, kernel), (run_native, kernel))
            for way, of in ways:
                found = _run(way, of, program, size)
                try:
                    _compare(found, expected)
                except AssertionError as error:
                    raise AssertionError(f"n = {size}, {way.__name__}: {error}") from found.error
            _check_out(kernel, program, size, expected)


@contextmanager
def defined(program: Program) -> Generator[Any]:
    """The function of a script, while `linecache` has its source."""
    file = f"<random brought script {id(program)}>"
    linecache.cache[file] = (len(program.text), None, program.text.splitlines(keepends=True), file)
    names: dict[str, Any] = dict(_NAMES)
    exec(compile(program.text, file, "exec"), names)
    try:
        yield names["kernel"]
    finally:
        linecache.cache.pop(file, None)


def _arguments(program: Program, size: int) -> list[Any]:
    return [*(plan.make(size) for plan in program.plans.values()), size, size % 4]


def _run(way: Run, kernel: Kernel[..., Any], program: Program, size: int) -> Ran:
    args = _arguments(program, size)
    if way is run_plain:
        args = list(map(as_plain, args))
    try:
        return Ran(args, way(kernel, *args))
    except Exception as error:
        return Ran(args, error=error)


def _compare(found: Ran, expected: Ran) -> None:
    _compare_errors(found.error, expected.error)
    if found.error is None:
        memory = (list(memory_of(found.args)), list(memory_of(expected.args)))
        _compare_values(found.result, expected.result, memory)
        _compare_sharing(found.result, expected.result)
    for got, want in zip(memory_of(found.args), memory_of(expected.args), strict=True):
        _compare_arrays(got, want)
    for got, want in zip(found.args, expected.args, strict=True):
        assert not isinstance(want, list) or got == want


def _compare_errors(found: Exception | None, expected: Exception | None) -> None:
    if found is None and expected is None:
        return
    if expected is not None and isinstance(found, type(expected)):
        return
    if isinstance(found, (ParseError, TypeMismatch)):
        raise Refused(re.sub(r"'.*?'|`.*?`|\d+", "_", found.message))
    raise AssertionError(f"raised {found!r}, expected {expected!r}")


Memory = tuple[Sequence[Any], Sequence[Any]]


def _compare_values(found: Any, expected: Any, memory: Memory) -> None:
    if isinstance(expected, np.ndarray):
        _compare_arrays(found, expected)
        _compare_memory(found, expected, memory)
        return
    if isinstance(expected, (bool, int, float, np.generic)):
        # A variable has the type of all its values, plain Python that of the last one.
        assert_close(found, np.asarray(expected).astype(np.asarray(found).dtype))
        return
    assert type(found) is type(expected), f"{found!r}, expected {expected!r}"
    if isinstance(expected, (tuple, list)):
        items: Any = expected  # pyright: ignore[reportUnknownVariableType]
        assert len(found) == len(items)
        for pair in zip(found, items, strict=True):
            _compare_values(*pair, memory)
    elif is_dataclass(expected):
        for each in fields(expected):
            _compare_values(getattr(found, each.name), getattr(expected, each.name), memory)
    else:
        assert found == expected


def _compare_arrays(found: Any, expected: Any) -> None:
    if expected.dtype.names is None:
        assert_close(found, expected)
        return
    assert found.dtype == expected.dtype
    for name in expected.dtype.names:
        _compare_arrays(found[name], expected[name])


def _compare_memory(found: Any, expected: Any, memory: Memory) -> None:
    place, wanted = _place(found, memory[0]), _place(expected, memory[1])
    assert place == wanted, f"lies at {place}, expected {wanted}"
    assert found.flags.writeable == expected.flags.writeable, f"writeable: {found.flags.writeable}"
    if wanted is None and expected.size:
        bases = [None if array.base is None else array.base.size for array in (found, expected)]
        assert bases[0] == bases[1], f"the base has size {bases[0]}, expected {bases[1]}"


def _place(array: Any, memory: Sequence[Any]) -> tuple[Any, ...] | None:
    """In which of some arrays it lies, where there, and how; None for memory of its own."""
    steps = [step for step, size in zip(array.strides, array.shape, strict=True) if size > 1]
    for number, whole in enumerate(memory):
        if np.may_share_memory(array, whole):
            return number, array.ctypes.data - whole.ctypes.data, steps
    return None


def _compare_sharing(found: Any, expected: Any) -> None:
    """Results that share memory with one another in NumPy share it here."""
    if not isinstance(expected, tuple):
        return
    message = "results share memory with one another in another way"
    assert _sharing(found) == _sharing(expected), message


def _sharing(results: Any) -> list[bool]:
    arrays = list(memory_of(list(results)))
    return [np.may_share_memory(one, other) for one in arrays for other in arrays]


def _check_out(kernel: Kernel[..., Any], program: Program, size: int, expected: Ran) -> None:
    """The result, if it is one array, in the memory of others."""
    result = expected.result
    if not isinstance(result, np.ndarray) or result.ndim != 1 or result.dtype.names is not None:
        return
    for kind, of in FOREIGN.items():
        out = of(np.zeros_like(result))
        args = _arguments(program, size)
        try:
            kernel(*args, out=out)
        except Exception as error:
            raise AssertionError(f"out= of {kind}, n = {size}: {error}") from error
        _compare_arrays(own_array(out), result)
