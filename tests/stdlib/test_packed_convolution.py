"""Convolutions by other ways, and correlations: against sums written out."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import stdlib as hs
from tests.support import operator_references as reference
from tests.support.operator_rows import Row, compare, row

np: Any = numpy  # whose types say nothing of arrays that may be any
RNG = np.random.default_rng(11)
FACTORS = {2: 81, 4: 36100}


def packed_row(sizes: Any, dtype: str = "float64", **options: Any) -> Row:
    """A convolution of plain channels, whose operands and result are cut into blocks."""
    batch, channels, block, rows, columns, outputs, part, (height, width) = sizes
    x = RNG.integers(-9, 9, (batch, channels * block, rows, columns)).astype(dtype)
    w = RNG.integers(-9, 9, (outputs * part, channels * block, height, width)).astype(dtype)
    plain = reference.conv2d(x.astype(float), w.astype(float), **options).astype(dtype)
    wanted = plain.reshape(batch, outputs, part, *plain.shape[2:]).transpose(0, 1, 3, 4, 2)
    images = x.reshape(batch, channels, block, rows, columns).transpose(0, 1, 3, 4, 2)
    filters = w.reshape(outputs, part, channels, block, height, width)
    return row("conv2d_packed", np.ascontiguousarray(images), filters.transpose(0, 2, 4, 5, 3, 1),
               wanted=np.ascontiguousarray(wanted), **options)  # fmt: skip


def correlated(x: Any, y: Any, options: Any) -> Any:
    size, reach, step, jump, pad, is_product = options
    x, y = (np.pad(part, ((0, 0), (0, 0), (pad, pad), (pad, pad))) for part in (x, y))
    radius, far = size // 2, reach // jump
    centers: list[Any] = [range(reach + radius, n - reach - radius, step) for n in x.shape[2:]]
    found = np.zeros((len(x), (2 * far + 1) ** 2, *map(len, centers)))
    for i, j, a, b in np.ndindex(2 * far + 1, 2 * far + 1, *map(len, centers)):
        row, column = centers[0][a], centers[1][b]
        down, right = row + (i - far) * jump, column + (j - far) * jump
        one = x[:, :, row - radius : row + radius + 1, column - radius : column + radius + 1]
        other = y[:, :, down - radius : down + radius + 1, right - radius : right + radius + 1]
        values = one * other if is_product else np.abs(one - other)
        found[:, i * (2 * far + 1) + j, a, b] = values.mean((1, 2, 3))
    return found


def correlation_row(shape: Any, *options: Any) -> Row:
    x, y = RNG.normal(size=(2, *shape))
    return row("correlation", x, y, *options, rtol=1e-9, wanted=correlated(x, y, options))


IMAGES, NARROW = RNG.integers(-9, 9, (2, 2, 9, 7)) * 1.0, RNG.integers(-9, 9, (5, 2, 3, 3)) * 24.0
ROWS = (
    *(row("conv2d_winograd", IMAGES, NARROW, tile=tile, padding=1, fixed=(3,), rtol=1e-9,
          wanted=reference.conv2d(IMAGES, NARROW, padding=1)) for tile in (2, 4)),
    packed_row((2, 3, 4, 7, 5, 2, 6, (3, 3)), padding=1),
    packed_row((1, 1, 8, 9, 9, 3, 4, (3, 2)), stride=(2, 1), dilation=(1, 2)),
    packed_row((1, 2, 3, 6, 17, 1, 16, (1, 1))),
    packed_row((1, 2, 4, 5, 6, 2, 3, (5, 3)), padding="same"),
    packed_row((1, 2, 4, 5, 6, 2, 3, (2, 3)), "int32", padding=(0, 1, 2, 0)),
    correlation_row((2, 3, 9, 8), 1, 1, 1, 1, 0, True),
    correlation_row((1, 2, 9, 11), 3, 2, 1, 1, 1, True),
    correlation_row((1, 2, 12, 9), 1, 3, 2, 2, 2, False),
    correlation_row((1, 1, 7, 7), 5, 1, 1, 1, 0, False),
    correlation_row((1, 4, 6, 70), 1, 0, 1, 3, 0, True),
    row("correlation", np.ones((0, 2, 5, 5)), np.ones((0, 2, 5, 5)), wanted=np.ones((0, 9, 3, 3)),
        dynamic=False),
    row("conv2d_packed", np.ones((0, 2, 4, 4, 3)), np.ones((2, 2, 3, 3, 3, 5)), dynamic=False,
        wanted=np.ones((0, 2, 2, 2, 5))),
    row("conv2d_packed", np.ones((1, 0, 4, 4, 3)), np.ones((2, 0, 3, 3, 3, 5)), dynamic=False,
        wanted=np.zeros((1, 2, 2, 2, 5))),
)  # fmt: skip


@pytest.mark.sampled(6)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_arrays(row: Row) -> None:
    row.check_on_arrays()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_tensors(row: Row) -> None:
    row.check_on_tensors()


@pytest.mark.sampled(18)
@pytest.mark.parametrize("shape", [(1, 1, 3, 3), (2, 3, 6, 9), (1, 4, 17, 5), (2, 16, 12, 14)])
@pytest.mark.parametrize("padding", [0, 1, (0, 2, 1, 0), "same"])
@pytest.mark.parametrize("tile", [2, 4])
def test_winograd_is_a_convolution(tile: int, padding: Any, shape: Any) -> None:
    """Of numbers whose transforms are exact, the very same ones."""
    x = RNG.integers(-9, 9, shape).astype(np.float64)
    w = RNG.integers(-9, 9, (5, shape[1], 3, 3)) * 24.0
    found = hs.conv2d_winograd(x, w, padding=padding, tile=tile)
    compare(found, reference.conv2d(x, w, padding=padding), 0 if tile == 2 else 1e-9)


def errors(tile: int, x: Any, w: Any) -> tuple[float, float]:
    """How far it is off at most, and the bound that it states, in float32."""
    found = hs.conv2d_winograd(x, w, padding=1, tile=tile)
    wanted = reference.conv2d(x.astype(np.float64), w.astype(np.float64), padding=1)
    channels = x.shape[1]
    bound = (channels + 40) * channels * FACTORS[tile] * 2.0**-24 * abs(x).max() * abs(w).max()
    return float(abs(found - wanted).max()), float(bound)


def wild(size: Any) -> Any:
    return np.exp(RNG.normal(size=size) * 6)


def signs(size: Any) -> Any:
    return RNG.choice([-1.0, 1.0], size)


def normal(size: Any) -> Any:
    return RNG.normal(size=size)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("channels", [1, 7, 64])
@pytest.mark.parametrize("tile", [2, 4])
def test_winograd_keeps_its_bound(tile: int, channels: int) -> None:
    for draw in (normal, signs, wild):
        x, w = (
            draw(size).astype("float32") for size in ((1, channels, 13, 11), (4, channels, 3, 3))
        )
        error, bound = errors(tile, x, w)
        assert error <= bound / 100


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_winograd_of_narrow_types(dtype: str) -> None:
    x, w = RNG.normal(size=(1, 3, 9, 9)).astype(dtype), RNG.normal(size=(2, 3, 3, 3)).astype(dtype)
    wanted = reference.conv2d(x.astype(float), w.astype(float)).astype(dtype)
    compare(hs.conv2d_winograd(x, w), wanted, 5e-3 if dtype == "float16" else 1e-4)


def test_winograd_of_no_images() -> None:
    compare(hs.conv2d_winograd(np.ones((0, 2, 5, 5)), np.ones((3, 2, 3, 3))), np.ones((0, 3, 3, 3)))


def test_correlation_of_integers() -> None:
    x, y = RNG.integers(-99, 99, (2, 1, 2, 5, 6)).astype(np.int8)
    wanted = correlated(x.astype(float), y.astype(float), (1, 1, 1, 1, 0, True))
    compare(hs.correlation(x, y), wanted, 1e-12)


X: Any = np.ones((1, 2, 5, 5))
MISTAKES: dict[str, Any] = {
    "kernel_size must be odd": lambda: hs.correlation(X, X, 2),
    "must have the same shape": lambda: hs.correlation(X, X[:, :1]),
    "has no place that is 3 from edges": lambda: hs.correlation(X, X, 1, 3),
    "channels of 'x' .* do not match": lambda: hs.conv2d_packed(
        X[..., None], np.ones((1, 3, 3, 3, 1, 1))),
    "must have 5 axes": lambda: hs.conv2d_packed(X, np.ones((1, 3, 3, 3, 1, 1))),
    "tiles have 2 or 4 results": lambda: hs.conv2d_winograd(X, np.ones((1, 2, 3, 3)), tile=3),
    "no filters of 3 by 3": lambda: hs.conv2d_winograd(X, np.ones((1, 2, 3, 4))),
    "it halves filters": lambda: hs.conv2d_winograd(X.astype(int), np.ones((1, 2, 3, 3))),
}  # fmt: skip


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes(message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        MISTAKES[message]()
