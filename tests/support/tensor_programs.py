"""Run graphs of tensors in every way there is, and compare with what NumPy gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from hybridjit import te
from hybridjit.frontend.parse import parse_text
from hybridjit.interp.run import interpret
from hybridjit.ir.equal import structural_equal
from hybridjit.ir.expr import ExternCall
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.visit import walk
from hybridjit.runtime import compiler
from hybridjit.runtime.native import layout_of, load_native
from tests.support.oracle import fresh_copies

Array = Any

# What a program must overwrite: no sum, product or extremum gives it by chance.
JUNK = 77


def run_natively(func: PrimFunc, args: Sequence[Any]) -> object:
    """Compile `func` for the layout of `args`, and run it on them."""
    layout = layout_of(func.header, args, is_disjoint=True)
    return load_native(func.header, layout, compiler.build(func, layout))(args)


def run_tensors(
    args: Sequence[Any], values: Sequence[Any], *, native: bool = True
) -> list[list[Array]]:
    """What the function of `args` leaves in its arrays: once interpreted, once native.

    `values` has one value for each of `args`, or only for the first ones: the arrays of the others
    are made here, full of junk.
    """
    func = te.create_prim_func(args)
    callees = [node.callee for node in walk(func.body) if isinstance(node, ExternCall)]
    again = parse_text(str(func), {callee.name: callee for callee in callees})
    assert structural_equal(again, func), f"does not parse back:\n{func}"
    found: list[list[Array]] = []
    for run in (interpret, run_natively) if native else (interpret,):
        passed = fresh_copies(values)
        passed += [junk(tensor) for tensor in args[len(passed) :]]
        run(func, passed)
        found.append(passed)
    return found


def junk(tensor: te.Tensor) -> Array:
    """An array for a tensor of constant sizes, full of what it must not keep."""
    return np.full(tensor.shape, JUNK).astype(tensor.dtype.numpy)


def assert_computes(
    args: Sequence[Any],
    values: Sequence[Any],
    expected: Array,
    rtol: float = 0.0,
) -> None:
    """Fail unless the last of `args` hold `expected` after a run, interpreted and native.

    `expected` is an array, or a list of them.
    """
    wanted = cast("list[Array]", expected) if isinstance(expected, list) else [expected]
    runs = run_tensors(args, values)
    for way, arrays in zip(("interpreted", "natively"), runs, strict=True):
        for actual, array in zip(arrays[len(args) - len(wanted) :], wanted, strict=True):
            assert actual.dtype == array.dtype, f"{way}: {actual.dtype}, not {array.dtype}"
            np.testing.assert_allclose(actual, array, rtol=rtol, atol=rtol, err_msg=way)
