"""Calls of operators that have more operands, or options, than those of tests/operators.

Each draws the shapes of its operands, or the indices that an operand holds, and the call itself.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from hybridjit import stdlib

np: Any = numpy
hs: Any = stdlib
Choose = random.Random
Drawn = tuple[Sequence[Any], Callable[..., Any]]
WIDTHS = (5, 6, 7, 9)
CHANNELS = (1, 2, 3)


def _bound(name: str, *numbers: Any, **options: Any) -> Callable[..., Any]:
    """A call of an operator on tensors, with these parameters after them."""

    def call(*tensors: Any) -> Any:
        return getattr(hs, name)(*tensors, *numbers, **options)

    return call


def _batch(choose: Choose, rank: int, channels: int) -> tuple[int, ...]:
    widths = WIDTHS if rank < 3 else WIDTHS[:2]
    return (choose.choice([1, 2]), channels, *(choose.choice(widths) for _ in range(rank)))


def _convolution(name: str, rank: int) -> Callable[[Choose], Drawn]:
    is_transposed = name.endswith("transpose")

    def draw(choose: Choose) -> Drawn:
        groups = choose.choice([1, 1, 2])
        inside, outside = groups * choose.choice([1, 2]), groups * choose.choice([1, 2])
        window = tuple(choose.randint(1, 3) for _ in range(rank))
        options: dict[str, Any] = {"stride": choose.choice([1, 2, 3]), "groups": groups}
        options["dilation"] = choose.choice([1, 1, 2])
        options["padding"] = choose.choice([0, 1, 2]) if min(window) > 2 else choose.choice([0, 1])
        if is_transposed and options["stride"] > 1:
            options["output_padding"] = choose.choice([0, 1])
        if is_transposed and any(w == 1 for w in window):
            options["padding"] = 0
        if not is_transposed and choose.random() < 0.2:
            options["padding"] = choose.choice(["same", "valid"])
        weights = (inside, outside // groups) if is_transposed else (outside, inside // groups)
        shapes: list[Any] = [_batch(choose, rank, inside), (*weights, *window)]
        if choose.random() < 0.5:
            shapes.append((outside,))
        if choose.random() < 0.3:
            options["activation"] = "relu"
        return shapes, _bound(name, **options)

    return draw


def _depthwise(choose: Choose) -> Drawn:
    channels, times = choose.choice(CHANNELS), choose.choice([1, 2])
    window = choose.randint(1, 3), choose.randint(1, 3)
    options = {"stride": choose.choice([1, 2]), "padding": choose.choice([0, 1])}
    options["dilation"] = choose.choice([1, 2])
    shapes = [_batch(choose, 2, channels), (channels, times, *window)]
    return shapes, _bound("depthwise_conv2d", **options)


def _pool(name: str, rank: int) -> Callable[[Choose], Drawn]:
    def draw(choose: Choose) -> Drawn:
        size = choose.randint(1, 3)
        options: dict[str, Any] = {"stride": choose.choice([None, 1, 2, 3])}
        options["padding"] = choose.randint(0, size // 2)
        options["ceil_mode"] = choose.random() < 0.4
        if name.startswith("avg"):
            options["count_include_pad"] = choose.random() < 0.5
        else:
            options["dilation"] = choose.choice([1, 1, 2])
        shape = _batch(choose, rank, choose.choice(CHANNELS))
        return [shape], _bound(name, size, **options)

    return draw


def _adaptive(name: str, rank: int) -> Callable[[Choose], Drawn]:
    def draw(choose: Choose) -> Drawn:
        sizes = tuple(choose.randint(1, 6) for _ in range(rank))
        shape = _batch(choose, rank, choose.choice(CHANNELS))
        return [shape], _bound(name, sizes[0] if rank == 1 else sizes)

    return draw


def _resize(rank: int) -> Callable[[Choose], Drawn]:
    def draw(choose: Choose) -> Drawn:
        mode = choose.choice(["nearest", "linear", "cubic"] if rank < 3 else ["nearest", "linear"])
        sizes = tuple(choose.randint(1, 11) for _ in range(rank))
        coordinates = choose.choice(["half_pixel", "align_corners", "asymmetric"])
        shape = _batch(choose, rank, choose.choice(CHANNELS))
        size: Any = sizes[0] if rank == 1 else sizes
        return [shape], _bound(f"resize{rank}d", size, mode, coordinates=coordinates)

    return draw


def _normalization(name: str) -> Callable[[Choose], Drawn]:
    def draw(choose: Choose) -> Drawn:
        groups = choose.choice([1, 2])
        channels = groups * choose.choice([1, 2, 3])
        shapes: list[Any] = [_batch(choose, choose.choice([1, 2]), channels)]
        scales = [(channels,)] * choose.choice([0, 1, 2])

        def grouped(x: Any, *more: Any) -> Any:
            return hs.group_norm(x, groups, *more)

        if name == "group_norm":
            return [*shapes, *scales], grouped
        return [*shapes, *scales], _bound(name)

    return draw


def _batch_norm(name: str) -> Callable[[Choose], Drawn]:
    def draw(choose: Choose) -> Drawn:
        channels = choose.choice(CHANNELS)
        shape = _batch(choose, choose.choice([1, 2]), channels)
        count = 2 + choose.choice([0, 1, 2])

        def call(x: Any, mean: Any, spread: Any, *more: Any) -> Any:
            return getattr(hs, name)(x, mean, hs.add(hs.square(spread), 0.5), *more)

        return [shape, *[(channels,)] * count], call

    return draw


def _lrn(choose: Choose) -> Drawn:
    shape, size = _batch(choose, 2, choose.choice([1, 3, 6])), choose.choice([1, 2, 3, 5])
    axis = choose.choice([1, 1, 3])
    return [shape], _bound("lrn", size, axis=axis, alpha=0.5, beta=0.75, bias=2.0)


def _loss_of_classes(name: str) -> Callable[[Choose], Drawn]:
    def draw(choose: Choose) -> Drawn:
        rows, classes = choose.choice([1, 4, 9]), choose.choice([2, 3, 5])
        targets = np.array([choose.randrange(classes) for _ in range(rows)])
        ignored = -100
        if rows > 1 and choose.random() < 0.4:
            targets[choose.randrange(rows)] = ignored
        how = choose.choice(["mean", "sum", "none"])
        weights = [(classes,)] if choose.random() < 0.5 else []

        def call(x: Any, t: Any, *more: Any) -> Any:
            return getattr(hs, name)(x, t, *(more or [None]), how, ignored)

        return [(rows, classes), targets, *weights], call

    return draw


def _loss(name: str, prepare: Callable[[Any], Any]) -> Callable[[Choose], Drawn]:
    def draw(choose: Choose) -> Drawn:
        shape = (choose.choice([1, 3, 8]), choose.choice([1, 2, 5]))
        how = choose.choice(["mean", "sum", "none"])

        def call(x: Any, y: Any) -> Any:
            return getattr(hs, name)(prepare(x), hs.sigmoid(y), reduction=how)

        return [shape, shape], call

    return draw


def _recurrent(name: str, gates: int) -> Callable[[Choose], Drawn]:
    def draw(choose: Choose) -> Drawn:
        steps, batch, inputs, hidden = choose.choice([1, 3]), choose.choice([1, 2]), 3, 2
        rows = gates * hidden
        shapes: list[Any] = [(steps, batch, inputs), (rows, inputs), (rows, hidden)]
        if choose.random() < 0.6:
            shapes.append((rows,))
        which = choose.randrange(2)

        def call(*tensors: Any) -> Any:
            return getattr(hs, name)(*tensors)[which]

        return shapes, call

    return draw


def _deformable(choose: Choose) -> Drawn:
    channels, window = choose.choice([1, 2]), choose.randint(1, 2)
    x = (1, channels, 5, 6)
    out = 5 - window + 1, 6 - window + 1
    shapes = [x, (1, 2 * window * window, *out), (2, channels, window, window)]
    return shapes, _bound("deformable_conv2d")


def _grid_sample(choose: Choose) -> Drawn:
    padding, corners = choose.choice(["zeros", "border"]), choose.random() < 0.5
    shapes = [(1, choose.choice([1, 2]), 5, 6), (1, 3, 4, 2)]

    def call(x: Any, grid: Any) -> Any:
        return hs.grid_sample(x, hs.tanh(grid), padding=padding, align_corners=corners)

    return shapes, call


def _batch_matmul(choose: Choose) -> Drawn:
    n, m, k = (choose.choice([1, 2, 5, 7]) for _ in range(3))
    turned = choose.random() < 0.5, choose.random() < 0.5
    shapes = [(2, *((k, n) if turned[0] else (n, k))), (2, *((m, k) if turned[1] else (k, m)))]
    return shapes, _bound("batch_matmul", transpose_x=turned[0], transpose_y=turned[1])


def _dense(choose: Choose) -> Drawn:
    n, m, k = (choose.choice([1, 3, 8, 17]) for _ in range(3))
    activation = choose.choice([None, "relu", "sigmoid", "tanh"])
    shapes = [(n, k), (m, k), (m,)]
    return shapes, _bound("dense", activation=activation)


def _gather(choose: Choose) -> Drawn:
    shape = choose.choice([3, 5]), choose.choice([2, 7])
    axis = choose.randrange(2)
    counts = [*shape]
    counts[axis] = choose.choice([1, 4])
    places = np.random.default_rng(choose.randrange(99)).integers(0, shape[axis], counts)
    return [shape, places], _bound("gather", axis)


def _prelu(choose: Choose) -> Drawn:
    channels = choose.choice(CHANNELS)
    return [_batch(choose, 2, channels), (channels,)], hs.prelu


def _activation(name: str, *numbers: float) -> Callable[[Choose], Drawn]:
    def draw(choose: Choose) -> Drawn:
        options = [choose.choice(numbers)] if numbers else []
        return [(choose.choice(WIDTHS), 4)], _bound(name, *options)

    return draw


def _of_two(name: str) -> Callable[[Choose], Drawn]:
    def draw(choose: Choose) -> Drawn:
        rows, columns = choose.choice([1, 3]), choose.choice([1, 5, 8])
        other = choose.choice([(rows, columns), (columns,), (rows, 1), (1,)])
        shapes = [(rows, columns), other]
        if choose.random() < 0.5:
            shapes.reverse()

        def call(x: Any, y: Any) -> Any:
            return getattr(hs, name)(x, hs.add(hs.square(y), 0.5))

        return shapes, call

    return draw


def _winograd(choose: Choose) -> Drawn:
    shapes = [_batch(choose, 2, 2), (3, 2, 3, 3)]
    padding, tile = choose.choice([0, 1]), choose.choice([2, 4])
    return shapes, _bound("conv2d_winograd", padding=padding, tile=tile)


def _correlation(choose: Choose) -> Drawn:
    shape = (1, 2, 5, 6)
    strides = choose.choice([1, 2]), choose.choice([1, 2])
    return [shape, shape], _bound("correlation", 1, 2, *strides, 2)


def _roi_align(choose: Choose) -> Drawn:
    rois = np.array([[0, 0.3, 0.4, 3.6, 4.2], [0, 1.1, 0.2, 4.7, 2.9]])
    size, aligned = choose.choice([1, 2, 3]), choose.random() < 0.5

    def call(x: Any, boxes: Any) -> Any:
        return hs.roi_align(x, hs.cast(boxes, x.dtype.name), size, aligned=aligned)

    return [(1, 2, 6, 7), rois], call


def _dilation(choose: Choose) -> Drawn:
    shapes = [(1, 2, 7, 6), (2, choose.choice([1, 2, 3]), 2)]
    stride, apart = choose.choice([1, 2]), choose.choice([1, 2])
    return shapes, _bound("dilation2d", stride=stride, dilation=apart)


def _mirror_pad(choose: Choose) -> Drawn:
    widths = [(choose.randint(0, 2), choose.randint(0, 2)) for _ in range(2)]
    mode = choose.choice(["symmetric", "reflect"])
    return [(4, 5)], _bound("mirror_pad", widths, mode)


def _collapse(choose: Choose) -> Drawn:
    shape = choose.choice([(3, 1), (1, 5), (5,), (1, 1), (1, 3, 5)])
    return [(2, 3, 5)], _bound("collapse_sum", shape)


def _lengths(name: str) -> Callable[[Choose], Drawn]:
    def draw(choose: Choose) -> Drawn:
        lengths = np.array([choose.randint(1, 5) for _ in range(3)])
        if name == "reverse_sequence":
            return [(3, 5, 2), lengths], hs.reverse_sequence
        return [(5, 3, 2), lengths], hs.sequence_mask

    return draw


def _as_it_is(x: Any) -> Any:
    return x


CALLS: dict[str, Callable[[Choose], Drawn]] = {
    **{f"conv{rank}d": _convolution(f"conv{rank}d", rank) for rank in (1, 2, 3)},
    **{
        f"conv{rank}d_transpose": _convolution(f"conv{rank}d_transpose", rank) for rank in (1, 2, 3)
    },
    "depthwise_conv2d": _depthwise,
    "conv2d_winograd": _winograd,
    "deformable_conv2d": _deformable,
    **{f"max_pool{rank}d": _pool(f"max_pool{rank}d", rank) for rank in (1, 2, 3)},
    **{f"avg_pool{rank}d": _pool(f"avg_pool{rank}d", rank) for rank in (1, 2, 3)},
    **{f"adaptive_avg_pool{r}d": _adaptive(f"adaptive_avg_pool{r}d", r) for r in (1, 2, 3)},
    **{f"adaptive_max_pool{r}d": _adaptive(f"adaptive_max_pool{r}d", r) for r in (1, 2, 3)},
    **{f"resize{rank}d": _resize(rank) for rank in (1, 2, 3)},
    **{name: _normalization(name) for name in ("group_norm", "instance_norm")},
    **{name: _batch_norm(name) for name in ("batch_norm", "batch_norm_train")},
    "lrn": _lrn,
    **{name: _loss_of_classes(name) for name in ("cross_entropy", "nll_loss")},
    **{name: _loss(name, _as_it_is) for name in ("huber_loss", "kl_div_loss")},
    "binary_cross_entropy": _loss("binary_cross_entropy", hs.sigmoid),
    "binary_cross_entropy_with_logits": _loss("binary_cross_entropy_with_logits", _as_it_is),
    **{name: _recurrent(name, gates) for name, gates in {"lstm": 4, "gru": 3, "rnn": 1}.items()},
    "grid_sample": _grid_sample,
    "batch_matmul": _batch_matmul,
    "dense": _dense,
    "gather": _gather,
    "prelu": _prelu,
    "celu": _activation("celu", 0.5, 1.0, 2.0),
    "selu": _activation("selu"),
    "glu": _activation("glu", 1, -1),
    "leaky_relu": _activation("leaky_relu", 0.01, 0.3),
    "soft_shrink": _activation("soft_shrink", 0.25, 0.5),
    "thresholded_relu": _activation("thresholded_relu", 0.5, 1.0),
    **{name: _of_two(name) for name in ("divide", "hypot", "arctan2", "multiply", "maximum")},
    "correlation": _correlation,
    "roi_align": _roi_align,
    "dilation2d": _dilation,
    "mirror_pad": _mirror_pad,
    "collapse_sum": _collapse,
    **{name: _lengths(name) for name in ("reverse_sequence", "sequence_mask")},
}
