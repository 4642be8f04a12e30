"""What LLVM is told about loops: where vectors do not pay, and which ones to unroll.

Which loops it may vectorise at all is decided in loop_labels.py, once their code is complete.

A math function is a long chain of instructions that wait for each other. Two vectors at a time
keep the processor busy; LLVM's own guess, which looks at the size of the body, is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from llvmlite import ir

from hybridjit.analysis.cost import calls_function
from hybridjit.analysis.limits import is_innermost
from hybridjit.arith.linear import linear_form
from hybridjit.codegen.llvm_types import I32, Module, Value, find_constant
from hybridjit.codegen.loop_labels import add_hint, leave_scalar
from hybridjit.codegen.memory import ArrayAddress
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import Binary, Buffer, Load, Var
from hybridjit.ir.stmt import Allocate, For, LoopKind, Store
from hybridjit.ir.visit import walk

INTERLEAVE = 2
_HINTS = "llvm.loop."
_INTERLEAVE = (f"{_HINTS}interleave.count", ir.Constant(I32, INTERLEAVE))
_UNROLL = (f"{_HINTS}unroll.full",)
MAX_SCATTERED_WORK = 4  # operations


def hint_loop(
    module: Module,
    jump_back: Value,
    loop: For,
    flags: Sequence[str],
    arrays: Mapping[Buffer, ArrayAddress],
) -> None:
    """Say what is to be made of `loop`, at the jump back to its begin."""
    if loop.kind is LoopKind.UNROLLED:
        add_hint(module, jump_back, _UNROLL)
        return
    if not is_innermost(loop):
        return
    if calls_math(loop):
        add_hint(module, jump_back, _INTERLEAVE)
    elif "reassoc" not in flags and _sums_in_order(loop):
        # Taking a vector apart for a sum takes longer than the sum: 1.5 times for a dot product.
        leave_scalar(module, jump_back)
    elif _scatters(loop, arrays):
        leave_scalar(module, jump_back)


def _sums_in_order(loop: For) -> bool:
    """True if a float is stored, in each iteration, where the iteration before has left it."""
    own = {node.buffer for node in walk(loop.body) if isinstance(node, Allocate)}
    return any(
        isinstance(node, Store)
        and node.buffer not in own
        and not node.buffer.dtype.is_integer
        and not any(loop.var in walk(index) for index in node.indices)
        and any(isinstance(part, Load) and part.buffer is node.buffer for part in walk(node.value))
        for node in walk(loop.body)
    )


def _scatters(loop: For, arrays: Mapping[Buffer, ArrayAddress]) -> bool:
    """True if vectors would have to be taken apart for every store, after little work on them.

    Updating a column so takes 1.5 times as long as one element after the other.
    """
    nodes = list(walk(loop.body))
    stores = [node for node in nodes if isinstance(node, Store) and node.indices]
    work = sum(isinstance(node, Binary) and node.dtype is not INT64 for node in nodes)
    return (
        bool(stores)
        and work <= MAX_SCATTERED_WORK
        and all(_is_apart(store, loop.var, arrays[store.buffer]) for store in stores)
    )


def _is_apart(store: Store, var: Var, array: ArrayAddress) -> bool:
    """True if the elements that iterations store are known to be apart in memory."""
    step = 0
    for place, stride in zip(store.indices, array.strides, strict=True):
        form, known = linear_form(place), find_constant(stride)
        factor = 0 if form is None else form.terms.get(var, 0)
        if form is None or (factor and known is None):
            return False
        step += factor * (known or 0)
    return abs(step) > array.dtype.bits // 8


def calls_math(loop: For) -> bool:
    """True if functions that take many instructions are most of the work of `loop`."""
    return calls_function(loop.body)
