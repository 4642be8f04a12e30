"""Numbers in few bits: value = (quantized - zero_point) * scale, by ONNX's rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.ir.dtype import FLOAT32, FLOAT64, INT8, INT32, INT64, UINT8, DType, promote
from hybridjit.stdlib.parts.elements import call, maximum, minimum
from hybridjit.stdlib.parts.images import Layout
from hybridjit.stdlib.parts.precision import working_type
from hybridjit.stdlib.parts.shapes import (
    are_equal,
    check_rank,
    fill,
    normalize_axis,
    read_dtype,
    shown,
)
from hybridjit.stdlib.parts.sliding import Convolution, read_convolution
from hybridjit.stdlib.parts.types import Number, Padding, Pair, T
from hybridjit.stdlib.parts.windows import Movement
from hybridjit.stdlib.parts.words import OFFSETS, as_word, byte_of, in_words
from hybridjit.stdlib.running.compiled import scheduled_by
from hybridjit.stdlib.running.operator import operator
from hybridjit.stdlib.running.schedules import in_tiles
from hybridjit.te import Expression, Tensor, dot_bytes, if_then_else, reduce_axis
from hybridjit.te import sum as added
from hybridjit.tensors.expression import as_scalar

PRODUCTS = scheduled_by(in_tiles)
# Kinds of numbers that are known when it runs, by the codes of TVM's simulated quantization.
SIMULATED = {1: INT8, 2: UINT8, 3: INT32}
FILTERS: Mapping[str, str] = {"NCHW": "NCHW", "NHWC": "HWCN"}


@operator(differentiable=False)
def quantize(
    x: T,
    scale: T | Number,
    zero_point: T | Number = 0,
    *,
    axis: int = 1,
    dtype: Any = "int8",
) -> T:
    """round(x / scale) + zero_point, halves to even, as the nearest number of a small type.

    A scale and a zero point are for all elements, or one for each place along an axis.

    >>> hs.quantize(np.array([0.6, -1.0, 900.0]), 0.5)
    array([  1,  -2, 127], dtype=int8)
    """
    wanted = _small_type("quantize", dtype)
    _check_zeros("quantize", zero_point)
    _check_scales("quantize", x, (scale, zero_point), axis)

    def element(at: tuple[Any, ...]) -> Any:
        value: Any = x[at]
        ratio = value.astype(_float_of(x)) / _at(scale, at, axis).astype(_float_of(x))
        place = _at(zero_point, at, axis).astype(_float_of(x))
        return _clipped(call("rint", ratio) + place, wanted)

    return fill("quantize", x.shape, element)


@operator(differentiable=False)
def dequantize(
    x: T,
    scale: T | Number,
    zero_point: T | Number = 0,
    *,
    axis: int = 1,
    dtype: Any = "float32",
) -> T:
    """(x - zero_point) * scale: the inverse of quantize.

    >>> hs.dequantize(np.array([1, -2], np.int8), 0.5)
    array([ 0.5, -1. ], dtype=float32)
    """
    _check_quantized("dequantize", x)
    _check_zeros("dequantize", zero_point)
    _check_scales("dequantize", x, (scale, zero_point), axis)
    wanted = read_dtype("dequantize", dtype)

    working = working_type(wanted)
    whole = _type_of_distances(x)

    def element(at: tuple[Any, ...]) -> Any:
        value: Any = x[at]
        distance = value.astype(whole) - _at(zero_point, at, axis).astype(whole)
        return (distance.astype(working) * _at(scale, at, axis).astype(working)).astype(wanted)

    return fill("dequantize", x.shape, element)


@operator(differentiable=False)
def requantize(
    x: T,
    input_scale: T | Number,
    input_zero_point: T | Number,
    output_scale: T | Number,
    output_zero_point: T | Number,
    *,
    axis: int = 1,
    dtype: Any = "int8",
) -> T:
    """Quantized numbers by another scale and zero point: distances from the zero point times the
    quotient of the scales, in float64.

    >>> hs.requantize(np.array([10, -300], np.int32), 0.5, 0, 1.0, 3)
    array([   8, -128], dtype=int8)
    """
    _check_quantized("requantize", x)
    wanted = _small_type("requantize", dtype)
    scaling = (input_scale, input_zero_point, output_scale, output_zero_point)
    _check_zeros("requantize", input_zero_point, output_zero_point)
    _check_scales("requantize", x, scaling, axis)

    def element(at: tuple[Any, ...]) -> Any:
        own, zero, scale, place = (_at(part, at, axis).astype(FLOAT64) for part in scaling)
        value: Any = x[at]
        ratio = (value.astype(FLOAT64) - zero) * (own / scale)
        return _clipped(call("rint", ratio) + place, wanted)

    return fill("requantize", x.shape, element)


@operator
def fake_quantize(
    x: T, scale: T | Number, zero_point: T | Number = 0, *, axis: int = 1, dtype: Any = "int8"
) -> T:
    """What is left of x after quantize and dequantize.

    >>> hs.fake_quantize(np.array([0.6, 900.0]), 0.5)
    array([ 0.5, 63.5])
    """
    wanted = _small_type("fake_quantize", dtype)
    _check_zeros("fake_quantize", zero_point)
    _check_scales("fake_quantize", x, (scale, zero_point), axis)

    def element(at: tuple[Any, ...]) -> Any:
        value: Any = x[at]
        working = _float_of(x)
        size, zero = (_at(part, at, axis).astype(working) for part in (scale, zero_point))
        small = _clipped(call("rint", value.astype(working) / size) + zero, wanted)
        return (small.astype(working) - zero) * size

    return fill("fake_quantize", x.shape, element)


@operator
def simulated_quantize(
    x: T,
    kind: T | Number,
    scale: T | Number = 1.0,
    zero_point: T | Number = 0,
    *,
    axis: int = -1,
) -> T:
    """What quantize makes of x, in the type of x: the number of a type that is known when it runs.

    The kind is 0 for x as it is, 1 for int8, 2 for uint8, 3 for int32. A scale and a zero point are
    for all elements, or one for each place along an axis.

    >>> hs.simulated_quantize(np.array([0.6, -1.0, 900.0]), 2, 0.5)
    array([  1.,   0., 255.])
    """
    return _simulated(x, _single(kind), (_single(scale), _single(zero_point)), axis)


def _simulated(x: Any, kind: Any, scaling: tuple[Any, Any], axis: int) -> Any:
    name = "simulated_quantize"
    if not x.dtype.is_float:
        raise ArgumentError(f"{name}: '{x.name}' must hold floats, got {x.dtype}")
    place = normalize_axis(name, x, axis) if x.ndim else 0
    scales, zeros = scaling
    _check_scales(name, x, (scales, zeros), place)
    working, code = working_type(x.dtype), _scalar(kind)

    def element(at: tuple[Any, ...]) -> Any:
        value = x[at].astype(working)
        ratio = value / _at(scales, at, place).astype(working)
        whole = call("rint", ratio) + _at(zeros, at, place).astype(working)
        found = value
        for number, dtype in SIMULATED.items():
            low, high = _limits(dtype)
            inner = maximum(minimum(whole, float(high)), float(low))
            found = if_then_else(code == number, inner, found)
        return found.astype(x.dtype)

    return fill(name, x.shape, element)


def _single(value: Any) -> Any:
    """A vector of one element as that element."""
    is_one = isinstance(value, Tensor) and value.ndim == 1 and are_equal(value.shape[0], 1)
    return value[0] if is_one else value


@operator(recipe=PRODUCTS, differentiable=False)
def dense_int8(x: T, w: T, x_zero_point: T | Number = 0, w_zero_point: T | Number = 0) -> T:
    """(x - x_zero_point) times the transpose of (w - w_zero_point), of small integers, in int32.

    >>> hs.dense_int8(np.array([[100, 100]], np.int8), np.array([[100, 100]], np.int8))
    array([[20000]], dtype=int32)
    """
    for tensor in (x, w):
        check_rank("dense_int8", tensor, 2, "rows, inputs")
        _check_quantized("dense_int8", tensor, INT32)
    _check_zeros("dense_int8", x_zero_point, w_zero_point)
    if not are_equal(x.shape[1], w.shape[1]):
        raise ArgumentValueError("dense_int8: the inputs of both do not match")
    if x.dtype in OFFSETS and w.dtype in OFFSETS:
        return _dense_in_words(x, w, (x_zero_point, w_zero_point))
    left, right = _less("dense_int8_x", x, x_zero_point), _less("dense_int8_w", w, w_zero_point)
    k = reduce_axis((0, x.shape[1]), "k")
    return fill(
        "dense_int8",
        (x.shape[0], w.shape[0]),
        lambda at: added(left[at[0], k].astype(INT32) * right[at[1], k].astype(INT32), axis=k),
    )


def _dense_in_words(x: Any, w: Any, zeros: tuple[Any, Any]) -> Any:
    """By sums of products of bytes, from which what zero points add to them is taken:

    (x - p) (w - q), added up, is x w - p (sum of w) - q (sum of x) + n p q
    """
    left, right = (in_words(f"dense_int8_{it.name}_words", it, 1) for it in (x, w))
    k = reduce_axis((0, left.shape[1]), "k")
    products = fill(
        "dense_int8",
        (x.shape[0], w.shape[0]),
        lambda at: added(dot_bytes(left[at[0], k], right[at[1], k]), axis=k),
    )
    p, q = map(_byte_zero, (x, w), zeros)
    if _is_nothing(p) and _is_nothing(q):
        return products
    sums = [_sums_of_bytes(f"dense_int8_{it.name}_sums", it) for it in (x, w)]
    count = Expression(as_scalar(x.shape[1])).astype(INT32)

    def element(at: tuple[Any, ...]) -> Any:
        i, j = at
        found = products[i, j]
        if not _is_nothing(p):
            found = found - p * sums[1][j]
        if not _is_nothing(q):
            found = found - q * (sums[0][i] - p * count)
        return found

    return fill("dense_int8_less_zeros", products.shape, element)


def _byte_zero(x: Any, zero: Any) -> Any:
    """A zero point of the bytes of `x`: a number, or an element."""
    if isinstance(zero, int):
        return zero - OFFSETS[x.dtype]
    return _scalar(zero).astype(INT32) - OFFSETS[x.dtype]


def _is_nothing(zero: Any) -> bool:
    return isinstance(zero, int) and zero == 0


def _sums_of_bytes(name: str, x: Any, axis: int = 0) -> Any:
    """The sum of all bytes at each place along an axis."""
    sizes = [size for place, size in enumerate(x.shape) if place != axis]
    loops = [reduce_axis((0, size), f"k{number}") for number, size in enumerate(sizes)]

    def element(at: tuple[Any, ...]) -> Any:
        return added(byte_of(x, (*loops[:axis], *at, *loops[axis:])), axis=loops)

    return fill(name, (x.shape[axis],), element)


@operator(recipe=PRODUCTS, differentiable=False)
def conv2d_int8(
    x: T,
    w: T,
    x_zero_point: T | Number = 0,
    w_zero_point: T | Number = 0,
    *,
    stride: Pair = 1,
    padding: Padding = 0,
    dilation: Pair = 1,
    layout: Layout = "NCHW",
) -> T:
    """conv2d of small integers less their zero points, in int32. The padding is zero points.

    >>> hs.conv2d_int8(np.full((1, 1, 2, 2), 100, np.uint8), np.ones((1, 1, 2, 2), np.int8))
    array([[[[400]]]], dtype=int32)
    """
    for tensor in (x, w):
        _check_quantized("conv2d_int8", tensor, INT32)
    _check_zeros("conv2d_int8", x_zero_point, w_zero_point)
    how = Movement(stride, padding, dilation)
    if x.dtype in OFFSETS and w.dtype in OFFSETS and _is_nothing(_byte_zero(w, w_zero_point)):
        return _convolve_words(x, w, x_zero_point, layout, how)
    images, filters = (
        _in_int32(name, _less(name, tensor, zero))
        for name, tensor, zero in (
            ("conv2d_int8_x", x, x_zero_point),
            ("conv2d_int8_w", w, w_zero_point),
        )
    )
    found = read_convolution("conv2d_int8", images, filters, (layout, FILTERS), how)
    return _convolve(_with_same_channels(found))


def _with_same_channels(found: Convolution) -> Convolution:
    if not are_equal(found.filters[1], found.images[1]):
        raise ArgumentValueError(f"{found.describe()}: the channels do not match")
    return found


def _convolve(found: Convolution) -> Any:
    outputs, inputs, *_ = found.filters
    channel = reduce_axis((0, inputs), "c")
    return found.compute(outputs, [channel], lambda output: (channel, (output, channel)))


def _convolve_words(x: Any, w: Any, zero: Any, layout: Layout, how: Movement) -> Any:
    """By sums of products of bytes of four channels, less the zero point times each sum of weights.

    Beyond the edges there are zero points, too.
    """
    whole = read_convolution("conv2d_int8", x, w, (layout, FILTERS), how)
    _with_same_channels(whole)
    images = in_words("conv2d_int8_x_words", x, layout.index("C"))
    filters = in_words("conv2d_int8_w_words", w, whole.filter_layout.index("C"))
    point = _byte_zero(x, zero)
    border = as_word([Expression(as_scalar(point)).astype(INT32)] * 4)
    found = read_convolution("conv2d_int8", images, filters, (layout, FILTERS), how)
    products = _convolve(replace(found, border=border, multiply=dot_bytes))
    if _is_nothing(point):
        return products
    sums = _sums_of_bytes("conv2d_int8_w_sums", w, whole.filter_layout.index("N"))
    channel = layout.index("C")
    return fill(
        "conv2d_int8_less_zeros",
        products.shape,
        lambda at: products[at] - point * sums[at[channel]],
    )


def _less(name: str, x: Any, zero: Any) -> Any:
    """`x` less a zero point, in a type that holds it; itself, if that is 0."""
    if isinstance(zero, int) and zero == 0:
        return x
    return fill(name, x.shape, lambda at: x[at].astype(INT32) - _scalar(zero).astype(INT32))


def _in_int32(name: str, x: Any) -> Any:
    return x if x.dtype is INT32 else fill(name, x.shape, lambda at: x[at].astype(INT32))


def _clipped(value: Any, dtype: DType) -> Any:
    low, high = _limits(dtype)
    return maximum(minimum(value, high), low).astype(dtype)


def _limits(dtype: DType) -> tuple[int, int]:
    bits = dtype.bits
    if dtype.name.startswith("u"):
        return 0, 2**bits - 1
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


def _float_of(x: Any) -> DType:
    """The type to compute in: one that holds all elements."""
    return FLOAT64 if x.dtype is FLOAT64 or (x.dtype.is_integer and x.dtype.bits > 16) else FLOAT32


def _type_of_distances(x: Any) -> DType:
    return INT32 if x.dtype.bits < 32 else INT64


def _scalar(value: Any) -> Any:
    return value[()] if isinstance(value, Tensor) else Expression(as_scalar(value))


def _at(value: Any, at: tuple[Any, ...], axis: int) -> Any:
    """The scale or zero point of an element."""
    return value[at[axis]] if isinstance(value, Tensor) and value.ndim == 1 else _scalar(value)


def _small_type(name: str, dtype: Any) -> DType:
    found = read_dtype(name, dtype)
    if not found.is_integer or found.bits > 32:
        raise ArgumentError(
            f"{name}: numbers are quantized to integers of up to 32 bits, got {found}"
        )
    return found


def _check_quantized(name: str, x: Any, widest: DType = INT64) -> None:
    if not x.dtype.is_integer:
        raise ArgumentError(f"{name}: '{x.name}' must hold quantized integers, got {x.dtype}")
    if promote(x.dtype, widest) is not widest:
        raise ArgumentError(
            f"{name}: it computes in {widest}, which does not hold '{x.name}' of type {x.dtype}",
            help=f"convert it, as in x.astype(np.{widest})",
        )


def _check_zeros(name: str, *zeros: Any) -> None:
    for zero in zeros:
        is_plain = isinstance(zero, int)
        dtype = INT32 if is_plain else (zero if isinstance(zero, Tensor) else _scalar(zero)).dtype
        if not dtype.is_integer:
            raise ArgumentError(f"{name}: a zero point is an integer, got one of type {dtype}")


def _check_scales(name: str, x: Any, scaling: tuple[Any, ...], axis: int) -> None:
    for part in scaling:
        if not isinstance(part, Tensor) or part.ndim == 0:
            continue
        place = normalize_axis(name, x, axis)
        if part.ndim != 1 or not are_equal(part.shape[0], x.shape[place]):
            raise ArgumentValueError(
                f"{name}: {shown(part)} has not one for each place along axis {axis} of {shown(x)}"
            )
