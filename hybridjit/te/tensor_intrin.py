"""te.decl_tensor_intrin: a compute of constant size, and a better way to do the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.frontend.make_blocks import make_blocks
from hybridjit.ir.expr import Buffer
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Block
from hybridjit.ir.verify import Stage, verify
from hybridjit.ir.visit import rewrite
from hybridjit.lazy import lazy_module
from hybridjit.te.externs import as_stmt
from hybridjit.te.function import create_prim_func
from hybridjit.te.reduction import Reduction
from hybridjit.te.tensor import Compute, Operation, Placeholder

# Of the layer above: asked for its registry when an intrinsic is declared, and for nothing else.
_intrinsics: Any = lazy_module("hybridjit.schedule.intrinsic")


@dataclass(frozen=True, slots=True, eq=False)
class TensorIntrin:
    """An intrinsic for `tensorize`, found by its name. `op` is what it computes."""

    name: str
    op: Compute


def decl_tensor_intrin(op: Operation, fcompute: Any, name: str = "tensor_intrin") -> TensorIntrin:
    """An intrinsic that computes what `op`, a compute on placeholders of constant sizes, does.

    `fcompute(ins, outs)` is given buffers and returns the statement that does it better. For a
    reduction it may return two: for the whole, and for the update of what is there already, which
    is the intrinsic `name_update`.

    >>> dot = te.decl_tensor_intrin(C.op, lambda ins, outs: call_dot(*ins, *outs), "dot")
    """
    compute = _checked(op)
    args = [*compute.input_tensors, *compute.outputs]
    whole = create_prim_func(args, name)
    buffers = [Buffer(tensor.name, tensor.dtype, tensor.buffer.shape) for tensor in args]
    count = len(compute.input_tensors)
    result = fcompute(buffers[:count], buffers[count:])
    if not isinstance(result, (tuple, list)):
        _declare(name, whole, buffers, result)
        return TensorIntrin(name, compute)
    bodies = cast("Sequence[Any]", result)
    if len(bodies) != 2 or not isinstance(compute.body, Reduction):
        raise ArgumentValueError(
            f"intrinsic '{name}': it has one statement, or for a reduction two: for the whole and "
            f"for the update; found {len(bodies)}"
        )
    _declare(name, whole, buffers, bodies[0])
    _declare(f"{name}_update", _without_init(whole), buffers, bodies[1])
    return TensorIntrin(name, compute)


def _checked(op: object) -> Compute:
    if not isinstance(op, Compute):
        raise ArgumentError(
            f"an intrinsic is declared for the operation of a te.compute, got {op!r}",
            help="pass tensor.op",
        )
    for tensor in op.input_tensors:
        if not isinstance(tensor.op, Placeholder):
            raise ArgumentError(
                f"intrinsic: '{op.name}' reads '{tensor.name}', which is no placeholder",
                help="an intrinsic is one operation: declare it on te.placeholders",
            )
    return op


def _declare(name: str, description: PrimFunc, buffers: Sequence[Buffer], body: Any) -> None:
    implementation = PrimFunc(name, tuple(buffers), make_blocks(as_stmt(body)))
    verify(implementation, Stage.BLOCKS, "te")
    _intrinsics.INTRINSICS.declare(name, description, implementation)


def _without_init(func: PrimFunc) -> PrimFunc:
    """The update of a reduction alone."""

    def rule(node: object) -> Block | None:
        return replace(node, init=None) if isinstance(node, Block) else None

    return replace(func, body=rewrite(func.body, rule))
