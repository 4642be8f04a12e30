"""DESIGN 2.1: return of an output, several, a scalar, a tuple, or nothing; from several places."""

from hybridjit import hybrid
from hybridjit.hybrid import output_tensor
from tests.corpus.case import Array, Number, call, case, sweep


@hybrid.script
def return_two_arrays(a: Array) -> Array:
    low = output_tensor(a.shape, a.dtype)
    high = output_tensor(a.shape, "float64")
    for i in range(a.shape[0]):
        low[i] = a[i] - 1
        high[i] = a[i] + 1
    return low, high


@hybrid.script
def return_mixed(a: Array) -> Array:
    b = output_tensor((2,), a.dtype)
    total = 0
    for i in range(a.shape[0]):
        total += i
        b[i % 2] += a[i]
    return total, b, total > 3, 2.5


@hybrid.script
def return_one_tuple(n: Number) -> Number:
    return (n + 1,)


@hybrid.script
def return_early(a: Array, x: Number) -> Number:
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] == x:
                return i * a.shape[1] + j
    return -1


@hybrid.script
def return_nothing_early(a: Array) -> None:
    for i in range(a.shape[0]):
        if a[i] < 0:
            return
        a[i] = -1


@hybrid.script
def return_bool(a: Array) -> Number:
    for i in range(a.shape[0]):
        if not a[i] > -5:
            a[i] = 0
            return False
    return True


@hybrid.script
def return_element(a: Array, i: Number) -> Number:
    return a[i], a[i] * 2, a[i] == a[i]


@hybrid.script
def return_array_early(a: Array) -> Array:
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        if a[i] > 5:
            return b
        b[i] = a[i]
    return b


@hybrid.script
def return_output_and_argument(a: Array) -> Array:
    b = output_tensor((), a.dtype)
    for i in range(a.shape[0]):
        b[()] += a[i]
        a[i] = b[()]
    return b, a


CASES = (
    case(return_two_arrays, sweep(lambda d: (d(d.n),), dtypes=("float64", "float32", "int8"))),
    case(return_mixed, sweep(lambda d: (d(d.n),), dtypes=("float64", "int8"))),
    case(return_one_tuple, call(1), call(0.5)),
    case(return_early, sweep(lambda d: (d(d.n, 4), 3), dtypes=("int64", "uint8"))),
    case(return_nothing_early, sweep(lambda d: (d.out(d.n),))),
    case(return_bool, sweep(lambda d: (d.out(d.n),))),
    case(
        return_element,
        sweep(
            lambda d: (d(d.n), -1), dtypes=("float64", "int8", "bool", "complex64"), sizes=(7, 1)
        ),
    ),
    case(return_array_early, sweep(lambda d: (d(d.n),))),
    case(return_output_and_argument, sweep(lambda d: (d.out(d.n),), dtypes=("float64", "int8"))),
)
