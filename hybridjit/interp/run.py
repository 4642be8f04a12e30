"""Run a PrimFunc: bind the arguments, run the body, gather the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hybridjit.errors import ArgumentError, ArgumentValueError, InternalError
from hybridjit.interp.base_array import base_array
from hybridjit.interp.expressions import compile_expr
from hybridjit.interp.list_results import find_lists, put_together
from hybridjit.interp.scalars import Scalar, as_scalar, cast, dtype_of, is_number
from hybridjit.interp.scope import ERROR_STATE, RESULTS, Eval, Frame, Scope
from hybridjit.ir.dtype import DType, Kind
from hybridjit.ir.expr import Buffer
from hybridjit.ir.header import Header
from hybridjit.ir.signature import Param, ScalarParam, ScalarResult
from hybridjit.lazy import lazy_module
from hybridjit.record import record

if TYPE_CHECKING:
    from hybridjit.interp import statements, stepping
    from hybridjit.interp.script_names import Alias
    from hybridjit.ir.func import PrimFunc
else:
    stepping = lazy_module("hybridjit.interp.stepping")
    statements = lazy_module("hybridjit.interp.statements")  # native code needs the rest only

Array = NDArray[Any]
_NDARRAY: type[Any] = np.ndarray
_RANK = {Kind.BOOL: 0, Kind.INT: 1, Kind.UINT: 1, Kind.FLOAT: 2, Kind.COMPLEX: 3}


def interpret(func: PrimFunc, args: Sequence[object]) -> object:
    """What `func` returns for `args`, one for each parameter; arrays are written in place."""
    return compile_func(func)(args)


def compile_func(
    func: PrimFunc, *, has_steps: bool = False, aliases: Sequence[Alias] = ()
) -> Callable[[Sequence[object]], object]:
    """The function from arguments to results that interprets `func`; it may be called often.

    With steps, a debugger of Python sees the lines of the script; `aliases` are more names there.
    """
    program = compile_program(func, has_steps=has_steps)

    def run(args: Sequence[object]) -> object:
        frame = program.begin(args)
        program.run(frame)
        return program.gather(frame)

    return stepping.with_debugger(func, program.scope, aliases, run) if has_steps else run


@record(eq=False)
class Program:
    """A function in parts: what makes a frame of arguments, runs in it, and takes results from it.

    `scope` knows which slot of the frame holds what.
    """

    scope: Scope
    begin: Callable[[Sequence[object]], Frame]
    run: Callable[[Frame], None]
    gather: Callable[[Frame], object]


def compile_program(func: PrimFunc, *, has_steps: bool = False) -> Program:
    """What interprets `func`, in parts."""
    scope = Scope(span=func.span, whole=func.span, name=func.name, has_steps=has_steps)
    prologue = compile_prologue(func.header, scope)
    constants = [(scope.bind(item.buffer), _read_only(item.data)) for item in func.constants]
    body = statements.compile_stmt(func.body, scope)
    gather = compile_results(func.header, scope)

    def begin(args: Sequence[object]) -> Frame:
        frame = prologue(args)
        for slot, data in constants:
            frame[slot] = data
        return frame

    def run(frame: Frame) -> None:
        with np.errstate(all="ignore"):
            body(frame)

    return Program(scope, begin, run, gather)


def compile_prologue(
    func: Header, scope: Scope, set_outputs: Sequence[int] = ()
) -> Callable[[Sequence[object]], Frame]:
    """What comes before the body: arguments checked and converted, sizes bound, outputs made.

    The outputs with the numbers `set_outputs` need no zeros: the body sets them before it reads.
    """
    bind_arguments = _compile_parameters(func, scope)
    make_outputs = _compile_outputs(func, scope, set_outputs)

    def begin(args: Sequence[object]) -> Frame:
        frame = scope.new_frame()
        frame[ERROR_STATE] = np.geterr()
        with np.errstate(all="ignore"):
            bind_arguments(frame, args)
            make_outputs(frame)
        return frame

    return begin


# Arguments


def _compile_parameters(func: Header, scope: Scope) -> Callable[[Frame, Sequence[object]], None]:
    slots = [scope.bind(param if isinstance(param, Buffer) else param.var) for param in func.params]
    dimensions = _compile_dimensions(func, scope)
    shapes = [
        (buffer, scope.slot(buffer), _compile_shape(buffer, scope)) for buffer in func.buffers
    ]

    def bind(frame: Frame, args: Sequence[object]) -> None:
        if len(args) != len(slots):
            raise ArgumentError(
                f"'{func.name}' takes {len(slots)} arguments, not {len(args)}", func.span
            )
        for slot, param, arg in zip(slots, func.params, args, strict=True):
            frame[slot] = _convert_argument(param, arg)
        for slot, array_slot, axis in dimensions:
            frame[slot] = np.int64(frame[array_slot].shape[axis])
        for buffer, slot, shape in shapes:
            _check_shape(buffer, frame[slot].shape, shape(frame))

    return bind


def _compile_dimensions(func: Header, scope: Scope) -> list[tuple[int, int, int]]:
    """For each run-time dimension: its slot, and the array slot and axis that it is read from."""
    found: list[tuple[int, int, int]] = []
    for var in func.dimensions:
        if var in scope.slots:  # a scalar parameter
            continue
        buffer = next(buffer for buffer in func.buffers if var in buffer.shape)
        found.append((scope.bind(var), scope.slot(buffer), buffer.shape.index(var)))
    return found


def _compile_shape(buffer: Buffer, scope: Scope) -> Callable[[Frame], tuple[int, ...]]:
    extents: list[Eval] = [compile_expr(extent, scope) for extent in buffer.shape]
    return lambda frame: tuple([int(extent(frame)) for extent in extents])


def _convert_argument(param: Param, arg: object) -> Scalar:
    if isinstance(param, ScalarParam):
        return _convert_scalar(param.name, param.var.dtype, arg)
    if not isinstance(arg, _NDARRAY):
        raise ArgumentError(f"argument '{param.name}' must be an array, not {type(arg).__name__}")
    array = base_array(arg)
    if array.dtype != param.dtype.numpy:
        raise ArgumentError(
            f"argument '{param.name}' must be an array of {param.dtype}, not {array.dtype}"
        )
    if array.ndim != param.ndim:
        raise ArgumentValueError(
            f"argument '{param.name}' must have {param.ndim} dimensions, not {array.ndim}"
        )
    return array


def _check_shape(buffer: Buffer, actual: tuple[int, ...], expected: tuple[int, ...]) -> None:
    if actual != expected:
        raise ArgumentValueError(
            f"argument '{buffer.name}' must have shape {expected}, not {actual}"
        )


def _convert_scalar(name: str, dtype: DType, arg: object) -> Scalar:
    """A NumPy scalar of the parameter's type, or a Python number that the type can hold."""
    if not is_number(arg):
        raise ArgumentError(f"argument '{name}' must be a number, not {type(arg).__name__}")
    try:
        scalar = as_scalar(arg)
        given = dtype_of(scalar)
        if given is not dtype and (scalar is arg or _RANK[given.kind] > _RANK[dtype.kind]):
            raise ArgumentError(f"argument '{name}' must be {dtype}, not {type(arg).__name__}")
        return cast(arg, dtype, checked=dtype.is_integer)
    except OverflowError:
        raise ArgumentValueError(f"argument '{name}': {arg} does not fit {dtype}") from None


# Arrays that the function brings along, and results


def _compile_outputs(
    func: Header, scope: Scope, set_outputs: Sequence[int]
) -> Callable[[Frame], None]:
    shapes = [_compile_shape(buffer, scope) for buffer in func.outputs]
    makers = [np.empty if k in set_outputs else np.zeros for k in range(len(shapes))]
    outputs = [
        (scope.bind(buffer), shape, buffer.dtype.numpy, make_array)
        for buffer, shape, make_array in zip(func.outputs, shapes, makers, strict=True)
    ]

    def make(frame: Frame) -> None:
        for slot, shape, dtype, make_array in outputs:
            frame[slot] = make_array(shape(frame), dtype)

    return make


def _read_only(data: Array) -> Array:
    view = data[...]
    view.flags.writeable = False
    return view


def compile_results(func: Header, scope: Scope) -> Callable[[Frame], object]:
    """What comes after the body: the results, from the outputs and `frame[RESULTS]`."""
    if func.returns is None:
        return lambda frame: None
    readers: list[Eval] = []
    scalars = 0
    for result in func.returns:
        if isinstance(result, Buffer):
            readers.append(itemgetter(scope.slot(result)))
        else:
            weak = isinstance(result, ScalarResult) and result.weak
            readers.append(_compile_given_result(scalars, weak=weak))
            scalars += 1
    make = result_maker(func)

    def gather(frame: Frame) -> object:
        given = 0 if frame[RESULTS] is None else len(frame[RESULTS])
        if given != scalars:
            message = f"'{func.name}' returned {given} values, not {scalars}"
            raise InternalError(message, "interp", func.span)
        return make(*[read(frame) for read in readers])

    return gather


def result_maker(func: Header) -> Callable[..., object]:
    """What makes one result of all of them: lists, tuples in tuples, views, one by itself."""
    lists = find_lists(func.returns or ())
    has_lists = any(lists)

    def make(*results: Any) -> object:
        results = put_together(results, lists) if has_lists else results
        if func.nesting is not None:
            return func.nesting.put_together(iter(results))
        return results if func.returns_tuple or len(results) != 1 else results[0]

    return make


def _compile_given_result(position: int, *, weak: bool) -> Eval:
    if weak:
        return lambda frame: frame[RESULTS][position].item()
    return lambda frame: frame[RESULTS][position]
