"""double_buffer: fill a scratch buffer for the next iteration while this one uses it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

from hybridjit.analysis.coverage import Coverage
from hybridjit.analysis.dependence import Dependences
from hybridjit.analysis.instances import Instances, infer_instances
from hybridjit.arith.simplify import simplify
from hybridjit.arith.totality import is_total
from hybridjit.ir.expr import (
    Buffer,
    BufferRef,
    Const,
    Expr,
    FloorDiv,
    Gt,
    Load,
    Lt,
    Mod,
    Node,
    Var,
)
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import (
    Allocate,
    Block,
    Continue,
    For,
    Let,
    LoopKind,
    Seq,
    Stmt,
    Store,
    seq,
)
from hybridjit.ir.visit import Mutator, fresh_copy, walk, walk_stmts
from hybridjit.record import record
from hybridjit.schedule.bind_loops import bind_loops
from hybridjit.schedule.buffers import scope_of, the_scratch_array
from hybridjit.schedule.label_iters import label_writers
from hybridjit.schedule.nest import bounds_of, trip_count
from hybridjit.schedule.program import (
    guarded,
    is_left_early,
    jumps,
    loops_around,
    replace_stmt,
    substitute_loop,
    variables_in,
)
from hybridjit.schedule.refusal import refuse, refuse_conflict
from hybridjit.schedule.reindex import Indices, reindex
from hybridjit.schedule.staging import fresh_block_name


def double_buffer(func: PrimFunc, buffer: Buffer) -> PrimFunc:
    """Give `buffer`, made in each iteration of a loop, two places, and fill it an iteration ahead.

        for i in range(n):                        t = allocate((2, 8), ...)
            t = allocate((8,), ...)               if 0 < n:
            fill(t, i)                                fill(t[0], 0)
            use(t, i)                      -->    for i in range(n):
                                                      if i + 1 < n:
                                                          fill(t[(i + 1) % 2], i + 1)
                                                      use(t[i % 2], i)

    Legal if filling it for the next iteration does not depend on the use in this one.
    """
    check_double_buffer(func, buffer)
    return make_double_buffer(func, buffer)


def check_double_buffer(func: PrimFunc, buffer: Buffer) -> None:
    """Refuse a buffer that is not filled first, or whose filling depends on what comes before."""
    allocation = the_scratch_array(func, buffer, "double_buffer")
    stages = _find_stages(func, allocation)
    _check_loop(func, stages.loop)
    _check_is_reached(func, buffer, stages)
    _check_memory(func, allocation, stages)
    _check_order(func, stages)


def make_double_buffer(func: PrimFunc, buffer: Buffer) -> PrimFunc:
    """`func` with two places for a buffer, of which the next iteration's is filled ahead."""
    stages = _find_stages(func, the_scratch_array(func, buffer, "double_buffer"))
    made = dataclasses.replace(buffer, shape=(Const(2), *buffer.shape))
    pipelined = _pipelined(func, buffer, made, stages)
    return label_writers(bind_loops(replace_stmt(func, stages.loop, pipelined)), made)


@record(eq=False)
class _Stages:
    """The loop, the statements of its body that fill the buffer, and those that use it."""

    loop: For
    fill: tuple[Stmt, ...]
    use: tuple[Stmt, ...]


def _find_stages(func: PrimFunc, allocation: Allocate) -> _Stages:
    buffer, body = allocation.buffer, scope_of(func, allocation)
    loop = next((loop for loop in loops_around(func, allocation) if loop.body is body), None)
    if loop is None or not isinstance(body, Seq):
        raise refuse(
            func,
            f"double_buffer: '{buffer.name}' is not made in the body of a loop",
            [allocation],
            help="s.cache_read(block, buffer, scope, at=loop) makes a copy in each iteration",
        )
    stmts = [stmt for stmt in body.stmts if stmt is not allocation]
    filled = max((k for k, stmt in enumerate(stmts) if _writes(stmt, buffer)), default=-1) + 1
    if filled in (0, len(stmts)):
        raise refuse(
            func,
            f"double_buffer: nothing in loop '{loop.var.name}' uses '{buffer.name}' after it is "
            "filled",
            [loop, allocation],
        )
    fill = _find_fill(stmts[:filled], buffer)
    return _Stages(
        loop,
        tuple(stmts[k] for k in sorted(fill)),
        tuple(stmt for k, stmt in enumerate(stmts) if k not in fill),
    )


def _find_fill(stmts: Sequence[Stmt], buffer: Buffer) -> set[int]:
    """Where statements write the buffer, or stand before these and make what they touch."""
    fill: set[int] = set()
    wanted: set[Buffer | Var] = {buffer}
    for place, stmt in reversed([*enumerate(stmts)]):
        nodes = [*walk(stmt)]
        if not wanted.isdisjoint(_made_by(nodes)):
            fill.add(place)
            wanted.update(node for node in nodes if isinstance(node, Var))
            touched = (node for node in nodes if isinstance(node, Load | Store | BufferRef))
            wanted.update(node.buffer for node in touched)
    return fill


def _made_by(nodes: Iterable[Node]) -> Iterator[Buffer | Var]:
    for node in nodes:
        match node:
            case Store(buffer) | Allocate(buffer) | BufferRef(buffer):
                yield buffer
            case Let(var):
                yield var
            case _:
                pass


def _writes(stmt: Stmt, buffer: Buffer) -> bool:
    return any(isinstance(node, Store) and node.buffer is buffer for node in walk(stmt))


def _check_loop(func: PrimFunc, loop: For) -> None:
    name = loop.var.name
    if loop.kind not in (LoopKind.SERIAL, LoopKind.SCAN):
        raise refuse(func, f"double_buffer: loop '{name}' is {loop.kind.value}", [loop])
    if not isinstance(loop.step, Const) or not all(is_total(bound) for bound in bounds_of(loop)):
        raise refuse(
            func, f"double_buffer: the bounds of loop '{name}' read memory or may fail", [loop]
        )
    if is_left_early(loop):
        raise refuse(func, f"double_buffer: break or return may leave loop '{name}' early", [loop])
    match trip_count(func, loop):
        case Const(int(trips)) if trips < 2:
            raise refuse(func, f"double_buffer: loop '{name}' has no next iteration", [loop])
        case _:
            pass


def _check_is_reached(func: PrimFunc, buffer: Buffer, stages: _Stages) -> None:
    """Filling ahead is part of another iteration, where `continue` would leave out other things;
    and what an iteration leaves out may be an error.
    """
    body = stages.loop.body
    assert isinstance(body, Seq)
    last = max(body.stmts.index(stmt) for stmt in stages.fill)
    if any(jumps(stmt, Continue) for stmt in body.stmts[: last + 1]):
        raise refuse(
            func,
            f"double_buffer: continue may leave an iteration of loop '{stages.loop.var.name}' "
            f"before '{buffer.name}' is filled",
            [stages.loop],
        )


def _check_memory(func: PrimFunc, allocation: Allocate, stages: _Stages) -> None:
    """The buffer now lives outside of the loop, and keeps what an earlier iteration left there."""
    buffer, loop = allocation.buffer, stages.loop
    bound = {loop.var} | {node.var for node in walk_stmts(loop.body) if isinstance(node, Let)}
    if any(var in bound for extent in buffer.shape for var in variables_in(extent)):
        raise refuse(
            func, f"double_buffer: the size of '{buffer.name}' depends on the loop", [allocation]
        )
    coverage = Coverage(infer_instances(func, loop.body), loop.body, buffer)
    if allocation.zero and not coverage.prove_read_after_write():
        raise refuse(
            func,
            f"double_buffer: '{buffer.name}' may be read where it was not written and is zero",
            [allocation],
        )
    made = [node.var if isinstance(node, Let) else node.buffer for node in _bindings(stages.fill)]
    used = {node for stmt in stages.use for node in walk(stmt)}
    touched = {node.buffer for node in used if isinstance(node, Load | Store | BufferRef)}
    shared = [item for item in made if item in used or item in touched]
    if shared:
        raise refuse(
            func,
            f"double_buffer: '{shared[0].name}' is made where '{buffer.name}' is filled, and used "
            "later",
            [loop],
        )


def _bindings(stmts: tuple[Stmt, ...]) -> list[Let | Allocate]:
    return [stmt for stmt in stmts if isinstance(stmt, Let | Allocate)]


def _check_order(func: PrimFunc, stages: _Stages) -> None:
    """Filling runs one iteration ahead; the buffer itself is private to its iteration."""
    loop = stages.loop
    filling = {node for stmt in stages.fill for node in walk(stmt)}
    step = abs(int(loop.step.value.real)) if isinstance(loop.step, Const) else 1

    def time(statement: Instances) -> tuple[str, ...]:
        now = statement.time_of(loop)
        ahead = (f"{now} - {step}", "0") if statement.node in filling else (now, "1")
        return (*ahead, *statement.time)

    conflict = Dependences(infer_instances(func, loop), func.fastmath).find_reversed(
        lambda statement: statement.time, time
    )
    if conflict is not None:
        raise refuse_conflict(
            func,
            f"double_buffer: loop '{loop.var.name}' cannot be filled for one iteration ahead",
            conflict,
            [loop],
        )


def _pipelined(func: PrimFunc, buffer: Buffer, made: Buffer, stages: _Stages) -> Stmt:
    loop = stages.loop
    place = Mod(_count(loop), Const(2))

    def move(indices: Indices) -> Indices:
        return (place, *indices)

    fill = reindex(seq(*stages.fill), buffer, made, move)
    use = reindex(seq(*stages.use), buffer, made, move)
    first = _Rename(func).rewrite(fresh_copy(substitute_loop(fill, loop, loop.start)))
    following = simplify(loop.var + loop.step)
    ahead = _guarded(loop, following, substitute_loop(fill, loop, following))
    return seq(
        Allocate(made, zero=False),
        _guarded(loop, loop.start, first),
        dataclasses.replace(loop, body=seq(ahead, use)),
    )


def _count(loop: For) -> Expr:
    """The number of the iteration."""
    return simplify(FloorDiv(loop.var - loop.start, loop.step))


def _guarded(loop: For, value: Expr, body: Stmt) -> Stmt:
    """`body` if the loop has an iteration at `value`."""
    is_down = isinstance(loop.step, Const) and loop.step.value.real < 0
    cond = simplify((Gt if is_down else Lt)(value, loop.stop))
    return guarded([cond], body)


class _Rename(Mutator):
    """Give every block a name that no block of the function has."""

    def __init__(self, func: PrimFunc) -> None:
        self.func = func
        self.taken: set[str] = set()

    def rewrite_Block(self, node: Block) -> Stmt:
        name = fresh_block_name(self.func, f"{node.name}_first", self.taken)
        self.taken.add(name)
        return dataclasses.replace(self.generic(node), name=name)
