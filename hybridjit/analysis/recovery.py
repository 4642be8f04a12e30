"""Which loop variables can be computed back from the element that an iteration accesses.

c[i, j]         i and j
c[i, i + j]     i from the first index, then j from the second
c[4 * i + j]    both when j stays below 4: a number in mixed radix
c[i + j]        neither: 0 + 1 is 1 + 0
c[i - 4]        i only if no index counts from the end while another reaches that far
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from hybridjit.analysis.context import Context
from hybridjit.arith.linear import Linear, linear_form
from hybridjit.ir.expr import Buffer, Const, Expr, Var
from hybridjit.ir.stmt import For
from hybridjit.record import record

# Indices are int64 and wrap. Up to here they cannot have.
_LARGEST_INDEX = 1 << 62
# An index c * i, i stepping by s, meets itself modulo 2^64 after 2^64 / (c * s) iterations. Where
# the number of iterations is not known, this bound on c * s puts it at 2^40, hours away.
_LARGEST_STRIDE = 1 << 24

_Bounds = tuple[Linear | None, Linear | None]


def recover_variables(
    buffer: Buffer, accesses: Sequence[tuple[Expr, ...]], space: IterationSpace, known: set[Var]
) -> set[Var]:
    """`known`, and the loop variables that follow from the element of `buffer` accessed.

    Only the dimensions in which all `accesses` agree are used, so that the same element through
    different accesses gives the same variables too.
    """
    known = set(known)
    pending: list[tuple[Linear, Expr]] = []
    for axis, extent in enumerate(buffer.shape):
        index = space.common_index([indices[axis] for indices in accesses])
        if isinstance(index, Var):
            known.add(index)
        elif index is not None:
            pending.append((index, extent))
    # A variable that one dimension gives away may be what another one waits for.
    progress = True
    while pending and progress:
        before = len(known)
        for index, extent in pending:
            known |= _solve(index, extent, space, known)
        progress = len(known) > before
    return known


@record(frozen=False)
class IterationSpace:
    """The loops in question, outermost first, and all that can be said about their variables.

    `positive` are further variables that are never negative: the run-time dimensions.
    """

    loops: dict[Var, For]
    context: Context
    positive: frozenset[Var]
    _forms: dict[Var, Linear | None] = field(default_factory=dict[Var, "Linear | None"])

    def common_index(self, indices: Sequence[Expr]) -> Linear | Var | None:
        """What all of `indices` are equal to, if they are: a plain loop variable, or a form."""
        first, *others = indices
        same = all(other == first for other in others)
        if same and isinstance(first, Var) and self._counts_up(first):
            return first
        form = self.form(first)
        if form is None or same or all(self.form(other) == form for other in others):
            return form
        return None

    def form(self, expr: Expr) -> Linear | None:
        """`expr` as a linear form over loop variables and values that no loop here changes."""
        return linear_form(expr, self._inline)

    def extremes(self, form: Linear) -> _Bounds:
        """The least and the greatest value of `form`, free of loop variables, where known."""
        return self._extreme(form, 0), self._extreme(form, 1)

    def span(self, form: Linear) -> int | None:
        """The difference of the greatest and the least value of `form`, if it is a constant."""
        low, high = self.extremes(form)
        if low is None or high is None:
            return None
        difference = high.plus(low, -1)
        return None if difference.terms else difference.constant

    def step(self, var: Var) -> int:
        """The distance of any two different values of the loop variable is a multiple of this."""
        loop = self.loops[var]
        step, start = loop.step, self.form(loop.start)
        if not isinstance(step, Const) or start is None:
            return 1
        fixed = not any(other in self.loops for other in start.terms)
        return abs(int(step.value.real)) if fixed else 1

    def is_never_negative(self, form: Linear) -> bool:
        """Whether the form, free of loop variables, is at least 0 wherever its loops run."""
        return form.constant >= 0 and all(
            coefficient > 0 and var in self.positive for var, coefficient in form.terms.items()
        )

    def _counts_up(self, var: Var) -> bool:
        """Whether `var` is the variable of a loop that starts at 0 or above and steps upwards."""
        loop = self.loops.get(var)
        match loop:
            case For(start=Const(int(start)), step=Const(int(step))):
                return start >= 0 and step > 0
            case _:
                return False

    def _inline(self, var: Var) -> Linear | None:
        binding = self.context.bindings.get(var)
        if var in self.loops or binding is None:
            return Linear({var: 1})
        if var not in self._forms:
            form = linear_form(binding.value, self._inline)
            if form is None and binding.loop not in self.loops:
                form = Linear({var: 1})
            self._forms[var] = form
        return self._forms[var]

    def _extreme(self, form: Linear, side: int) -> Linear | None:
        # From the inside out: the bounds of a loop mention only the variables of loops around it.
        for var in reversed(self.loops):
            coefficient = form.terms.get(var, 0)
            if coefficient == 0:
                continue
            bound = self._bounds(var)[side if coefficient > 0 else 1 - side]
            if bound is None:
                return None
            form = form.replace(var, bound)
        return form

    def _bounds(self, var: Var) -> _Bounds:
        """The least and the greatest value of a loop variable, in terms of the loops around."""
        loop = self.loops[var]
        start, stop = self.form(loop.start), self.form(loop.stop)
        if not isinstance(loop.step, Const):
            return None, None
        if loop.step.value.real > 0:
            return start, _shift(stop, -1)
        return _shift(stop, 1), start


def _shift(form: Linear | None, by: int) -> Linear | None:
    return None if form is None else Linear(form.terms, form.constant + by)


def _solve(index: Linear, extent: Expr, space: IterationSpace, known: set[Var]) -> set[Var]:
    """The unknown variables of `index` that its value determines, the known ones being fixed."""
    strides = {
        var: abs(coefficient) * space.step(var)
        for var, coefficient in index.terms.items()
        if var in space.loops and var not in known
    }
    if not strides or not _is_one_element(index, extent, strides, space):
        return set()
    # Largest stride first: a variable is determined when a step of it outweighs all the rest.
    found: set[Var] = set()
    order = sorted(strides, key=lambda var: -strides[var])
    for position, var in enumerate(order):
        rest = Linear({other: index.terms[other] for other in order[position + 1 :]})
        span = space.span(rest)
        if span is None or span >= strides[var]:
            break
        found.add(var)
    return found


def _is_one_element(
    index: Linear, extent: Expr, strides: dict[Var, int], space: IterationSpace
) -> bool:
    """Whether different values of `index` are different elements of a dimension of this extent.

    They are not when some count from the end and others from the start, or when they wrap.
    """
    low, high = space.extremes(index)
    if low is None:
        return False
    if high is not None and _fits(high.plus(low, -1), extent, space):
        return True
    if not space.is_never_negative(low) or low.constant > _LARGEST_INDEX:
        return False
    if high is not None and not high.terms:
        return high.constant <= _LARGEST_INDEX
    return all(stride <= _LARGEST_STRIDE for stride in strides.values())


def _fits(span: Linear, extent: Expr, space: IterationSpace) -> bool:
    """Whether a range of indices with this span is shorter than the dimension."""
    size = space.form(extent)
    return size is not None and space.is_never_negative(size.plus(span, -1).plus(Linear({}, -1)))
