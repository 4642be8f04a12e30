"""Indices that count in blocks: which values they take, told by the text alone.

i + r                 for i in range(0, n, 6), r below min(n - i, 6): all values below n
j + p * 32 + l        for j in range(0, n, 128), p below ceil(min(n - j, 128) / 32), l below 32:
                      all values below n, and maybe some from n on
e // 56, e % 56       all places of an array with rows of 56, if e takes all values below its size
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hybridjit.arith.linear import Linear, linear_form
from hybridjit.arith.ranges import constant, times
from hybridjit.ir.expr import Add, Const, Expr, FloorDiv, Ge, Load, Min, Mod, Sub, Var
from hybridjit.ir.stmt import For
from hybridjit.ir.visit import walk
from hybridjit.record import record


@record
class Counter:
    """The values of a loop: multiples of `step` below `stop`."""

    stop: Expr
    step: int

    @staticmethod
    def of(loop: For, stop: Expr) -> Counter | None:
        """The values of a loop from 0 on to `stop`; None if it goes down."""
        step = constant(loop.step)
        return None if step is None or step < 1 else Counter(stop, step)

    @property
    def count(self) -> int | None:
        """How many there are, if that is known."""
        stop = constant(self.stop)
        return None if stop is None else max(0, -(-stop // self.step))


def is_last_round(cond: Expr, var: Var, counter: Counter) -> bool:
    """True if a loop has rounds, and `cond` holds in the last one: `var + step >= stop`."""
    if counter.count is None or counter.count < 1 or not isinstance(cond, Ge):
        return False
    return cond.rhs == counter.stop and linear_form(cond.lhs) == Linear({var: 1}, counter.step)


def merge_indices(indices: Sequence[Expr], shape: Sequence[Expr]) -> list[tuple[Expr, Expr]]:
    """Each index with the size of its axis; one for several that are made of one number."""
    merged: list[tuple[Expr, Expr]] = []
    for index, size in zip(reversed(indices), reversed(shape), strict=True):
        if merged:
            last, row = merged[-1]
            if isinstance(last, Mod) and last.rhs == row and constant(row) is not None:
                number = _number_of(index, size, last.lhs, row)
                if number is not None:
                    merged[-1] = (number, times(size, row))
                    continue
        merged.append((index, size))
    return merged[::-1]


def _number_of(index: Expr, size: Expr, number: Expr, row: Expr) -> Expr | None:
    """What the indices `index, number % row` are the two digits of."""
    rows = _divided(FloorDiv(number, row))
    if isinstance(index, Mod) and index.rhs == size:
        return Mod(number, times(size, row)) if _divided(index.lhs) == rows else None
    return number if _divided(index) == rows else None


def _divided(index: Expr) -> tuple[Expr, int]:
    """A number, and what it is divided by in all."""
    divisor = 1
    while isinstance(index, FloorDiv):
        width = constant(index.rhs)
        if width is None or width < 1:
            break
        index, divisor = index.lhs, divisor * width
    return index, divisor


def find_digits(
    index: Expr, size: Expr, loops: Mapping[Var, Counter], values: Mapping[Var, Expr]
) -> list[Var] | None:
    """The loops that an index counts with, each by as much as those inside of it cover, if it takes
    all values below `size`.
    """
    form = linear_form(index)
    if form is None or form.constant != 0 or not form.terms or _may_change(size):
        return None
    if any(var not in loops or factor < 1 for var, factor in form.terms.items()):
        return None
    digits = sorted(form.terms.items(), key=lambda digit: digit[1] * loops[digit[0]].step)
    *inner, (first, factor) = digits
    block = _Block(size, first, values)
    reach = 1  # the digits so far take all values below it, as far as the block goes
    for var, weight in inner:
        count = block.count_digit(loops[var], reach)
        if count is None or weight * loops[var].step != reach:
            return None
        reach *= count
    counter = loops[first]
    if factor * counter.step != reach:
        return None
    is_all = factor == 1 and counter.stop == size
    if not is_all and (
        block.was_cut or counter.count is None or Const(reach * counter.count) != size
    ):
        return None
    return [var for var, _ in digits]


def _may_change(size: Expr) -> bool:
    return any(isinstance(node, Load) for node in walk(size))


@record(frozen=False)
class _Block:
    """What one value of the outermost digit of an index covers, which ends where the array does."""

    size: Expr
    first: Var
    values: Mapping[Var, Expr]
    was_cut: bool = False

    def count_digit(self, counter: Counter, reach: int) -> int | None:
        """How many values a digit has, in a block that is not cut."""
        if counter.count is not None:
            return counter.count
        if counter.step != 1:
            return None
        self.was_cut = True
        match counter.stop:
            case FloorDiv(Add(left, Const(int(rest))), Const(int(width))) if rest == width - 1:
                length = self._find_length(left)
                is_whole = length is not None and width == reach
                return -(-length // width) if length is not None and is_whole else None
            case FloorDiv(left, Const(int(width))):
                length, size = self._find_length(left), constant(self.size)
                if length is None or size is None or width != reach:
                    return None
                return None if length % width or size % width else length // width
            case left:
                return self._find_length(left) if reach == 1 else None

    def _find_length(self, left: Expr) -> int | None:
        """The length of a block, if `left` is what is left of it: `min(size - first, length)`."""
        left = self.values.get(left, left) if isinstance(left, Var) else left
        match left:
            case Min(rest, Const(int(length))) if rest == Sub(self.size, self.first):
                return length
            case _:
                return None
