"""Images in other sizes, and at other places: resize, crops, grids, by ONNX's rules."""

from __future__ import annotations

import functools
import math
import operator as operators
from collections.abc import Callable, Sequence
from typing import Any, Literal

from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.ir.dtype import FLOAT64, INT64
from hybridjit.record import record
from hybridjit.stdlib.padding import mirrored, reflected
from hybridjit.stdlib.parts.accumulation import convert, float_type
from hybridjit.stdlib.parts.elements import call
from hybridjit.stdlib.parts.extrema import largest
from hybridjit.stdlib.parts.images import (
    LAYOUTS,
    Layout,
    Layout1,
    Layout3,
    check_images,
    known_images,
    logical,
    physical,
    spatial_axes,
)
from hybridjit.stdlib.parts.precision import working_type
from hybridjit.stdlib.parts.sampling import (
    CUBIC_ALPHA,
    ROUNDINGS,
    TRANSFORMS,
    Taps,
    clamped,
    cubic_tap,
    cubic_taps,
    linear_tap,
    linear_taps,
    nearest,
    or_zero,
    source_of,
    taps_inside,
    weighted,
)
from hybridjit.stdlib.parts.shapes import (
    are_equal,
    check_choice,
    check_integers,
    check_rank,
    fill,
    read_integers,
    replaced,
    shown,
)
from hybridjit.stdlib.parts.types import Number, Pair, T
from hybridjit.stdlib.parts.windows import read_sizes
from hybridjit.stdlib.running.operator import operator
from hybridjit.te import Expression, if_then_else, reduce_axis
from hybridjit.te import all as are_all
from hybridjit.te import sum as added
from hybridjit.tensors.expression import as_scalar

Mode = Literal["nearest", "linear", "cubic"]
Transform = Literal[
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_crop_and_resize",
]
Rounding = Literal["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]


@record
class _How:
    """How images are resized: see `resize2d`."""

    mode: str
    transform: str = "half_pixel"
    rounding: str = "floor"
    alpha: float = CUBIC_ALPHA
    excludes_outside: bool = False
    roi: Sequence[float] | None = None
    beyond: Any = 0.0

    @property
    def crops(self) -> bool:
        return self.transform == "tf_crop_and_resize"

    def check(self, name: str, spatial: int) -> None:
        """Refuse words that are not known, and a part of images that is none."""
        check_choice(name, "mode", self.mode, ("nearest", "linear", "cubic"))
        check_choice(name, "coordinate transformation", self.transform, TRANSFORMS)
        check_choice(name, "rounding", self.rounding, ROUNDINGS)
        if (self.roi is None) == self.crops or (self.roi and len(self.roi) != 2 * spatial):
            raise ArgumentValueError(
                f"{name}: coordinates='tf_crop_and_resize' and a part of images go together, got "
                f"roi={self.roi!r}",
                help=f"roi is {spatial} starts and {spatial} ends, from 0 to 1",
            )

    def source(self, place: Any, extent: Any, size: int, number: int) -> Any:
        """Where a place of a resized axis is, of the spatial axis of this number."""
        if self.roi is None:
            return source_of(place, extent, size, self.transform)
        part = self.roi[number], self.roi[len(self.roi) // 2 + number]
        return source_of(place, extent, size, self.transform, part)

    def taps(self, source: Any, extent: Any) -> Taps:
        """The places around a point, and the share of each in what is there."""
        if self.mode == "linear":
            return linear_taps(source)
        taps = cubic_taps(source, self.alpha)
        if not self.excludes_outside:
            return taps
        inside = taps_inside(taps, extent)
        total = functools.reduce(operators.add, (weight for _, weight in inside))
        return [(place, weight / total) for place, weight in inside]


def _resize(name: str, x: Any, sizes: Any, layout: str, how: _How) -> Any:
    """`x`, images of this layout, resized along one axis after the other."""
    spatial = len(layout) - 2
    how.check(name, spatial)
    counts, dtype = read_sizes(name, "size", sizes, spatial), float_type(x.dtype)
    axes, whole = [layout.index(letter) for letter in spatial_axes(layout)], x
    for number, (axis, count) in enumerate(zip(axes, counts, strict=True)):
        if are_equal(x.shape[axis], 0):
            raise ArgumentValueError(f"{name}: {shown(x)} has no elements along axis {axis}")
        if how.mode == "nearest" or how.crops or not are_equal(x.shape[axis], count):
            x = _resize_axis(name, x, (axis, number), count, how)
    # Weighted means are floats, also where no axis was changed.
    wanted = x.dtype if how.mode == "nearest" else dtype
    if not how.crops:
        return x if how.mode == "nearest" else fill(name, x.shape, lambda at: x[at].astype(wanted))
    beyond = Expression(as_scalar(how.beyond)).astype(wanted)

    def element(at: tuple[Any, ...]) -> Any:
        inside: list[Any] = []
        for number, (axis, count) in enumerate(zip(axes, counts, strict=True)):
            source = how.source(at[axis], whole.shape[axis], count, number)
            inside += [source >= 0.0, source <= _last(whole.shape[axis])]
        return if_then_else(are_all(*inside), x[at].astype(wanted), beyond)

    return fill(name, x.shape, element)


def _resize_axis(name: str, x: Any, where: tuple[int, int], size: int, how: _How) -> Any:
    """`x` resized along an axis, which is the spatial one of a number.

    What a place of the axis is made of is found once for all lines.
    """
    (axis, number), part = where, f"{name}_{where[0]}"
    extent, shape = x.shape[axis], replaced(x.shape, axis, size)
    if how.mode == "nearest":
        place = _nearest_places(part, extent, size, how, number)
        return fill(part, shape, lambda at: x[replaced(at, axis, place(at[axis]))])
    dtype, count = float_type(x.dtype), {"linear": 2, "cubic": 4}[how.mode]
    working = working_type(dtype)

    def chosen(of: Callable[[Any], Any]) -> Callable[[tuple[Any, ...]], Any]:
        def element(at: tuple[Any, ...]) -> Any:
            values = [of(tap) for tap in how.taps(how.source(at[1], extent, size, number), extent)]
            found = values[-1]
            for k in range(count - 1):
                found = if_then_else(at[0] == k, values[k], found)
            return found

        return element

    places = fill(f"{part}_places", (count, size), chosen(lambda tap: clamped(tap[0], extent)))
    weights = fill(f"{part}_weights", (count, size), chosen(lambda tap: tap[1].astype(working)))

    def element(at: tuple[Any, ...]) -> Any:
        taps = [(places[k, at[axis]], weights[k, at[axis]]) for k in range(count)]

        def read(tap: list[Any]) -> Any:
            return x[replaced(at, axis, clamped(tap[0], extent))].astype(working)

        return weighted([taps], read).astype(dtype)

    return fill(part, shape, element)


def _nearest_places(
    name: str, extent: Any, size: int, how: _How, number: int
) -> Callable[[Any], Any]:
    """The place along an axis that is nearest to a place of a resized one."""
    is_repeated = isinstance(extent, int) and size % extent == 0
    if is_repeated and (how.transform, how.rounding) == ("asymmetric", "floor"):
        return lambda index: index // (size // extent)

    def element(at: tuple[Any, ...]) -> Any:
        source = how.source(at[0], extent, size, number)
        return clamped(nearest(source, how.rounding), extent)

    places = fill(f"{name}_places", (size,), element)
    return lambda index: clamped(places[index], extent)


@operator
def resize1d(
    x: T,
    size: int,
    mode: Mode = "linear",
    *,
    coordinates: Transform = "half_pixel",
    rounding: Rounding = "round_prefer_floor",
    cubic_alpha: float = CUBIC_ALPHA,
    exclude_outside: bool = False,
    roi: Sequence[float] | None = None,
    extrapolation_value: T | Number = 0.0,
    layout: Layout1 = "NCW",
) -> T:
    """Signals with another number of places: as resize2d.

    >>> hs.resize1d(np.array([[[0.0, 2.0]]]), 4)
    array([[[0. , 0.5, 1.5, 2. ]]])
    """
    check_images("resize1d", x, layout, 1)
    options = (cubic_alpha, exclude_outside, roi, extrapolation_value)
    how = _How(mode, coordinates, rounding, *options)
    return _resize("resize1d", x, size, layout, how)


@operator
def resize2d(
    x: T,
    size: Pair,
    mode: Mode = "linear",
    *,
    coordinates: Transform = "half_pixel",
    rounding: Rounding = "round_prefer_floor",
    cubic_alpha: float = CUBIC_ALPHA,
    exclude_outside: bool = False,
    roi: Sequence[float] | None = None,
    extrapolation_value: T | Number = 0.0,
    layout: Layout = "NCHW",
) -> T:
    """Images in another size: the nearest elements, or weighted means of 2 or 4 along each axis.

    `coordinates` says where a place is in the image, `rounding` which place is the nearest one.
    With exclude_outside, cubic weights are of elements of the image alone. "tf_crop_and_resize" is
    for a part of images: `roi` holds starts, and then ends, from 0 to 1; what lies beyond the edges
    is extrapolation_value.

    >>> hs.resize2d(np.array([[[[1, 2], [3, 4]]]]), (2, 4), "nearest")
    array([[[[1, 1, 2, 2],
             [3, 3, 4, 4]]]])
    """
    check_images("resize2d", x, layout, 2)
    options = (cubic_alpha, exclude_outside, roi, extrapolation_value)
    how = _How(mode, coordinates, rounding, *options)
    return _resize("resize2d", x, size, layout, how)


@operator
def resize3d(
    x: T,
    size: Pair,
    mode: Mode = "linear",
    *,
    coordinates: Transform = "half_pixel",
    rounding: Rounding = "round_prefer_floor",
    cubic_alpha: float = CUBIC_ALPHA,
    exclude_outside: bool = False,
    roi: Sequence[float] | None = None,
    extrapolation_value: T | Number = 0.0,
    layout: Layout3 = "NCDHW",
) -> T:
    """Volumes in another size: as resize2d.

    >>> hs.resize3d(np.ones((1, 1, 2, 2, 2)), (3, 4, 5)).shape
    (1, 1, 3, 4, 5)
    """
    check_images("resize3d", x, layout, 3)
    options = (cubic_alpha, exclude_outside, roi, extrapolation_value)
    how = _How(mode, coordinates, rounding, *options)
    return _resize("resize3d", x, size, layout, how)


@operator
def upsampling(x: T, scale: Pair, mode: Mode = "nearest", *, layout: Layout = "NCHW") -> T:
    """Images whose rows and columns are so many times as many.

    >>> hs.upsampling(np.array([[[[1, 2]]]]), 2)
    array([[[[1, 1, 2, 2],
             [1, 1, 2, 2]]]])
    """
    factors = read_sizes("upsampling", "scale", scale, 2)
    check_images("upsampling", x, layout)
    extents = [read_integers("upsampling", "sizes", e, 1)[0] for e in logical(x.shape, layout)[2:]]
    sizes = tuple(extent * factor for extent, factor in zip(extents, factors, strict=True))
    transform = "asymmetric" if mode == "nearest" else "half_pixel"
    return _resize("upsampling", x, sizes, layout, _How(mode, transform))


@operator
def affine_grid(theta: T, size: Sequence[int], *, align_corners: bool = False) -> T:
    """The points of images of this size (rows, columns), moved by matrices of shape (batch, 2, 3).

    Points are (x, y), from -1 to 1, as grid_sample takes them.

    >>> hs.affine_grid(np.array([[[1.0, 0, 0], [0, 1, 0]]]), (1, 2))[0, 0]
    array([[-0.5,  0. ],
           [ 0.5,  0. ]])
    """
    check_rank("affine_grid", theta, 3, "batch, 2, 3")
    _check_matrices(theta)
    rows, columns = read_integers("affine_grid", "size", size, 2)

    def element(at: tuple[Any, ...]) -> Any:
        x, y = (
            _place_in_unit(index, count, align_corners=align_corners)
            for index, count in ((at[2], columns), (at[1], rows))
        )
        row: Any = [theta[at[0], at[3], k] for k in range(3)]
        return row[0] * x.astype(row[0].dtype) + row[1] * y.astype(row[0].dtype) + row[2]

    return fill("affine_grid", (theta.shape[0], rows, columns, 2), element)


def _check_matrices(theta: Any) -> None:
    if not theta.dtype.is_float or not (
        are_equal(theta.shape[1], 2) and are_equal(theta.shape[2], 3)
    ):
        raise ArgumentError(f"affine_grid: {shown(theta)} must be matrices (batch, 2, 3) of floats")


def _place_in_unit(index: Any, count: int, *, align_corners: bool) -> Any:
    at = index.astype(FLOAT64)
    if align_corners:
        # As PyTorch has it, the only place of an axis is its middle.
        return at * (2.0 / (count - 1)) - 1.0 if count > 1 else at * 0.0
    return (at * 2.0 + 1.0) / float(count) - 1.0


@operator
def grid_sample(
    x: T,
    grid: T,
    mode: Literal["bilinear", "nearest", "bicubic"] = "bilinear",
    padding: Literal["zeros", "border", "reflection"] = "zeros",
    *,
    align_corners: bool = False,
) -> T:
    """Images at the points of a grid: (batch, rows, columns, 2), points (x, y) from -1 to 1.

    Beyond the edges there are zeros, the elements at the border, or the image in reverse: around
    its first and last elements with align_corners=True, else around its edges. Volumes have grids
    of shape (batch, depth, rows, columns, 3), points (x, y, z).

    >>> hs.grid_sample(np.array([[[[1.0, 3.0]]]]), np.array([[[[0.0, 0.0]]]]))
    array([[[[2.]]]])
    """
    spatial = 3 if x.ndim == 5 else 2
    check_images("grid_sample", x, LAYOUTS[spatial][0], spatial)
    check_choice("grid_sample", "mode", mode, ("bilinear", "nearest", "bicubic"))
    check_choice("grid_sample", "padding", padding, ("zeros", "border", "reflection"))
    _check_grid(x, grid)
    extents = x.shape[2:]
    dtype = float_type(x.dtype)
    tap, count = (cubic_tap, 4) if mode == "bicubic" else (linear_tap, 2)
    # Loops over the places around a point: written out, they would take long to compile.
    taps = [reduce_axis((0, count), name) for name in "ijk"[:spatial]]

    def element(at: tuple[Any, ...]) -> Any:
        points: list[Any] = [grid[(at[0], *at[2:], k)] for k in range(spatial)[::-1]]
        sources = [
            _from_unit(point.astype(FLOAT64), extent, align_corners=align_corners)
            for point, extent in zip(points, extents, strict=True)
        ]
        if padding == "border" and mode != "bicubic":  # also of points that are infinitely far
            sources = [_clipped(s, extent) for s, extent in zip(sources, extents, strict=True)]
        read = _reader(x, at[:2], padding, align_corners=align_corners)
        if mode == "nearest":
            return read([call("rint", s).astype(INT64) for s in sources]).astype(dtype)
        near = [tap(source, k) for source, k in zip(sources, taps, strict=True)]
        value = read([place for place, _ in near])
        return added(math.prod((weight for _, weight in near), start=value), axis=taps)

    found = fill("grid_sample", (*x.shape[:2], *grid.shape[1:-1]), element)
    return convert("grid_sample", found, dtype)


def _reader(x: Any, image: tuple[Any, ...], padding: str, *, align_corners: bool) -> Any:
    """What is read at places of an image, or beyond its edges."""
    extents = x.shape[2:]
    if padding == "zeros":
        return or_zero(lambda places: _value(x, (*image, *places)), extents, FLOAT64)
    placed = clamped if padding == "border" else reflected if align_corners else mirrored

    def read(places: list[Any]) -> Any:
        return _value(x, (*image, *map(placed, places, extents)))

    return read


def _value(x: Any, at: tuple[Any, ...]) -> Any:
    return x[at].astype(FLOAT64)


def _from_unit(point: Any, extent: Any, *, align_corners: bool) -> Any:
    size = float(extent) if isinstance(extent, int) else extent.astype(FLOAT64)
    if align_corners:
        return (point + 1.0) * 0.5 * (size - 1.0)
    return ((point + 1.0) * size - 1.0) * 0.5


def _clipped(source: Any, extent: Any) -> Any:
    last = float(extent - 1) if isinstance(extent, int) else (extent - 1).astype(FLOAT64)
    return call("minimum", call("maximum", source, 0.0), last)


def _check_grid(x: Any, grid: Any) -> None:
    spatial = x.ndim - 2
    names = ("depth, " if spatial > 2 else "") + "rows, columns"
    check_rank("grid_sample", grid, x.ndim, f"batch, {names}, {spatial}")
    is_batch = are_equal(x.shape[0], grid.shape[0])
    if not is_batch or not are_equal(grid.shape[-1], spatial) or not grid.dtype.is_float:
        raise ArgumentValueError(
            f"grid_sample: {shown(grid)} must hold points of {shown(x)}: (batch, {names}, "
            f"{spatial})"
        )


@operator
def crop_and_resize(
    x: T,
    boxes: T,
    box_indices: T,
    crop_size: Sequence[int],
    mode: Literal["bilinear", "nearest"] = "bilinear",
    extrapolation_value: T | Number = 0.0,
    *,
    layout: Layout = "NHWC",
) -> T:
    """Parts of images in one size: boxes (y1, x1, y2, x2), from 0 to 1, of images by their index.

    >>> hs.crop_and_resize(np.arange(4.0).reshape(1, 2, 2, 1), np.array([[0.0, 0, 1, 1]]),
    ...                    np.array([0]), (1, 1))[0, 0, 0]
    array([1.5])
    """
    check_images("crop_and_resize", x, layout)
    check_integers("crop_and_resize", box_indices)
    check_choice("crop_and_resize", "mode", mode, ("bilinear", "nearest"))
    rows, columns = read_sizes("crop_and_resize", "crop_size", crop_size, 2)
    _check_boxes("crop_and_resize", boxes, box_indices)
    images: Any = known_images(box_indices, logical(x.shape, layout)[0])
    extents = logical(x.shape, layout)[2:]
    beyond = Expression(as_scalar(extrapolation_value)).astype(FLOAT64)
    dtype = float_type(x.dtype)

    def element(at: tuple[Any, ...]) -> Any:
        box, channel, *places = logical(at, layout)
        image: Any = images[box]
        sources = [
            _in_box(boxes, box, axis, place, size, extent)
            for axis, place, size, extent in zip(
                (0, 1), places, (rows, columns), extents, strict=True
            )
        ]
        inside = [source >= 0.0 for source in sources]
        inside += [source <= _last(extent) for source, extent in zip(sources, extents, strict=True)]

        def read(found: list[Any]) -> Any:
            own = [clamped(place, extent) for place, extent in zip(found, extents, strict=True)]
            return _value(x, physical((image, channel, *own), layout))

        if mode == "nearest":
            # Halves are rounded away from zero, as TOPI does; no point of an image is below it.
            value = read([nearest(source, "round_prefer_ceil") for source in sources])
        else:
            value = weighted([linear_taps(source) for source in sources], read)
        return if_then_else(are_all(*inside), value, beyond).astype(dtype)

    sizes = (boxes.shape[0], logical(x.shape, layout)[1], rows, columns)
    return fill("crop_and_resize", physical(sizes, layout), element)


def _last(extent: Any) -> Any:
    return float(extent - 1) if isinstance(extent, int) else (extent - 1).astype(FLOAT64)


def _in_box(boxes: Any, box: Any, axis: int, place: Any, size: int, extent: Any) -> Any:
    """Where a place of a crop is in the image."""
    start, stop = (boxes[box, axis + end].astype(FLOAT64) for end in (0, 2))
    if size == 1:
        return (start + stop) * 0.5 * _last(extent)
    step = (stop - start) * _last(extent) / float(size - 1)
    return start * _last(extent) + place.astype(FLOAT64) * step


def _check_boxes(name: str, boxes: Any, indices: Any) -> None:
    if not (
        boxes.ndim == 2
        and are_equal(boxes.shape[1], 4)
        and indices.ndim == 1
        and are_equal(indices.shape[0], boxes.shape[0])
    ):
        raise ArgumentValueError(
            f"{name}: {shown(boxes)} and {shown(indices)} must be boxes (count, 4) and their images"
        )


@operator
def dilation2d(x: T, w: T, *, stride: Pair = 1, dilation: Pair = 1, layout: Layout = "NCHW") -> T:
    """The largest sum of elements and weights (channels, rows, columns) of each window.

    >>> hs.dilation2d(np.zeros((1, 1, 2, 2)), np.array([[[1.0, 5.0]]]))
    array([[[[5.],
             [5.]]]])
    """
    check_images("dilation2d", x, layout)
    check_rank("dilation2d", w, 3, "channels, rows, columns")
    batch, channels, *extents = logical(x.shape, layout)
    if not are_equal(channels, w.shape[0]):
        raise ArgumentValueError("dilation2d: the channels of both do not match")
    strides = read_sizes("dilation2d", "stride", stride, 2)
    dilations = read_sizes("dilation2d", "dilation", dilation, 2)
    counts = [
        (extent - (size - 1) * d - 1) // s + 1
        for extent, size, d, s in zip(extents, w.shape[1:], dilations, strides, strict=True)
    ]
    if any(isinstance(count, int) and count < 0 for count in counts):
        raise ArgumentValueError(
            f"dilation2d: windows of {shown(w)}, {dilations} apart, do not fit into {shown(x)}",
            help="pad it first, with hs.pad",
        )
    offsets = [reduce_axis((0, size), axis) for size, axis in zip(w.shape[1:], "ij", strict=True)]

    def element(at: tuple[Any, ...]) -> Any:
        n, channel, *places = logical(at, layout)
        seen = [
            place * s + o * d
            for place, s, o, d in zip(places, strides, offsets, dilations, strict=True)
        ]
        weight: Any = w
        value: Any = x[physical((n, channel, *seen), layout)]
        return largest(value + weight[(channel, *offsets)], axis=offsets)

    return fill("dilation2d", physical((batch, channels, *counts), layout), element)
