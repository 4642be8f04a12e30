"""Run scheduled graphs of tensors against the same graphs without a schedule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import hybridjit as hj
from hybridjit.tensors.tensor import Placeholder, Tensor
from tests.support.oracle import assert_same

Array = Any
_ARRAY: type[Any] = np.ndarray


def make_inputs(
    args: Sequence[Any], sizes: dict[str, int] | None = None, seed: int = 0
) -> list[Array]:
    """Random arrays for the tensors among `args`; variables get their value from `sizes`."""
    generator = np.random.default_rng(seed)
    return [_make_input(arg, sizes or {}, generator) for arg in args]


def _make_input(arg: Any, sizes: dict[str, int], generator: np.random.Generator) -> Any:
    if not isinstance(arg, Tensor):
        return sizes[arg.expr.name]
    shape = [size if isinstance(size, int) else sizes[size.expr.name] for size in arg.shape]
    if not isinstance(arg.op, Placeholder):
        return np.full(shape, 99, arg.dtype.numpy)  # what was there must not show
    if arg.dtype.is_integer:
        return generator.integers(-9, 9, shape).astype(arg.dtype.numpy)
    return generator.uniform(-1, 1, shape).astype(arg.dtype.numpy)


def run_both(s: Any, args: Sequence[Any], inputs: Sequence[Array], ulp: int = 0) -> list[Array]:
    """The arrays after the scheduled function; fail unless the schedule changes nothing.

    The graph without a schedule and the scheduled one, both in the interpreter and both natively:
    the two ways may differ from each other in the last bits of math functions.
    """
    plain, scheduled = hj.build(list(args)), hj.build(s, args)
    found: list[Array] = []
    for expect, run in ((plain.interpret, scheduled.interpret), (plain, scheduled)):
        expected, found = [_copy(item) for item in inputs], [_copy(item) for item in inputs]
        expect(*expected)
        run(*found)
        assert_same(found, expected, ulp=ulp)
    return found


def _copy(item: Any) -> Any:
    return item.copy() if isinstance(item, _ARRAY) else item
