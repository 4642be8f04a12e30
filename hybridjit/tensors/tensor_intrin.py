"""te.decl_tensor_intrin: a compute of constant size, and a better way to do the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from hybridjit.analysis.make_blocks import make_blocks
from hybridjit.config import api_edge
from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.ir.expr import Buffer, Const
from hybridjit.ir.extern import Extern as Function
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.printer import format_expr
from hybridjit.ir.signature import ScalarParam
from hybridjit.ir.stmt import Block
from hybridjit.ir.verify import Stage, verify
from hybridjit.ir.visit import rewrite
from hybridjit.lazy import lazy_module
from hybridjit.record import record
from hybridjit.tensors.buffers import DeclaredBuffer, bound_buffer, stride_variables
from hybridjit.tensors.externs import Script, as_stmt, make_body
from hybridjit.tensors.function import create_prim_func
from hybridjit.tensors.intrinsic_calls import IntrinsicCall, call_intrinsic
from hybridjit.tensors.reduction import Reduction
from hybridjit.tensors.tensor import Compute, Operation, Placeholder, Tensor, TensorSlice

if TYPE_CHECKING:
    from hybridjit.intrinsics import registry
else:
    registry = lazy_module("hybridjit.intrinsics.registry")


@record(eq=False)
class TensorIntrin:
    """An intrinsic for `tensorize`, found by its name. `op` is what it computes."""

    name: str
    op: Compute

    def __call__(self, *parts: TensorSlice, reduce_axis: Any = None) -> IntrinsicCall:
        """Use it in a te.compute: `lambda i: dot(A[i, 0:16], B[i, 0:16])`.

        With a reduce_axis, the results for all its values are summed up.
        """
        return call_intrinsic(self.name, self.op, parts, reduce_axis)


@api_edge
def decl_tensor_intrin(
    op: Operation,
    fcompute: Any,
    name: str = "tensor_intrin",
    binds: Mapping[Tensor, DeclaredBuffer] | None = None,
) -> TensorIntrin:
    """An intrinsic that computes what `op`, a compute on placeholders of constant sizes, does.

    `fcompute(ins, outs)` is given buffers and returns the statement that does it better. For a
    reduction it may return two: for the whole, or None, and for the update of what is there
    already, which is the intrinsic `name_update`. Of three, the second one, which sets the starting
    values, is not needed. A foreign function or a script may be given itself: it is called on the
    inputs followed by the outputs, and does the update of a reduction.

    `binds` gives a buffer of te.decl_buffer for a tensor, which may have strides.

    >>> dot = te.decl_tensor_intrin(C.op, lambda ins, outs: call_dot(*ins, *outs), "dot")
    """
    compute = _checked(op)
    args = [*compute.input_tensors, *compute.outputs]
    buffers = [bound_buffer(tensor, binds or {}) for tensor in args]
    count = len(compute.input_tensors)
    declare = _Declaration(name, create_prim_func(args, name), buffers)
    bodies = _bodies(fcompute, buffers[:count], buffers[count:], compute)
    if len(bodies) > 1 and (len(bodies) > 3 or not isinstance(compute.body, Reduction)):
        raise ArgumentValueError(
            f"intrinsic '{name}': it has one statement, or for a reduction two: for the whole and "
            f"for the update; found {len(bodies)}"
        )
    if bodies[0] is not None:
        declare.whole(bodies[0])
    if len(bodies) > 1:
        declare.update(bodies[-1])
    return TensorIntrin(name, compute)


def _bodies(
    fcompute: Any, ins: Sequence[Buffer], outs: Sequence[Buffer], compute: Compute
) -> Sequence[Any]:
    """What `fcompute` does: the whole, and for a reduction perhaps the update."""
    if isinstance(fcompute, (Function, Script, PrimFunc)):
        body, constants = make_body(fcompute, ins, outs)
        if constants:
            raise ArgumentValueError("an intrinsic cannot hold constant arrays")
        return [None, body] if isinstance(compute.body, Reduction) else [body]
    result = fcompute(ins, outs)
    return cast("Sequence[Any]", result) if isinstance(result, (tuple, list)) else [result]


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
    for tensor in (*op.input_tensors, *op.outputs):
        _check_constant_sizes(tensor)
    return op


def _check_constant_sizes(tensor: Tensor) -> None:
    for extent in tensor.buffer.shape:
        if not isinstance(extent, Const):
            raise ArgumentValueError(
                f"intrinsic: the sizes of '{tensor.name}' must be constants, one is "
                f"{format_expr(extent)}",
                help="declare it for the part that tensorize gives it: split loops by that size",
            )


@record(eq=False)
class _Declaration:
    """An intrinsic that is being declared on `buffers`."""

    name: str
    description: PrimFunc
    buffers: Sequence[Buffer]

    def whole(self, body: Any) -> None:
        """Declare the statement that does all of it."""
        self._declare(self.name, self.description, body)

    def update(self, body: Any) -> None:
        """Declare the statement that does a step of the reduction."""
        self._declare(f"{self.name}_update", _without_init(self.description), body)

    def _declare(self, name: str, description: PrimFunc, body: Any) -> None:
        strides = stride_variables(self.buffers)
        variables = tuple(ScalarParam(var) for var in strides)
        stmt = make_blocks(as_stmt(body))
        verify(PrimFunc(name, (*self.buffers, *variables), stmt), Stage.BLOCKS, "te")
        implementation = PrimFunc(name, tuple(self.buffers), stmt)
        registry.INTRINSICS.declare(name, description, implementation, strides)


def _without_init(func: PrimFunc) -> PrimFunc:
    """The update of a reduction alone."""

    def rule(node: object) -> Block | None:
        return replace(node, init=None) if isinstance(node, Block) else None

    return replace(func, body=rewrite(func.body, rule))
