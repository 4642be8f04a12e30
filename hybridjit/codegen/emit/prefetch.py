"""Prefetching: ask for the elements that a loop will read some iterations from now.

Nothing is read, so that an address past the end of an array does no harm.
"""

from __future__ import annotations

from llvmlite import ir

from hybridjit.arith.totality import is_total
from hybridjit.codegen.emit.emitter import Emitter, Request
from hybridjit.codegen.emit.memory import call_prefetch
from hybridjit.codegen.llvm_types import I64, Value
from hybridjit.ir.expr import Load, Var
from hybridjit.ir.stmt import For, While
from hybridjit.ir.visit import walk

PREFIX = "prefetch_"


def find_requests(emitter: Emitter, loop: For, step: Value) -> list[Request]:
    """The requests in the annotations of `loop`; they hold in the loops inside of it, too."""
    return [
        Request(
            name.removeprefix(PREFIX),
            loop.var,
            emitter.b.mul(step, ir.Constant(I64, distance)),
        )
        for name, distance in loop.annotations
        if name.startswith(PREFIX) and isinstance(distance, int)
    ]


def emit_prefetches(emitter: Emitter, loop: For) -> None:
    """The prefetches for what the body of `loop` itself reads, at its start."""
    for request in emitter.prefetches:
        for load in _find_loads(emitter, loop, request):
            _emit(emitter, request.var, load, request.ahead)


def _find_loads(emitter: Emitter, loop: For, request: Request) -> list[Load]:
    """The loads that stand in no inner loop and whose address is known, each once."""
    inner = [node for node in walk(loop.body) if isinstance(node, For | While)]
    deeper = {id(node) for nested in inner for node in walk(nested)}
    found = {
        node: None
        for node in walk(loop.body)
        if isinstance(node, Load) and id(node) not in deeper and _is_wanted(emitter, node, request)
    }
    return list(found)


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
