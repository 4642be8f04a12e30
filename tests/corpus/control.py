"""DESIGN 2.1: while, break, continue, if/elif/else, ternary, chained comparison, and/or/not."""

from hybridjit import hybrid
from hybridjit.hybrid import likely, output_tensor, select
from tests.corpus.case import REALS, Array, Number, call, case, sweep


@hybrid.script
def branches(a: Array) -> Array:
    b = output_tensor(a.shape, "int32")
    for i in range(a.shape[0]):
        if a[i] < -3:
            b[i] = -2
        elif a[i] < 0:
            b[i] = -1
        elif a[i] == 0:
            b[i] = 0
        else:
            b[i] = 1 if a[i] < 4 else 2
    return b


@hybrid.script
def chained(a: Array, lo: Number, hi: Number) -> Number:
    inside = 0
    ordered = 0
    for i in range(a.shape[0]):
        if lo <= a[i] < hi:
            inside += 1
        if 0 < i < a.shape[0] - 1 != 3 and a[i - 1] <= a[i] <= a[i + 1]:
            ordered += 1
    return inside, ordered


@hybrid.script
def short_circuit(a: Array, i: Number) -> Number:
    if i < a.shape[0] and a[i] > 0:
        return 1
    if i >= a.shape[0] or not a[i] < 0:
        return 2
    return 3


@hybrid.script
def logical_values(a: Array, b: Array) -> Array:
    c = output_tensor((4, a.shape[0]), "float64")
    for i in range(a.shape[0]):
        c[0, i] = a[i] or b[i]
        c[1, i] = a[i] and b[i]
        c[2, i] = not a[i]
        c[3, i] = (a[i] > 0) == (b[i] > 0)
    return c


@hybrid.script
def collatz(a: Array) -> Array:
    steps = output_tensor(a.shape, "int32")
    for i in range(a.shape[0]):
        n = int(a[i])
        while n > 1:
            if n % 2 == 0:
                n //= 2
            else:
                n = 3 * n + 1
            steps[i] += 1
    return steps


@hybrid.script
def while_true(limit: Number) -> Number:
    n = 0
    total = 0
    while True:
        n += 1
        if n % 3 == 0:
            continue
        if n > limit:
            break
        total += n
    return total, n


@hybrid.script
def nested_break(a: Array, x: Number) -> Number:
    found_i, found_j = -1, -1
    for i in range(a.shape[0]):
        hit = False
        for j in range(a.shape[1]):
            if a[i, j] == x:
                found_i, found_j = i, j
                hit = True
                break
            if a[i, j] < 0:
                continue
        if hit:
            break
    return found_i, found_j


@hybrid.script
def newton_sqrt(a: Array) -> Array:
    r = output_tensor(a.shape, "float64")
    for i in range(a.shape[0]):
        x = float(a[i])
        guess = x + 1.0
        rounds = 0
        while abs(guess * guess - x) > 1e-9 and rounds < 40:
            guess = 0.5 * (guess + x / guess)
            rounds += 1
        r[i] = guess
    return r


@hybrid.script
def ternary_guard(a: Array) -> Array:
    b = output_tensor(a.shape, a.dtype)
    n = a.shape[0]
    for i in range(n):
        left = a[i - 1] if i > 0 else 0
        right = a[i + 1] if i < n - 1 else 0
        b[i] = left + right
    return b


@hybrid.script
def select_both(a: Array) -> Array:
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[i] = select(a[i] > 0, a[i], -a[i])
        if likely(i < 5):
            b[i] += 1
    return b


@hybrid.script
def boolean_algebra(a: Array, b: Array) -> Array:
    c = output_tensor((5, a.shape[0]), "bool")
    for i in range(a.shape[0]):
        c[0, i] = (a[i] and b[i]) or not a[i]
        c[1, i] = a[i] & b[i]
        c[2, i] = a[i] | b[i]
        c[3, i] = a[i] ^ b[i]
        c[4, i] = ~a[i]
    return c


@hybrid.script
def bool_arithmetic(a: Array, b: Array) -> Array:
    c = output_tensor((5, a.shape[0]), "int64")
    for i in range(a.shape[0]):
        c[0, i] = a[i] + b[i]
        c[1, i] = a[i] * b[i]
        c[2, i] = a[i] + 1
        c[3, i] = True + (i > 1)
        c[4, i] = (a[i] == b[i]) + i
    return c


@hybrid.script
def maybe_unbound(a: Array) -> Number:
    for i in range(a.shape[0]):
        if a[i] > 5:
            found = i
    return found  # pyright: ignore[reportPossiblyUnboundVariable]


@hybrid.script
def assigned_in_both(a: Array) -> Array:
    b = output_tensor(a.shape, "float64")
    for i in range(a.shape[0]):
        if a[i] > 0:
            x = a[i]
            y = 1
        else:
            x = -a[i]
            y = 2
        b[i] = x * y
    return b


@hybrid.script
def caught(a: Array, i: Number) -> Array:
    b = output_tensor((3,), "float64")
    try:
        b[0] = 1.0
        b[1] = a[i] + a[-i]
        if b[1] > 4:
            raise ValueError("large")
    except IndexError:
        b[2] = -1.0
    except ValueError:
        b[2] = -2.0
    else:
        b[2] = 3.0
    finally:
        b[0] += 1.0
    return b


CASES = (
    case(caught, *(sweep(lambda d, i=i: (d(d.n), i), dtypes=("float64",)) for i in (0, 3))),
    case(branches, sweep(lambda d: (d(d.n),), dtypes=REALS)),
    case(chained, sweep(lambda d: (d(d.n), -2, 5), dtypes=("float64", "int32", "float16"))),
    case(short_circuit, *(sweep(lambda d, i=i: (d(d.n), i)) for i in (0, 1, 6))),
    case(logical_values, sweep(lambda d: (d(d.n, low=-2, high=3), d(d.n)), dtypes=REALS)),
    case(collatz, sweep(lambda d: (d(d.n, low=0, high=30),), dtypes=("int64", "uint8"))),
    case(while_true, call(0), call(10)),
    case(nested_break, sweep(lambda d: (d(d.n, 4), 2), dtypes=("int32", "uint8"))),
    case(newton_sqrt, sweep(lambda d: (d(d.n, low=0, high=100),))),
    case(ternary_guard, sweep(lambda d: (d(d.n),), dtypes=REALS)),
    case(select_both, sweep(lambda d: (d(d.n),), dtypes=("float64", "int32", "float16"))),
    case(boolean_algebra, sweep(lambda d: (d(d.n), d(d.n)), dtypes=("bool",))),
    case(bool_arithmetic, sweep(lambda d: (d(d.n), d(d.n)), dtypes=("bool",))),
    case(maybe_unbound, sweep(lambda d: (d(d.n),)), sweep(lambda d: (d(d.n, high=1),))),
    case(assigned_in_both, sweep(lambda d: (d(d.n),), dtypes=("float64", "float32", "int16"))),
)
