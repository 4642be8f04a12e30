"""te.decl_tensor_intrin: a compute of constant size, and a better way to do the same."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from hybridjit.analysis.make_blocks import make_blocks
from hybridjit.config import api_edge
from hybridjit.errors import ArgumentError, ArgumentValueError, MissingSymbol
from hybridjit.ir.expr import Buffer, BufferRef, Const, Var
from hybridjit.ir.extern import Extern as Function
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.printer import format_expr
from hybridjit.ir.signature import ScalarParam
from hybridjit.ir.stmt import Block, Stmt
from hybridjit.ir.verify import Stage, verify
from hybridjit.ir.visit import rewrite
from hybridjit.lazy import lazy_module
from hybridjit.record import record
from hybridjit.scalars.conversion import convert
from hybridjit.tensors.buffers import DeclaredBuffer, bound_buffer, stride_variables
from hybridjit.tensors.expression import Expression, as_scalar
from hybridjit.tensors.externs import Script, as_stmt, make_body
from hybridjit.tensors.function import create_prim_func
from hybridjit.tensors.intrinsic_calls import IntrinsicCall, call_intrinsic
from hybridjit.tensors.reduction import Reduction
from hybridjit.tensors.tensor import Compute, Operation, Placeholder, Tensor

if TYPE_CHECKING:
    from hybridjit.intrinsics import registry
else:
    registry = lazy_module("hybridjit.intrinsics.registry")


# How intrinsics are called that have no name.
UNNAMED = "tensor_intrin"


@record(eq=False)
class TensorIntrin:
    """An intrinsic for `tensorize`, found by its name. `op` is what it computes."""

    name: str
    op: Compute
    scalars: tuple[Var, ...] = ()

    def __call__(self, *args: Any, reduce_axis: Any = None) -> IntrinsicCall:
        """Use it in a te.compute: `lambda i: dot(A[i, 0:16], B[i, 0:16])`.

        Numbers for its scalars come after the parts. With a reduce_axis, the results for all its
        values are summed up.
        """
        parts, numbers = args[: len(self.op.input_tensors)], args[len(self.op.input_tensors) :]
        if len(numbers) != len(self.scalars):
            raise ArgumentValueError(
                f"intrinsic '{self.name}' takes {len(self.op.input_tensors)} parts of tensors and "
                f"{len(self.scalars)} numbers, found {len(args)} arguments"
            )
        given = {
            scalar: convert(as_scalar(number), scalar.dtype, None)
            for scalar, number in zip(self.scalars, numbers, strict=True)
        }
        return call_intrinsic(self.name, self.op, parts, reduce_axis, given)


@api_edge
def decl_tensor_intrin(
    op: Operation,
    fcompute: Any,
    name: str | None = None,
    binds: Mapping[Tensor, DeclaredBuffer] | None = None,
    scalar_params: Sequence[Any] = (),
    default_buffer_params: Mapping[str, Any] | None = None,
) -> TensorIntrin:
    """An intrinsic that computes what `op`, a compute on placeholders of constant sizes, does.

    `fcompute(ins, outs)` is given buffers and returns the statement that does it better. For a
    reduction it may return two: for the whole, or None, and for the update of what is there
    already, which is the intrinsic `name_update`. Of three, the second one, which sets the starting
    values, is not needed. What is given for the whole may be the update, too: what it adds to is
    set before it then. A foreign function or a script may be given itself: it is called on the
    inputs followed by the outputs, and does the update of a reduction.

    `binds` gives a buffer of te.decl_buffer for a tensor, which may have strides;
    `default_buffer_params` are the options of te.decl_buffer for all others. `scalar_params` are
    te.vars in `op` that stand for numbers: `fcompute(ins, outs, scalars)` is given them, too.

    Without a name, it has one that no other has: schedules find intrinsics by their names.

    What `fcompute` calls need not be there yet: then the intrinsic is made when it is used.

    >>> dot = te.decl_tensor_intrin(C.op, lambda ins, outs: call_dot(*ins, *outs), "dot")
    """
    compute = _checked(op)
    name = registry.INTRINSICS.free_name(UNNAMED) if name is None else name
    args = [*compute.input_tensors, *compute.outputs]
    buffers = [bound_buffer(tensor, binds or {}, default_buffer_params) for tensor in args]
    scalars = _read_scalars(name, scalar_params)
    described = create_prim_func([*args, *scalar_params], name)
    params = tuple(param for param in described.params if isinstance(param, Buffer))
    described = replace(described, params=params)  # the scalars are told apart by themselves
    declaration = _Declaration(name, compute, described, buffers, scalars)
    try:
        declaration.declare(fcompute, scalar_params)
    except MissingSymbol:
        registry.INTRINSICS.postpone(name, lambda: declaration.declare(fcompute, scalar_params))
    return TensorIntrin(name, compute, scalars)


def _read_scalars(name: str, given: Sequence[Any]) -> tuple[Var, ...]:
    scalars: list[Var] = []
    for item in given:
        if not isinstance(item, Expression) or not isinstance(item.expr, Var):
            raise ArgumentError(f"intrinsic '{name}': a scalar is a te.var, got {item!r}")
        scalars.append(item.expr)
    return tuple(scalars)


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
    """An intrinsic that is being declared on `buffers`, for `scalars`."""

    name: str
    compute: Compute
    description: PrimFunc
    buffers: Sequence[Buffer]
    scalars: tuple[Var, ...]

    def declare(self, fcompute: Any, scalar_params: Sequence[Any]) -> None:
        """Declare what `fcompute` does: the whole, and a step of the reduction."""
        bodies = self._bodies(fcompute, scalar_params)
        may_update = isinstance(self.compute.body, Reduction)
        if len(bodies) > 1 and (len(bodies) > 3 or not may_update):
            raise ArgumentValueError(
                f"intrinsic '{self.name}': it has one statement, or for a reduction two: for the "
                f"whole and for the update; found {len(bodies)}"
            )
        if bodies[0] is not None:
            self._declare_whole(bodies[0], may_update=may_update)
        if len(bodies) > 1:
            self._declare_update(bodies[-1])

    def _declare_whole(self, body: Any, *, may_update: bool) -> None:
        """Declare what `body` does: of a reduction, it may be the update."""
        try:
            self._declare(self.name, self.description, body)
        except ArgumentValueError as error:
            if not may_update:
                raise
            try:
                self._declare_update(body)
            except ArgumentValueError:
                raise error from None

    def _declare_update(self, body: Any) -> None:
        self._declare(f"{self.name}_update", _without_init(self.description), body)

    def _bodies(self, fcompute: Any, scalar_params: Sequence[Any]) -> Sequence[Any]:
        """What `fcompute` does: the whole, and for a reduction perhaps the update."""
        count = len(self.compute.input_tensors)
        ins, outs = self.buffers[:count], self.buffers[count:]
        if isinstance(fcompute, (Function, Script, PrimFunc)):
            body, constants = make_body(fcompute, ins, outs)
            if constants:
                raise ArgumentValueError("an intrinsic cannot hold constant arrays")
            return [None, body] if isinstance(self.compute.body, Reduction) else [body]
        scalars = [list(scalar_params)] if self.scalars else []
        result = fcompute(ins, outs, *scalars)
        return cast("Sequence[Any]", result) if isinstance(result, (tuple, list)) else [result]

    def _declare(self, name: str, description: PrimFunc, body: Any) -> None:
        strides = stride_variables(self.buffers)
        variables = tuple(ScalarParam(var) for var in (*strides, *self.scalars))
        stmt = _addressed(make_blocks(as_stmt(body)), {buffer for buffer, _ in strides.values()})
        verify(PrimFunc(name, (*self.buffers, *variables), stmt), Stage.BLOCKS, "te")
        implementation = PrimFunc(name, tuple(self.buffers), stmt)
        registry.INTRINSICS.declare(name, description, implementation, strides, self.scalars)


def _addressed(stmt: Stmt, buffers: Collection[Buffer]) -> Stmt:
    """Pass parts of buffers with strides of their own by the addresses of their first elements."""

    def rule(node: object) -> BufferRef | None:
        if not isinstance(node, BufferRef) or node.buffer not in buffers or not node.starts:
            return None
        return replace(node, extents=(None,) * len(node.extents))

    return rewrite(stmt, rule)


def _without_init(func: PrimFunc) -> PrimFunc:
    """The update of a reduction alone."""

    def rule(node: object) -> Block | None:
        return replace(node, init=None) if isinstance(node, Block) else None

    return replace(func, body=rewrite(func.body, rule))
