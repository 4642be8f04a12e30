"""Steps that a stage takes as soon as one of the axes that they make is named.

`cache_write` and `transform_layout` leave a stage with the axes of its tensor. In TVM one of them
loses the splits from before, the other makes new axes; here either may be used, by naming it:

    io, j, ii = s[C].transform_layout(lambda i, j: (i // 4, j, i % 4))
    s[C].vectorize(ii)      # now C has the axes io, j, ii; with s[C].vectorize(j_of_C) it has not
"""

from __future__ import annotations

from collections.abc import Sequence

from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Const, Expr, FloorDiv, Mod, Var
from hybridjit.record import record
from hybridjit.schedule.classic.inspection import made_by
from hybridjit.schedule.classic.steps import Phase, Reorder, Split, Step, TransformLayout
from hybridjit.schedule.index_map import IndexMap
from hybridjit.schedule.primitives.split import extent_of_factor
from hybridjit.tensors.tensor import Axis, Compute, Operation


@record(eq=False)
class Waiting:
    """Steps on data axes, and the axes that a stage has after them."""

    leaves: tuple[Axis, ...]
    steps: tuple[Step, ...]

    def made(self, axis: Axis) -> bool:
        """Whether one of the steps made `axis`."""
        return any(axis.var is made.var for step in self.steps for made in made_by(step))


def is_shaping(step: Step) -> bool:
    """Whether a step changes the axes of its stage."""
    return step.phase is Phase.SHAPE


def find_layout_axes(index_map: IndexMap, op: Operation, steps: Sequence[Step]) -> Waiting | None:
    """The axes that run over the elements as a map lays them out; None if it does not only split.

    `steps` are those that the stage has, the layout among them.
    """
    layouts = [step for step in steps if isinstance(step, TransformLayout)]
    if not isinstance(op, Compute) or len(layouts) > 1 or any(map(is_shaping, steps)):
        return None
    if len(index_map.inputs) != len(op.axis):
        return None
    digits = [_find_digit(output) for output in index_map.outputs]
    made: dict[_Digit, Axis] = {}
    splits: list[Step] = []
    for var, axis in zip(index_map.inputs, op.axis, strict=True):
        own = sorted((d for d in digits if d is not None and d.var is var), key=lambda d: d.divisor)
        if not _are_all(own):
            return None
        for digit in own[:-1]:
            parts = split_axis(axis, digit.modulus or 1)
            splits.append(Split(axis, *parts, digit.modulus, None))
            axis, made[digit] = parts
        made[own[-1]] = axis
    if None in digits or len({*digits}) < len(digits):
        return None
    order = tuple(made[digit] for digit in digits if digit is not None)
    return Waiting((*order, *op.reduce_axis), (*splits, Reorder(order)))


def split_axis(
    axis: Axis, factor: int | Expr | None, nparts: int | Expr | None = None
) -> tuple[Axis, Axis]:
    """The axes that a split makes: `factor` is how long the inner one is, `nparts` the outer."""
    extent = simplify(axis.stop - axis.start)
    given = factor if nparts is None else nparts
    assert given is not None
    known = extent_of_factor(given)
    rest = simplify((extent + (known - 1)) // known)
    sizes = (rest, known) if nparts is None else (known, rest)
    first, second = (
        Axis(Var(f"{axis.name}_{k}"), Const(0), size, axis.kind) for k, size in enumerate(sizes)
    )
    return first, second


@record
class _Digit:
    """`var // divisor % modulus`; without a modulus, all that is left of it."""

    var: Var
    divisor: int
    modulus: int | None


def _find_digit(expr: Expr) -> _Digit | None:
    match expr:
        case Var():
            return _Digit(expr, 1, None)
        case FloorDiv(x, Const(int(divisor))):
            inner = _find_digit(x)
            if inner is None or (inner.modulus or 0) % divisor:
                return None
            modulus = None if inner.modulus is None else inner.modulus // divisor
            return _Digit(inner.var, inner.divisor * divisor, modulus)
        case Mod(x, Const(int(modulus))):
            inner = _find_digit(x)
            if inner is None or (inner.modulus or 0) % modulus:
                return None
            return _Digit(inner.var, inner.divisor, modulus)
        case _:
            return None


def _are_all(digits: Sequence[_Digit]) -> bool:
    """Whether these, from the last one on, are all digits of a number."""
    divisor = 1
    for digit in digits[:-1]:
        if digit.divisor != divisor or digit.modulus is None:
            return False
        divisor *= digit.modulus
    return bool(digits) and digits[-1].divisor == divisor and digits[-1].modulus is None
