"""DESIGN 2.9: lists of numbers, or of tuples of numbers, that grow."""

from hybridjit import hybrid
from tests.corpus.case import Array, Number, call, case, sweep


@hybrid.script
def positive_items(a: Array) -> Array:
    out: Array = []
    for i in range(a.shape[0]):
        if a[i] > 0:
            out.append(a[i])
    return out


@hybrid.script
def pairs(a: Array) -> Array:
    out: Array = []
    for i in range(a.shape[0]):
        out.append((i, a[i]))
        if a[i] < 0:
            out.pop()
    return out, len(out)


@hybrid.script
def primes(n: Number) -> Array:
    is_prime = [True] * n
    found: Array = []
    for i in range(2, n):
        if is_prime[i]:
            found.append(i)
            for j in range(i * i, n, i):
                is_prime[j] = False
    return found


@hybrid.script
def depth_first(n: Number) -> Number:
    stack = [(0, 1.5)]
    total = 0.0
    while stack:
        k, x = stack.pop()
        total += x
        if k < n:
            stack.append((k + 1, x * 0.5))
            stack.append((k + 2, x * 0.25))
    return total


@hybrid.script
def changed_meanwhile(n: Number) -> Array:
    queue = [0]
    for v in queue:
        if len(queue) < n:
            queue.append(2 * v + 1)
            queue.append(2 * v + 2)
    return queue, sum(queue), max(queue), n in queue


CASES = (
    case(positive_items, sweep(lambda d: (d(d.n),), dtypes=("float64", "float32", "int8"))),
    case(pairs, sweep(lambda d: (d(d.n),), dtypes=("float64", "int32"))),
    case(primes, call(0), call(2), call(50)),
    case(depth_first, call(0), call(8)),
    case(changed_meanwhile, call(0), call(9)),
)
