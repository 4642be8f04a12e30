"""The emitter: the code of one function, what variables and buffers are in it, how to fail.

One emitter is passed to every function of this folder. Which function knows which kind of node
stands in the tables of a `Language` (codegen/emit/language.py), so that a function may hand any
part of the program back without knowing who emits it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from llvmlite import ir

from hybridjit.analysis.limits import Limits
from hybridjit.analysis.packing import Packing
from hybridjit.codegen.emit.casts import emit_cast
from hybridjit.codegen.emit.float_builder import FloatBuilder
from hybridjit.codegen.emit.load_groups import LoadGroups
from hybridjit.codegen.emit.memory import ArrayAddress, Register, call_free
from hybridjit.codegen.emit.streams import Streamed
from hybridjit.codegen.emit.vector_values import (
    Index,
    Ramp,
    any_lane,
    first_lane,
    has_lanes,
    splat,
    take_lane,
)
from hybridjit.codegen.llvm_types import I8, I32, I64, Block, Builder, Function, Module, Value
from hybridjit.codegen.sites import MAX_WORDS, Failure, Site
from hybridjit.errors import InternalError, Span, place_in_script
from hybridjit.ir.dtype import BOOL, FLOAT64, INT64, UINT64, DType
from hybridjit.ir.expr import Buffer, Expr, ExternCall, Var
from hybridjit.ir.stmt import For, Print, Stmt, Store, flat_stmts
from hybridjit.lazy import lazy_module
from hybridjit.record import record
from hybridjit.target import Target

if TYPE_CHECKING:
    from hybridjit.codegen.emit import interrupt
    from hybridjit.codegen.emit import timers as loop_timers
    from hybridjit.codegen.emit.source_lines import SourceLines
    from hybridjit.codegen.emit.timers import Timers
else:
    interrupt = lazy_module("hybridjit.codegen.emit.interrupt")
    loop_timers = lazy_module("hybridjit.codegen.emit.timers")


# How much more often a check passes than it fails.
_LIKELY, _UNLIKELY = 1 << 20, 1
# A kernel looks for signals every so many simple statements: a few milliseconds of work.
POLL_WORK = 1 << 22

Parts = Sequence[str | tuple[Value, DType]]  # of a message


@record
class Language:
    """Which function emits which kind of node."""

    expressions: Mapping[type[Expr], Callable[[Emitter, Any], Value]]
    statements: Mapping[type[Stmt], Callable[[Emitter, Any], None]]


@record
class Options:
    """What holds for all code of a kernel."""

    target: Target
    fastmath: Sequence[str] = ()
    # With arrays that may overlap, iterations must run one after the other.
    may_vectorize: bool = True
    # Whether stores may go past the caches: not every processor can, and such stores come a little
    # later than the loop says.
    may_stream: bool = False
    runs_parallel: bool = False
    # The arrays of the caller; all others are made for this run.
    given: frozenset[Buffer] = frozenset()
    # Arrays that may be given to the caller, who frees them: they are on the heap.
    given_away: frozenset[Buffer] = frozenset()
    # The statement of the body that is the first to use an output.
    first_use: Stmt | None = None
    # Variables that may be read before they are assigned.
    doubtful: frozenset[Buffer] = frozenset()
    # Whether elements that have no value yet are NaN, so that one that is read is seen.
    fills_unset: bool = False
    # Which lines instructions came from, if that is to be known.
    lines: SourceLines | None = None
    # Which loops are timed, in code that is profiled.
    timers: Timers | None = None


@record
class LoopTargets:
    """Where `break` and `continue` go, and how many heap arrays were live outside the loop."""

    leave: Block
    again: Block
    live: int


@record
class Request:
    """Fetch what is read from the buffer called `name` when `var` is further on by `ahead`; or what
    is touched in the same iteration (`is_now`).
    """

    name: str
    var: Var
    ahead: Value
    is_now: bool


@record(frozen=False)
class Lanes:
    """Of the vector loop that is being emitted: how many iterations run at once, and which.

    A value is *uniform*, one LLVM value for all lanes, or has lanes: a vector, or a ramp for
    indices. Where control depends on the lane, a mask says which lanes are active; code under a
    mask is only reached if some lane is, so that what is uniform there may run as it stands.

    A lane that fails before any lane has stored anything is no reason to report it: an earlier
    iteration may fail later in the body. The iterations are run again, one after the other.
    """

    count: int
    piece: int  # how many lanes are a vector
    groups: LoadGroups  # the loads that lie between each other
    packing: Packing | None = None  # the stores to next free places
    mask: Value | None = None
    # Whether code in all lanes has set something that outlives the loop, and where the iterations
    # run one after the other, if that is needed.
    has_stored: bool = False
    in_order: Block | None = None


def _poll_function(module: Module) -> Function:
    return interrupt.poll_function(module)


class Emitter:
    """The code of one function: where it is, and what is known there."""

    def __init__(
        self,
        language: Language,
        options: Options,
        function: Function,
        error: Value,
        *,
        poll: Callable[[Module], Function] = _poll_function,
        poll_work: int | None = None,
    ) -> None:
        self.language, self.options = language, options
        self.function = function
        self.module: Module = function.module
        self.entry: Builder = ir.IRBuilder(function.append_basic_block("entry"))
        self.b: Builder = FloatBuilder(function.append_basic_block("start"), options.fastmath)
        self._scope = None if options.lines is None else options.lines.enter(function)
        # The function that looks for signals, and how much work may be done before it is called.
        self.poll = poll
        self.poll_work = POLL_WORK if poll_work is None else poll_work
        self._fuel: Value | None = None
        # What the kernel reports and calls.
        self.error = error
        self.sites: list[Site] = []
        self.sites_before_outputs = 0
        self.callbacks: dict[str, ExternCall | Print] = {}
        self.known: set[str] = set()  # symbols of functions that every process finds
        self.functions: dict[str, str] = {}  # of LLVM, by their symbols
        # What names stand for.
        self.values: dict[Var, Value] = {}
        self.arrays: dict[Buffer, ArrayAddress] = {}
        self.registers: dict[Buffer, Register] = {}
        self.results: Sequence[ArrayAddress] = ()
        self.factors: dict[Var, int] = {}  # numbers that divide variables
        self.meanings: dict[Var, Expr] = {}  # the values of names
        self.limits: dict[Var, Limits] = {}  # the least and the largest value of variables
        # The results of functions that give two, and where they are known.
        self.pairs: dict[Expr, tuple[tuple[Value, ...], Value]] = {}
        # The memory of local arrays.
        self.stack_bytes = 0
        self.heap: list[Value] = []
        self.made: dict[Buffer, tuple[Value, Sequence[Value]]] = {}  # address and sizes
        # The loops around.
        self.loop_vars: list[Var] = []
        self.loops: list[LoopTargets] = []
        self._timed: list[tuple[int, Value]] = []  # slots, and when they began
        self.leaves: dict[Block, Block] = {}  # where `break` goes from the end of a chunk
        self.counting: For | None = None  # the innermost loop that counts
        self.is_polled = False  # whether a loop around looks for signals now and then
        self.prefetches: tuple[Request, ...] = ()
        self.lanes: Lanes | None = None
        # Loops that write past the caches, and the store that does, from the begin of a line on.
        self.streams: dict[For, Streamed] = {}
        self.streamed: Store | None = None

    # -- nodes ---------------------------------------------------------------------------------

    def emit(self, expr: Expr) -> Value:
        """The value of `expr`: one value, or a vector."""
        emit_node = self.language.expressions.get(type(expr))
        if emit_node is None:
            raise InternalError(f"no code for {type(expr).__name__}", "codegen", expr.span)
        if self._scope is None:
            return self.spread(emit_node(self, expr))
        with self._located(expr.span):
            return self.spread(emit_node(self, expr))

    def operands(self, *exprs: Expr) -> list[Value]:
        """The values of the operands of one operator: all of them with lanes, or none."""
        values = [self.emit(expr) for expr in exprs]
        if not any(has_lanes(value) for value in values):
            return values
        return [self.whole(value) for value in values]

    def run(self, stmt: Stmt) -> None:
        """Emit a statement that is a scope of its own."""
        live = len(self.heap)
        for inner in flat_stmts(stmt):
            if self.is_closed:
                break
            self._run_one(inner)
        if not self.is_closed:
            self.free_from(live)
        del self.heap[live:]

    def _run_one(self, stmt: Stmt) -> None:
        if stmt is self.options.first_use:
            self.sites_before_outputs = len(self.sites)
        run_node = self.language.statements.get(type(stmt))
        if run_node is None:
            raise InternalError(f"no code for {type(stmt).__name__}", "codegen", stmt.span)
        with self._located(stmt.span):
            run_node(self, stmt)

    @contextmanager
    def _located(self, span: Span | None) -> Generator[None]:
        """Let the instructions that are emitted know the line that they came from."""
        lines = self.options.lines
        if lines is None or span is None:
            yield
            return
        outside, self.b.debug_metadata = self.b.debug_metadata, lines.locate(self._scope, span)
        yield
        self.b.debug_metadata = outside

    @contextmanager
    def timed(self, slot: int | None) -> Generator[None]:
        """Add the time that the code takes to a slot, unless that counts already."""
        timers = self.options.timers
        if timers is None or slot is None or slot in dict(self._timed) or self.lanes is not None:
            yield
            return
        begin = loop_timers.read_clock(self.b, self.module)
        self._timed.append((slot, begin))
        yield
        self._timed.pop()
        if not self.is_closed:
            loop_timers.note_time(self.b, self.module, timers, slot, begin)

    # -- lanes ---------------------------------------------------------------------------------

    @property
    def mask(self) -> Value | None:
        """Which lanes are active; None if all are, and outside of vector loops."""
        return None if self.lanes is None else self.lanes.mask

    def spread(self, value: Index) -> Value:
        """A ramp as the vector that it stands for."""
        return value.whole(self.b, self._lane_count) if isinstance(value, Ramp) else value

    def whole(self, value: Value) -> Value:
        """A value with lanes, the same in each if it has none."""
        return value if has_lanes(value) else splat(self.b, value, self._lane_count)

    @property
    def _lane_count(self) -> int:
        return 1 if self.lanes is None else self.lanes.count

    @contextmanager
    def active(self, flags: Value) -> Generator[None]:
        """Emit code for those active lanes that have a flag."""
        lanes = self.lanes
        assert lanes is not None
        outside = lanes.mask
        lanes.mask = flags if outside is None else self.b.and_(outside, flags)
        yield
        lanes.mask = outside

    @contextmanager
    def failing(self, holds: Value) -> Generator[None]:
        """Emit code for the lanes where `holds` is false, if there are any; it ends its block."""
        with self.active(self.b.not_(holds)):
            passed, failed = self.fork(self.b.not_(any_lane(self.b, self.mask)))
            self.b.position_at_end(failed)
            yield
        self.b.position_at_end(passed)

    # -- failing -------------------------------------------------------------------------------

    def check(
        self,
        holds: Value,
        failure: Failure,
        span: Span | None,
        parts: Parts = (),
    ) -> None:
        """Go on if `holds`, in every active lane, else leave the kernel with an error."""
        if has_lanes(holds):
            with self.failing(holds):
                self.fail(failure, span, parts)
            return
        passed, failed = self.fork(holds)
        self.b.position_at_end(failed)
        self.fail(failure, span, parts)
        self.b.position_at_end(passed)

    def fork(self, holds: Value) -> tuple[Block, Block]:
        """End the block: go to the first of two new ones if `holds`, as almost always."""
        passed = self.function.append_basic_block("passed")
        failed = self.function.append_basic_block("failed")
        self.b.cbranch(holds, passed, failed).set_weights([_LIKELY, _UNLIKELY])
        return passed, failed

    def fail(
        self,
        failure: Failure,
        span: Span | None,
        parts: Parts = (),
    ) -> None:
        """Leave the kernel with the error of the first iteration that fails; the block ends here.

        Once something was stored, it is that of the first active lane: a check that comes later
        in the body may fail in an earlier one.
        """
        if self.lanes is None:
            self._report(failure, span, parts)
        elif self.lanes.has_stored:
            self._fail_in_lane(failure, span, parts)
        else:
            if self.lanes.in_order is None:
                self.lanes.in_order = self.function.append_basic_block("in_order")
            self.b.branch(self.lanes.in_order)

    def _fail_in_lane(self, failure: Failure, span: Span | None, parts: Parts) -> None:
        lane = ir.Constant(I64, 0) if self.mask is None else first_lane(self.b, self.mask)
        in_lane = [
            part if isinstance(part, str) else (take_lane(self.b, part[0], lane), part[1])
            for part in parts
        ]
        outside = {var: self.values[var] for var in self.loop_vars if var in self.values}
        for var, value in outside.items():
            self.values[var] = take_lane(self.b, value, lane)
        self._report(failure, span, in_lane)
        self.values.update(outside)

    def _report(self, failure: Failure, span: Span | None, parts: Parts) -> None:
        loops = [var for var in self.loop_vars if var in self.values]
        values = [part for part in parts if isinstance(part, tuple)]
        values += [(self.values[var], INT64) for var in loops]
        words = [word for value, dtype in values for word in self.words(value, dtype)]
        for position, word in enumerate(words[:MAX_WORDS]):
            address = self.b.gep(self.error, [ir.Constant(I64, position)], inbounds=True)
            self.b.store(word, address)
        described = tuple(part if isinstance(part, str) else part[1] for part in parts)
        place = None if span is None else place_in_script(span)
        self.sites.append(Site(failure, place, described, tuple(var.name for var in loops)))
        self.leave(len(self.sites))

    def leave(self, status: int, kept: Sequence[Buffer] = ()) -> None:
        """Free what is on the heap, but for what the caller is given, and return."""
        self.free_from(0, [self.made[buffer][0] for buffer in kept])
        if self.options.timers is not None and status == 0:
            for slot, begin in reversed(self._timed):
                loop_timers.note_time(self.b, self.module, self.options.timers, slot, begin)
        self.b.ret(ir.Constant(I32, status))

    def free_from(self, live: int, kept: Sequence[Value] = ()) -> None:
        """Free the heap arrays made since there were `live` of them, but for those `kept`."""
        for memory in reversed(self.heap[live:]):
            if memory not in kept:
                call_free(self.b, self._where(memory))

    def _where(self, memory: Value) -> Value:
        """The address of memory; that of a growing array lies in a variable."""
        is_growing = isinstance(memory, ir.AllocaInstr)
        return self.b.load(memory, typ=I8.as_pointer()) if is_growing else memory

    def words(self, value: Value, dtype: DType) -> list[Value]:
        """A value as the 64-bit words that report it."""
        if dtype.is_complex:
            parts = [self.words(part, dtype.component) for part in value]
            return [word for words in parts for word in words]
        if dtype.is_float:
            return [self.b.bitcast(emit_cast(self.b, value, dtype, FLOAT64), I64)]
        if dtype is BOOL:
            return [self.b.zext(value, I64)]
        return [emit_cast(self.b, value, dtype, UINT64 if dtype is UINT64 else INT64)]

    # -- signals and calls ---------------------------------------------------------------------

    def spend(self, work: Value) -> None:
        """Note that so much work is done; now and then, let Python handle signals."""
        if self._fuel is None:
            self._fuel = self.entry.alloca(I64, name="fuel")
            self.entry.store(ir.Constant(I64, self.poll_work), self._fuel)
        left = self.b.sub(self.b.load(self._fuel), work)
        self.b.store(left, self._fuel)
        goes_on, poll = self.fork(self.b.icmp_signed(">=", left, ir.Constant(I64, 0)))
        self.b.position_at_end(poll)
        self.b.store(ir.Constant(I64, self.poll_work), self._fuel)
        status = self.b.call(self.poll(self.module), [self.error])
        self.check_python(status, None)
        self.b.branch(goes_on)
        self.b.position_at_end(goes_on)

    def check_python(self, status: Value, span: Span | None) -> None:
        """Go on unless Python raised something, which is in the error record."""
        passed, failed = self.fork(self.b.icmp_signed("==", status, ir.Constant(I32, 0)))
        self.b.position_at_end(failed)
        self.sites.append(Site(Failure.PYTHON, span))
        self.leave(len(self.sites))
        self.b.position_at_end(passed)

    # -- building blocks -----------------------------------------------------------------------

    @property
    def is_closed(self) -> bool:
        """True if the current block already ends in a jump: what follows is never run."""
        return self.b.block.is_terminated

    def jump(self, block: Block) -> None:
        """Go to `block`, unless the current block has ended."""
        if not self.is_closed:
            self.b.branch(block)

    def phi(self, ends: Sequence[tuple[Value, Block]]) -> Value:
        """The value of the block that the code came from."""
        phi = self.b.phi(ends[0][0].type)
        for value, block in ends:
            phi.add_incoming(value, block)
        return phi
