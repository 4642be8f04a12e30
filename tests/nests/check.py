"""Hold a scheduled program against the program it was made of, in every way of running it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hybridjit.errors import ScheduleError
from hybridjit.interp.run import interpret
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate
from hybridjit.ir.verify import Stage, verify
from hybridjit.ir.visit import walk
from hybridjit.runtime import compiler
from hybridjit.runtime.native import layout_of, load_native
from hybridjit.schedule.other_orders import last_first, rearrange
from hybridjit.schedule.schedule import Schedule
from tests.nests.generate import Nest, make_nest, make_sized
from tests.nests.moves import HINTS, MOVES, SIZED_MOVES
from tests.nests.stage_moves import STAGE_MOVES
from tests.nests.stages import make_stages
from tests.support.choices import Choose, pick
from tests.support.oracle import assert_same

ALL_MOVES = {**MOVES, **STAGE_MOVES, **HINTS}
# Steps tried on one program. Refused ones count.
MAX_STEPS = 5


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A program, the schedule that moves led to, and which moves were made or refused."""

    nest: Nest
    schedule: Schedule
    made: list[str] = field(default_factory=list[str])
    refused: list[str] = field(default_factory=list[str])

    @property
    def is_changed(self) -> bool:
        """Whether some move made another program."""
        return self.schedule.func is not self.nest.func

    def __repr__(self) -> str:
        return f"{self.nest.text}\n\n{self.schedule.trace}\n\n{self.schedule.func}"


def make_scheduled(choose: Choose) -> Scheduled:
    """A random program under a random schedule."""
    nest = make_nest(choose)
    found = Scheduled(nest, Schedule(nest.func))
    take_moves(found, choose)
    return found


def make_program(choose: Choose) -> Nest:
    """A random program, of one stage or of two."""
    return make_stages(choose) if choose(3) == 0 else make_nest(choose)


def make_any_program(choose: Choose) -> Nest:
    """A random program: as above, or long, or with sizes that are known at run time only."""
    kind = choose(4)
    if kind == 0:
        return make_sized(choose)
    return make_nest(choose, is_long=True) if kind == 1 else make_program(choose)


def take_moves(found: Scheduled, choose: Choose) -> None:
    """Take random steps. Programs with stages or run-time sizes have kinds of their own."""
    has_stages = any(isinstance(node, Allocate) for node in walk(found.nest.func.body))
    usual = tuple(MOVES) if has_stages or not found.nest.func.dimensions else SIZED_MOVES
    for _ in range(1 + choose(MAX_STEPS)):
        moves = tuple(STAGE_MOVES) if choose(6) < (4 if has_stages else 1) else usual
        take_move(found, pick(choose, moves), choose)


def take_hints(found: Scheduled, choose: Choose) -> None:
    """Give some hints, which the compiler follows where it can."""
    for _ in range(choose(3)):
        take_move(found, pick(choose, tuple(HINTS)), choose)


def take_move(found: Scheduled, name: str, choose: Choose) -> None:
    """Make a move, or see it refused; then nothing may have changed."""
    before = found.schedule.func
    try:
        ALL_MOVES[name](found.schedule, choose)
    except ScheduleError:
        found.refused.append(name)
        if found.schedule.func is not before:
            raise AssertionError(f"a refused {name} changed the program:\n{found!r}") from None
    else:
        found.made.append(name)
        verify(found.schedule.func, Stage.BLOCKS, name)


def check_scheduled(
    found: Scheduled,
    *,
    native: bool,
    expected: Sequence[Any] | None = None,
    is_interpreted: bool = True,
    is_optimized: bool = False,
) -> None:
    """Fail unless the scheduled program computes what the original does, bit for bit.

    `expected` is what that makes of the arguments, if it is known. What is not `is_interpreted` is
    left to native code, but for loops that run at once: threads need not show what another order
    of their iterations shows. What `is_optimized` is made fast where no step touched it.
    """
    nest, func = found.nest, found.schedule.func
    expected = expected or run(nest.func, nest.fresh_args())
    if not found.is_changed:
        return
    if is_interpreted:
        _compare(expected, run(func, nest.fresh_args()), "interpreted", found)
    reversed_func = backwards(func)
    if reversed_func.body is not func.body:
        _compare(expected, run(reversed_func, nest.fresh_args()), "in another order", found)
    if native:
        version = _made_fast(found) if is_optimized else func
        _compare(expected, run_native(version, nest.fresh_args()), "native", found)


def _made_fast(found: Scheduled) -> PrimFunc:
    says_order = found.schedule.trace.says_order
    return compiler.make_fast(found.schedule.func, found.nest.func, says_order=says_order).func


def backwards(func: PrimFunc) -> PrimFunc:
    """`func` with every concurrent loop run from its last iteration to its first."""
    return rearrange(func, last_first, lambda loop: loop.kind.is_concurrent)


def run(func: PrimFunc, args: list[Any]) -> list[Any]:
    """The arguments as an interpreted run leaves them."""
    interpret(func, args)
    return args


def run_native(func: PrimFunc, args: list[Any], *, may_reorder: bool = False) -> list[Any]:
    """The arguments as native code leaves them."""
    native_code(func, args, may_reorder=may_reorder)(args)
    return args


def native_code(
    func: PrimFunc, args: Sequence[Any], *, may_reorder: bool = False
) -> Callable[[Sequence[Any]], object]:
    """Native code for arguments that lie in memory as these do."""
    layout = layout_of(func.header, args, is_disjoint=True)
    code = compiler.build(func, layout, may_reorder=may_reorder)
    return load_native(func.header, layout, code)


def _compare(expected: Sequence[Any], found: Sequence[Any], way: str, scheduled: Scheduled) -> None:
    for a, b in zip(expected, found, strict=True):
        try:
            assert_same(b, a)
        except AssertionError as error:
            raise AssertionError(f"{error}; {a!r} became {b!r}, {way}:\n{scheduled!r}") from None
