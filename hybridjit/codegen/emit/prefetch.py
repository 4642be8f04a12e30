"""Prefetching: ask for the elements that a loop will read some iterations from now.

Nothing is read, so that an address past the end of an array does no harm. What lanes read, or the
iterations of a loop that is written out, is asked for by the loop around that they belong to:

    for d in serial(n, annotations={"prefetch_b": 8}):
        for r in unroll(6):
            for l in vectorize(16):                 -->     b[d + 8, 0] is asked for once
                ... b[d, l] ...

Of a loop with "prefetch_c": 0, an iteration asks at its begin for what lanes in it will read or
write, all lines of them, and those of short loops around them as well:

    for p in serial(n, annotations={"prefetch_c": 0}):
        ...                                                     -->  c[0, p * 32], c[0, p * 32 + 8],
        for r in range(6):                                           ..., c[5, p * 32 + 24] are
            for l in vectorize(32):                                  asked for
                c[r, p * 32 + l] = ...
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from llvmlite import ir

from hybridjit.analysis.limits import limits_of_loop, loop_extent
from hybridjit.arith.ranges import constant
from hybridjit.arith.simplify import simplify
from hybridjit.arith.totality import is_total
from hybridjit.codegen.emit.emitter import Emitter, Request
from hybridjit.codegen.emit.memory import LINE, call_prefetch
from hybridjit.codegen.llvm_types import I64, Value
from hybridjit.ir.expr import Const, Expr, Load, Var
from hybridjit.ir.stmt import For, LoopKind, Stmt, Store, While
from hybridjit.ir.visit import substitute, walk, walk_stmts

PREFIX = "prefetch_"
_MOST_WRITTEN_OUT = 16


def find_requests(emitter: Emitter, loop: For, step: Value) -> list[Request]:
    """The requests in the annotations of `loop`; they hold in the loops inside of it, too."""
    return [
        Request(
            name.removeprefix(PREFIX),
            loop.var,
            emitter.b.mul(step, ir.Constant(I64, distance)),
            distance == 0,
        )
        for name, distance in loop.annotations
        if name.startswith(PREFIX) and isinstance(distance, int)
    ]


def emit_prefetches(emitter: Emitter, loop: For) -> None:
    """The prefetches for what the body of `loop` itself reads, at its start."""
    for request in emitter.prefetches:
        if request.is_now:
            for load in _find_rows(emitter, loop, request) if request.var is loop.var else ():
                _emit(emitter, request.var, load, request.ahead)
            continue
        places: dict[Var, Sequence[Expr]] = {}
        if request.var is loop.var:
            places = _places_inside(loop.body)
        for load in _find_loads(emitter, loop, request, places):
            _emit(emitter, request.var, load, request.ahead)


def _places_inside(body: Stmt) -> dict[Var, Sequence[Expr]]:
    """The loops that are no loops in the code, and for which of their iterations to ask."""
    found: dict[Var, Sequence[Expr]] = {}
    for loop in (node for node in walk_stmts(body) if isinstance(node, For)):
        start, count = constant(loop.start), loop_extent(loop)
        if start is None or count is None or constant(loop.step) != 1:
            continue
        if loop.kind is LoopKind.VECTORIZED or count == 1:
            found[loop.var] = [Const(start)]
        elif loop.kind is LoopKind.UNROLLED and count <= _MOST_WRITTEN_OUT:
            found[loop.var] = [Const(at) for at in range(start, start + count)]
    return found


def _find_loads(
    emitter: Emitter, loop: For, request: Request, places: Mapping[Var, Sequence[Expr]]
) -> list[Load]:
    """The loads that stand in no other inner loop than those with `places`, and whose address is
    known, each once.
    """
    inner = [
        node
        for node in walk_stmts(loop.body)
        if isinstance(node, While) or (isinstance(node, For) and node.var not in places)
    ]
    deeper = {id(node) for nested in inner for node in walk(nested)}
    found: dict[Load, None] = {}
    for node in walk(loop.body):
        if isinstance(node, Load) and node.buffer.name == request.name and id(node) not in deeper:
            for load in _written_out(node, places):
                if _is_wanted(emitter, load, request):
                    found.setdefault(load)
    return list(found)


def _find_rows(emitter: Emitter, loop: For, request: Request) -> list[Load]:
    """The lines that the lanes in short loops inside of `loop` read or write, each once."""
    found: dict[Load, None] = {}
    for node in walk(loop.body):
        if isinstance(node, Load | Store) and node.buffer.name == request.name:
            per_line = max(1, LINE * 8 // node.buffer.dtype.bits)
            places = _places_of_rows(emitter, loop.body, per_line)
            for load in _written_out(Load(node.buffer, node.indices), places):
                if _is_wanted(emitter, load, request):
                    found.setdefault(load)
    return list(found)


def _places_of_rows(emitter: Emitter, body: Stmt, per_line: int) -> dict[Var, Sequence[Expr]]:
    """The short loops inside, and for which of their iterations to ask: one for each line."""
    found: dict[Var, Sequence[Expr]] = {}
    for loop in (node for node in walk_stmts(body) if isinstance(node, For)):
        limits = limits_of_loop(loop, emitter.limits)
        if limits is None or constant(loop.start) != 0 or constant(loop.step) != 1:
            continue
        step = per_line if loop.kind is LoopKind.VECTORIZED else 1
        if limits[1] < step * _MOST_WRITTEN_OUT:
            found[loop.var] = [Const(at) for at in range(0, limits[1] + 1, step)]
    return found


def _written_out(load: Load, places: Mapping[Var, Sequence[Expr]]) -> Iterator[Load]:
    """A load in each of the iterations that it is asked for in."""
    used = {var: None for index in load.indices for var in walk(index) if isinstance(var, Var)}
    moved = [var for var in used if var in places]
    if not moved:
        yield load
        return
    for at in itertools.product(*(places[var] for var in moved)):
        here = dict(zip(moved, at, strict=True))
        yield replace(load, indices=tuple(simplify(substitute(i, here)) for i in load.indices))


def _is_wanted(emitter: Emitter, load: Load, request: Request) -> bool:
    if load.buffer.name != request.name or load.buffer not in emitter.arrays:
        return False
    if not all(is_total(index) for index in load.indices):
        return False
    used = [var for index in load.indices for var in walk(index) if isinstance(var, Var)]
    return request.var in used and all(var in emitter.values for var in used)


def _first_lane(emitter: Emitter, index: Value) -> Value:
    """An index; of one in lanes, that of the first: its neighbours lie near, or are too many."""
    if not isinstance(index.type, ir.VectorType):
        return index
    return emitter.b.extract_element(index, ir.Constant(I64, 0))


def _emit(emitter: Emitter, var: Var, load: Load, ahead: Value) -> None:
    b, now = emitter.b, emitter.values[var]
    emitter.values[var] = b.add(now, ahead)
    indices = [_first_lane(emitter, emitter.emit(index)) for index in load.indices]
    emitter.values[var] = now
    call_prefetch(b, emitter.arrays[load.buffer].element(b, indices, inside=False))
