"""Arrays between pages that nobody may touch: one byte too far ends the process.

`python -m tests.support.guarded` runs the kernels of nasty_kernels.py on them, each natively and in
the interpreter, which must agree. A crash shows in the exit status; the last line says on what.
"""

from __future__ import annotations

import ctypes
import faulthandler
import mmap
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Literal

import numpy as np

from hybridjit import Kernel
from hybridjit.errors import RefutedIndex
from hybridjit.scalars.kinds import is_array
from tests.differential.test_native import is_exact
from tests.programs.program import Program
from tests.support.nasty_kernels import NASTY
from tests.support.oracle import Outcome, assert_same_outcome, run_interpreted, run_native

Side = Literal["start", "end"]
SIDES: tuple[Side, ...] = ("end", "start")
# From the third call on, the dispatcher runs a kernel without Python.
CALLS = 3
_CANARY = 0xA5
_PROT_NONE = 0

_mprotect: Callable[..., int] = ctypes.CDLL(None, use_errno=True).mprotect


class GuardedArray:
    """A copy of an array, with its strides, at one end of memory between forbidden pages."""

    def __init__(self, source: Any, side: Side) -> None:
        low, high = np.lib.array_utils.byte_bounds(source) if source.size else (0, 0)
        size = high - low
        page = mmap.PAGESIZE
        inner = max(1, -(-size // page)) * page
        self._memory = mmap.mmap(-1, inner + 2 * page, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        everything = np.frombuffer(self._memory, np.uint8)
        begin = page + (inner - size if side == "end" else 0)
        usable: Any = everything[page : page + inner]
        usable[:] = _CANARY
        first = source.ctypes.data - low if size else 0
        if size:
            everything[begin : begin + size] = np.frombuffer(ctypes.string_at(low, size), np.uint8)
        self.array: Any = np.ndarray(
            source.shape, source.dtype, self._memory, begin + first, source.strides
        )
        self._outside: tuple[Any, ...] = (usable[: begin - page], usable[begin - page + size :])
        for edge in (everything[:page], everything[page + inner :]):
            _forbid(edge.ctypes.data, page)
        if not source.flags.writeable:
            self.array.flags.writeable = False

    def assert_untouched(self) -> None:
        """Fail if something was written beside the array."""
        if any((part != _CANARY).any() for part in self._outside):
            raise AssertionError("memory beside an array was written")


def _forbid(address: int, size: int) -> None:
    if _mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), _PROT_NONE):
        raise OSError(ctypes.get_errno(), "mprotect failed")


def run_guarded(
    way: Callable[..., Any], kernel: Kernel[..., Any], args: Sequence[Any], side: Side
) -> Outcome:
    """The outcome of a call on guarded copies of the arguments."""
    guarded = [GuardedArray(arg, side) if is_array(arg) else None for arg in args]
    copies = [
        arg if guard is None else guard.array for guard, arg in zip(guarded, args, strict=True)
    ]
    result, error = None, None
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            result = way(kernel, *copies)
        except Exception as caught:
            error = caught
    for guard in guarded:
        if guard is not None:
            guard.assert_untouched()
    return Outcome(result, error, copies, "")


def run_interpreter(kernel: Kernel[..., Any], *args: Any) -> Any:
    return _reference(kernel.__hybrid_function__).interpret(*args)


@cache
def _reference(function: Any) -> Kernel[..., Any]:
    """A kernel for the interpreter: sizes that one has been interpreted with stay exact ones."""
    return Kernel(function)


def check_guarded(
    kernel: Kernel[..., Any],
    args: Sequence[Any],
    *,
    exact: bool = True,
    interpret: Callable[..., Any] = run_interpreter,
) -> bool:
    """Fail unless native calls do what the interpreter does; True if it raises IndexError."""
    expected = run_guarded(interpret, kernel, args, "end")
    is_outside = isinstance(expected.error, IndexError)
    for side in SIDES:
        for _ in range(CALLS):
            found = run_guarded(run_native, kernel, args, side)
            if exact:
                assert_same_outcome(found, expected)
            if exact and is_outside and not _say_the_same(found.error, expected.error):
                raise AssertionError(f"raised {found.error}, expected {expected.error}")
    return is_outside


def _say_the_same(found: Any, expected: Any) -> bool:
    """Whether two errors have one text. What the compiler refused has another note at its end."""
    if isinstance(found, RefutedIndex):
        return (found.message, found.span) == (expected.message, expected.span)
    return str(found) == str(expected)


def check_program(program: Program) -> bool:
    """True if the program leaves its arrays."""
    exact = is_exact(program.kernel.prim_func(*program.args))
    # It is called with one size only: what is translated for one way is good for the other.
    return check_guarded(program.kernel, program.args, exact=exact, interpret=run_interpreted)


def run_kernels() -> int:
    """Run the nasty kernels; return how many calls left their arrays."""
    outside = 0
    for kernel, calls in NASTY:
        for number, args in enumerate(calls):
            print(f"{kernel.__name__}, call {number}", flush=True)
            outside += check_guarded(kernel, args)
    return outside


def main() -> None:
    faulthandler.enable()
    print(f"{run_kernels()} left their arrays")


if __name__ == "__main__":
    main()
