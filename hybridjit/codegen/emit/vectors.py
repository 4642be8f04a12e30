"""Vector loops: every iteration is a lane, and each statement runs in all lanes at once.

A value is *uniform*, one LLVM value for all lanes, or has lanes: a vector, or a ramp for indices.
Where control depends on the lane, a mask says which lanes are active; code under a mask is only
reached if some lane is, so that what is uniform there may run as it stands.

A lane that fails before any lane has stored anything is no reason to report it: an earlier
iteration may fail later in the body. The iterations are run again, one after the other.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from llvmlite import ir

from hybridjit.analysis.limits import loop_extent
from hybridjit.codegen.emit.index_factors import find_factor, join_fused
from hybridjit.codegen.emit.load_groups import LoadGroups
from hybridjit.codegen.emit.memory import ArrayAddress, Register
from hybridjit.codegen.emit.prefetch import PAGE
from hybridjit.codegen.emit.streams import find_step
from hybridjit.codegen.emit.vector_indices import IndexEmitter
from hybridjit.codegen.emit.vector_memory import Access
from hybridjit.codegen.emit.vector_values import (
    Ramp,
    any_lane,
    first_lane,
    has_lanes,
    splat,
    take_lane,
    zeros,
)
from hybridjit.codegen.llvm_types import (
    I64,
    Block,
    Complex,
    Value,
    find_constant,
)
from hybridjit.codegen.sites import Failure
from hybridjit.errors import InternalError, Span
from hybridjit.ir import expr as tir
from hybridjit.ir import stmt as tis
from hybridjit.ir.dtype import INT64, DType
from hybridjit.ir.expr import Const, Expr
from hybridjit.ir.stmt import LoopKind, Stmt, flat_stmts, seq
from hybridjit.ir.visit import walk
from hybridjit.lowering.cut_loops import cut
from hybridjit.lowering.vector_width import count_lanes as count_lanes_of
from hybridjit.lowering.vector_width import find_width
from hybridjit.lowering.vectorize_inner import LANES
from hybridjit.target import Target

MAX_LANES = 1 << 9
# What a loop reads next is asked for ahead if the next round is no further on than this.
_NEAR_BYTES = 512


def count_lanes(loop: tis.For) -> int | None:
    """How many lanes run `loop` at once; None if it is an ordinary loop."""
    lanes = loop_extent(loop)
    if loop.kind is not LoopKind.VECTORIZED or lanes is None:
        return None
    is_power = lanes & (lanes - 1) == 0
    return lanes if is_power and 1 < lanes <= MAX_LANES else None


class VectorEmitter(IndexEmitter):
    """Code for statements, in and outside of vector loops."""

    target: Target
    # With arrays that may overlap, iterations must run one after the other.
    may_vectorize = True
    mask: Value | None = None
    # Whether code in all lanes has set something that outlives the loop, and where the iterations
    # run one after the other, if that is needed.
    has_stored = False
    in_order: Block | None = None
    # The store that goes past the caches, from the begin of a line on.
    streamed: tis.Store | None = None
    # The innermost loop that counts.
    _counting: tis.For | None = None
    # Of the vector loop: the loads that lie between each other, and how many lanes are a vector.
    _groups: LoadGroups
    _piece: int

    # -- statements ----------------------------------------------------------------------------

    def loop(self, loop: tis.For) -> None:
        """Run a loop, or all lanes of a vector loop."""
        lanes = count_lanes(loop)
        if lanes is None and self.is_whole(loop):
            self.run_whole(loop)
            return
        if lanes is None or self.lanes is not None or not self.may_vectorize:
            # What an iteration stores comes before what the next one may fail in.
            self.has_stored |= self.lanes is not None and self._stores(loop)
            super().loop(loop)
            return
        assert isinstance(loop.step, Const)
        self.factors[loop.var] = find_factor(loop.start, self.factors)  # of the first lane
        self.values[loop.var] = Ramp(self.emit(loop.start), int(loop.step.value.real))
        self.lanes, self.has_stored, self.in_order = lanes, False, None
        self._groups = LoadGroups(loop, self.arrays)
        self._piece = count_lanes_of(loop.body, self.target)
        self.loop_vars.append(loop.var)
        self.run(loop.body)
        self.loop_vars.pop()
        self.lanes = None
        if self.in_order is not None:
            self._run_in_order(loop, self.in_order)

    def is_whole(self, loop: tis.For) -> bool:
        """Whether `loop` is to have lanes and is not cut yet: one that runs in parallel, or a
        large one, of which part may be stored past the caches.
        """
        if self.lanes is not None or not self.may_vectorize or loop_extent(loop) == 1:
            return False
        has_lanes = loop.kind is LoopKind.VECTORIZED or (LANES, True) in loop.annotations
        return has_lanes and isinstance(loop.step, Const)

    def run_whole(self, loop: tis.For, like: tis.For | None = None) -> None:
        """Run a vector loop that is not cut; it is a part of another one, `like`, or all of it."""
        vector = dataclasses.replace(loop, kind=LoopKind.VECTORIZED, annotations=())
        parts = cut(vector, find_width(vector, self.target))
        self.run(seq(*parts.names, *parts.loops))

    def count(
        self,
        loop: tis.For,
        origin: tuple[Value, Value],
        bounds: tuple[Value, Value],
        done: Block,
        *,
        polled: bool = False,
    ) -> None:
        """Run the body for each count from the first bound up to the last, then go to `done`."""
        outside, self._counting = self._counting, loop
        super().count(loop, origin, bounds, done, polled=polled)
        self._counting = outside

    def _stores(self, stmt: Stmt) -> bool:
        """Whether `stmt`, in a vector loop, sets something that outlives an iteration of it."""
        stores = (node for node in walk(stmt) if isinstance(node, tis.Store))
        return any(not store.buffer.is_register for store in stores)

    def _run_in_order(self, loop: tis.For, begin: Block) -> None:
        """One iteration after the other, up to the one that fails."""
        done = self.function.append_basic_block("done")
        self.jump(done)
        self.b.position_at_end(begin)
        super().loop(dataclasses.replace(loop, kind=LoopKind.SERIAL))
        self.jump(done)
        self.b.position_at_end(done)

    def let(self, stmt: tis.Let) -> None:
        """Give a name to a value."""
        self.values[stmt.var] = self.index(stmt.value)
        if stmt.var.dtype is INT64:
            self.factors[stmt.var] = find_factor(stmt.value, self.factors)
            self.meanings[stmt.var] = stmt.value

    def allocate(self, stmt: tis.Allocate) -> None:
        """Make a variable, one for each lane, or an array."""
        if self.lanes is None:
            super().allocate(stmt)
        elif stmt.buffer.is_register:
            self.make_variable(stmt.buffer, self.lanes)
            for slot in self.registers[stmt.buffer].slots:
                self.b.store(zeros(slot.allocated_type), slot)
        else:
            raise InternalError("an array is made in a vector loop", "codegen", stmt.span)

    def store(self, stmt: tis.Store) -> None:
        """Set an element or a variable, in the active lanes."""
        if self.lanes is None:
            super().store(stmt)
            return
        value = self.emit(stmt.value)
        register = self.registers.get(stmt.buffer)
        if register is None:
            access = self._access(self.arrays[stmt.buffer], stmt.indices)
            access.store(value, past_caches=stmt is self.streamed)
            self.has_stored = True
        elif register.lanes > 1:
            self._assign(register, self.whole(value))
        else:
            raise InternalError("all lanes set one variable", "codegen", stmt.span)

    def _assign(self, register: Register, value: Value) -> None:
        if self.mask is None:
            register.store(self.b, value)
            return
        was_set = None if register.is_set is None else self.b.load(register.is_set)
        register.store(self.b, self.choice(self.mask, value, register.load(self.b)))
        if was_set is not None:
            self.b.store(self.b.or_(was_set, self.mask), register.is_set)

    def choose(self, cond: Value, stmt: tis.If) -> None:
        """Run each side in the lanes that want it."""
        if not has_lanes(cond):
            super().choose(cond, stmt)
            return
        for flags, side in ((cond, stmt.then), (None, stmt.otherwise)):
            if side is None:
                continue
            with self._active(self.b.not_(cond) if flags is None else flags):
                if self._is_harmless(side):
                    self.run(side)
                else:
                    self._run_if_any(side)

    def _run_if_any(self, stmt: Stmt) -> None:
        some, join = (self.function.append_basic_block(name) for name in ("some", "join"))
        self.b.cbranch(any_lane(self.b, self.mask), some, join)
        self.b.position_at_end(some)
        self.run(stmt)
        self.jump(join)
        self.b.position_at_end(join)

    def _is_harmless(self, stmt: Stmt) -> bool:
        """True if nothing in `stmt` can fail or touch memory when no lane is active."""
        return all(
            isinstance(inner, tis.Store)
            and self._is_masked(inner.buffer, inner.indices)
            and self._is_harmless_value(inner.value)
            and all(self._is_harmless_value(index) for index in inner.indices)
            for inner in flat_stmts(stmt)
        )

    def _is_harmless_value(self, expr: Expr) -> bool:
        return self.is_free(expr) and all(
            self._is_masked(node.buffer, node.indices)
            for node in walk(expr)
            if isinstance(node, tir.Load)
        )

    def _is_masked(self, buffer: tir.Buffer, indices: Sequence[Expr]) -> bool:
        """Whether an access leaves memory alone when no lane is active."""
        return buffer.is_register or any(self.varies(index) for index in indices)

    def require(self, holds: Value, check: tis.Assert) -> None:
        """An assertion, in every active lane."""
        if not has_lanes(holds):
            super().require(holds, check)
            return
        with self._failing(holds):
            self.fail_with("AssertionError", check)

    # -- expressions ---------------------------------------------------------------------------

    @property
    def may_branch(self) -> bool:
        return self.lanes is None

    @property
    def place(self) -> tuple[Value, ...]:
        """Where a value that is computed now may be used again: lanes that are off have none."""
        return (*super().place, self.mask)

    def emit(self, expr: Expr) -> Value:
        """The value of `expr`: one value, or a vector."""
        value = super().emit(expr)
        return value if self.lanes is None else self.spread(value)

    def operands(self, *exprs: Expr) -> list[Value]:
        """The values of the operands of one operator: all of them with lanes, or none."""
        values = super().operands(*exprs)
        if self.lanes is None or not any(has_lanes(value) for value in values):
            return values
        return [self.whole(value) for value in values]

    def select(self, expr: tir.Select) -> Value:
        """Each side is evaluated in the lanes that want it."""
        if self.lanes is None or not self.varies(expr):
            return super().select(expr)
        return self._either(self.emit(expr.cond), expr.then, expr.otherwise)

    def logical(self, expr: tir.And | tir.Or) -> Value:
        """The right side is evaluated in the lanes where the left one does not decide."""
        if self.lanes is None or not self.varies(expr):
            return super().logical(expr)
        decided = Const(isinstance(expr, tir.Or), expr.dtype)
        sides = (expr.rhs, decided) if isinstance(expr, tir.And) else (decided, expr.rhs)
        return self._either(self.emit(expr.lhs), *sides)

    def _either(self, cond: Value, then: Expr, otherwise: Expr) -> Value:
        if not has_lanes(cond):
            cond = splat(self.b, cond, self.lanes or 1)
        sides = [
            self._where(cond, then),
            self._where(self.b.not_(cond), otherwise),
        ]
        return self.choice(cond, *sides)

    def _where(self, flags: Value, expr: Expr) -> Value:
        """The value of `expr` in the lanes with a flag; anything in the others."""
        if self.is_free(expr):
            return self.whole(self.emit(expr))
        with self._active(flags):
            before = self.b.block
            some, join = (self.function.append_basic_block(name) for name in ("some", "join"))
            self.b.cbranch(any_lane(self.b, self.mask), some, join)
            self.b.position_at_end(some)
            value, end = self.whole(self.emit(expr)), self.b.block
            self.b.branch(join)
            self.b.position_at_end(join)
        if isinstance(value, Complex):
            return Complex(*(self._merge(part, end, before) for part in value))
        return self._merge(value, end, before)

    def _merge(self, value: Value, end: Block, before: Block) -> Value:
        phi = self.b.phi(value.type)
        phi.add_incoming(value, end)
        phi.add_incoming(zeros(value.type), before)
        return phi

    def checked_divisor(self, y: Value, expr: Expr) -> Value:
        """The divisor, which is not zero in any lane: in one that is not active it is 1."""
        y = super().checked_divisor(y, expr)
        if self.mask is None or not has_lanes(y) or find_constant(y) is not None:
            return y
        return self.b.select(self.mask, y, ir.Constant(y.type, 1))

    def load_element(self, expr: tir.Load) -> Value:
        """The elements that the active lanes read."""
        if self.lanes is None:
            return super().load_element(expr)
        array = self.arrays[expr.buffer]
        access = self._access(array, expr.indices)
        is_large = array.is_large or self.streamed is not None
        if is_large and self._goes_along(array, expr.indices):
            access.ask_ahead(PAGE)
        beside = self._groups.elements_beside(expr)
        return dataclasses.replace(access, beside=beside).load()

    def _goes_along(self, array: ArrayAddress, indices: Sequence[Expr]) -> bool:
        """True if the loop around goes from one line of an array to the next, or a few further."""
        loop = self._counting
        if loop is None or not isinstance(loop.step, Const):
            return False
        step = find_step(array, indices, loop.var)
        return step is not None and 0 < step * loop.step.value.real <= _NEAR_BYTES

    def _access(self, array: ArrayAddress, indices: Sequence[Expr]) -> Access:
        strides = [find_constant(stride) for stride in array.strides]
        found = [self.index(index) for index in join_fused(indices, strides, self.meanings)]
        return Access(self.b, array, found, self.lanes or 1, self.mask, self._piece)

    # -- lanes ---------------------------------------------------------------------------------

    def varies(self, expr: Expr) -> bool:
        """Whether `expr` may differ from lane to lane."""
        for node in walk(expr):
            match node:
                case tir.Var():
                    varies = has_lanes(self.values[node])
                case tir.Load(buffer):
                    register = self.registers.get(buffer)
                    varies = register is not None and register.lanes > 1
                case _:
                    varies = False
            if varies:
                return True
        return False

    @contextmanager
    def _active(self, flags: Value) -> Generator[None]:
        """Emit code for those active lanes that have a flag."""
        outside = self.mask
        self.mask = flags if outside is None else self.b.and_(outside, flags)
        yield
        self.mask = outside

    # -- failing -------------------------------------------------------------------------------

    def check(
        self,
        holds: Value,
        failure: Failure,
        span: Span | None,
        parts: Sequence[str | tuple[Value, DType]] = (),
    ) -> None:
        """Go on if `holds`, in every active lane."""
        if not has_lanes(holds):
            super().check(holds, failure, span, parts)
            return
        with self._failing(holds):
            self.fail(failure, span, parts)

    @contextmanager
    def _failing(self, holds: Value) -> Generator[None]:
        """Emit code for the lanes where `holds` is false, if there are any; it ends its block."""
        with self._active(self.b.not_(holds)):
            passed, failed = self.fork(self.b.not_(any_lane(self.b, self.mask)))
            self.b.position_at_end(failed)
            yield
        self.b.position_at_end(passed)

    def fail(
        self,
        failure: Failure,
        span: Span | None,
        parts: Sequence[str | tuple[Value, DType]] = (),
    ) -> None:
        """Leave the kernel with the error of the first iteration that fails.

        Once something was stored, it is that of the first active lane: a check that comes later
        in the body may fail in an earlier one.
        """
        if self.lanes is None:
            super().fail(failure, span, parts)
            return
        if not self.has_stored:
            if self.in_order is None:
                self.in_order = self.function.append_basic_block("in_order")
            self.b.branch(self.in_order)
            return
        lane = ir.Constant(I64, 0) if self.mask is None else first_lane(self.b, self.mask)
        in_lane = [
            part if isinstance(part, str) else (take_lane(self.b, part[0], lane), part[1])
            for part in parts
        ]
        outside = {var: self.values[var] for var in self.loop_vars if var in self.values}
        for var, value in outside.items():
            self.values[var] = take_lane(self.b, value, lane)
        super().fail(failure, span, in_lane)
        self.values.update(outside)
