"""TOPI's operators whose arguments differ from those of `hybridjit.stdlib`, in terms of these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from hybridjit import stdlib as hs
from hybridjit.compat.tvm import elementwise, layers, layouts, reductions, shapes, vision
from hybridjit.compat.tvm.layouts import one
from hybridjit.errors import ArgumentValueError
from hybridjit.te import placeholder

Function = Callable[..., Any]
_SEQUENCE: tuple[type[Any], ...] = (tuple, list)
_SPATIAL = {1: "NCW", 2: "NCHW", 3: "NCDHW"}


# -- shapes and indices ----------------------------------------------------------------------------


def expand_dims(a: Any, axis: int, num_newaxis: int = 1) -> Any:
    """`num_newaxis` new axes at one place."""
    place = axis if axis >= 0 else a.ndim + axis + 1
    return hs.expand_dims(a, tuple(range(place, place + num_newaxis)))


def flip(a: Any, axis: int = 0) -> Any:
    """In reverse along one axis, the first one if none is given."""
    return hs.flip(a, axis)


def strided_slice(
    a: Any,
    begin: Sequence[Any],
    end: Sequence[Any],
    strides: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    slice_mode: str = "end",
) -> Any:
    """Slices, whose ends are sizes with slice_mode="size"."""
    if slice_mode == "size":
        end = [None if s == -1 else b + s for b, s in zip(begin, end, strict=True)]
        strides = None
    return hs.strided_slice(a, begin, end, strides, axes)


def take(
    a: Any, indices: Any, axis: int | None = None, batch_dims: int = 0, mode: str = "clip"
) -> Any:
    """Indices out of bounds are clipped unless the mode says otherwise."""
    if batch_dims:
        raise ArgumentValueError(
            "topi.take: batch_dims other than 0 are not here: see hs.gather_nd"
        )
    chosen: Any = "clip" if mode == "fast" else mode
    return hs.take(a, indices, axis, chosen)


def gather(data: Any, axis: int, indices: Any) -> Any:
    """The axis comes before the indices."""
    return hs.gather(data, indices, axis)


def gather_nd(data: Any, indices: Any, batch_dims: int = 0) -> Any:
    """Indices are the first axis."""
    return hs.gather_nd(data, hs.moveaxis(indices, 0, -1), batch_dims)


def scatter_elements(
    data: Any, indices: Any, updates: Any, axis: int = 0, reduction: str = "update"
) -> Any:
    """The reduction "update" is "none"."""
    how: Any = "none" if reduction == "update" else reduction
    return hs.scatter_elements(data, indices, updates, axis, how)


def scatter_nd(data: Any, indices: Any, updates: Any, mode: str = "update") -> Any:
    """Indices are the first axis."""
    how: Any = "none" if mode == "update" else mode
    return hs.scatter_nd(data, hs.moveaxis(indices, 0, -1), updates, how)


def one_hot(indices: Any, on_value: Any, off_value: Any, depth: int, axis: int, dtype: Any) -> Any:
    """The depth comes after the values."""
    return hs.one_hot(indices, depth, on_value, off_value, axis=axis, dtype=dtype)


def full(shape: Any, dtype: Any, fill_value: Any) -> Any:
    """A tensor."""
    return hs.full(shape, fill_value, dtype, like=placeholder((1,)))


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = "float32") -> Any:
    """A tensor, of type float32 unless another is given."""
    return hs.arange(start, stop, step, dtype, like=placeholder((1,)))


def eye(n: Any, m: Any = None, k: int = 0, dtype: Any = "float32") -> Any:
    """A tensor, of type float32 unless another is given."""
    return hs.eye(n, m, k, dtype, like=placeholder((1,)))


def unravel_index(indices: Any, shape: Any) -> Any:
    """The indices of all axes in one tensor."""
    return hs.stack(hs.unravel_index(indices, shape))


def trilu(data: Any, k: int, upper: bool) -> Any:
    """One triangle or the other."""
    return hs.triu(data, k) if upper else hs.tril(data, k)


def einsum(subscripts: str, *operand: Any) -> Any:
    """Operands one by one."""
    return hs.einsum(subscripts, operand)


def matmul(a: Any, b: Any, transp_a: bool = False, transp_b: bool = False) -> Any:
    """Transposed by other names."""
    return hs.matmul(a, b, transpose_x=transp_a, transpose_y=transp_b)


def batch_matmul(
    x: Any,
    y: Any,
    oshape: Any = None,
    out_dtype: Any = None,
    transpose_a: bool = False,
    transpose_b: bool = True,
) -> Any:
    """The second is transposed unless it is said not to."""
    return hs.batch_matmul(x, y, transpose_x=transpose_a, transpose_y=transpose_b)


def elemwise_sum(xs: Sequence[Any]) -> Any:
    """All of xs added up."""
    total = xs[0]
    for x in xs[1:]:
        total = hs.add(total, x)
    return total


# -- order -----------------------------------------------------------------------------------------


def sort(data: Any, axis: int = -1, is_ascend: bool = True) -> Any:
    """In ascending order or not."""
    return hs.sort(data, axis, descending=not is_ascend)


def argsort(
    data: Any,
    valid_count: Any = None,
    axis: int = -1,
    is_ascend: bool = True,
    dtype: Any = "float32",
) -> Any:
    """Places as numbers of a type, float32 unless another is given."""
    if valid_count is not None:
        raise ArgumentValueError("topi.argsort: valid_count is not here: see hs.argsort")
    return hs.cast(hs.argsort(data, axis, descending=not is_ascend), dtype)


def topk(
    data: Any,
    k: int = 1,
    axis: int = -1,
    ret_type: str = "both",
    is_ascend: bool = False,
    dtype: Any = "int64",
) -> Any:
    """Values, indices, or both."""
    values, indices = hs.topk(data, k, axis, largest=not is_ascend)
    indices = hs.cast(indices, dtype)
    return {"both": [values, indices], "values": values, "indices": indices}[ret_type]


def searchsorted(
    sorted_sequence: Any, values: Any, right: bool = False, dtype: Any = "int64"
) -> Any:
    """On the right or not."""
    return hs.cast(hs.searchsorted(sorted_sequence, values, "right" if right else "left"), dtype)


# -- networks --------------------------------------------------------------------------------------


def deformable_conv2d(
    data: Any,
    offset: Any,
    kernel: Any,
    strides: Any,
    padding: Any,
    dilation: Any,
    deformable_groups: int,
    groups: int,
    out_dtype: Any = None,
) -> Any:
    """A convolution whose points are moved by offsets."""
    return hs.deformable_conv2d(
        data,
        offset,
        kernel,
        stride=strides,
        padding=padding,
        dilation=dilation,
        groups=groups,
        offset_groups=deformable_groups,
    )


def pool(
    count: int,
    data: Any,
    kernel: Any,
    stride: Any,
    dilation: Any,
    padding: Any,
    pool_type: str,
    ceil_mode: bool = False,
    layout: str | None = None,
    count_include_pad: bool = True,
) -> Any:
    """The largest elements or averages of windows."""
    call: Function = getattr(hs, f"{pool_type}_pool{count}d")
    options = {"stride": one(stride, count), "padding": padding, "ceil_mode": ceil_mode}
    options |= {"dilation": one(dilation, count), "layout": layout or _SPATIAL[count]}
    if pool_type == "avg":
        options["count_include_pad"] = count_include_pad
    return call(data, one(kernel, count), **options)


def global_pool(data: Any, pool_type: str, layout: str = "NCHW") -> Any:
    """Of whole images."""
    call: Function = getattr(hs, f"global_{pool_type}_pool2d")
    return call(data, layout=layout)


def adaptive_pool(
    count: int, data: Any, output_size: Any, pool_type: str, layout: str | None = None
) -> Any:
    """To a size."""
    call: Function = getattr(hs, f"adaptive_{pool_type}_pool{count}d")
    return call(data, one(output_size, count), layout=layout or _SPATIAL[count])


def flatten(data: Any) -> Any:
    """A row for each of a batch."""
    return hs.flatten_from(data, 1)


def pad(
    data: Any,
    pad_before: Any,
    pad_after: Any = None,
    pad_value: Any = 0.0,
    name: str = "PadInput",
    attrs: Any = None,
) -> Any:
    """Widths before and after axes apart."""
    del name, attrs
    after = pad_before if pad_after is None else pad_after
    return hs.pad(data, tuple(zip(pad_before, after, strict=True)), "constant", pad_value)


def mirror_pad(
    data: Any,
    pad_before: Any,
    pad_after: Any = None,
    mode: str = "SYMMETRIC",
    name: str = "MirrorPadInput",
) -> Any:
    """Widths before and after axes apart."""
    del name
    after = pad_before if pad_after is None else pad_after
    word: Any = mode.lower()
    return hs.mirror_pad(data, tuple(zip(pad_before, after, strict=True)), word)


def depth_to_space(data: Any, block_size: int, layout: str = "NCHW", mode: Any = "DCR") -> Any:
    """The layout comes before the mode."""
    return hs.depth_to_space(data, block_size, mode=mode, layout=layout)


def space_to_depth(data: Any, block_size: int, layout: str = "NCHW") -> Any:
    """The layout by its place."""
    return hs.space_to_depth(data, block_size, layout=layout)


def batch_to_space_nd(data: Any, block_shape: Any, crop_begin: Any, crop_end: Any) -> Any:
    """What is cut off at both ends apart."""
    return hs.batch_to_space_nd(data, block_shape, tuple(zip(crop_begin, crop_end, strict=True)))


def space_to_batch_nd(
    data: Any, block_shape: Any, pad_before: Any, pad_after: Any, pad_value: Any = 0.0
) -> Any:
    """Widths at both ends apart."""
    sides = tuple(zip(pad_before, pad_after, strict=True))
    return hs.space_to_batch_nd(data, block_shape, sides, pad_value)


def group_norm(
    data: Any, gamma: Any, beta: Any, num_groups: int, channel_axis: int = 1, axes: Any = None,
    epsilon: float = 1e-5,
) -> Any:  # fmt: skip
    """Channels are axis 1."""
    if channel_axis != 1:
        raise ArgumentValueError("topi.nn.group_norm: channels are axis 1 here")
    return hs.group_norm(data, num_groups, gamma, beta, epsilon=epsilon)


def layer_norm(data: Any, gamma: Any, beta: Any, axis: Any, epsilon: float = 1e-5) -> Any:
    """The axes by their place."""
    return hs.layer_norm(data, gamma, beta, axis=axis, epsilon=epsilon)


def rms_norm(data: Any, weight: Any, axis: Any, epsilon: float = 1e-5) -> Any:
    """The axes by their place."""
    return hs.rms_norm(data, weight, axis=axis, epsilon=epsilon)


def lrn(
    data: Any, size: int, axis: int = 1, alpha: float = 0.0001, beta: float = 0.75, bias: float = 2
) -> Any:
    """A bias of 2 unless another is given."""
    return hs.lrn(data, size, axis=axis, alpha=alpha, beta=beta, bias=bias)


def l2_normalize(data: Any, eps: float, axis: Any = None) -> Any:
    """The smallest sum comes first."""
    return hs.l2_normalize(data, axis, epsilon=eps)


def scale_shift(data: Any, scale: Any, shift: Any) -> Any:
    """A factor and a summand for each channel, which is axis 1."""
    sizes = (1,) * (data.ndim - 2)
    factor, summand = (hs.reshape(part, (part.shape[0], *sizes)) for part in (scale, shift))
    return hs.add(hs.multiply(data, factor), summand)


_TOP: dict[str, Function] = {
    function.__name__: function
    for function in (
        *(expand_dims, flip, strided_slice, take, gather, gather_nd, scatter_elements, scatter_nd),
        *(
            one_hot,
            full,
            arange,
            eye,
            unravel_index,
            trilu,
            einsum,
            matmul,
            elemwise_sum,
            sort,
            argsort,
            topk,
        ),
        searchsorted,
    )
}
_NN: dict[str, Function] = {
    function.__name__: function
    for function in (
        *(batch_matmul, flatten, pad, mirror_pad, depth_to_space, space_to_depth),
        *(batch_to_space_nd, space_to_batch_nd, group_norm, layer_norm, rms_norm, lrn),
        *(l2_normalize, global_pool),
    )
}
ADAPTED: dict[str, Function] = {
    **_TOP,
    **{f"nn.{name}": function for name, function in _NN.items()},
    "nn.deformable_conv2d_nchw": deformable_conv2d,
    **{f"nn.pool{count}d": partial(pool, count) for count in (1, 2, 3)},
    "nn.adaptive_pool": partial(adaptive_pool, 2),
    "nn.adaptive_pool1d": partial(adaptive_pool, 1),
    "nn.adaptive_pool3d": partial(adaptive_pool, 3),
    "nn.scale_shift_nchw": scale_shift,
    **elementwise.ADAPTED,
    **layers.ADAPTED,
    **layouts.ADAPTED,
    **reductions.ADAPTED,
    **shapes.ADAPTED,
    **vision.ADAPTED,
}
"""What is called with TOPI's arguments, by TOPI's names."""
