"""Rows of operators that move elements, choose among them, or add others."""

from __future__ import annotations

import random
from typing import Any

from tests.operators.rows import Call, Row, hs, index_tensor, np, special


@special("roll")
def roll_row(choose: random.Random, sizes: tuple[int, ...]) -> Call:
    shift, axis = choose.randint(-3, 3), choose.randrange(len(sizes))
    return lambda x: hs.roll(x, shift, axis), lambda x: np.roll(x, shift, axis)


@special("repeat")
def repeat_row(choose: random.Random, sizes: tuple[int, ...]) -> Call:
    count, axis = choose.randint(1, 3), choose.choice([None, *range(len(sizes))])
    return lambda x: hs.repeat(x, count, axis), lambda x: np.repeat(x, count, axis)


@special("tile")
def tile_row(choose: random.Random, sizes: tuple[int, ...]) -> Call:
    counts = tuple(choose.randint(1, 2) for _ in range(len(sizes) + choose.randint(0, 1)))
    return lambda x: hs.tile(x, counts), lambda x: np.tile(x, counts)


@special("concatenate")
def concatenate_row(choose: random.Random, sizes: tuple[int, ...]) -> Call:
    axis = choose.randrange(-len(sizes), len(sizes))
    return (
        lambda x: hs.concatenate((x, hs.flip(x), x), axis),
        lambda x: np.concatenate((x, np.flip(x), x), axis),
    )


@special("stack")
def stack_row(choose: random.Random, sizes: tuple[int, ...]) -> Call:
    axis = choose.randrange(-len(sizes) - 1, len(sizes) + 1)
    return lambda x: hs.stack((x, hs.flip(x)), axis), lambda x: np.stack((x, np.flip(x)), axis)


@special("split")
def split_row(choose: random.Random, sizes: tuple[int, ...]) -> Call | None:
    axis = choose.randrange(len(sizes))
    if sizes[axis] < 2:
        return None
    place = choose.randint(1, sizes[axis] - 1)
    which = choose.randrange(2)
    return (
        lambda x: hs.split(x, [place], axis)[which],
        lambda x: np.split(x, [place], axis)[which],
    )


@special("expand_dims")
def expand_dims_row(choose: random.Random, sizes: tuple[int, ...]) -> Call:
    axis = choose.randrange(-len(sizes) - 1, len(sizes) + 1)
    return lambda x: hs.expand_dims(x, axis), lambda x: np.expand_dims(x, axis)


@special("squeeze")
def squeeze_row(choose: random.Random, sizes: tuple[int, ...]) -> Call:
    axis = choose.randrange(len(sizes) + 1)
    return (
        lambda x: hs.squeeze(hs.expand_dims(x, axis), axis),
        lambda x: x,
    )


@special("transpose")
def transpose_row(choose: random.Random, sizes: tuple[int, ...]) -> Call:
    axes = tuple(choose.sample(range(len(sizes)), len(sizes)))
    return lambda x: hs.transpose(x, axes), lambda x: np.transpose(x, axes)


@special("swapaxes", 2)
def swapaxes_row(choose: random.Random, sizes: tuple[int, ...]) -> Call:
    first, second = (choose.randrange(-len(sizes), len(sizes)) for _ in range(2))
    return lambda x: hs.swapaxes(x, first, second), lambda x: np.swapaxes(x, first, second)


@special("moveaxis", 2)
def moveaxis_row(choose: random.Random, sizes: tuple[int, ...]) -> Call:
    first, second = (choose.randrange(-len(sizes), len(sizes)) for _ in range(2))
    return lambda x: hs.moveaxis(x, first, second), lambda x: np.moveaxis(x, first, second)


@special("strided_slice")
def strided_slice_row(choose: random.Random, sizes: tuple[int, ...]) -> Call:
    axis = choose.randrange(len(sizes))
    begin, step = choose.randrange(sizes[axis]), choose.choice([1, 2, 3])
    place = (slice(None),) * axis + (slice(begin, sizes[axis], step),)
    return (
        lambda x: hs.strided_slice(x, [begin], [sizes[axis]], [step], [axis]),
        lambda x: x[place],
    )


@special("pad")
def pad_row(choose: random.Random, sizes: tuple[int, ...]) -> Call:
    mode = choose.choice(["constant", "edge", "reflect", "symmetric", "wrap"])
    widths = [tuple(choose.randint(0, max(0, size - 1)) % 4 for _ in range(2)) for size in sizes]
    return lambda x: hs.pad(x, widths, mode), lambda x: np.pad(x, widths, mode)


@special("dilate")
def dilate_row(choose: random.Random, sizes: tuple[int, ...]) -> Call:
    steps = tuple(choose.randint(1, 3) for _ in sizes)

    def wanted(x: Any) -> Any:
        sizes = [(size - 1) * step + 1 for size, step in zip(x.shape, steps, strict=True)]
        made = np.zeros(sizes, x.dtype)
        made[tuple(slice(None, None, step) for step in steps)] = x
        return made

    return lambda x: hs.dilate(x, steps), wanted


@special("tril", 2)
def tril_row(choose: random.Random, sizes: tuple[int, ...]) -> Call:
    k = choose.randint(-2, 2)
    if choose.random() < 0.5:
        return lambda x: hs.triu(x, k), lambda x: np.triu(x, k)
    return lambda x: hs.tril(x, k), lambda x: np.tril(x, k)


@special("take")
def take_row(choose: random.Random, sizes: tuple[int, ...]) -> Call:
    axis = choose.randrange(len(sizes))
    chosen = [choose.randrange(sizes[axis]) for _ in range(choose.randint(1, 5))]
    return lambda x: hs.take(x, index_tensor(chosen), axis), lambda x: np.take(x, chosen, axis)


@special("take_along_axis")
def take_along_axis_row(choose: random.Random, sizes: tuple[int, ...]) -> Call:
    axis = choose.randrange(len(sizes))
    return (
        lambda x: hs.take_along_axis(x, hs.argsort(x, axis), axis),
        lambda x: np.take_along_axis(x, np.argsort(x, axis, kind="stable"), axis),
    )


@special("one_hot", integers=True)
def one_hot_row(choose: random.Random, sizes: tuple[int, ...]) -> Call:
    depth = choose.randint(1, 6)

    def wanted(x: Any) -> Any:
        places = np.where(x < 0, x + depth, x)  # as ONNX has it
        return (places[..., None] == np.arange(depth)).astype("float32")

    return lambda x: hs.one_hot(x, depth), wanted


@special("sliding_window")
def sliding_window_row(choose: random.Random, sizes: tuple[int, ...]) -> Call:
    axis = len(sizes) - 1
    width, step = choose.randint(1, min(3, sizes[axis])), choose.randint(1, 2)

    def wanted(x: Any) -> Any:
        found = np.lib.stride_tricks.sliding_window_view(x, width, axis)
        return found[(slice(None),) * axis + (slice(None, None, step),)]

    return lambda x: hs.sliding_window(x, axis, [width], step), wanted


@special("topk")
def topk_row(choose: random.Random, sizes: tuple[int, ...]) -> Call:
    axis = choose.randrange(len(sizes))
    k, which = choose.randint(1, sizes[axis]), choose.randrange(2)

    def wanted(x: Any) -> Any:
        order = np.flip(np.argsort(np.flip(x, axis), axis, kind="stable"), axis)
        places = np.take(x.shape[axis] - 1 - order, range(k), axis)
        return places if which else np.take_along_axis(x, places, axis)

    return lambda x: hs.topk(x, k, axis)[which], wanted


ROWS: tuple[Row, ...] = (
    roll_row,
    repeat_row,
    tile_row,
    concatenate_row,
    stack_row,
    split_row,
    expand_dims_row,
    squeeze_row,
    transpose_row,
    swapaxes_row,
    moveaxis_row,
    strided_slice_row,
    pad_row,
    dilate_row,
    tril_row,
    take_row,
    take_along_axis_row,
    one_hot_row,
    sliding_window_row,
    topk_row,
)
