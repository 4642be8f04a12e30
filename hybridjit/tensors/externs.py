"""te.extern: tensors that something else fills: foreign code, a script, or IR built by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast, runtime_checkable

from hybridjit.analysis.make_blocks import make_blocks
from hybridjit.config import api_edge
from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.ir.dtype import DType
from hybridjit.ir.expr import Buffer, BufferRef, Expr, ExternCall, Load
from hybridjit.ir.extern import Extern as Function
from hybridjit.ir.extern import Pointer
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.signature import ConstantArray
from hybridjit.ir.stmt import Evaluate, Stmt, Store, seq
from hybridjit.ir.visit import fresh_copy, walk, walk_stmts
from hybridjit.scalars.conversion import convert
from hybridjit.tensors.buffers import DeclaredBuffer, copy_elements, declared_for, settle
from hybridjit.tensors.compute import as_shape, output_names
from hybridjit.tensors.expression import as_scalar, dtype_of, name_of
from hybridjit.tensors.inlined import Extern, make_operation
from hybridjit.tensors.sizes import SizeNames
from hybridjit.tensors.substitution import sized_like, substitute_arguments
from hybridjit.tensors.tensor import Tensor, TensorBuffer


@runtime_checkable
class Script(Protocol):
    """A kernel of hybrid.script, as far as it matters here."""

    __hybrid_function__: Any

    def prim_func(self, *args: Any) -> PrimFunc: ...


@api_edge
def extern(
    shape: Any,
    inputs: Sequence[Tensor],
    fcompute: Any,
    name: str = "extern",
    dtype: Any = None,
    in_buffers: Any = None,
    out_buffers: Any = None,
    tag: str = "",
    attrs: dict[str, Any] | None = None,
) -> Any:
    """The tensor, or with a list of shapes the tensors, that `fcompute` fills.

    `fcompute(ins, outs)` is given the buffers of the inputs and outputs and returns a statement,
    such as the call of a hybrid.packed or hybrid.extern function on them. These functions, and
    scripts that write to their arguments, may be given themselves: they are called on the inputs
    followed by the outputs. Outputs are zero before. Without a dtype, the inputs have to agree.
    Buffers of te.decl_buffer say how the function sees inputs and outputs: with other strides, for
    example.

    >>> C = te.extern((n, m), [A, B], hybrid.packed(multiply_into), name="C")
    """
    _check_inputs(inputs)
    name_of(name, "a tensor")
    shapes = cast("list[Any]", shape) if _is_list_of_shapes(shape) else [shape]
    dtypes = _dtypes(dtype, inputs, len(shapes))
    outs = [
        Buffer(label, kind, as_shape(size))
        for label, kind, size in zip(output_names(name, len(shapes)), dtypes, shapes, strict=True)
    ]
    ins_seen = _declared([tensor.buffer for tensor in inputs], in_buffers, "inputs")
    outs_seen = _declared(outs, out_buffers, "outputs")
    body, constants = make_body(fcompute, [*ins_seen], [*outs_seen])
    _check_body(body, ins_seen, outs_seen)
    body = settle(body, ins_seen, outs_seen)
    op = make_operation(Extern, name, body, outs, constants, tag=tag, attrs=attrs)
    return op.outputs[0] if len(outs) == 1 else list(op.outputs)


def _declared(buffers: Sequence[Buffer], given: Any, what: str) -> dict[DeclaredBuffer, Buffer]:
    """What stands for each of `buffers` in the body: the buffers that are given, if any."""
    listed = cast("Sequence[Any]", given) if isinstance(given, (tuple, list)) else [given]
    seen = [None] * len(buffers) if given is None else listed
    if len(seen) != len(buffers):
        raise ArgumentValueError(f"found {len(seen)} buffers for {len(buffers)} {what}")
    return {
        declared_for(buffer, declared): buffer
        for buffer, declared in zip(buffers, seen, strict=True)
    }


@api_edge
def extern_primfunc(
    input_tensors: Sequence[Tensor], primfunc: PrimFunc, name: str | None = None
) -> Any:
    """The tensors that `primfunc` computes of tensors.

    Its first parameters are the inputs; the others, which it writes to, are the outputs. An input
    that it changes in place is an output, too, before the others: it changes a copy.
    """
    _check_inputs(input_tensors)
    outputs = primfunc.params[len(input_tensors) :]
    changed = _changed_in_place(primfunc, len(input_tensors))
    if not input_tensors or not (outputs or changed):
        missing = "output" if input_tensors else "input"
        raise ArgumentValueError(
            f"'{primfunc.name}' has no {missing} buffers: it takes {len(primfunc.params)} "
            f"arguments, and {len(input_tensors)} tensors are given"
        )
    label = name_of(name or primfunc.name, "a tensor")
    found = [param for param in outputs if isinstance(param, Buffer)]
    if len(found) < len(outputs):
        raise ArgumentError(f"'{primfunc.name}' takes numbers, which an operation does not have")
    ins: list[Buffer] = [tensor.buffer for tensor in input_tensors]
    outs = sized_like(primfunc, ins, found)
    copies = {
        place: Buffer(param.name, param.dtype, ins[place].shape) for place, param in changed.items()
    }
    args = [copies.get(place, buffer) for place, buffer in enumerate(ins)]
    results = [*copies.values(), *outs]
    inlined = substitute_arguments(primfunc, [*args, *outs], results)
    before = [make_blocks(copy_elements(ins[place], copy)) for place, copy in copies.items()]
    op = make_operation(Extern, label, seq(*before, inlined.body), results, inlined.constants)
    return op.outputs[0] if len(results) == 1 else list(op.outputs)


def _changed_in_place(func: PrimFunc, count: int) -> dict[int, Buffer]:
    """The inputs, the first `count` parameters, that `func` writes to, by their places.

    Foreign functions are taken to read their inputs, as in te.extern.
    """
    written = {node.buffer for node in walk_stmts(func.body) if isinstance(node, Store)}
    return {
        place: param
        for place, param in enumerate(func.params[:count])
        if isinstance(param, Buffer) and param in written
    }


def _check_inputs(inputs: object) -> None:
    if not isinstance(inputs, (tuple, list)):
        raise ArgumentError(f"the inputs of an extern are a list of tensors, got {inputs!r}")
    for item in cast("Sequence[object]", inputs):
        if not isinstance(item, Tensor):
            raise ArgumentError(f"an input of an extern is a tensor, got {item!r}")


def _is_list_of_shapes(shape: object) -> bool:
    if not isinstance(shape, list):
        return False
    items = cast("list[object]", shape)
    return bool(items) and all(isinstance(item, (tuple, list)) for item in items)


def _dtypes(dtype: Any, inputs: Sequence[Tensor], count: int) -> list[DType]:
    if dtype is None:
        found = {tensor.dtype for tensor in inputs}
        if len(found) != 1:
            raise ArgumentValueError(
                "cannot tell the type of the outputs: the inputs have "
                f"{'none' if not found else ', '.join(sorted(map(str, found)))}",
                help='give it, as in extern(..., dtype="float32")',
            )
        return [found.pop()] * count
    if not isinstance(dtype, (tuple, list)):
        return [dtype_of(dtype)] * count
    given = [dtype_of(item) for item in cast("Sequence[Any]", dtype)]
    if len(given) != count:
        raise ArgumentValueError(f"found {len(given)} types for {count} outputs")
    return given


def make_body(
    fcompute: Any, ins: Sequence[Buffer], outs: Sequence[Buffer]
) -> tuple[Stmt, tuple[ConstantArray, ...]]:
    """The statement that fills `outs`, and the constant arrays in it."""
    if isinstance(fcompute, Function):
        return call_function(fcompute, [*ins, *outs]), ()
    if isinstance(fcompute, Script):
        sizes = SizeNames()
        fcompute = fcompute.prim_func(*(sizes.spec(buffer) for buffer in (*ins, *outs)))
    if isinstance(fcompute, PrimFunc):
        inlined = substitute_arguments(fcompute, [*ins, *outs], outs)
        if inlined.results:
            raise ArgumentError(
                f"'{fcompute.name}' returns a result, and as an extern it writes to its arguments",
                help="call the script on the tensors instead",
            )
        return inlined.body, inlined.constants
    return make_blocks(as_stmt(fcompute(ins, outs))), ()


def as_stmt(result: object) -> Stmt:
    """What the body of an extern returned, as one statement."""
    match result:
        case Stmt():
            return fresh_copy(result)
        case ExternCall():
            return Evaluate(result)  # for its effect
        case tuple() | list():
            items = cast("Sequence[object]", result)
            return seq(*(as_stmt(item) for item in items))
        case _:
            raise ArgumentError(
                f"the body of an extern must return a statement, it returned {result!r}",
                help="call a hybrid.packed or hybrid.extern function on the buffers",
            )


def call_function(function: Function, args: Sequence[Any]) -> Any:
    """A call of a C function or a Python callback on buffers, expressions and numbers.

    Numbers and te expressions are converted to the types of C. It is a statement, or with a result
    an expression of the IR.
    """
    params: Sequence[DType | Pointer | None] = function.params or [None] * len(args)
    if len(params) != len(args):
        raise ArgumentValueError(
            f"{function.name} takes {len(params)} arguments, found {len(args)}"
        )
    values = tuple(map(_argument, args, params))
    if function.params is not None:
        _check_call(function, values)
    call = ExternCall(function, values)
    return Evaluate(call) if function.result is None else call


def _argument(arg: Any, param: DType | Pointer | None) -> Expr:
    if isinstance(arg, Buffer):
        return BufferRef(arg)
    if isinstance(arg, Expr):
        return arg
    scalar = as_scalar(arg)
    if isinstance(param, DType) and param.is_complex >= scalar.type.dtype.is_complex:
        return convert(scalar, param, None)
    return scalar.expr


def call_extern(function: Function, *args: Any) -> Any:
    """The call of a hybrid.extern or hybrid.packed function, in the body of a te.extern."""
    return call_function(function, args)


call_packed = call_extern


def _check_call(function: Function, values: Sequence[Expr]) -> None:
    params = function.params or ()
    for param, value in zip(params, values, strict=True):
        is_array = isinstance(value, BufferRef)
        wanted = param.dtype if isinstance(param, Pointer) else param
        if is_array != isinstance(param, Pointer) or value.dtype is not wanted:
            needed = f"an array of {wanted}" if isinstance(param, Pointer) else str(wanted)
            found = f"an array of {value.dtype}" if is_array else str(value.dtype)
            raise ArgumentError(f"{function.name} takes {needed}, found {found}")


def _check_body(
    body: Stmt, ins: Mapping[DeclaredBuffer, Buffer], outs: Mapping[DeclaredBuffer, Buffer]
) -> None:
    """Refuse a hand-built statement that writes to an input or reads what is not an input."""
    passed: set[Buffer] = {*ins, *ins.values()}
    known = {*passed, *outs}
    for node in walk(body):
        if isinstance(node, Store) and node.buffer in passed:
            raise ArgumentValueError(f"an extern writes to its input '{node.buffer.name}'")
        if (
            isinstance(node, Load | BufferRef)
            and isinstance(node.buffer, TensorBuffer)
            and node.buffer not in known
        ):
            raise ArgumentValueError(
                f"an extern reads '{node.buffer.name}', which is not among its inputs"
            )
