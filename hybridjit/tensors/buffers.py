"""te.decl_buffer: how foreign code sees a tensor, with strides of its own if it wants any.

Tensors lie in C order. Where foreign code wants other strides, the extern copies: inputs to memory
that is laid out so before, outputs from such memory after.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

from hybridjit.analysis.make_blocks import make_blocks
from hybridjit.arith.simplify import simplify
from hybridjit.config import api_edge
from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.ir.dtype import FLOAT32, INT64
from hybridjit.ir.expr import Buffer, BufferRef, Const, Expr, Load, Max, Mul, Node, Sub, Var
from hybridjit.ir.printer import format_expr
from hybridjit.ir.stmt import Allocate, For, Stmt, Store, seq
from hybridjit.ir.visit import rewrite, substitute, walk
from hybridjit.record import record
from hybridjit.tensors.compute import as_shape
from hybridjit.tensors.expression import dtype_of, name_of
from hybridjit.tensors.sizes import same_size
from hybridjit.tensors.tensor import Tensor, index_expr


@record(eq=False)
class DeclaredBuffer(Buffer):
    """A buffer in the body of an extern or an intrinsic. Its strides count elements.

    A stride that is a te.var of its own, no size, is what it is; any other is asked for.
    """

    strides: tuple[Expr, ...] = field(kw_only=True)
    offset: Expr = field(default=Const(0), kw_only=True)

    @property
    def data(self) -> BufferRef:
        """Where its elements begin, as an argument of a C function."""
        return BufferRef(self)

    def access_ptr(self, access_mask: str = "rw", *, offset: Any = 0, **hints: Any) -> BufferRef:
        """The buffer as an argument of a C function, from the element on that `offset` counts to.

        An offset in a buffer of several dimensions is that of a row. Hints that TVM takes, such as
        content_lanes, change nothing.
        """
        _check_hints("access_ptr", hints, ("ptr_type", "content_lanes", "extent"))
        if not access_mask or set(access_mask) - {"r", "w"}:
            raise ArgumentValueError(f"an access is 'r', 'w' or 'rw', found {access_mask!r}")
        place = simplify(index_expr(offset))
        return BufferRef(self) if place == Const(0) else _from_row(self, place)

    def is_usual(self, open_strides: Container[Var]) -> bool:
        """Whether it lies in C order, from the first element of its memory on."""
        wanted = zip(self.strides, usual_strides(self), strict=True)
        is_ordered = all(
            (isinstance(a, Var) and a in open_strides) or same_size(a, b) for a, b in wanted
        )
        return is_ordered and same_size(self.offset, Const(0))


@api_edge
def decl_buffer(
    shape: Any,
    dtype: object = None,
    name: str = "buffer",
    *,
    strides: Sequence[Any] | None = None,
    elem_offset: Any = 0,
    **hints: Any,
) -> DeclaredBuffer:
    """How foreign code sees a tensor; without strides, in C order.

    For te.extern(in_buffers=..., out_buffers=...) and te.decl_tensor_intrin(binds=...). Hints that
    TVM takes, such as offset_factor and data_alignment, change nothing.
    """
    _check_hints("decl_buffer", hints, ("data_alignment", "offset_factor", "scope", "buffer_type"))
    extents = as_shape(shape)
    wanted = FLOAT32 if dtype is None else dtype_of(dtype)
    plain = Buffer(name_of(name, "a buffer"), wanted, extents)
    steps = tuple(usual_strides(plain)) if strides is None else tuple(map(index_expr, strides))
    if len(steps) != len(extents):
        raise ArgumentValueError(
            f"buffer '{name}' has {len(extents)} dimensions and {len(steps)} strides"
        )
    made = DeclaredBuffer(name, wanted, extents, strides=steps, offset=index_expr(elem_offset))
    _check_apart(made)
    return made


def _check_hints(function: str, hints: Iterable[str], known: Sequence[str]) -> None:
    for hint in hints:
        if hint not in known:
            raise ArgumentError(f"{function} takes no argument '{hint}'")


def _from_row(buffer: DeclaredBuffer, offset: Expr) -> BufferRef:
    """The rest of a buffer from a row on; of one without rows, from an element on."""
    lone = [axis for axis, extent in enumerate(buffer.shape) if extent != Const(1)]
    axis = lone[0] if lone else buffer.ndim - 1
    row = _quotient(offset, buffer.strides[axis]) if axis >= 0 else None
    if row is None:
        raise ArgumentValueError(
            f"access_ptr of '{buffer.name}': the offset {format_expr(offset)} is not that of a row",
            help="a row begins at a multiple of the first stride",
        )
    starts: list[Expr] = [Const(0)] * buffer.ndim
    extents = list(buffer.shape)
    starts[axis], extents[axis] = row, simplify(buffer.shape[axis] - row)
    return BufferRef(buffer, tuple(starts), tuple(extents))


def _quotient(offset: Expr, stride: Expr) -> Expr | None:
    """How often a stride fits into an offset, if it is known to do so without a rest."""
    match offset, stride:
        case Mul(lhs, rhs), _ if stride in (lhs, rhs):
            return rhs if lhs == stride else lhs
        case _ if same_size(offset, stride):
            return Const(1)
        case _:
            found = simplify(offset // stride) if isinstance(stride, Const) else None
            return found if found is not None and same_size(found * stride, offset) else None


def usual_strides(buffer: Buffer) -> list[Expr]:
    """The strides of an array in C order, in elements."""
    strides: list[Expr] = []
    step: Expr = Const(1)
    for extent in reversed(buffer.shape):
        strides.insert(0, step)
        step = simplify(step * extent)
    return strides


def _check_apart(buffer: DeclaredBuffer) -> None:
    """Refuse strides that put two elements in one place, as far as they are known."""
    known = [
        (int(stride.value.real), int(extent.value.real))
        for stride, extent in zip(buffer.strides, buffer.shape, strict=True)
        if isinstance(stride, Const) and isinstance(extent, Const) and extent.value.real > 1
    ]
    reach = 1
    for stride, extent in sorted(known):
        if stride < reach:
            raise ArgumentValueError(
                f"the strides of buffer '{buffer.name}' put two elements in one place",
                help="strides are positive, and leave room for the dimensions inside",
            )
        reach = stride * (extent - 1) + reach


def bound_buffer(
    tensor: Tensor,
    binds: Mapping[Tensor, DeclaredBuffer],
    defaults: Mapping[str, Any] | None = None,
) -> DeclaredBuffer:
    """How an intrinsic sees `tensor`: as it is bound, else with the options that are usual."""
    given = next((found for key, found in binds.items() if key is tensor), None)
    if given is None and defaults is not None:
        given = decl_buffer(tensor.shape, tensor.dtype, tensor.name, **defaults)
    return declared_for(tensor.buffer, given)


def declared_for(buffer: Buffer, given: object) -> DeclaredBuffer:
    """The buffer that stands for `buffer` in the body of an extern: the one given, if any."""
    if given is None:
        strides = tuple(usual_strides(buffer))
        return DeclaredBuffer(buffer.name, buffer.dtype, buffer.shape, strides=strides)
    if not isinstance(given, DeclaredBuffer):
        raise ArgumentError(f"'{buffer.name}' needs a te.decl_buffer, got {given!r}")
    sizes = zip(given.shape, buffer.shape, strict=False)
    if (
        given.dtype is not buffer.dtype
        or given.ndim != buffer.ndim
        or not all(same_size(a, b) for a, b in sizes)
    ):
        raise ArgumentValueError(
            f"buffer '{given.name}' has another shape or type than '{buffer.name}'"
        )
    return given


def stride_variables(buffers: Sequence[Buffer]) -> dict[Var, tuple[Buffer, int]]:
    """The te.vars that stand for strides and for no size, each with its buffer and axis."""
    sizes = {node for buffer in buffers for extent in buffer.shape for node in walk(extent)}
    return {
        stride: (buffer, axis)
        for buffer in buffers
        if isinstance(buffer, DeclaredBuffer)
        for axis, stride in enumerate(buffer.strides)
        if isinstance(stride, Var) and stride not in sizes
    }


# -- other layouts ---------------------------------------------------------------------------------


def settle(
    body: Stmt, ins: Mapping[DeclaredBuffer, Buffer], outs: Mapping[DeclaredBuffer, Buffer]
) -> Stmt:
    """`body` on the buffers that the declared ones stand for, through copies where they differ."""
    before: list[Stmt] = []
    after: list[Stmt] = []
    variables = stride_variables([*ins, *outs])
    for declared, buffer in (*ins.items(), *outs.items()):
        if declared.is_usual(variables):
            body = substitute(body, {}, {declared: buffer})
            continue
        memory = Buffer(f"{buffer.name}_strided", buffer.dtype, (_reach(declared),))
        body = _laid_out(body, declared, memory)
        before.append(Allocate(memory, zero=True))
        copy = make_blocks(_copy(declared, buffer, memory, is_back=declared in outs))
        (after if declared in outs else before).append(copy)
    strides = {var: usual_strides(buffer)[axis] for var, (buffer, axis) in variables.items()}
    return substitute(seq(*before, body, *after), strides)


def _reach(declared: DeclaredBuffer) -> Expr:
    """How many elements of memory a layout needs."""
    size = declared.offset + 1
    for stride, extent in zip(declared.strides, declared.shape, strict=True):
        size = size + Max(Sub(extent, Const(1)), Const(0, INT64)) * stride
    return simplify(size)


def _place(declared: DeclaredBuffer, indices: Sequence[Expr]) -> Expr:
    place = declared.offset
    for index, stride in zip(indices, declared.strides, strict=True):
        place = place + index * stride
    return simplify(place)


def _laid_out(body: Stmt, declared: DeclaredBuffer, memory: Buffer) -> Stmt:
    """`body` with the accesses to a declared buffer going to its memory."""

    def rule(node: Node) -> Node | None:
        match node:
            case Load(buffer, indices) if buffer is declared:
                return Load(memory, (_place(declared, indices),), span=node.span)
            case Store(buffer, indices, value) if buffer is declared:
                return Store(memory, (_place(declared, indices),), value, span=node.span)
            case BufferRef(buffer, starts) if buffer is declared and starts:
                place = _place(declared, starts)
                rest = simplify(memory.shape[0] - place)
                return BufferRef(memory, (place,), (rest,), span=node.span)
            case BufferRef(buffer) if buffer is declared and same_size(declared.offset, Const(0)):
                return BufferRef(memory, span=node.span)
            case BufferRef(buffer) if buffer is declared:
                return BufferRef(memory, (declared.offset,), (None,), span=node.span)
            case _:
                return None

    return rewrite(body, rule)


def _copy(declared: DeclaredBuffer, buffer: Buffer, memory: Buffer, *, is_back: bool) -> Stmt:
    loops = tuple(Var(f"i{axis}") for axis in range(buffer.ndim))
    place = (_place(declared, loops),)
    if is_back:
        return _nest(loops, buffer, Store(buffer, loops, Load(memory, place)))
    return _nest(loops, buffer, Store(memory, place, Load(buffer, loops)))


def copy_elements(source: Buffer, target: Buffer) -> Stmt:
    """Set all elements of `target` to those of `source`."""
    loops = tuple(Var(f"i{axis}") for axis in range(source.ndim))
    return _nest(loops, source, Store(target, loops, Load(source, loops)))


def _nest(loops: Sequence[Var], buffer: Buffer, stmt: Stmt) -> Stmt:
    """`stmt` for all elements of `buffer`."""
    for var, extent in reversed(list(zip(loops, buffer.shape, strict=True))):
        stmt = For(var, Const(0), extent, Const(1), stmt)
    return stmt
