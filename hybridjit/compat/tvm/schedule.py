"""`tvm.tir.Schedule`: TVM's words for the schedule of a program.

sch = tvm.tir.Schedule(te.create_prim_func([A, B, C]))
i, j, k = sch.get_loops(sch.get_block("C"))
i0, i1 = sch.split(i, [None, 16])
print(sch.mod.script(), sch.trace)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hybridjit.compat.tvm.schedule_queries import Queries
from hybridjit.errors import ArgumentError, ScheduleError
from hybridjit.ir.expr import Const
from hybridjit.ir.fastmath import read_fastmath
from hybridjit.schedule.trace import Trace as _Trace

# Steps of TVM's that no step of ours does, and what works in their place.
_ABSENT = {
    "reindex": "cache_read and cache_write make copies, and transform_layout lays them out anew",
    "reindex_cache_read": "cache_read makes a copy, and transform_layout lays it out anew",
    "reindex_cache_write": "cache_write makes a copy, and transform_layout lays it out anew",
    "unannotate": "a hint that is given again with another value takes the place of the first",
    "decompose_padding": "write the padding as a te.compute of its own",
    "pad_einsum": "loops may have any number of iterations: split takes care of what is left over",
    "set_axis_separator": "it is for hardware that is not here",
    "transform_block_layout": "transform_layout changes the layout of a buffer",
    "unsafe_set_dtype": "write the type in the program: x.astype(...)",
}


class Trace(_Trace):
    """The steps of a schedule, which can be taken on another one."""

    may_round: bool = False

    def apply_to_schedule(self, sch: Schedule, remove_postproc: bool = False, **_: Any) -> None:
        """Take the steps on another schedule."""
        del remove_postproc
        if self.may_round:
            sch.allow_any_order()
        sch.schedule.replay(self)

    def show(self, **_: Any) -> None:
        """Print the steps."""
        print(self)


class Schedule(Queries):
    """A schedule with TVM's names; every other step is that of `hj.Schedule`, with its checks."""

    def __init__(self, mod: Any, *, seed: int | None = None, **options: Any) -> None:
        del options  # how much TVM checks: here, all of it
        super().__init__(mod)
        if seed is not None:
            for schedule in self.schedules.values():
                schedule.seed(seed)

    def copy(self) -> Schedule:
        """A schedule of its own, with the steps that were taken so far, and the same loops."""
        made = Schedule(self.mod)
        made.take_state(self)
        return made

    @property
    def trace(self) -> Trace:
        """The steps that were taken so far."""
        made = Trace(self.schedule.trace.steps)
        made.may_round = "reassoc" in self.schedule.func.fastmath
        return made

    def show(self, **_: Any) -> None:
        """Print the program, and the steps that led to it."""
        self.mod.show()
        print(self.schedule.trace)

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

    def loop_partition(
        self, loop: Any, factors: Sequence[int | None], preserve_unit_iters: bool = True
    ) -> list[Any]:
        """Cut a loop into several that run one after the other, of so many iterations each."""
        del preserve_unit_iters
        start, extent = self.get(loop).start, self.get(loop).extent
        if not (isinstance(start, Const) and isinstance(extent, Const)):
            raise ScheduleError("loop_partition: the loop has no range that is known")
        made, at = list[Any](), int(start.value.real)
        for size in _filled(factors, int(extent.value.real))[:-1]:
            at += size
            first, loop = self.schedule.partition(loop, at)
            made.append(first)
        return [*made, loop]

    # -- memory ------------------------------------------------------------------------------------

    def cache_read(
        self,
        block: Any,
        read_buffer_index: int | str,
        storage_scope: str,
        consumer_blocks: Sequence[Any] | None = None,
    ) -> Any:
        """Let a block read a copy of the buffer that it reads as the first, second, ..."""
        name = self.read_name(block, read_buffer_index)
        others = [other for other in consumer_blocks or () if not self._is_same(other, block)]
        if others:
            raise ArgumentError(
                f"cache_read: the copy is for {block!r}, and {others} would not read it",
                help="call cache_read for each of them",
            )
        return self.schedule.cache_read(block, name, storage_scope)

    def cache_write(
        self,
        block: Any,
        write_buffer_index: int | str,
        storage_scope: str,
        consumer_blocks: Sequence[Any] | None = None,
    ) -> Any:
        """Let a block write to a copy."""
        if consumer_blocks:
            raise ArgumentError(
                "cache_write: the blocks that read the buffer go on to read it, not the copy",
                help="leave consumer_blocks out; cache_read lets each of them read a copy",
            )
        name = self.written_name(block, write_buffer_index)
        return self.schedule.cache_write(block, name, storage_scope)

    def set_scope(self, block: Any, buffer_index: int | str, storage_scope: str) -> None:
        """Say in which memory a buffer lives that a block writes."""
        self.schedule.set_scope(self.written_name(block, buffer_index), storage_scope)

    def storage_align(
        self, block: Any, buffer_index: int | str, axis: int, factor: int, offset: int
    ) -> None:
        """Pad a buffer that a block writes: the stride of an axis is a multiple, and an offset."""
        name = self.written_name(block, buffer_index)
        self.schedule.storage_align(name, axis, factor, offset)

    def rolling_buffer(self, block: Any, write_buffer_index: int | str) -> None:
        """Keep only values that are still needed of a buffer that a block writes."""
        self.schedule.rolling_buffer(self.written_name(block, write_buffer_index))

    def transform_layout(
        self, block: Any, buffer: Any, index_map: Any, pad_value: Any = None, **options: Any
    ) -> None:
        """Keep the elements of a buffer in another order: ("read", 0), ("write", 0) or a name."""
        if pad_value is not None or options:
            raise ArgumentError("transform_layout: there is no padding that has a value")
        match buffer:
            case ("read", place):
                name = self.read_name(block, place)
            case ("write", place):
                name = self.written_name(block, place)
            case _:
                name = buffer
        self.schedule.transform_layout(name, index_map)

    # -- places and hints --------------------------------------------------------------------------

    def annotate(self, block_or_loop: Any, ann_key: str, ann_val: Any) -> None:
        """Put a hint on a loop or a block; one on the whole function changes nothing."""
        if not self.is_root(block_or_loop):
            self.schedule.annotate(block_or_loop, ann_key, ann_val)

    def compute_at(
        self, block: Any, loop: Any, preserve_unit_loops: bool = False, index: int = -1
    ) -> None:
        """Compute a block in a loop of one that reads it; without a loop, leave it where it is."""
        del preserve_unit_loops, index  # it runs right before what reads it
        if loop is not None:
            self.schedule.compute_at(block, loop)

    def reverse_compute_at(
        self, block: Any, loop: Any, preserve_unit_loops: bool = False, index: int = -1
    ) -> None:
        """Compute a block in a loop of the one that it reads; without a loop, leave it there."""
        del preserve_unit_loops, index  # it runs right after what it reads
        if loop is not None:
            self.schedule.reverse_compute_at(block, loop)

    def reorder(self, *ordered_loops: Any) -> None:
        """Run loops in another order, in which sums may be rounded otherwise."""
        before = self.schedule.func, self.schedule.original
        try:
            self.schedule.reorder(*ordered_loops)
        except ScheduleError as error:
            self.allow_any_order()
            try:
                self.schedule.reorder(*ordered_loops)
            except ScheduleError:
                self.schedule.func, self.schedule.original = before
                raise error from None

    def rfactor(self, loop: Any, factor_axis: int = 0) -> Any:
        """Give each iteration of a reduced loop a partial result; gives the block of these."""
        del factor_axis  # the partial results are nobody else's
        self.allow_any_order()
        block = self._reduction_in(loop)
        if self.block_of(block).init is not None:
            self._take_init_out(block)
        combined = self.schedule.rfactor(loop)
        self.decomposed |= {block.name, combined.name}
        return block

    def allow_any_order(self) -> None:
        """Let sums be rounded otherwise, as TVM does."""
        fastmath = read_fastmath({*self.schedule.func.fastmath, "reassoc"})
        self.schedule.func = replace(self.schedule.func, fastmath=fastmath)
        self.schedule.original = replace(self.schedule.original, fastmath=fastmath)

    def _reduction_in(self, loop: Any) -> Any:
        inside = [block for block in self.schedule.blocks() if loop in self.schedule.loops(block)]
        with_init = [block for block in inside if self.block_of(block).init is not None]
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

    def _is_same(self, block: Any, other: Any) -> bool:
        return self.schedule.find_name(block) == self.schedule.find_name(other)

    def __getattr__(self, name: str) -> Any:
        if name in _ABSENT:
            raise AttributeError(f"tir.Schedule has no {name!r} here: {_ABSENT[name]}")
        return getattr(self.schedule, name)

    def __str__(self) -> str:
        return str(self.schedule)

    def __repr__(self) -> str:
        return f"tir.Schedule of {self.schedule!r}"


def _filled(factors: Sequence[int | None], total: int) -> list[int]:
    """Factors with what the others leave over in the place of None."""
    rest = total - sum(factor for factor in factors if factor is not None)
    found = [rest if factor is None else factor for factor in factors]
    if sum(found) != total or min(found) < 1 or list(factors).count(None) > 1:
        raise ScheduleError(
            f"loop_partition: {list(factors)} iterations are not {total}", help="one may be None"
        )
    return found
