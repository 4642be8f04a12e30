"""What the optimiser makes of a kernel: to look at it, and to run it in the interpreter.

`assert_three_agree` holds three things together: the program as written and the one that was made
fast, both in the interpreter, and native code. The last two agree in every bit. So do the first two
unless a block says that the order of its terms is open (`reassociate`); then they are as close as
`bound_of_order` says.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from hybridjit import Kernel
from hybridjit.checking.exactness import allowed_error
from hybridjit.codegen.layout import Layout
from hybridjit.interp.run import compile_func
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import REASSOCIATE, Block
from hybridjit.ir.visit import walk_stmts
from hybridjit.optimize.optimize import optimize
from hybridjit.processor import current_target
from hybridjit.runtime import compiler
from hybridjit.runtime.arguments import bind, flatten, share_memory, spec_of_argument
from hybridjit.runtime.native import layout_of
from hybridjit.target import Target
from tests.support.oracle import Outcome, assert_same_outcome, run_interpreted, run_native, run_once

Runner = Callable[[Sequence[Any]], Any]
_SEQUENCE: tuple[type[Any], ...] = (tuple, list)


def optimized(kernel: Any, *args: Any) -> PrimFunc:
    """What is compiled of a kernel for these arguments, values or types."""
    return optimize(kernel.prim_func(*args), current_target()).func


def for_vectors(bits: int) -> Target:
    """A processor with vectors of 256 or 512 bits: only to look at programs, not to run them."""
    cpu, features = ("skylake-avx512", "+avx512f,") if bits >= 512 else ("haswell", "")
    return Target("x86_64-unknown-linux-gnu", cpu, f"{features}+avx2,+fma,+f16c")


def is_ordered(func: PrimFunc) -> bool:
    """True if no block leaves the order of its terms open."""
    blocks = (stmt for stmt in walk_stmts(func.body) if isinstance(stmt, Block))
    return not any((REASSOCIATE, True) in block.annotations for block in blocks)


def run_optimized(kernel: Kernel[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """In the interpreter, what is compiled; as it is written where arguments share memory."""
    func = kernel.prim_func(*args, **kwargs)
    values = bind(kernel.signature, args, kwargs)
    specs = [spec_of_argument("argument", value, None) for value in values]
    flat = flatten(specs, values)
    written = compiler.summarize(func).written
    is_disjoint = not share_memory(func.header, written, flat)
    run = _made_fast(func, layout_of(func.header, flat, is_disjoint=is_disjoint), os.getpid())
    if run is None or not is_disjoint:
        return kernel.interpret(*args, **kwargs)
    return run(flat)


@lru_cache(maxsize=16)
def _made_fast(func: PrimFunc, layout: Layout, process: int) -> Runner | None:
    """How `func` is run when it is made fast; None if that changes nothing.

    Children, in which the compiler may be another one, ask anew.
    """
    fast = compiler.make_fast(func, None, in_c_order=layout.in_c_order).func
    return None if fast is func else compile_func(fast)


def bound_of_order(terms: int, dtype: Any, magnitude: float) -> float:
    """How far apart two sums of the same `terms` can be, added in different orders.

    Each is within `terms * unit roundoff * magnitude` of the exact sum, `magnitude` being the sum
    of the sizes of its terms, to first order (Higham, Accuracy and Stability, section 4.2); a term
    that is a product has one more rounding, which `fma` leaves out. Parts of complex products are
    sums of two.
    """
    roundoff = float(np.finfo(dtype).eps) / 2
    return 2.0 * (2 * terms + 2) * roundoff * magnitude


def assert_three_agree(kernel: Any, args: Sequence[Any], *, magnitude: float | None = None) -> None:
    """Fail unless plain program, optimised program and native code agree on these arguments.

    `magnitude` bounds the sum of the sizes of the terms of any sum; without it, the numbers in
    sight do (`allowed_error`).
    """
    plain = run_once(run_interpreted, kernel, args)
    fast = run_once(run_optimized, kernel, args)
    native = run_once(run_native, kernel, args)
    assert_same_outcome(native, fast)
    if is_ordered(kernel.prim_func(*args)):
        assert_same_outcome(fast, plain)
        return
    assert type(fast.error) is type(plain.error), (fast.error, plain.error)
    if plain.error is None:
        _assert_close_outcome(fast, plain, magnitude)


def _assert_close_outcome(actual: Outcome, expected: Outcome, magnitude: float | None) -> None:
    pairs = [(actual.result, expected.result)]
    pairs += zip(actual.arguments, expected.arguments, strict=True)
    seen = [array for _, wanted in pairs for array in _arrays(wanted)]
    for got, wanted in pairs:
        for ours, theirs in zip(_arrays(got), _arrays(wanted), strict=True):
            assert ours.dtype == theirs.dtype
            if theirs.dtype.kind not in "fc":
                np.testing.assert_array_equal(ours, theirs)
                continue
            most = max((array.size for array in seen), default=1)
            bound = (
                allowed_error(theirs.dtype, seen)
                if magnitude is None
                else bound_of_order(most, theirs.dtype, magnitude)
            )
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=bound)


def _arrays(value: Any) -> list[Any]:
    if isinstance(value, _SEQUENCE):
        return [array for item in value for array in _arrays(item)]
    return [] if value is None else [np.asarray(value)]
