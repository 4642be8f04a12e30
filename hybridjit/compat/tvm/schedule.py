"""`tvm.tir.Schedule`: TVM's words for the schedule of a program.

sch = tvm.tir.Schedule(te.create_prim_func([A, B, C]))
i, j, k = sch.get_loops(sch.get_block("C"))
i0, i1 = sch.split(i, [None, 16])
print(sch.mod.script(), sch.trace)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from hybridjit.compat.tvm.ir import IRModule
from hybridjit.errors import ArgumentError, ScheduleError
from hybridjit.ir.expr import Buffer, Load
from hybridjit.ir.fastmath import read_fastmath
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Block, Store
from hybridjit.ir.visit import walk
from hybridjit.schedule.program import blocks_of, the_block
from hybridjit.schedule.schedule import Schedule as _Schedule
from hybridjit.schedule.trace import Trace

MAIN = "main"


class Schedule:
    """A schedule with TVM's names; every other step is that of `hj.Schedule`, with its checks."""

    def __init__(self, mod: Any, *, seed: int | None = None, **options: Any) -> None:
        del options  # how much TVM checks: here, all of it
        self.name, func = _only_function(mod)
        self.schedule = _Schedule(func)
        if seed is not None:
            self.schedule.seed(seed)

    @property
    def mod(self) -> IRModule:
        """The program as it is now."""
        return IRModule({self.name: self.schedule.func})

    def copy(self) -> Schedule:
        """A schedule of its own, with the steps that were taken so far, and the same loops."""
        made = Schedule(self.mod)
        state: dict[str, Any] = dict(vars(self.schedule))
        state["trace"] = Trace([*self.schedule.trace.steps])
        containers = {name: copy(value) for name, value in state.items() if _holds(value)}
        made.schedule.__dict__.update(state | containers)
        return made

    def show(self) -> None:
        """Print the program, and the steps that led to it."""
        self.mod.show()
        print(self.schedule.trace)

    def get_block(self, name: str, func_name: str | None = None) -> Any:
        """A block by its name."""
        del func_name
        return self.schedule.block(name)

    get_sblock = get_block

    def get_loops(self, block: Any) -> list[Any]:
        """The loops around a block, outermost first."""
        return list(self.schedule.loops(block))

    def get_producers(self, block: Any) -> list[Any]:
        """The blocks that write what a block reads."""
        read = set(self._reads(block))
        return self._blocks(lambda other: not read.isdisjoint(_writes(other)), block)

    def get_consumers(self, block: Any) -> list[Any]:
        """The blocks that read what a block writes."""
        written = set(_writes(self._block(block)))
        return self._blocks(lambda other: not written.isdisjoint(_reads(other)), block)

    def split(
        self,
        loop: Any,
        factors: Sequence[int | None],
        preserve_unit_iters: bool = True,
        disable_predication: bool = False,
    ) -> list[Any]:
        """Split a loop into as many as there are factors, one of which may be None."""
        del preserve_unit_iters, disable_predication  # iterations that are not there never run
        return list(self.schedule.split(loop, factors=list(factors)))

    def fuse(self, *loops: Any, preserve_unit_iters: bool = True) -> Any:
        """Make one loop of neighbours."""
        del preserve_unit_iters
        return self.schedule.fuse(*loops)

    def sample_perfect_tile(
        self, loop: Any, n: int, max_innermost_factor: int = 16, decision: Any = None
    ) -> list[int]:
        """`n` factors whose product is the extent of a loop."""
        return self.schedule.sample_perfect_tile(
            loop, n, max_innermost_factor=max_innermost_factor, decision=decision
        )

    def cache_read(self, block: Any, read_buffer_index: int | str, storage_scope: str) -> Any:
        """Let a block read a copy of the buffer that it reads as the first, second, ..."""
        name = _named(self._reads(block), read_buffer_index, "reads")
        return self.schedule.cache_read(block, name, storage_scope)

    def cache_write(self, block: Any, write_buffer_index: int | str, storage_scope: str) -> Any:
        """Let a block write to a copy."""
        name = _named(_writes(self._block(block)), write_buffer_index, "writes")
        return self.schedule.cache_write(block, name, storage_scope)

    def compute_at(self, block: Any, loop: Any, preserve_unit_loops: bool = False) -> None:
        """Compute a block in a loop of one that reads it."""
        del preserve_unit_loops
        self.schedule.compute_at(block, loop)

    def reverse_compute_at(self, block: Any, loop: Any, preserve_unit_loops: bool = False) -> None:
        """Compute a block in a loop of the one that it reads."""
        del preserve_unit_loops
        self.schedule.reverse_compute_at(block, loop)

    def reorder(self, *ordered_loops: Any) -> None:
        """Run loops in another order, in which sums may be rounded otherwise."""
        before = self.schedule.func, self.schedule.original
        try:
            self.schedule.reorder(*ordered_loops)
        except ScheduleError as error:
            self._allow_any_order()
            try:
                self.schedule.reorder(*ordered_loops)
            except ScheduleError:
                self.schedule.func, self.schedule.original = before
                raise error from None

    def rfactor(self, loop: Any, factor_axis: int = 0) -> Any:
        """Give each iteration of a reduced loop a partial result; gives the block of these."""
        del factor_axis  # the partial results are nobody else's
        self._allow_any_order()
        block = self._reduction_in(loop)
        if self._block(block).init is not None:
            self._take_init_out(block)
        self.schedule.rfactor(loop)
        return block

    def transform_layout(
        self, block: Any, buffer: Any, index_map: Any, pad_value: Any = None, **options: Any
    ) -> None:
        """Keep the elements of a buffer in another order: ("read", 0), ("write", 0) or a name."""
        if pad_value is not None or options:
            raise ArgumentError("transform_layout: there is no padding that has a value")
        match buffer:
            case (str(kind), int(place)) if kind in ("read", "write"):
                found = self._reads(block) if kind == "read" else _writes(self._block(block))
                name = _named(found, place, f"{kind}s")
            case _:
                name = buffer
        self.schedule.transform_layout(name, index_map)

    def _allow_any_order(self) -> None:
        fastmath = read_fastmath({*self.schedule.func.fastmath, "reassoc"})
        self.schedule.func = replace(self.schedule.func, fastmath=fastmath)
        self.schedule.original = replace(self.schedule.original, fastmath=fastmath)

    def _reduction_in(self, loop: Any) -> Any:
        inside = [block for block in self.schedule.blocks() if loop in self.schedule.loops(block)]
        with_init = [block for block in inside if self._block(block).init is not None]
        if not inside:
            raise ScheduleError(f"rfactor: there is no block in {loop!r}")
        return (with_init or inside)[0]

    def _take_init_out(self, block: Any) -> None:
        """Set the starting values before the innermost loop that all of a reduction is in."""
        *outer, last = self.schedule.loops(block)[::-1]
        for loop in outer:
            try:
                self.schedule.decompose_reduction(block, loop)
            except ScheduleError:
                continue
            return
        self.schedule.decompose_reduction(block, last)

    def _block(self, block: Any) -> Block:
        return the_block(self.schedule.func, self.schedule.find_name(block))

    def _reads(self, block: Any) -> list[Buffer]:
        found = self._block(block)
        own = set(_writes(found)) if found.init is not None else set[Buffer]()
        return [buffer for buffer in _reads(found) if buffer not in own]

    def _blocks(self, is_one: Callable[[Block], bool], but: Any) -> list[Any]:
        name = self.schedule.find_name(but)
        found = [block for block in blocks_of(self.schedule.func) if is_one(block)]
        return [self.schedule.block(block.name) for block in found if block.name != name]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.schedule, name)

    def __str__(self) -> str:
        return str(self.schedule)

    def __repr__(self) -> str:
        return f"tir.Schedule of {self.schedule!r}"


def _only_function(mod: Any) -> tuple[str, PrimFunc]:
    """The function to schedule, and its name in the module."""
    match mod:
        case PrimFunc():
            return MAIN, mod
        case IRModule() if len(mod.functions) == 1:
            return next(iter(mod.functions.items()))
        case IRModule():
            raise ScheduleError(f"a schedule is that of one function, found {[*mod.functions]}")
        case _:
            raise ArgumentError(
                f"expected a function or a module of one, got {mod!r}",
                help="te.create_prim_func([A, B, C]) makes a function of tensors",
            )


def _holds(value: object) -> bool:
    """Whether `value` is something that steps add to."""
    return isinstance(value, (dict, deque))


def _reads(block: Block) -> list[Buffer]:
    nodes = walk(block.body)
    return list(dict.fromkeys(node.buffer for node in nodes if isinstance(node, Load)))


def _writes(block: Block) -> list[Buffer]:
    nodes = walk(block.body)
    return list(dict.fromkeys(node.buffer for node in nodes if isinstance(node, Store)))


def _named(buffers: Sequence[Buffer], which: int | str, verb: str) -> str:
    if isinstance(which, str):
        return which
    if not 0 <= which < len(buffers):
        raise ScheduleError(
            f"there is no buffer {which}: the block {verb} "
            f"{', '.join(buffer.name for buffer in buffers) or 'nothing'}"
        )
    return buffers[which].name
