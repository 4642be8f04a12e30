"""Whether what was found as an example of a conflict can be one.

Sets of instances are supersets where a program is not affine: an index without a text may be any,
and a product by a size is known only as far as it matters. A point of such a set need not be what
the program does. Its numbers, put into the program, tell: an index that comes out as another one,
or an iteration that its loops do not have, and it is no example.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hybridjit.analysis.instances import AffineAccess, Instances, Part
from hybridjit.arith.simplify import simplify
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import Const, Expr, Load, Var
from hybridjit.ir.stmt import Store
from hybridjit.ir.visit import substitute, walk
from hybridjit.record import record


@record
class Run:
    """One iteration of a statement, and one of its accesses."""

    statement: Instances
    access: AffineAccess | None
    iteration: Sequence[int]


def common_element(
    part: Part, runs: Sequence[Run], element: Sequence[int], parameters: Mapping[str, int]
) -> tuple[int, ...] | None:
    """The element that all of `runs` touch; None if that is not so.

    It is `element`, which sets say, where what they do cannot be worked out.
    """
    names = part.names
    sizes = {var: parameters[text] for text, var in names.parameters.items() if text in parameters}
    numbers = [_Numbers(names.values, sizes, run) for run in runs]
    if not all(each.are_in_loops() for each in numbers):
        return None
    touched = {each.element(element) for each in numbers}
    return touched.pop() if len(touched) == 1 else None


class _Numbers:
    """What expressions are in one iteration, for given values of parameters."""

    def __init__(self, bindings: Mapping[Var, Expr], sizes: Mapping[Var, int], run: Run) -> None:
        self._bindings, self._run = bindings, run
        counted = zip(run.statement.loops, run.iteration, strict=False)
        values = {
            **sizes,
            # Of other loops it is the number of the iteration that is known.
            **{loop.var: value for loop, value in counted if isinstance(loop.step, Const)},
        }
        self._known: dict[Var, Expr] = {
            var: Const(value) for var, value in values.items() if var.of is INT64
        }

    def are_in_loops(self) -> bool:
        """Whether the loops around have the iteration."""
        return all(
            self._in_order(first, loop.var, last)
            for loop in self._run.statement.loops
            if isinstance(loop.step, Const) and isinstance(step := loop.step.value, int)
            for first, last in [
                (loop.start, loop.stop - 1) if step > 0 else (loop.stop + 1, loop.start)
            ]
        )

    def _in_order(self, *exprs: Expr) -> bool:
        known = [found for found in map(self._value, exprs) if found is not None]
        return known == sorted(known)

    def element(self, otherwise: Sequence[int]) -> tuple[int, ...]:
        """What the access touches; on axes that are not known, what it is `otherwise`."""
        access = self._run.access
        if access is None or not isinstance(access.node, Load | Store):
            return tuple(otherwise)
        indices = map(self._value, access.node.indices)
        sizes = map(self._value, access.buffer.shape)
        return tuple(
            place if index is None else _from_start(index, size, place)
            for index, size, place in zip(indices, sizes, otherwise, strict=True)
        )

    def _value(self, expr: Expr) -> int | None:
        """The integer `expr`, if it does not depend on what arrays hold."""
        found = simplify(self._with_numbers(expr))
        return found.value if isinstance(found, Const) and isinstance(found.value, int) else None

    def _with_numbers(self, expr: Expr) -> Expr:
        for node in walk(expr):
            if isinstance(node, Var) and node not in self._known and node in self._bindings:
                self._known[node] = simplify(self._with_numbers(self._bindings[node]))
        return substitute(expr, self._known)


def _from_start(index: int, size: int | None, otherwise: int) -> int:
    """An index that is negative counts from the end."""
    if index >= 0:
        return index
    return otherwise if size is None else index + size
