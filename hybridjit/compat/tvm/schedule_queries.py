"""What `tvm.tir.Schedule` is asked: the functions that it holds, their blocks and their loops."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any

from hybridjit.compat.tvm.ir import IRModule
from hybridjit.errors import ArgumentError, ScheduleError
from hybridjit.ir.expr import Buffer, Load
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Block, For, Stmt, Store
from hybridjit.ir.visit import children, walk
from hybridjit.schedule.handles import BlockHandle, LoopHandle
from hybridjit.schedule.program import blocks_of, the_block, the_loop
from hybridjit.schedule.schedule import Schedule as _Schedule
from hybridjit.schedule.trace import Trace

MAIN = "main"
ROOT = BlockHandle("root")  # the whole function: TVM has a block for it


class Queries:
    """Functions by name, one of which is worked on, and what there is in it."""

    def __init__(self, mod: Any) -> None:
        functions = _functions(mod)
        self.schedules = {name: _Schedule(func) for name, func in functions.items()}
        self.name = next(iter(functions)) if len(functions) == 1 else MAIN
        # Blocks whose starting values were taken out of them by a step that TVM does at once.
        self.decomposed: set[str] = set()

    @property
    def schedule(self) -> _Schedule:
        """The schedule of the function that is worked on."""
        if self.name not in self.schedules:
            raise ScheduleError(
                f"there is no function '{self.name}' in the module",
                help=f"work_on one of {', '.join(self.schedules)}",
            )
        return self.schedules[self.name]

    @property
    def mod(self) -> IRModule:
        """The program as it is now."""
        return IRModule({name: schedule.func for name, schedule in self.schedules.items()})

    @property
    def func_working_on(self) -> str:
        """The name of the function that steps are taken on."""
        return self.name

    def work_on(self, func_name: str) -> None:
        """Take the steps from now on on another function of the module."""
        self.name, before = func_name, self.name
        try:
            self.schedule  # noqa: B018  # which refuses a function that is not there
        except ScheduleError:
            self.name = before
            raise

    def take_state(self, other: Queries) -> None:
        """Have the steps that were taken on another schedule, and the same loops."""
        self.name, self.decomposed = other.name, {*other.decomposed}
        for name, schedule in self.schedules.items():
            state: dict[str, Any] = dict(vars(other.schedules[name]))
            state["trace"] = Trace([*other.schedules[name].trace.steps])
            containers = {name: copy(value) for name, value in state.items() if _holds(value)}
            schedule.__dict__.update(state | containers)

    def get(self, rand_var: Any) -> Any:
        """The loop or the block of the IR that a handle stands for; of a number, that number."""
        match rand_var:
            case LoopHandle():
                return the_loop(self.schedule.func, self.schedule.find_var(rand_var))
            case BlockHandle() if self.is_root(rand_var):
                return self.schedule.func
            case BlockHandle():
                return self.block_of(rand_var)
            case _:
                return rand_var

    def get_block(self, name: str, func_name: str | None = None) -> Any:
        """A block by its name; "root" is the whole function."""
        if func_name not in (None, self.name):
            raise ScheduleError(
                f"get_block: steps are taken on '{self.name}', not on '{func_name}'",
                help=f'call work_on("{func_name}") before',
            )
        return ROOT if self.is_root(name) else self.schedule.block(name)

    get_sblock = get_block

    def get_loops(self, block: Any) -> list[Any]:
        """The loops around a block, outermost first."""
        return [] if self.is_root(block) else list(self.schedule.loops(block))

    def get_child_blocks(self, block_or_loop: Any) -> list[Any]:
        """The blocks in a loop or a block that are in no other block there."""
        scope: Any = self.get(block_or_loop)
        inside: Stmt = scope if isinstance(scope, For) else scope.body
        return [self.schedule.block(block.name) for block in _outermost_blocks(inside)]

    def get_output_blocks(self, scope_block: Any = ROOT) -> list[Any]:
        """The blocks in another one, or in the function, that write to arguments."""
        passed = set(self.schedule.func.buffers)
        inside = [self.block_of(child) for child in self.get_child_blocks(scope_block)]
        written = [block for block in inside if not passed.isdisjoint(writes_of(block))]
        return [self.schedule.block(block.name) for block in written]

    def get_producers(self, block: Any) -> list[Any]:
        """The blocks that write what a block reads."""
        read = set(self.reads(block))
        return self._blocks(lambda other: not read.isdisjoint(writes_of(other)), block)

    def get_consumers(self, block: Any) -> list[Any]:
        """The blocks that read what a block writes."""
        written = set(writes_of(self.block_of(block)))
        return self._blocks(lambda other: not written.isdisjoint(_reads_of(other)), block)

    # -- for steps ---------------------------------------------------------------------------------

    def is_root(self, block: Any) -> bool:
        """Whether `block`, or the name of one, means the whole function."""
        names = [found.name for found in blocks_of(self.schedule.func)]
        return block in (ROOT, ROOT.name) and ROOT.name not in names

    def block_of(self, block: Any) -> Block:
        """The block that a handle or a name means."""
        return the_block(self.schedule.func, self.schedule.find_name(block))

    def reads(self, block: Any) -> list[Buffer]:
        """What a block reads, but for what it adds to."""
        found = self.block_of(block)
        adds = found.init is not None or found.name in self.decomposed
        own = set(writes_of(found)) if adds else set[Buffer]()
        return [buffer for buffer in _reads_of(found) if buffer not in own]

    def read_name(self, block: Any, which: int | str) -> str:
        """The name of the buffer that a block reads as the first, second, ..."""
        return _named(self.reads(block), which, "reads")

    def written_name(self, block: Any, which: int | str) -> str:
        """The name of the buffer that a block writes as the first, second, ..."""
        return _named(writes_of(self.block_of(block)), which, "writes")

    def _blocks(self, is_one: Callable[[Block], bool], but: Any) -> list[Any]:
        name = self.schedule.find_name(but)
        found = [block for block in blocks_of(self.schedule.func) if is_one(block)]
        return [self.schedule.block(block.name) for block in found if block.name != name]


def writes_of(block: Block) -> list[Buffer]:
    """The buffers that a block writes, each once."""
    nodes = walk(block.body)
    return list(dict.fromkeys(node.buffer for node in nodes if isinstance(node, Store)))


def _reads_of(block: Block) -> list[Buffer]:
    nodes = walk(block.body)
    return list(dict.fromkeys(node.buffer for node in nodes if isinstance(node, Load)))


def _outermost_blocks(stmt: Any) -> list[Block]:
    if isinstance(stmt, Block):
        return [stmt]
    parts = [child for child in children(stmt) if isinstance(child, Stmt)]
    return [block for part in parts for block in _outermost_blocks(part)]


def _functions(mod: Any) -> Mapping[str, PrimFunc]:
    match mod:
        case PrimFunc():
            return {MAIN: mod}
        case IRModule() if mod.functions:
            return mod.functions
        case _:
            raise ArgumentError(
                f"expected a function or a module with some, got {mod!r}",
                help="te.create_prim_func([A, B, C]) makes a function of tensors",
            )


def _holds(value: object) -> bool:
    """Whether `value` is something that steps add to."""
    return isinstance(value, (dict, deque))


def _named(buffers: Sequence[Buffer], which: int | str, verb: str) -> str:
    if isinstance(which, str):
        return which
    if not 0 <= which < len(buffers):
        raise ScheduleError(
            f"there is no buffer {which}: the block {verb} "
            f"{', '.join(buffer.name for buffer in buffers) or 'nothing'}"
        )
    return buffers[which].name
