"""DESIGN 2.1: assignment in all its forms, docstrings, pass, assert, raise, print."""

from hybridjit import hybrid
from hybridjit.hybrid import float32, int32, output_tensor
from tests.corpus.case import INTS, REALS, Array, Number, call, case, sweep


@hybrid.script
def copy_elements(a: Array) -> Array:
    """A docstring is allowed,"""
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        """and so is a string in the middle."""
        b[i] = a[i]
    return b


@hybrid.script
def chain_assignment(a: Array, b: Array) -> Number:
    x = y = 1
    for i in range(a.shape[0]):
        a[i] = b[i] = x = a[i] + b[i]
    return x + y


@hybrid.script
def swap_ends(a: Array) -> None:
    n = a.shape[0]
    for i in range(n // 2):
        a[i], a[n - 1 - i] = a[n - 1 - i], a[i]


@hybrid.script
def unpack_nested(a: Array) -> Array:
    c = output_tensor((4,), "float64")
    (p, q), [r, s] = (a[0], a[1]), (a[2], 5)
    p, q = q, p
    c[0], c[1], (c[2], c[3]) = p, q, (r, s)
    return c


@hybrid.script
def rotate_three(n: Number) -> Number:
    x, y, z = 1, 2, 3
    for _ in range(n):
        x, y, z = y, z, x + y
    return x, y, z


@hybrid.script
def augmented(a: Array, x: Number) -> Array:
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[i] += a[i]
        b[i] -= x
        b[i] *= 2
        y = b[i]
        y += a[i]
        y *= a[i]
        b[i] = y
    return b


@hybrid.script
def augmented_division(a: Array) -> Array:
    b = output_tensor(a.shape, "float64")
    for i in range(a.shape[0]):
        b[i] += a[i]
        b[i] /= 4
        b[i] //= 0.5
        b[i] %= 3
        b[i] **= 2
    return b


@hybrid.script
def augmented_bits(a: Array) -> Array:
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[i] |= a[i]
        b[i] &= 13
        b[i] ^= a[i]
        b[i] <<= 1
        b[i] >>= 2
    return b


@hybrid.script
def annotated(a: Array) -> Array:
    b = output_tensor(a.shape, "float32")
    for i in range(a.shape[0]):
        x: float32 = float32(0)  # pyright: ignore[reportInvalidTypeForm]
        x += a[i]  # pyright: ignore[reportUnknownVariableType]
        k: int32 = int32(i)  # pyright: ignore[reportInvalidTypeForm]
        b[i] = x * k
    return b


@hybrid.script
def do_nothing(a: Array) -> None:
    pass


@hybrid.script
def pass_in_branches(a: Array) -> None:
    for i in range(a.shape[0]):
        if a[i] > 0:
            pass
        else:
            a[i] = 0


@hybrid.script
def check_sorted(a: Array) -> Number:
    for i in range(1, a.shape[0]):
        assert a[i - 1] <= a[i], "the array is not sorted"
    return a.shape[0]


@hybrid.script
def check_plain(a: Array) -> None:
    for i in range(a.shape[0]):
        assert a[i] != 3
        a[i] = 1


@hybrid.script
def raise_on_negative(a: Array) -> Number:
    total = 0.0
    for i in range(a.shape[0]):
        if a[i] < 0:
            raise ValueError("negative element at", i)
        total += a[i]
    return total


@hybrid.script
def raise_each(kind: Number) -> Number:
    if kind == 0:
        raise IndexError("no such element")
    if kind == 1:
        raise RuntimeError
    if kind == 2:
        raise ZeroDivisionError("zero", 2)
    if kind == 3:
        raise KeyError("missing")
    return kind


@hybrid.script
def print_values(a: Array, n: Number) -> None:
    print("start", n)
    for i in range(a.shape[0]):
        print(i, "has", a[i], a[i] > 2)
    print()


@hybrid.script
def reuse_name(a: Array, b: Array) -> Array:
    c = output_tensor(a.shape, "float64")
    s = 0.0
    for k in range(a.shape[0]):
        s += a[k]
    for k in range(a.shape[0]):
        s2 = s
        s = b[k]
        c[k] = s + s2
    s = 1
    for i in range(a.shape[0]):
        c[i] += s
        s += 1
    return c


@hybrid.script
def store_order(a: Array) -> Array:
    i = 0
    a[i], i = 5, 1
    i, a[i] = 2, 6
    return a


CASES = (
    case(copy_elements, sweep(lambda d: (d(d.n),), dtypes=(*REALS, "bool", "int8", "complex64"))),
    case(chain_assignment, sweep(lambda d: (d.out(d.n), d.out(d.n)), sizes=(7, 1, 2))),
    case(swap_ends, sweep(lambda d: (d.out(d.n),), dtypes=REALS, sizes=(7, 0, 1, 2, 8))),
    case(unpack_nested, sweep(lambda d: (d(d.n),), dtypes=("float64", "float32"), sizes=(3, 7))),
    case(rotate_three, call(0), call(1), call(5)),
    case(augmented, sweep(lambda d: (d(d.n), d.scalar(3)), dtypes=(*INTS, "float32", "complex64"))),
    case(augmented_division, sweep(lambda d: (d(d.n),), dtypes=REALS)),
    case(augmented_bits, sweep(lambda d: (d(d.n),), dtypes=INTS)),
    case(annotated, sweep(lambda d: (d(d.n),), dtypes=("float32", "int8"))),
    case(do_nothing, sweep(lambda d: (d(d.n),))),
    case(pass_in_branches, sweep(lambda d: (d.out(d.n),), dtypes=REALS)),
    case(check_sorted, sweep(lambda d: (d(d.n),)), sweep(lambda d: (d(d.n, low=1, high=2),))),
    case(check_plain, sweep(lambda d: (d.out(d.n, low=0, high=9),), dtypes=("int32", "uint8"))),
    case(
        raise_on_negative,
        sweep(lambda d: (d(d.n),), dtypes=REALS),
        sweep(lambda d: (d(d.n, low=0),), dtypes=REALS),
        joined=True,
    ),
    case(raise_each, *(call(kind) for kind in range(5))),
    case(print_values, sweep(lambda d: (d(d.n), 4), dtypes=("int64", "float64", "bool"))),
    case(reuse_name, sweep(lambda d: (d(d.n), d(d.n)))),
    case(store_order, sweep(lambda d: (d.out(d.n),), sizes=(7, 3))),
)
