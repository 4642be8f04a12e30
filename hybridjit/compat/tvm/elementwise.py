"""TOPI's operators on elements and parts of tensors, in terms of those of `hybridjit.stdlib`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hybridjit import stdlib as hs
from hybridjit.compat.tvm.layouts import typed, widened
from hybridjit.errors import ArgumentValueError
from hybridjit.ir.dtype import DType
from hybridjit.tensors.expression import dtype_of

_FRACTION = 31  # bits of a multiplier that are behind the point
_SEQUENCE: tuple[type[Any], ...] = (tuple, list)


def _is_integer(value: Any) -> bool:
    kind = getattr(getattr(value, "dtype", None), "name", None)
    return isinstance(value, int) if kind is None else "int" in str(kind)


def _kind(value: Any) -> DType | None:
    """The type of the elements; None for a Python number, which has none."""
    return dtype_of(value.dtype) if hasattr(value, "dtype") else None


def _meet(lhs: Any, rhs: Any) -> list[Any]:
    """Two operands: integers become the float that they meet, with a literal a float32."""

    def converted(value: Any, other: Any) -> Any:
        own, met = _kind(value), _kind(other)
        if own is None or not own.is_integer:
            return value
        if isinstance(other, float) and met is None:
            return hs.cast(value, "float32")
        return hs.cast(value, met.name) if met is not None and met.is_float else value

    return [converted(lhs, rhs), converted(rhs, lhs)]


def mixed(name: str) -> Callable[[Any, Any], Any]:
    """An operation on two operands, one of which may be of integers and the other of floats."""

    def combine(lhs: Any, rhs: Any) -> Any:
        operation: Callable[[Any, Any], Any] = getattr(hs, name)
        return operation(*_meet(lhs, rhs))

    return combine


def divide(lhs: Any, rhs: Any) -> Any:
    """A quotient; of integers, rounded towards zero."""
    if not (_is_integer(lhs) and _is_integer(rhs)):
        return hs.divide(*_meet(lhs, rhs))
    return hs.floor_divide(hs.subtract(lhs, hs.fmod(lhs, rhs)), rhs)


def mod(lhs: Any, rhs: Any) -> Any:
    """The rest of a division that is rounded towards zero."""
    return hs.fmod(*_meet(lhs, rhs))


def clip(x: Any, a_min: Any, a_max: Any) -> Any:
    """In the type of the elements: bounds of integers are rounded towards zero."""
    if _is_integer(x):
        return hs.clip(x, int(a_min), int(a_max))
    return hs.clip(x, a_min, a_max)


def round(x: Any) -> Any:
    """The nearest integer, halves away from zero."""
    if _is_integer(x):
        return identity(x)
    whole = hs.trunc(x)
    is_near = hs.less(hs.absolute(hs.subtract(x, whole)), 0.5)
    return hs.where(is_near, whole, hs.add(whole, hs.sign(x)))


def bitwise_not(data: Any) -> Any:
    """All bits turned around."""
    least, most = dtype_of(data.dtype).bounds
    return hs.bitwise_xor(data, -1 if least < 0 else most)


def identity(x: Any) -> Any:
    """The same elements."""
    return hs.cast(x, x.dtype)


def log_add_exp(lhs: Any, rhs: Any) -> Any:
    """The logarithm of the sum of exponentials, without an overflow."""
    largest, least = hs.maximum(lhs, rhs), hs.minimum(lhs, rhs)
    return hs.add(largest, hs.log1p(hs.exp(hs.subtract(least, largest))))


def softplus(x: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    """log(1 + exp(beta x)) / beta."""
    del threshold  # from where on TVM takes x itself; large ones are exact here
    return hs.softplus(x) if beta == 1.0 else hs.divide(hs.softplus(hs.multiply(x, beta)), beta)


def scale_shift_nhwc(data: Any, scale: Any, shift: Any) -> Any:
    """A factor and a summand for each channel, which is the last axis."""
    return hs.add(hs.multiply(data, scale), shift)


def scale_shift_nchwc(data: Any, scale: Any, shift: Any) -> Any:
    """A factor and a summand for each channel, which are axis 1 and the last one."""
    sizes = (data.shape[1], 1, 1, data.shape[4])
    factor, summand = (hs.reshape(part, sizes) for part in (scale, shift))
    return hs.add(hs.multiply(data, factor), summand)


def fixed_point_multiply(x: Any, multiplier: int, shift: int) -> Any:
    """x * multiplier / 2**31 * 2**shift, halves up, in the type of x."""
    wide = hs.multiply(hs.cast(x, "int64"), multiplier * 2 ** max(shift, 0))
    right = _FRACTION - min(shift, 0)
    return hs.cast(hs.right_shift(hs.add(wide, 2 ** (right - 1)), right), x.dtype)


def simulated_dequantize(
    data: Any, in_dtype: Any, input_scale: Any = None, input_zero_point: Any = None, axis: int = -1
) -> Any:
    """A scale of 1 and a zero point of 0 unless others are given."""
    del in_dtype
    scale = 1.0 if input_scale is None else input_scale
    zero = 0 if input_zero_point is None else input_zero_point
    return hs.dequantize(data, scale, zero, axis=axis)


# -- products --------------------------------------------------------------------------------------


def dense(data: Any, weight: Any, bias: Any = None, out_dtype: Any = None, *_: Any) -> Any:
    """A product with the transposed weights, in the type that is asked for."""
    x, w = widened(out_dtype, data, weight)
    return hs.dense(x, w, None if bias is None else typed(bias, out_dtype))


def matmul(
    tensor_a: Any,
    tensor_b: Any,
    bias: Any = None,
    out_dtype: Any = None,
    transpose_a: bool = False,
    transpose_b: bool = False,
    *_: Any,
) -> Any:
    """A product, and a bias."""
    a, b = widened(out_dtype, tensor_a, tensor_b)
    made = hs.matmul(a, b, transpose_x=transpose_a, transpose_y=transpose_b)
    return made if bias is None else hs.add(made, bias)


# -- parts -----------------------------------------------------------------------------------------


def expand_like(a: Any, shape_like: Any, axis: Any) -> Any:
    """New axes, along which elements are repeated."""
    axes = axis if isinstance(axis, _SEQUENCE) else [axis]
    if a.ndim == shape_like.ndim:
        return hs.broadcast_to(a, shape_like.shape)
    return hs.broadcast_to(hs.expand_dims(a, tuple(axes)), shape_like.shape)


def roi_align(
    data: Any,
    rois: Any,
    pooled_size: Any,
    spatial_scale: float,
    mode: Any = "avg",
    sample_ratio: int = -1,
    aligned: bool = False,
) -> Any:
    """Averages, or the largest, of points in boxes."""
    word = mode.decode() if isinstance(mode, bytes) else mode
    options: dict[str, Any] = {"aligned": aligned, "mode": word}
    return hs.roi_align(data, rois, pooled_size, spatial_scale, sample_ratio, **options)


def instance_norm(
    data: Any, gamma: Any, beta: Any, channel_axis: int = 1, axis: Any = None,
    epsilon: float = 1e-5,
) -> Any:  # fmt: skip
    """Channels are axis 1, and all axes after it are averaged over."""
    if channel_axis != 1 or (axis is not None and sorted(axis) != [*range(2, data.ndim)]):
        raise ArgumentValueError("instance_norm: channels are axis 1, and all others are reduced")
    return hs.instance_norm(data, gamma, beta, epsilon=epsilon)


def padded(mode: Any) -> Any:
    """Padding of a mode, with widths before and after axes apart."""

    def pad(data: Any, pad_before: Any, pad_after: Any = None, name: str = "") -> Any:
        del name
        after = pad_before if pad_after is None else pad_after
        return hs.pad(data, tuple(zip(pad_before, after, strict=True)), mode)

    return pad


def pixel_shuffle(data: Any, upscale_factor: int, name: str = "PixelShuffle") -> Any:
    """Channels that become rows and columns."""
    del name
    return hs.depth_to_space(data, upscale_factor, mode="CRD")


def argmax(
    data: Any, axis: Any = None, keepdims: bool = False, select_last_index: bool = False
) -> Any:
    """The place of the largest, in int32; the first one, if there are several."""
    _refuse_last(select_last_index)
    return hs.cast(hs.argmax(data, axis, keepdims=keepdims), "int32")


def argmin(
    data: Any, axis: Any = None, keepdims: bool = False, select_last_index: bool = False
) -> Any:
    """The place of the smallest, in int32; the first one, if there are several."""
    _refuse_last(select_last_index)
    return hs.cast(hs.argmin(data, axis, keepdims=keepdims), "int32")


def _refuse_last(select_last_index: bool) -> None:
    if select_last_index:
        raise ArgumentValueError("the last of several places is not here: flip the axis")


_MIXED = ("add", "subtract", "multiply", "maximum", "minimum", "power", "floor_divide")
ADAPTED = {
    **{name: mixed(name) for name in _MIXED},
    "floor_mod": mixed("remainder"),
    "clip": clip,
    "argmax": argmax,
    "argmin": argmin,
    "divide": divide,
    "trunc_divide": divide,
    "mod": mod,
    "round": round,
    "trunc_mod": mod,
    "bitwise_not": bitwise_not,
    "identity": identity,
    "log_add_exp": log_add_exp,
    "expand_like": expand_like,
    "nn.dense": dense,
    "nn.matmul": matmul,
    "nn.softplus": softplus,
    "nn.scale_shift_nhwc": scale_shift_nhwc,
    "nn.scale_shift_nchwc": scale_shift_nchwc,
    "fixed_point_multiply": fixed_point_multiply,
    "nn.simulated_dequantize": simulated_dequantize,
    "nn.instance_norm": instance_norm,
    "nn.reflect_pad": padded("reflect"),
    "nn.replicate_pad": padded("edge"),
    "nn.circular_pad": padded("wrap"),
    "nn.pixel_shuffle": pixel_shuffle,
    "vision.rcnn.roi_align_nchw": roi_align,
}
