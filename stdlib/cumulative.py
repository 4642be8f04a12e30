"""Sums and products of all elements up to each one."""

from __future__ import annotations

import operator as operators
from collections.abc import Callable
from typing import Any

from hybridjit.ir.expr import Var
from hybridjit.record import record
from hybridjit.stdlib.parts.accumulation import convert, sum_type
from hybridjit.stdlib.parts.precision import working_type
from hybridjit.stdlib.parts.shapes import (
    are_equal,
    broadcast,
    flatten,
    normalize_axis,
    read_dtype,
    replaced,
)
from hybridjit.stdlib.parts.types import T
from hybridjit.stdlib.running.compiled import scheduled_by
from hybridjit.stdlib.running.operator import operator
from hybridjit.stdlib.running.schedules import scan_inside
from hybridjit.te import compute, const, if_then_else, placeholder, scan
from hybridjit.te import min as least
from hybridjit.tensors.tensor import index_expr

RECIPE = scheduled_by(scan_inside)


@record
class Accumulation:
    """How an element is combined with all before it; `identity` changes nothing."""

    name: str
    combine: Callable[[Any, Any], Any]
    identity: int

    def along(self, x: Any, axis: int | None, *, dtype: object, is_exclusive: bool) -> Any:
        """The combination of all elements of `x` up to each one along an axis."""
        x = flatten(f"{self.name}_flat", x) if axis is None else x
        place = 0 if axis is None else normalize_axis(self.name, x, axis)
        wanted = sum_type(x.dtype) if dtype is None else read_dtype(self.name, dtype)
        values = convert(f"{self.name}_converted", x, working_type(wanted))
        if are_equal(x.shape[place], 0):
            return broadcast(lambda value: value.astype(wanted), x, name=self.name)
        return convert(self.name, self._scan(values, place, is_exclusive), wanted)

    def _scan(self, x: Any, axis: int, is_exclusive: bool) -> Any:
        size = x.shape[axis]
        # A size of the run may be 0, and there is no first step then.
        steps = 1 if isinstance(size, int) else least(size, 1)
        first = replaced(x.shape, axis, steps)
        state = placeholder(x.shape, x.dtype, f"{self.name}_state")

        def step(*indices: Any) -> Any:
            before = replaced(indices, axis, indices[axis] - 1)
            found: Any = state[before]
            if not isinstance(size, int) and not isinstance(index_expr(size), Var):
                # That the first step is the init's is not seen of a product of sizes.
                found = if_then_else(indices[axis] > 0, found, const(self.identity, x.dtype))
            return self.combine(found, x[before if is_exclusive else indices])

        def start(*indices: Any) -> Any:
            return const(self.identity, x.dtype) if is_exclusive else x[indices]

        init = compute(first, start, f"{self.name}_first")
        update = compute(x.shape, step, f"{self.name}_step")
        return scan(init, update, state, name=self.name, axis=axis)


SUM = Accumulation("cumsum", operators.add, 0)
PRODUCT = Accumulation("cumprod", operators.mul, 1)


@operator(recipe=RECIPE)
def cumsum(x: T, axis: int | None = None, *, dtype: Any = None, exclusive: bool = False) -> T:
    """The sum of all elements up to each one along an axis, or along all of them flattened.

    With exclusive=True an element itself does not count. Types are those of `sum`.

    >>> hs.cumsum(np.array([1, 2, 3]))
    array([1, 3, 6])
    """
    return SUM.along(x, axis, dtype=dtype, is_exclusive=exclusive)


@operator(recipe=RECIPE)
def cumprod(x: T, axis: int | None = None, *, dtype: Any = None, exclusive: bool = False) -> T:
    """The product of all elements up to each one along an axis, or along all of them flattened.

    With exclusive=True an element itself does not count. Types are those of `prod`.

    >>> hs.cumprod(np.array([1, 2, 3]), exclusive=True)
    array([1, 1, 2])
    """
    return PRODUCT.along(x, axis, dtype=dtype, is_exclusive=exclusive)
