"""Functions that make arrays: np.zeros, np.full, np.arange, np.linspace, np.eye ..."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence

from hybridjit import config
from hybridjit.arith.ranges import ONE, ZERO, constant, minus, plus, tidy
from hybridjit.errors import Span
from hybridjit.frontend.arrays.calls import cast_element
from hybridjit.frontend.arrays.memory import elements_of, fixed_index, whole
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.call_arguments import (
    arguments,
    find_dtype_argument,
    flag_argument,
    shape_argument,
)
from hybridjit.frontend.values import (
    AnyArray,
    ArrayExpr,
    GrowingList,
    Items,
    Nothing,
    Value,
    describe,
)
from hybridjit.ir.dtype import (
    BOOL,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT64,
    UINT64,
    WEAK_FLOAT,
    DType,
    ScalarType,
)
from hybridjit.ir.expr import (
    Add,
    Call,
    Const,
    Div,
    Eq,
    Expr,
    FloorDiv,
    Gt,
    Le,
    Max,
    Mul,
    Not,
    Sub,
    Var,
    const,
)
from hybridjit.ir.header import MAX_EXTENT
from hybridjit.ir.stmt import If, Raise
from hybridjit.ir.visit import walk
from hybridjit.scalars.comparisons import compare
from hybridjit.scalars.conversion import join_types
from hybridjit.scalars.functions import apply
from hybridjit.scalars.operators import binary, select
from hybridjit.scalars.scalar import Scalar, index, integer
from hybridjit.scalars.style import Style

_FILLED_WITH = {"zeros": 0, "empty": 0, "ones": 1}


def make_filled(build: Builder, name: str, node: ast.Call) -> Value:
    """`np.zeros(shape, dtype)`, `np.ones`, `np.empty`; its elements are zero in a script."""
    args = arguments(build, node, "shape", "dtype", required=1)
    shape = _shape(build, args["shape"])
    dtype = find_dtype_argument(build, args) or FLOAT64
    return _uniform(build, shape, Scalar(_filling(name, dtype), ScalarType(dtype)))


def make_filled_like(build: Builder, name: str, node: ast.Call) -> Value:
    """`np.zeros_like(a, dtype)` and its kin."""
    args = arguments(build, node, "a", "dtype", required=1)
    pattern = array_argument(build, args["a"])
    dtype = find_dtype_argument(build, args) or pattern.dtype
    filling = _filling(name.removesuffix("_like"), dtype)
    return _uniform(build, pattern.shape, Scalar(filling, ScalarType(dtype)))


def _filling(name: str, dtype: DType) -> Const:
    """What an array begins with; where errors are looked for, an empty one with no useful value."""
    if name == "empty" and config.current().debug and not dtype.is_bool:
        return const(math.nan if dtype.is_inexact else dtype.bounds[1], dtype)
    return const(_FILLED_WITH[name], dtype)


def make_full(build: Builder, name: str, node: ast.Call) -> Value:
    """`np.full(shape, value, dtype)` and `np.full_like(a, value, dtype)`."""
    is_like = name == "full_like"
    first = "a" if is_like else "shape"
    args = arguments(build, node, first, "fill_value", "dtype", required=2)
    dtype = find_dtype_argument(build, args)
    if is_like:
        pattern = array_argument(build, args["a"])
        shape, dtype = pattern.shape, dtype or pattern.dtype
    else:
        shape = _shape(build, args["shape"])
    span = build.span(node)
    value = build.let(build.scalar(args["fill_value"]), "value", span)
    return _uniform(build, shape, cast_element(value, dtype or value.type.dtype, span))


def _uniform(build: Builder, shape: tuple[Expr, ...], value: Scalar) -> ArrayExpr | Scalar:
    return ArrayExpr(shape, value.type.dtype, lambda _: value)


def make_range(build: Builder, name: str, node: ast.Call) -> Value:
    """`np.arange(stop)`, `np.arange(start, stop, step)`."""
    args = arguments(build, node, "start", "stop", "step", "dtype", required=1)
    span = build.span(node)
    values = {key: _counted(build.scalar(arg), span) for key, arg in args.items() if key != "dtype"}
    if "stop" not in values:
        values = {"start": index(ZERO), "stop": values["start"], **values}
        values["start"] = index(ZERO)
    start, stop = values["start"], values["stop"]
    step = values.get("step", index(ONE))
    numbers = [start, stop, step]
    is_known = all(number.constant is not None for number in numbers)
    if all(number.type.dtype.is_integer for number in numbers):
        size = _integer_range(build, numbers, args, node)
        is_wide = any(number.type == ScalarType(UINT64) for number in numbers)
        # NumPy's type of uint64 and int64, which 0 and 1 are where they are left out.
        dtype = find_dtype_argument(build, args) or (FLOAT64 if is_wide else INT64)
    else:
        if not is_known:
            numbers = [build.let(number, "t", span) for number in numbers]
            start, _, step = numbers
        size = _float_range(numbers) if is_known else _computed_range(build, numbers, node)
        dtype = find_dtype_argument(build, args) or FLOAT64
        # NumPy goes on from the first two as they are stored.
        kind = _counted_in(dtype)
        start, second = (
            cast_element(cast_element(number, dtype, span), kind, span)
            for number in (start, binary(Add, start, step, span))
        )
        step = binary(Sub, second, start, span)

    def element(indices: Sequence[Expr]) -> Scalar:
        offset = binary(Mul, index(indices[0]), step, span)
        return cast_element(binary(Add, start, offset, span), dtype, span)

    return ArrayExpr((size,), dtype, element)


def _counted_in(dtype: DType) -> DType:
    """The type in which NumPy counts from the first elements of a range."""
    if dtype is FLOAT16:
        return FLOAT32
    return INT64 if dtype.is_integer else FLOAT64 if dtype.is_bool else dtype


def _counted(number: Scalar, span: Span | None) -> Scalar:
    """A bound as a number: True is 1."""
    if number.type.dtype is not BOOL:
        return number
    return binary(Add, number, integer(0), span)


def _integer_range(
    build: Builder, numbers: list[Scalar], args: dict[str, ast.expr], node: ast.Call
) -> Expr:
    start, stop, step = (
        fixed_index(build, build.as_index(number, node, "a bound of arange")) for number in numbers
    )
    if not isinstance(step, Const) or step.value == 0:
        raise build.refuse(
            "the step of arange must be a number other than 0, known when the script is compiled",
            args.get("step", node),
        )
    _check_range(build, start, stop, node)
    # ceil((stop - start) / step) by floor division, right for either sign of step
    length = tidy(Sub(ZERO, FloorDiv(minus(start, stop), step)))
    return length if build.ranges.is_natural(length) else tidy(Max(length, ZERO))


def _check_range(build: Builder, start: Expr, stop: Expr, node: ast.Call) -> None:
    """An error at run time for bounds so far apart that their distance wraps around."""
    if all(constant(bound) is not None for bound in (start, stop)) or start == ZERO:
        return
    if all(node in build.unit.sizes for node in walk(Sub(stop, start)) if isinstance(node, Var)):
        return
    span = build.span(node)
    half, other = (FloorDiv(bound, Const(2)) for bound in (start, stop))
    apart = Call("abs", (minus(other, half),))
    failure = Raise("ValueError", ("Maximum allowed size exceeded",), span=span)
    build.emit(If(Gt(apart, Const(MAX_EXTENT)), failure, span=span))


def _float_range(numbers: list[Scalar]) -> Expr:
    start, stop, step = (number.constant for number in numbers)
    assert start is not None
    assert stop is not None
    assert step is not None
    return Const(max(0, math.ceil((stop - start) / step)))


def _computed_range(build: Builder, numbers: list[Scalar], node: ast.Call) -> Expr:
    """How many floats there are from one to another, found when the script runs."""
    span = build.span(node)
    start, stop, step = (cast_element(number, FLOAT64, span) for number in numbers)
    zero = Scalar(const(0.0, FLOAT64), ScalarType(FLOAT64))
    exact = binary(Div, binary(Sub, stop, start, span), step, span)
    count = build.let(apply("ceil", Style.NUMPY, [exact], span), "count", span)
    most = Scalar(const(float(MAX_EXTENT), FLOAT64), ScalarType(FLOAT64))
    too_many = Raise("ValueError", ("Maximum allowed size exceeded",), span=span)
    build.emit(If(Not(compare(Le, count, most, span).expr), too_many, span=span))
    natural = select(compare(Gt, count, zero, span).expr, count, zero, span)
    return fixed_index(build, cast_element(natural, INT64, span).expr)


def make_linspace(build: Builder, name: str, node: ast.Call) -> Value:
    """`np.linspace(start, stop, n, dtype=...)`; integers are rounded down, as in NumPy."""
    args = arguments(build, node, "start", "stop", "num", "endpoint", "dtype", required=2)
    span = build.span(node)
    ends = [build.scalar(args[key]) for key in ("start", "stop")]
    wide = _line_dtype(ends, span)
    dtype = find_dtype_argument(build, args) or wide
    start, stop = (
        build.let(cast_element(end, wide, span), key, span)
        for key, end in zip(("start", "stop"), ends, strict=True)
    )
    size = fixed_index(build, build.index(args["num"], "num")) if "num" in args else Const(50)
    has_end = flag_argument(build, args, "endpoint", True)
    last = minus(size, ONE)
    steps = tidy(Max(last if has_end else size, ONE))
    width = binary(Sub, stop, start, span)
    divisor = cast_element(index(steps), wide, span)
    step = build.let(binary(Div, width, divisor, span), "step", span)

    def element(indices: Sequence[Expr]) -> Scalar:
        position = cast_element(index(indices[0]), wide, span)
        found = binary(Add, binary(Mul, position, step, span), start, span)
        if has_end and last != ZERO:
            # Of one element alone, which is the start, the number of steps counts as one.
            is_last = compare(Eq, index(indices[0]), index(steps), span).expr
            found = select(is_last, stop, found, span)
        if dtype.is_integer:
            found = apply("floor", Style.NUMPY, [found], span)
        return cast_element(found, dtype, span)

    return ArrayExpr((size,), dtype, element)


def _line_dtype(ends: Sequence[Scalar], span: Span | None) -> DType:
    """The type in which NumPy computes the points between two: of NumPy's numbers, theirs."""
    type = WEAK_FLOAT
    for end in ends:
        type = join_types(type, end.type, span)
    return type.dtype if type.dtype.is_float else FLOAT64


def make_eye(build: Builder, name: str, node: ast.Call) -> Value:
    """`np.eye(n, m, k, dtype)`."""
    args = arguments(build, node, "N", "M", "k", "dtype", required=1)
    span = build.span(node)
    rows = fixed_index(build, build.index(args["N"], "a size"))
    columns = rows
    if "M" in args and not isinstance(build.evaluate(args["M"]), Nothing):
        columns = fixed_index(build, build.index(args["M"], "a size"))
    shift = fixed_index(build, build.index(args["k"], "k")) if "k" in args else ZERO
    dtype = find_dtype_argument(build, args) or FLOAT64
    one, zero = (Scalar(const(value, dtype), ScalarType(dtype)) for value in (1, 0))

    def element(indices: Sequence[Expr]) -> Scalar:
        row, column = plus(indices[0], shift), indices[1]
        return select(compare(Eq, index(row), index(column), span).expr, one, zero, span)

    return ArrayExpr((rows, columns), dtype, element)


def _shape(build: Builder, node: ast.expr) -> tuple[Expr, ...]:
    return tuple(fixed_index(build, size, "size") for size in shape_argument(build, node))


def array_argument(build: Builder, node: ast.expr) -> ArrayExpr:
    """An argument that must be an array."""
    return elements_of(build, evaluate_array(build, node))


def evaluate_array(build: Builder, node: ast.expr) -> AnyArray:
    """The array that an argument must be: one, or a tuple of numbers or arrays."""
    value = build.evaluate(node)
    if isinstance(value, (Items, GrowingList)):
        value = build.language.array_of_items(build, value, node)
    if not isinstance(value, AnyArray):
        raise build.mismatch(f"expected an array, found {describe(value)}", node)
    return whole(build, value, build.span(node))
