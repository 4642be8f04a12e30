"""Prove that different iterations of a loop touch different elements of an array.

Relies on: indices inside their arrays, so that different ones are different elements: a function
that `is_checked`.
"""

from __future__ import annotations

from hybridjit.arith.linear import Linear, linear_form
from hybridjit.ir.expr import Const, Expr, Var
from hybridjit.ir.stmt import For, Let
from hybridjit.ir.visit import walk


def prove_distinct(loop: For, indices: tuple[Expr, ...]) -> bool:
    """True if elements at `indices`, used in the body of `loop`, differ between iterations.

    One index has to be `c * i + rest`, i being the loop's variable, where what the rest may be
    inside an iteration spans less than c: `i`, `32 * i + j` with j in range(32).
    """
    scope = _Scope(loop)
    return any(scope.separates(index) for index in indices)


class _Scope:
    """The variables bound in a loop: ranges of those that count, forms of the others."""

    def __init__(self, loop: For) -> None:
        self.loop = loop
        self.spans: dict[Var, int | None] = {}
        self.lets: dict[Var, Linear | None] = {}
        for node in walk(loop.body):
            if isinstance(node, For):
                self.spans[node.var] = self._span(node)
            elif isinstance(node, Let):
                self.lets[node.var] = linear_form(node.value, self._form)

    def _form(self, var: Var) -> Linear | None:
        return self.lets.get(var, Linear({var: 1}))

    def _span(self, loop: For) -> int | None:
        """The difference between the last and the first value of a loop's variable, at most.

        Its first value has to be the same in all iterations of the loop outside.
        """
        start, stop = linear_form(loop.start, self._form), linear_form(loop.stop, self._form)
        if start is None or stop is None:
            return None
        distance = stop.plus(start, -1)
        inside = {self.loop.var, *self.spans}
        if distance.terms or not inside.isdisjoint(start.terms):
            return None
        return max(0, abs(distance.constant) - 1)

    def separates(self, index: Expr) -> bool:
        form = linear_form(index, self._form)
        if form is None:
            return False
        step = self.loop.step
        scale = form.terms.get(self.loop.var, 0)
        if not isinstance(step, Const):
            return False
        spread = 0
        for var, coefficient in form.terms.items():
            span = self.spans.get(var, 0)  # what is bound outside is the same in all iterations
            if span is None:
                return False
            spread += 0 if var is self.loop.var else abs(coefficient) * span
        return abs(scale * int(step.value.real)) > spread
