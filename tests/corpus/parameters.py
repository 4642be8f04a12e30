"""DESIGN 2.2: tuples and lists of arrays, defaults, keywords, out=, strings, dtypes, None."""

import numpy as np

from hybridjit import hybrid
from hybridjit.hybrid import const_range, output_tensor
from tests.corpus.case import Array, Number, arrange, call, case, numbers, sweep


@hybrid.script
def sum_of_arrays(arrays: Array) -> Array:
    b = output_tensor(arrays[0].shape, arrays[0].dtype)
    for k in const_range(len(arrays)):
        for i in range(b.shape[0]):
            b[i] += arrays[k][i]
    return b


@hybrid.script
def unpack_arrays(pair: Array, weights: Array) -> Array:
    a, b = pair
    w = weights[0] if len(weights) == 2 else weights[-1:][0]
    c = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        c[i] = a[i] * w + b[i] * weights[1]
    return c


@hybrid.script
def loop_over_arrays(arrays: Array) -> None:
    for a in arrays:
        for i in range(a.shape[0]):
            a[i] += 1


@hybrid.script
def defaults(a: Array, scale: Number = 2, *, bias: Number = 0.5, flag: Number = False) -> Array:
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[i] = a[i] * scale + bias
        if flag:
            b[i] = -b[i]
    return b


@hybrid.script
def choose_dtype(a: Array, dtype: Number, mode: Number = "up", extra: Array = None) -> Array:
    b = output_tensor(a.shape, dtype)
    for i in range(a.shape[0]):
        if mode == "up":
            b[i] = a[i] + 1
        else:
            b[i] = a[i] - 1
        if extra is not None:
            b[i] += extra[i]
        if extra is None and i == 0:
            b[i] = 0
    return b


@hybrid.script
def depends_on_type(a: Array) -> Array:
    b = output_tensor(a.shape, "float64")
    for i in range(a.shape[0]):
        if a.dtype == "float32":
            b[i] = 32
        elif a.dtype == np.float64 and a.ndim == 1:
            b[i] = 64
        else:
            b[i] = a.ndim
    return b


@hybrid.script
def named_out(a: Array, out: Array) -> None:
    for i in range(a.shape[0]):
        out[i] = a[i] * 2


@hybrid.script
def nested_tuples(data: Array) -> Number:
    (a, x), (b, y) = data
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * x + b[i] * y
    return total


@hybrid.script
def strided_inputs(a: Array, b: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            c[i, j] = a[i, j] + b[i, j]


def _mixed_layouts() -> Array:
    a, b, c = (numbers((5, 4), "float64", -9, 9, seed) for seed in (1, 2, 3))
    for layout in ("F", "strided", "reversed", "broadcast"):
        yield call(arrange(a, layout), b, arrange(c, "C" if layout == "broadcast" else layout))
        yield call(a, arrange(b, layout), c)
    yield call(a.T.copy().T, b[:, ::-1], c[::-1])
    yield call(np.lib.stride_tricks.sliding_window_view(a[:, 0], 2), b[:4, :2], c[:4, :2])


_A = numbers((5,), "float64", -9, 9, 1)

CASES = (
    case(
        sum_of_arrays,
        sweep(lambda d: ((d(d.n), d(d.n), d(d.n)),), dtypes=("float64", "int8")),
        sweep(lambda d: ([d(d.n)],), dtypes=("float32",)),
    ),
    case(unpack_arrays, sweep(lambda d: ((d(d.n), d(d.n)), (2, 3)))),
    case(loop_over_arrays, sweep(lambda d: ((d.out(d.n), d.out(3)),))),
    case(
        defaults,
        call(_A),
        call(_A, 3),
        call(_A, scale=np.float32(3), flag=True),
        call(a=_A, bias=1),
        call(_A.astype(np.float32), bias=np.float64(0.1)),
    ),
    case(
        choose_dtype,
        call(_A, "float32"),
        call(_A, np.float64, "down"),
        call(_A, np.dtype("complex64"), mode="up", extra=_A),
    ),
    case(depends_on_type, call(_A), call(_A.astype(np.float32)), call(_A.astype(np.int8))),
    case(named_out, sweep(lambda d: (d(d.n), d.out(d.n)))),
    case(nested_tuples, call(((_A, 2), (_A, 0.5))), call([(_A, np.float32(2)), (_A, 1)])),
    case(strided_inputs, _mixed_layouts()),
)
