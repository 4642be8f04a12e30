"""One row for each family of operators of stdlib: the one that a program is likely to wait for.

NumPy's way is the formula that people write; where that is loops, Numba runs the same loops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy

from benchmarks.peers.row import Array, Row, random
from benchmarks.peers.ways import numba_way, onnx_way
from hybridjit import stdlib

np: Any = numpy  # whose types say nothing of arrays that may be any
hs: Any = stdlib
Args = tuple[Array, ...]
# One for each number of arguments: so type checkers know the parameters of lambdas.
Formula = (
    Callable[[Any], Any]
    | Callable[[Any, Any], Any]
    | Callable[[Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any], Any]
)


def rows(wanted: Sequence[str] | None = None) -> Iterator[Row]:
    """All of them, or those of some families."""
    for family in CASES if wanted is None else wanted:
        name, args, reference, ours, nodes, has_loops = CASES[family]
        ways: dict[str, Any] = {"numpy": _as_is(reference), "stdlib": _as_is(ours)}
        if has_loops:
            ways["numba"] = numba_way(reference)
        if nodes is not None:
            ways["onnx"] = onnx_way(nodes, args)
        work = float(max(arg.size for arg in args))
        yield Row(f"operators, {family}", name, args, ways, flops=work)


def _as_is(function: Formula) -> Any:
    return lambda: function


def _node(kind: str, **how: Any) -> Any:
    def make(h: Any, names: list[str]) -> list[Any]:
        return [h.make_node(kind, names, ["y"], **how)]

    return make


# -- references ------------------------------------------------------------------------------------


def _windows(x: Array, size: int, stride: int = 1) -> Array:
    found = np.lib.stride_tricks.sliding_window_view(x, (size, size), (2, 3))
    return found[:, :, ::stride, ::stride]


def _convolved(x: Array, w: Array) -> Array:
    sums = np.tensordot(_windows(x, w.shape[2]), w, ((1, 4, 5), (1, 2, 3)))
    return np.moveaxis(sums, 3, 1)


def _transposed(x: Array, w: Array) -> Array:
    made = np.zeros((1, w.shape[1], 2 * x.shape[2], 2 * x.shape[3]), x.dtype)
    for i in range(2):
        for j in range(2):
            made[:, :, i::2, j::2] = np.einsum("nchw,co->nohw", x, w[:, :, i, j])
    return made


def _pool_gradient(grads: Array, x: Array) -> Array:
    made = np.zeros(x.shape, x.dtype)
    for c in range(x.shape[1]):
        for i in range(grads.shape[2]):
            for j in range(grads.shape[3]):
                row, column = 2 * i, 2 * j
                for k in range(2):
                    for m in range(2):
                        if x[0, c, 2 * i + k, 2 * j + m] > x[0, c, row, column]:
                            row, column = 2 * i + k, 2 * j + m
                made[0, c, row, column] += grads[0, c, i, j]
    return made


def _correlated(x: Array, y: Array) -> Array:
    _, channels, rows, columns = x.shape
    made = np.zeros((1, 9, rows, columns), x.dtype)
    for i in range(3):
        for j in range(3):
            for r in range(rows):
                for c in range(columns):
                    row, column = r + i - 1, c + j - 1
                    if 0 <= row < rows and 0 <= column < columns:
                        total = 0.0
                        for k in range(channels):
                            total += x[0, k, r, c] * y[0, k, row, column]
                        made[0, 3 * i + j, r, c] = total / channels
    return made


def _sparse_product(values: Array, columns: Array, starts: Array, y: Array) -> Array:
    made = np.zeros((starts.size - 1, y.shape[1]), y.dtype)
    for row in range(starts.size - 1):
        for place in range(starts[row], starts[row + 1]):
            for k in range(y.shape[1]):
                made[row, k] += values[place] * y[columns[place], k]
    return made


def _packed_bits(x: Array) -> Array:
    made = np.zeros((x.shape[0], x.shape[1] // 32), np.uint32)
    for row in range(x.shape[0]):
        for place in range(x.shape[1]):
            if x[row, place] >= 0:
                made[row, place // 32] |= np.uint32(1) << np.uint32(31 - place % 32)
    return made


def _suppressed(boxes: Array, scores: Array) -> Array:
    order = np.argsort(-scores, kind="mergesort")
    kept = np.empty(order.size, np.int64)
    count = 0
    for place in order:
        is_free = True
        for other in kept[:count]:
            top = max(boxes[place, 0], boxes[other, 0])
            left = max(boxes[place, 1], boxes[other, 1])
            low = min(boxes[place, 2], boxes[other, 2])
            right = min(boxes[place, 3], boxes[other, 3])
            shared = max(low - top, 0.0) * max(right - left, 0.0)
            one = (boxes[place, 2] - boxes[place, 0]) * (boxes[place, 3] - boxes[place, 1])
            two = (boxes[other, 2] - boxes[other, 0]) * (boxes[other, 3] - boxes[other, 1])
            if shared > 0.5 * (one + two - shared):
                is_free = False
                break
        if is_free:
            kept[count] = place
            count += 1
    return kept[:count]


def _valid_counts(boxes: Array) -> Array:
    """How many boxes are valid; the boxes themselves and their places are moved to the front."""
    are_valid = (boxes[:, :, 0] >= 0) & (boxes[:, :, 1] > 0)
    counts = are_valid.sum(axis=1)
    moved, places = np.full_like(boxes, -1), np.full(boxes.shape[:2], -1)
    for image, is_valid, count in zip(range(len(boxes)), are_valid, counts, strict=True):
        moved[image, :count] = boxes[image, is_valid]
        places[image, :count] = np.flatnonzero(is_valid)
    return counts


def _recurrent(x: Array, w: Array, u: Array) -> Array:
    state = np.zeros((x.shape[1], u.shape[0]), x.dtype)
    made = np.empty((x.shape[0], *state.shape), x.dtype)
    for step in range(x.shape[0]):
        state = np.tanh(x[step] @ w.T + state @ u.T)
        made[step] = state
    return made


def _deformed(x: Array, offset: Array, w: Array) -> Array:
    return _convolved(x, w) + 0 * offset[:, :1, :, :]


def _quantized(x: Array) -> Array:
    return np.clip(np.rint(x / np.float32(0.01)), -128, 127).astype(np.int8)


def _upsampled(x: Array) -> Array:
    return x.repeat(2, 2).repeat(2, 3)


def _rms(x: Array) -> Array:
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + np.float32(1e-5))


def _log_softmax(x: Array) -> Array:
    shifted = x - x.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def _rounded(numbers: Array) -> Array:
    """Their mean, as far as it is the same for all generators."""
    return np.rint(numbers.mean() * 100) / 100


def _boxes(count: int) -> Array:
    corner = np.random.default_rng(0).random((count, 2)) * 50
    return np.concatenate([corner, corner + 5], axis=1).astype(np.float32)


def _csr() -> Args:
    starts = np.arange(0, 32 * 1024 + 1, 32)
    columns = np.random.default_rng(0).integers(0, 1024, starts[-1])
    return random(int(starts[-1])), columns, starts, random(1024, 16)


# -- rows ------------------------------------------------------------------------------------------

SQUARE, ROW = random(1024, 1024), random(1_000_000)
IMAGES, HALF = random(1, 32, 56, 56), random(1, 32, 28, 28)
FILTERS = random(32, 32, 3, 3)
PLACES = np.random.default_rng(0).integers(0, 1024, (1024, 1024))

# Of each family: a name, arguments, NumPy's way, ours, ONNX's nodes, and whether NumPy's are loops.
CASES: dict[str, tuple[str, Args, Formula, Formula, Any, bool]] = {
    "activations": ("leaky relu", (SQUARE,), lambda x: np.where(x > 0, x, np.float32(0.01) * x),
                    lambda x: hs.leaky_relu(x), _node("LeakyRelu"), False),
    "adaptive_pooling": ("averages of 7x7", (IMAGES,),
                         lambda x: x.reshape(1, 32, 7, 8, 7, 8).mean(axis=(3, 5)),
                         lambda x: hs.adaptive_avg_pool2d(x, 7), None, False),
    "arithmetic": ("maximum", (SQUARE, SQUARE.T.copy()), np.maximum, hs.maximum, _node("Max"),
                   False),
    "bits": ("signs packed", (random(64, 4096),), _packed_bits, hs.binarize_pack, None, True),
    "contractions": ("einsum ij,kj->ik", (SQUARE, SQUARE),
                     lambda x, y: np.einsum("ij,kj->ik", x, y, optimize=True),
                     lambda x, y: hs.einsum("ij,kj->ik", (x, y)),
                     _node("Einsum", equation="ij,kj->ik"), False),
    "convolution": ("3x3, 32 @ 56", (IMAGES, FILTERS), _convolved, hs.conv2d, _node("Conv"), False),
    "correlation": ("3x3 places, 32 @ 56", (IMAGES, IMAGES[:, ::-1].copy()), _correlated,
                    lambda x, y: hs.correlation(x, y, padding=1), None, True),
    "creation": ("one of 64", (PLACES[0] % 64,), lambda i: np.eye(64, dtype=np.float32)[i],
                 lambda i: hs.one_hot(i, 64), None, False),
    "cumulative": ("sums along rows", (SQUARE,), lambda x: np.cumsum(x, 1),
                   lambda x: hs.cumsum(x, 1), None, False),
    "deformable_convolution": (
        "3x3, not moved, 32 @ 56", (IMAGES, random(1, 18, 54, 54) * 0, FILTERS), _deformed,
        hs.deformable_conv2d, None, False),
    "detection": ("counts of boxes", (random(8, 4096, 6),), _valid_counts,
                  lambda x: hs.get_valid_counts(x)[0], None, False),
    "functions": ("tanh", (SQUARE,), np.tanh, hs.tanh, _node("Tanh"), False),
    "images": ("twice as large", (IMAGES,), _upsampled, lambda x: hs.upsampling(x, 2), None, False),
    "indexing": ("take along rows", (SQUARE, PLACES), lambda x, i: np.take_along_axis(x, i, 1),
                 lambda x, i: hs.take_along_axis(x, i, 1), _node("GatherElements", axis=1), False),
    "layouts": ("channels last", (IMAGES,), lambda x: np.ascontiguousarray(np.moveaxis(x, 1, 3)),
                lambda x: hs.layout_transform(x, "NCHW", "NHWC"),
                _node("Transpose", perm=[0, 2, 3, 1]), False),
    "logic": ("where", (SQUARE,), lambda x: np.where(x > 0, x, -x),
              lambda x: hs.where(hs.greater(x, 0), x, hs.negative(x)), None, False),
    "losses": ("mean of squares", (SQUARE, SQUARE.T.copy()), lambda x, y: ((x - y) ** 2).mean(),
               hs.mse_loss, None, False),
    "normalization": ("rms norm", (SQUARE,), _rms, lambda x: hs.rms_norm(x), None, False),
    "packed_convolution": ("winograd, 32 @ 56", (IMAGES, FILTERS), _convolved, hs.conv2d_winograd,
                           _node("Conv"), False),
    "padding": ("reflected", (SQUARE,), lambda x: np.pad(x, 8, "reflect"),
                lambda x: hs.pad(x, 8, "reflect"), None, False),
    "pooling": ("largest of 2x2", (IMAGES,), lambda x: _windows(x, 2, 2).max(axis=(4, 5)),
                lambda x: hs.max_pool2d(x, 2),
                _node("MaxPool", kernel_shape=[2, 2], strides=[2, 2]), False),
    "pooling_gradients": ("of the largest of 2x2", (HALF, IMAGES), _pool_gradient,
                          lambda g, x: hs.max_pool2d_grad(g, x, 2), None, True),
    "products": ("batches of 64x64", (random(32, 64, 64), random(32, 64, 64)), np.matmul,
                 hs.matmul, _node("MatMul"), False),
    "quantized": ("to 8 bits", (SQUARE,), _quantized,
                  lambda x: hs.quantize(x, np.float32(0.01)), None, False),
    "random": ("the mean of a million", (np.array([3, 7], np.uint32),),
               lambda key: _rounded(np.random.default_rng(key).random(1_000_000, np.float32)),
               lambda key: _rounded(hs.random_uniform(key, 1_000_000)), None, False),
    "recurrent": ("64 steps of 32x64",
                  (random(64, 32, 64), random(64, 64), random(64, 64) / 8), _recurrent,
                  lambda x, w, u: hs.rnn(x, w, u)[0], None, False),
    "reductions": ("sums of columns", (SQUARE,), lambda x: x.sum(axis=0), lambda x: hs.sum(x, 0),
                   None, False),
    "searching": ("a million in order", (ROW,), np.sort, hs.sort, None, False),
    "shapes": ("transposed", (SQUARE,), lambda x: np.ascontiguousarray(x.T), hs.transpose,
               _node("Transpose"), False),
    "signal": ("magnitudes of 1024", (random(64, 1024),), lambda x: np.abs(np.fft.fft(x)),
               lambda x: np.abs(hs.fft(x)), None, False),
    "softmax": ("logarithms", (SQUARE,), _log_softmax, lambda x: hs.log_softmax(x, 1),
                _node("LogSoftmax", axis=1), False),
    "sparse": ("32 of 1024 in each row", _csr(), _sparse_product, hs.csr_matmul, None, True),
    "transposed_convolution": ("2x2, stride 2, 32 @ 28", (HALF, random(32, 32, 2, 2)), _transposed,
                               lambda x, w: hs.conv2d_transpose(x, w, stride=2),
                               _node("ConvTranspose", strides=[2, 2]), False),
    "vision": ("boxes that overlap", (_boxes(1000), np.arange(1000, dtype=np.float32)), _suppressed,
               lambda x, y: hs.non_max_suppression(x, y, 0.5), None, True),
}  # fmt: skip
