"""The receipt: what the optimiser does to a program, as steps of a schedule.

    decisions of optimize(func)             s = Schedule(func)
        compute_inline, BlockOf(t)    -->   s.compute_inline("t")
        reduce_in_lanes, j, lanes=8         (i, j) = s.loops("sum")
                                            s.reduce_in_lanes(j, lanes=8)

A decision speaks of loops and buffers of the program that it was taken on. Those that were there
from the start are the same in the schedule. If others are meant, which an earlier decision made,
the optimiser is run again up to this one; the program that it has made then is the same as that of
the schedule, up to names, and tells which loop of the schedule is meant. In the end both programs
are compared. What lowering decides by itself comes after that: see lowering/choices.py.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import count

from hybridjit.errors import InternalError
from hybridjit.ir.equal import find_correspondence, find_difference
from hybridjit.ir.expr import Buffer, Node, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.printer import name_buffers, name_loops
from hybridjit.ir.stmt import Block, For, Stmt
from hybridjit.ir.visit import rewrite, walk_stmts
from hybridjit.optimize.decisions import BlockOf, Decision, Place
from hybridjit.optimize.mark_sums import MARKS
from hybridjit.optimize.optimize import optimize
from hybridjit.schedule.arrays.plain import stored_in
from hybridjit.schedule.handles import LoopHandle
from hybridjit.schedule.program import blocks_of, loops_around, the_loop
from hybridjit.schedule.schedule import Schedule
from hybridjit.target import Target

Correspondence = dict[Var | Buffer, Var | Buffer]


def make_receipt(
    schedule: Schedule,
    target: Target,
    as_written: PrimFunc | None = None,
    *,
    says_order: bool = True,
) -> None:
    """Take the steps on `schedule` that the optimiser takes on its program.

    Which loops a step makes depends on sizes: marks on these are left to those who replay it.
    """
    start = schedule.func
    whole = optimize(start, target, as_written, says_order=says_order)
    for taken, found in enumerate(whole.decisions.taken):
        decision, same = found, Correspondence()
        if decision.step in MARKS and not _is_there(start, decision):
            continue
        if not _is_there(schedule.func, decision):
            made = optimize(start, target, as_written, taken, says_order=says_order)
            same = _correspondence(made.func, schedule.func, taken)
            assert made.decisions.refused is not None
            decision = made.decisions.refused
        _take(schedule, decision, same)
    _correspondence(whole.func, schedule.func, len(whole.decisions.taken))


def _is_there(func: PrimFunc, decision: Decision) -> bool:
    """True if a decision is about loops and arrays of the program that both began with.

    What has been made since then are other objects in the schedule.
    """
    loops = {stmt.var for stmt in walk_stmts(func.body) if isinstance(stmt, For)}
    buffers = set(name_buffers(func).values())
    return all(_is_place(place, loops, buffers) for place in decision.places)


def _is_place(place: Place, loops: Collection[Var], buffers: Collection[Buffer]) -> bool:
    if isinstance(place, Var):
        return place in loops
    return place.buffer in buffers and (place.inside is None or place.inside in loops)


def _correspondence(made: PrimFunc, scheduled: PrimFunc, taken: int) -> Correspondence:
    made, scheduled = _without_marks(without_names(made)), _without_marks(without_names(scheduled))
    found = find_correspondence(made, scheduled)
    if found is None:
        difference = find_difference(made, scheduled)
        raise InternalError(f"step {taken} made another program: {difference}", "auto_schedule")
    return found


def without_names(func: PrimFunc) -> PrimFunc:
    """`func` with its blocks numbered: which name one has is a matter of those made before it."""
    numbers = count()

    def numbered(node: Node) -> Node | None:
        return replace(node, name=str(next(numbers))) if isinstance(node, Block) else None

    return replace(func, body=rewrite(func.body, numbered))


def _without_marks(func: PrimFunc) -> PrimFunc:
    """`func` without annotations: what steps by hand touched is no array statement any more to the
    optimiser, and says that it is one.
    """

    def bare(node: Node) -> Node | None:
        is_marked = isinstance(node, Block | For) and node.annotations
        return replace(node, annotations=()) if is_marked else None

    return replace(func, body=rewrite(func.body, bare))


def _take(schedule: Schedule, decision: Decision, same: Correspondence) -> None:
    """Take one step, at the places of the schedule that correspond to those of the decision."""
    if decision.step == "contract":
        (place,) = decision.places
        assert isinstance(place, BlockOf)
        names = {buffer: name for name, buffer in name_buffers(schedule.func).items()}
        schedule.contract(names[_buffer(place.buffer, same)])
        return
    places = [_place(schedule, place, same) for place in decision.places]
    getattr(schedule, decision.step)(*places, **decision.numbers)


def _place(schedule: Schedule, place: Place, same: Correspondence) -> LoopHandle | str:
    if isinstance(place, Var):
        return find_handle(schedule, _var(place, same))
    root: Stmt = schedule.func.body
    if place.inside is not None:
        root = the_loop(schedule.func, _var(place.inside, same))
    buffer = _buffer(place.buffer, same)
    blocks = [stmt for stmt in walk_stmts(root) if isinstance(stmt, Block)]
    return [block.name for block in blocks if buffer in stored_in(block)][-1]


def find_handle(schedule: Schedule, var: Var, *, by_name: bool = False) -> LoopHandle | str:
    """A handle that an earlier query gave, or one of the loops around some block in it.

    A loop without blocks in it is meant by its name, and others `by_name`, if it is theirs alone.
    """
    printed = {loop.var: name for name, loop in name_loops(schedule.func).items()}
    called_so = [found for found in printed if found.name == printed[var]]
    if by_name and called_so in ([], [var]):
        return printed[var]
    given = [result for step in schedule.trace.steps for result in step.results]
    handle = LoopHandle(var)
    if handle in given:
        return handle
    loop = the_loop(schedule.func, var)
    inside = [stmt for stmt in walk_stmts(loop) if isinstance(stmt, Block)]
    if not inside:
        return printed[var]
    names = {block.name for block in blocks_of(schedule.original)}

    def suits(block: Block) -> tuple[bool, int]:
        """Blocks of the program as it was are there for other sizes, too."""
        return block.name not in names, len(loops_around(schedule.func, block))

    block = min(inside, key=suits)
    return next(found for found in schedule.loops(block.name) if found == handle)


def _var(var: Var, same: Correspondence) -> Var:
    found = same.get(var, var)
    assert isinstance(found, Var)
    return found


def _buffer(buffer: Buffer, same: Correspondence) -> Buffer:
    found = same.get(buffer, buffer)
    assert isinstance(found, Buffer)
    return found
