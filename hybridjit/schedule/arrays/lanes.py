"""Reductions along one axis, in lanes: partial results that are updated side by side.

    for k in range(0, n, 32):                   32 lanes of float64: 4 vectors of 512 bits
        for l in vectorize(32):
            partial[l] = partial[l] + x[k + l]
    partial[0] + partial[16], ...               then halves are combined until one is left

One sum after the other would wait for each addition; lanes do not. The order of the additions
depends on the type and on nothing else, so every machine, and the interpreter, gives the same bits.
Complex results are kept as their parts, apart from each other: pairs would have to be taken
apart and put together again for each element.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hybridjit.arith.ranges import constant, minus, plus, tidy, times
from hybridjit.ir.dtype import DType
from hybridjit.ir.expr import Buffer, Call, Const, Expr, FloorDiv, Load, Lt
from hybridjit.ir.stmt import If, Stmt, Store, seq
from hybridjit.record import record
from hybridjit.schedule.arrays.builder import Builder

# With fewer rounds than this, one vector is enough: there is less to combine in the end.
MIN_ROUNDS = 2

Merge = Callable[[Expr, Expr], Expr]
Update = Callable[[Sequence[Expr], Expr], Sequence[Expr]]


@record
class Result:
    """One of the results of a reduction: what it starts with, and how two parts are combined."""

    start: Const
    merge: Merge


@record
class Shape:
    """So many vectors of so many lanes each: both are powers of two."""

    vectors: int
    width: int


@record
class _Parts:
    """Memory for partial results: one array, or one for the real parts and one for the others."""

    code: Builder
    buffers: tuple[Buffer, ...]

    @staticmethod
    def of(code: Builder, dtype: DType, *sizes: int) -> _Parts:
        count = 2 if dtype.is_complex else 1
        made = (code.local("partial", dtype.component, *sizes) for _ in range(count))
        return _Parts(code, tuple(made))

    def load(self, place: tuple[Expr, Expr]) -> Expr:
        """The result at a place."""
        loads = tuple(Load(buffer, place) for buffer in self.buffers)
        return loads[0] if len(loads) == 1 else Call("complex", loads)

    def store(self, place: tuple[Expr, Expr], value: Expr) -> None:
        """Set the result at a place."""
        values = [value]
        if len(self.buffers) > 1:
            value = self.code.let(value, "result")
            values = [Call("real", (value,)), Call("imag", (value,))]
        for buffer, part in zip(self.buffers, values, strict=True):
            self.code.emit(Store(buffer, place, part))


@record
class Lanes:
    """Code for the partial results of reductions that run side by side, in equally many lanes."""

    code: Builder
    results: Sequence[Result]
    vectors: int
    width: int
    partial: Sequence[_Parts]

    @staticmethod
    def of(code: Builder, results: Sequence[Result], shape: Shape) -> Lanes:
        """Partial results in new memory."""
        sizes = shape.vectors, shape.width
        partial = [_Parts.of(code, part.start.dtype, *sizes) for part in results]
        return Lanes(code, results, *sizes, partial)

    def reduce(self, size: Expr, update: Update) -> Sequence[Expr]:
        """Combine `size` elements; `update(old, k)` gives the `old` results with element `k`."""
        self._clear()
        self._fill(size, update)
        return self._merged()

    def _clear(self) -> None:
        """Set every lane to its start."""

        def one(v: Expr, n: Expr) -> None:
            for partial, result in zip(self.partial, self.results, strict=True):
                partial.store((v, n), result.start)

        self._each(one)

    def _fill(self, size: Expr, update: Update) -> None:
        """Update the lanes with `size` elements, as many at once as there are lanes."""
        known, step = constant(size), self.vectors * self.width
        whole = tidy(times(FloorDiv(size, Const(step)), Const(step)))
        if known is not None:
            whole = Const(known // step * step)

        def add(at: Expr, v: Expr, n: Expr) -> None:
            old = [partial.load((v, n)) for partial in self.partial]
            for partial, value in zip(self.partial, update(old, at), strict=True):
                partial.store((v, n), value)

        def place(first: Expr, v: Expr, n: Expr) -> Expr:
            return plus(first, plus(times(v, Const(self.width)), n))

        self.code.each(
            "k", whole, lambda k: self._each(lambda v, n: add(place(k, v, n), v, n)), step=step
        )
        for vector in range(self.vectors):
            self._rest(whole, size, Const(vector), lambda v, n: add(place(whole, v, n), v, n))

    def _rest(
        self, whole: Expr, size: Expr, vector: Const, add: Callable[[Expr, Expr], None]
    ) -> None:
        """Update one vector with what is left after `whole` elements, as far as that goes."""
        first = plus(whole, times(vector, Const(self.width)))
        left = constant(minus(size, first))
        if left is not None and left <= 0:
            return
        is_whole = left is not None and left >= self.width

        def one(n: Expr) -> None:
            inside = None if is_whole else Lt(plus(first, n), size)
            self.code.only_if(inside, lambda: add(vector, n))

        self.code.lanes("l", self.width, one)

    def _merged(self) -> Sequence[Expr]:
        """Combine each lane of the first half with one of the second, until one is left."""
        vectors, width = self.vectors, self.width
        while vectors > 1:
            vectors //= 2
            for vector in range(vectors):
                self._merge(width, vector, (vector + vectors, 0))
        while width > 1:
            width //= 2
            self._merge(width, 0, (0, width))
        return [partial.load((Const(0), Const(0))) for partial in self.partial]

    def _merge(self, width: int, vector: int, other: tuple[int, int]) -> None:
        """Combine the first lanes of a vector with those of another one, or with later ones."""

        def one(n: Expr) -> None:
            for partial, result in zip(self.partial, self.results, strict=True):
                place = Const(vector), n
                second = partial.load((Const(other[0]), plus(n, Const(other[1]))))
                partial.store(place, result.merge(partial.load(place), second))

        self.code.lanes("l", width, one)

    def _each(self, body: Callable[[Expr, Expr], None]) -> None:
        code = self.code
        code.unrolled(
            "v", self.vectors, lambda v: code.lanes("l", self.width, lambda n: body(v, n))
        )


def combine_in_lanes(
    code: Builder, results: Sequence[Result], size: Expr, update: Update, most: Shape
) -> Sequence[Expr]:
    """Combine the elements 0, 1 ... `size` - 1, in as many lanes as that number deserves."""
    few = most.width * most.vectors * MIN_ROUNDS
    known, one = constant(size), Shape(1, most.width)
    if known is not None:
        return Lanes.of(code, results, one if known < few else most).reduce(size, update)
    totals = [code.register("total", result.start.dtype) for result in results]
    sides: list[Stmt] = []
    for shape in (one, most):
        lanes = Lanes.of(code, results, shape)
        with code.collect() as stmts:
            for total, value in zip(totals, lanes.reduce(size, update), strict=True):
                code.emit(Store(total, (), value))
        sides.append(seq(*stmts))
    code.emit(If(Lt(size, Const(few)), sides[0], sides[1]))
    return [Load(total, ()) for total in totals]
