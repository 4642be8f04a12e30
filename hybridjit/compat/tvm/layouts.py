"""TOPI's convolutions and images of any layout, in terms of those of `hybridjit.stdlib`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from hybridjit import stdlib as hs
from hybridjit.errors import ArgumentError, ArgumentValueError

Function = Callable[..., Any]
_SEQUENCE: tuple[type[Any], ...] = (tuple, list)
FIRST = {1: "NCW", 2: "NCHW", 3: "NCDHW"}
LAST = {1: "NWC", 2: "NHWC", 3: "NDHWC"}
METHODS = {
    "nearest_neighbor": "nearest",
    **dict.fromkeys(("linear", "bilinear", "trilinear"), "linear"),
    **dict.fromkeys(("cubic", "bicubic"), "cubic"),
}


def one(value: Any, count: int) -> Any:
    """One number where windows move along one axis."""
    return value[0] if count == 1 and isinstance(value, _SEQUENCE) else value


def sides(padding: Any, window: Sequence[int], dilation: Any = 1) -> Any:
    """Padding as numbers: TVM's "SAME" is what a stride of 1 needs, the odd one before."""
    if not isinstance(padding, str):
        return padding
    if padding not in ("VALID", "SAME"):
        raise ArgumentValueError(f"padding is 'VALID', 'SAME' or numbers, found {padding!r}")
    steps = [dilation] * len(window) if isinstance(dilation, int) else list(dilation)
    total = [(size - 1) * step for size, step in zip(window, steps, strict=True)]
    before = [(width + 1) // 2 for width in total]
    after = [width // 2 for width in total]
    return (*before, *after) if padding == "SAME" else (0,) * 2 * len(window)


def window_of(w: Any, layout: str, count: int) -> Sequence[int]:
    """The sizes of filters along the axes that they move along."""
    return w.shape[-count:] if layout in FIRST.values() else w.shape[:count]


def typed(made: Any, dtype: Any) -> Any:
    """A result in the type that is asked for."""
    return made if dtype is None else hs.cast(made, dtype)


def widened(dtype: Any, *operands: Any) -> list[Any]:
    """Operands in the type of the result: sums of small integers do not fit into their type."""
    return [typed(operand, dtype) for operand in operands]


# -- convolutions ----------------------------------------------------------------------------------


def convolve(
    count: int,
    layout: str,
    x: Any,
    w: Any,
    strides: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    out_dtype: Any = None,
) -> Any:
    """A convolution of a layout, over one, two or three axes."""
    call: Function = getattr(hs, f"conv{count}d")
    around = sides(padding, window_of(w, layout, count), dilation)
    options = {"stride": one(strides, count), "padding": around}
    options |= {"dilation": one(dilation, count), "groups": groups, "layout": layout}
    return call(*widened(out_dtype, x, w), **options)


def convolve_any(
    count: int,
    x: Any,
    w: Any,
    strides: Any = 1,
    padding: Any = "VALID",
    dilation: Any = 1,
    data_layout: str = "",
    kernel_layout: str = "",
    out_dtype: Any = None,
    groups: int = 1,
) -> Any:
    """conv1d and conv2d, whose layout is an argument."""
    layout = data_layout or FIRST[count]
    _check_layout(layout, count)
    if kernel_layout not in ("", *KERNELS[layout]):
        raise ArgumentValueError(
            f"filters of the layout {kernel_layout} are not here for images of {layout}",
            help=f"hs.transpose makes {KERNELS[layout][0]} of them",
        )
    return convolve(count, layout, x, w, strides, padding, dilation, groups, out_dtype)


KERNELS = {
    "NCW": ("OIW",),
    "NWC": ("WIO",),
    "NCHW": ("OIHW",),
    "NHWC": ("HWIO",),
    "NCDHW": ("OIDHW",),
    "NDHWC": ("DHWIO",),
}


def _check_layout(layout: str, count: int) -> None:
    if layout not in (FIRST[count], LAST[count]):
        raise ArgumentValueError(
            f"the layout {layout} is not here",
            help=f"use {FIRST[count]} or {LAST[count]}; hs.layout_transform changes layouts",
        )


def convolve_ungrouped(
    count: int,
    layout: str,
    x: Any,
    w: Any,
    strides: Any = 1,
    padding: Any = "VALID",
    dilation: Any = 1,
    out_dtype: Any = None,
    *_: Any,
) -> Any:
    """A convolution without groups, as conv2d_nchw."""
    return convolve(count, layout, x, w, strides, padding, dilation, 1, out_dtype)


def conv2d_hwcn(
    data: Any, w: Any, stride: Any, padding: Any, dilation: Any, out_dtype: Any = None
) -> Any:
    """The batch is the last axis."""
    images = hs.transpose(data, (3, 0, 1, 2))
    made = convolve(2, "NHWC", images, w, stride, padding, dilation, 1, out_dtype)
    return hs.transpose(made, (1, 2, 3, 0))


def convolve_transposed(
    count: int,
    x: Any,
    w: Any,
    strides: Any,
    padding: Any,
    out_dtype: Any = None,
    output_padding: Any = 0,
    groups: int = 1,
) -> Any:
    """Transposed convolutions of channels first."""
    call: Function = getattr(hs, f"conv{count}d_transpose")
    options = {"stride": one(strides, count), "padding": padding, "groups": groups}
    made = one(output_padding, count)
    return call(*widened(out_dtype, x, w), **options, output_padding=made)


def depthwise_conv2d(
    x: Any, w: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, out_dtype: Any = None
) -> Any:
    """Filters of their own for each channel, which are first."""
    images, filters = widened(out_dtype, x, w)
    around = sides(padding, w.shape[-2:], dilation)
    options: Any = {"stride": stride, "padding": around, "dilation": dilation}
    return hs.depthwise_conv2d(images, filters, **options)


def depthwise_conv2d_nhwc(
    x: Any,
    w: Any,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    kernel_layout: str = "HWOI",
    out_dtype: Any = None,
) -> Any:
    """Filters of their own for each channel, which are last: (rows, columns, channels, more)."""
    filters = hs.transpose(w, (0, 1, 3, 2)) if kernel_layout == "HWIO" else w
    images, filters = widened(out_dtype, x, filters)
    around = sides(padding, w.shape[:2], dilation)
    options: Any = {"stride": stride, "padding": around, "dilation": dilation}
    return hs.depthwise_conv2d(images, filters, **options, layout="NHWC")


def conv2d_winograd_nhwc(
    data: Any, weight: Any, strides: Any, padding: Any, dilation: Any, out_dtype: Any = None,
    pre_computed: bool = False,
) -> Any:  # fmt: skip
    """Filters are (3, 3, channels, outputs), not transformed before."""
    if pre_computed:
        raise ArgumentValueError("filters that were transformed before are not here")
    return convolve(2, "NHWC", data, weight, strides, padding, dilation, 1, out_dtype)


def deformable_conv2d_nhwc(
    data: Any, offset: Any, kernel: Any, strides: Any, padding: Any, dilation: Any,
    deformable_groups: int, groups: int, out_dtype: Any = None,
) -> Any:  # fmt: skip
    """A convolution whose points are moved by offsets, channels last."""
    images, moved = (hs.transpose(part, (0, 3, 1, 2)) for part in (data, offset))
    filters = hs.transpose(kernel, (3, 2, 0, 1))
    options: Any = {"stride": strides, "padding": padding, "dilation": dilation}
    options |= {"groups": groups, "offset_groups": deformable_groups}
    made = hs.deformable_conv2d(images, moved, filters, **options)
    return typed(hs.transpose(made, (0, 2, 3, 1)), out_dtype)


# -- images ----------------------------------------------------------------------------------------


def resize(
    count: int,
    data: Any,
    roi: Any,
    size: Any,
    layout: str = "",
    method: str = "linear",
    coordinate_transformation_mode: Any = "half_pixel",
    rounding_method: str = "",
    bicubic_alpha: float = -0.75,
    bicubic_exclude: int = 0,
    extrapolation_value: float = 0.0,
    out_dtype: Any = None,
    output_shape: Any = None,
) -> Any:
    """Images of another size, or parts of them: `roi` holds starts and ends."""
    del output_shape
    is_aligned = coordinate_transformation_mode == "align_corners"
    rounding = {"": "round_prefer_ceil" if is_aligned else "floor", "round": "round_prefer_ceil"}
    call: Function = getattr(hs, f"resize{count}d")
    options = {"coordinates": coordinate_transformation_mode, "cubic_alpha": bicubic_alpha}
    options["rounding"] = rounding.get(rounding_method, rounding_method)
    options["exclude_outside"] = bool(bicubic_exclude)
    if coordinate_transformation_mode == "tf_crop_and_resize":
        options |= {"roi": tuple(roi), "extrapolation_value": extrapolation_value}
    made = call(data, one(size, count), METHODS[method], **options, layout=layout or FIRST[count])
    return typed(made, out_dtype)


def upsampling(
    data: Any,
    scale_h: Any,
    scale_w: Any,
    layout: str = "NCHW",
    method: str = "nearest_neighbor",
    align_corners: bool = False,
    output_shape: Any = None,
) -> Any:
    """Scales apart, and other names of methods."""
    size = _scaled_sizes(data, layout, (scale_h, scale_w), output_shape)
    how = "align_corners" if align_corners else "asymmetric"
    return resize(2, data, None, size, layout, method, how)


def upsampling3d(
    data: Any,
    scale_d: Any,
    scale_h: Any,
    scale_w: Any,
    layout: str = "NCDHW",
    method: str = "nearest_neighbor",
    coordinate_transformation_mode: str = "half_pixel",
    output_shape: Any = None,
) -> Any:
    """Scales apart, and other names of methods."""
    size = _scaled_sizes(data, layout, (scale_d, scale_h, scale_w), output_shape)
    return resize(3, data, None, size, layout, method, coordinate_transformation_mode)


def _scaled_sizes(data: Any, layout: str, scales: Sequence[Any], shape: Any) -> list[Any]:
    """The sizes of an image after it is scaled, one for each of the last letters of DHW.

    `shape` is that of the whole result, if it is given.
    """
    places = [layout.index(letter) for letter in "DHW"[-len(scales) :]]
    if shape is not None:
        return [shape[place] for place in places]
    return [_scaled(data.shape[p], scale) for p, scale in zip(places, scales, strict=True)]


def _scaled(size: Any, scale: Any) -> int:
    if not isinstance(size, int):
        raise ArgumentValueError(
            f"{size}, which is known when the function runs, cannot be scaled",
            help="give output_shape=",
        )
    return round(size * scale)


def dilation2d(
    layout: Any, data: Any, filter: Any, stride: Any, padding: Any, dilations: Any,
    out_dtype: Any = None,
) -> Any:  # fmt: skip
    """Grey dilations of images with zeros around them."""
    given = sides(padding, window_of(filter, layout, 2), dilations)
    widths_given: Any = (given, given) if isinstance(given, int) else tuple(given)
    is_apart = len(widths_given) == 4
    before, after = (widths_given[:2], widths_given[2:]) if is_apart else (widths_given,) * 2
    widths = [(0, 0)] * 4
    for place, low, high in zip((2, 3) if layout == "NCHW" else (1, 2), before, after, strict=True):
        widths[place] = (low, high)
    padded = hs.pad(data, tuple(widths)) if any(widths_given) else data
    filters = filter if layout == "NCHW" else hs.transpose(filter, (2, 0, 1))
    made = hs.dilation2d(padded, filters, stride=stride, dilation=dilations, layout=layout)
    return typed(made, out_dtype)


def grid_sample(
    data: Any,
    grid: Any,
    method: Any = "bilinear",
    layout: str = "NCHW",
    padding_mode: Any = "zeros",
    align_corners: bool = True,
) -> Any:
    """The points of the grid are its axis 1."""
    if layout not in ("NCHW", "NCDHW"):
        raise ArgumentValueError(f"grid_sample of the layout {layout} is not here")
    points = hs.moveaxis(grid, 1, -1)
    return hs.grid_sample(data, points, method, padding_mode, align_corners=align_corners)


def affine_grid(data: Any, target_shape: Any) -> Any:
    """The points are axis 1; the first and the last are corners."""
    return hs.moveaxis(hs.affine_grid(data, tuple(target_shape), align_corners=True), -1, 1)


def crop_and_resize(
    data: Any, boxes: Any, box_indices: Any, crop_size: Any, layout: Any = "NCHW",
    method: Any = "bilinear", extrapolation_value: Any = None, out_dtype: Any = None,
) -> Any:  # fmt: skip
    """Channels first unless the layout says otherwise."""
    outside = 0.0 if extrapolation_value is None else extrapolation_value
    how: Any = "nearest" if method == "nearest_neighbor" else method
    made = hs.crop_and_resize(data, boxes, box_indices, crop_size, how, outside, layout=layout)
    return typed(made, out_dtype)


# Names that TOPI's convolutions have for the same argument, some of them in old versions only.
_SYNONYMS = (
    ("x", "data", "Input", "input", "inp"),
    ("w", "kernel", "weight", "Filter", "filter", "filt"),
    ("strides", "stride"),
    ("data_layout", "layout"),
)
_HINTS = (
    *("auto_scheduler_rewritten_layout", "auto_scheduler_should_rewrite_layout"),
    "meta_schedule_original_shape",
)


def by_any_name(name: str, function: Function) -> Function:
    """`function`, as TOPI's `name`, with the names that any version of TOPI has for arguments."""
    parameters = [*inspect.signature(function).parameters]

    def read(key: str) -> str:
        same = next((names for names in _SYNONYMS if key in names), (key,))
        found = [other for other in (key, *same) if other in parameters]
        if not found:
            raise ArgumentError(
                f"topi.{name} takes no {key!r}", help=f"it takes {', '.join(parameters)}"
            )
        return found[0]

    def call(*args: Any, **options: Any) -> Any:
        given = {read(key): value for key, value in options.items() if key not in _HINTS}
        return function(*args, **given)

    return call


_CONVOLUTIONS: dict[str, Function] = {
    "nn.conv1d": partial(convolve_any, 1),
    "nn.conv2d": partial(convolve_any, 2),
    "nn.conv3d": partial(convolve, 3, "NCDHW"),
    "nn.conv1d_ncw": partial(convolve_ungrouped, 1, "NCW"),
    "nn.conv1d_nwc": partial(convolve_ungrouped, 1, "NWC"),
    "nn.conv2d_nchw": partial(convolve_ungrouped, 2, "NCHW"),
    "nn.conv2d_nhwc": partial(convolve_ungrouped, 2, "NHWC"),
    "nn.conv2d_hwcn": conv2d_hwcn,
    "nn.conv3d_ncdhw": partial(convolve, 3, "NCDHW"),
    "nn.conv3d_ndhwc": partial(convolve, 3, "NDHWC"),
    "nn.group_conv1d_ncw": partial(convolve, 1, "NCW"),
    "nn.group_conv1d_nwc": partial(convolve, 1, "NWC"),
    "nn.group_conv2d_nchw": partial(convolve, 2, "NCHW"),
    "nn.group_conv2d_nhwc": partial(convolve, 2, "NHWC"),
    "nn.conv1d_transpose_ncw": partial(convolve_transposed, 1),
    "nn.conv2d_transpose_nchw": partial(convolve_transposed, 2),
    "nn.conv3d_transpose_ncdhw": partial(convolve_transposed, 3),
    "nn.group_conv1d_transpose_ncw": partial(convolve_transposed, 1),
    "nn.group_conv2d_transpose_nchw": partial(convolve_transposed, 2),
    "nn.group_conv3d_transpose_ncdhw": partial(convolve_transposed, 3),
    "nn.depthwise_conv2d_nchw": depthwise_conv2d,
    "nn.depthwise_conv2d_nhwc": depthwise_conv2d_nhwc,
    "nn.conv2d_winograd_nhwc": conv2d_winograd_nhwc,
    "nn.deformable_conv2d_nhwc": deformable_conv2d_nhwc,
}
ADAPTED: dict[str, Function] = {
    **{name: by_any_name(name, function) for name, function in _CONVOLUTIONS.items()},
    "nn.upsampling": upsampling,
    "nn.upsampling3d": upsampling3d,
    "image.resize1d": partial(resize, 1),
    "image.resize2d": partial(resize, 2),
    "image.resize3d": partial(resize, 3),
    "image.dilation2d_nchw": partial(dilation2d, "NCHW"),
    "image.dilation2d_nhwc": partial(dilation2d, "NHWC"),
    "image.grid_sample": grid_sample,
    "image.affine_grid": affine_grid,
    "image.crop_and_resize": crop_and_resize,
}
