"""Prefetching: ask for the elements that a loop will read some iterations from now.

Nothing is read, so that an address past the end of an array does no harm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llvmlite import ir

from hybridjit.arith.totality import is_total
from hybridjit.codegen.casts import declare
from hybridjit.codegen.llvm_types import I8, I32, I64, Value
from hybridjit.ir.expr import Load, Var
from hybridjit.ir.stmt import For
from hybridjit.ir.visit import walk

if TYPE_CHECKING:
    from hybridjit.codegen.emit_statements import StatementEmitter

PREFIX = "prefetch_"
# For reading, to be kept in all levels of the cache, data: see the manual of LLVM.
_READ, _KEEP, _DATA = 0, 3, 1


def emit_prefetches(emitter: StatementEmitter, loop: For, step: Value) -> None:
    """The prefetches that the annotations of `loop` ask for, at the start of its body."""
    for name, distance in loop.annotations:
        if name.startswith(PREFIX) and isinstance(distance, int):
            for load in _find_loads(emitter, loop, name.removeprefix(PREFIX)):
                _emit(emitter, loop.var, load, emitter.b.mul(step, ir.Constant(I64, distance)))


def _find_loads(emitter: StatementEmitter, loop: For, name: str) -> list[Load]:
    """The loads whose address is known at the start of the body, each once."""
    return [
        node
        for node in dict.fromkeys(walk(loop.body))
        if isinstance(node, Load)
        and node.buffer.name == name
        and node.buffer in emitter.arrays
        and all(is_total(index) for index in node.indices)
        and all(
            var in emitter.values for i in node.indices for var in walk(i) if isinstance(var, Var)
        )
    ]


def _emit(emitter: StatementEmitter, var: Var, load: Load, ahead: Value) -> None:
    b, now = emitter.b, emitter.values[var]
    emitter.values[var] = b.add(now, ahead)
    indices = [emitter.emit(index) for index in load.indices]
    emitter.values[var] = now
    address = emitter.arrays[load.buffer].element(b, indices, inside=False)
    pointer = I8.as_pointer()
    function_type = ir.FunctionType(ir.VoidType(), [pointer, I32, I32, I32])
    function = declare(emitter.module, "llvm.prefetch.p0", function_type)
    hints = [ir.Constant(I32, hint) for hint in (_READ, _KEEP, _DATA)]
    b.call(function, [b.bitcast(address, pointer), *hints])
