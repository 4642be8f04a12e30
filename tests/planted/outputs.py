"""Bugs planted in `out=`: where native code writes to arrays of the caller itself.

Each must be noticed by comparing calls with the interpreter, whose results are copied.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir as llvm_ir

from hybridjit import hybrid
from hybridjit.codegen import kernel as kernels
from hybridjit.codegen.dispatcher import out_array
from hybridjit.codegen.llvm_types import I1
from hybridjit.hybrid import output_tensor
from hybridjit.runtime import compiler, out_arrays
from hybridjit.runtime.dispatch import dispatcher
from tests.planted.bugs import Bug, always, replaced
from tests.runtime.native_calls import AnyKernel, through_python, warm
from tests.support.direct_outputs import LENGTH, mirrored, run_on_views
from tests.support.oracle import fresh


@hybrid.script
def ends_halfway(a: Any, n: Any) -> Any:
    b = output_tensor((6,), "float64")
    for i in range(6):
        if i == n:
            raise ValueError("halfway")
        b[i] = a[i]
    return b


@hybrid.script
def partly_set(a: Any, n: Any) -> Any:
    b = np.zeros(6)
    for i in range(1, 6):
        b[i] = a[i]
    return b


def _in_shared_memory(make_way: Callable[[AnyKernel], Callable[..., Any]]) -> None:
    made = fresh(mirrored)
    warm(made, np.ones(LENGTH), np.ones(LENGTH))
    way = make_way(made)
    for views in (
        ((60, 1), (150, 1), (61, 1)),
        ((99, -1), (150, 1), (60, 1)),
        ((150, 1), (60, 1), (60, 1)),
    ):
        assert run_on_views(way, views) == run_on_views(mirrored.interpret, views)


def native_calls_in_shared_memory() -> None:
    dispatcher.find_dispatcher.cache_clear()  # it is emitted once for all kernels
    _in_shared_memory(lambda kernel: kernel)


def python_calls_in_shared_memory() -> None:
    _in_shared_memory(through_python)


def compared_on(kernel: AnyKernel, number: int) -> Callable[[], None]:
    """Calls on an array with something in it leave there what the interpreter leaves."""

    def check() -> None:
        made = fresh(kernel)
        for way in (through_python(made), *[made] * 3):
            assert _left_by(way, number) == _left_by(kernel.interpret, number)

    check.__name__ = kernel.__name__
    return check


def _left_by(way: Callable[..., Any], number: int) -> list[float]:
    out = np.full(6, 7.0)
    try:
        way(np.arange(6.0), number, out=out)
    except ValueError:
        out[0] += 0.5
    return out.tolist()


def apart(w: Any, one: Any, other: Any) -> Any:
    return llvm_ir.Constant(I1, 0)


def all_outputs(func: Any) -> Any:
    return frozenset(func.outputs)


BUGS = (
    Bug(
        "native calls do not look where out lies",
        [replaced(out_array, "overlap", apart)],
        native_calls_in_shared_memory,
    ),
    Bug(
        "calls through Python do not look where out lies",
        [replaced(out_arrays, "_meet", always(False))],
        python_calls_in_shared_memory,
    ),
    Bug(
        "code that ends halfway writes to out",
        [replaced(kernels, "_only_signals", always(True))],
        compared_on(ends_halfway, 3),
    ),
    Bug(
        "code that does not set all of it writes to out",
        [replaced(compiler, "_find_set_outputs", all_outputs)],
        compared_on(partly_set, 0),
    ),
)
