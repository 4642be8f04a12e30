"""Realistic kernels: sorting, searching, sequences, sieves, simulation, transforms."""

import math

import numpy as np

from hybridjit import hybrid
from hybridjit.hybrid import allocate, cos, output_tensor, select, sin, sqrt, uint32
from tests.corpus.case import REALS, Array, Number, call, case, sweep


@hybrid.script
def bubble_sort(a: Array) -> None:
    n = a.shape[0]
    for i in range(n):
        swapped = False
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
                swapped = True
        if not swapped:
            break


@hybrid.script
def insertion_sort(a: Array) -> None:
    for i in range(1, a.shape[0]):
        x = a[i]
        j = i - 1
        while j >= 0 and a[j] > x:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = x


@hybrid.script
def binary_search(a: Array, x: Number) -> Number:
    low, high = 0, a.shape[0]
    while low < high:
        middle = (low + high) // 2
        if a[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


@hybrid.script
def histogram(a: Array, bins: Number) -> Array:
    counts = output_tensor((10,), "int64")
    for i in range(a.shape[0]):
        k = int(a[i]) % bins
        counts[k] += 1
    return counts


@hybrid.script
def sieve(n: Number) -> Array:
    prime = output_tensor((50,), "bool")
    for i in range(2, n):
        prime[i] = True
    i = 2
    while i * i < n:
        if prime[i]:
            for j in range(i * i, n, i):
                prime[j] = False
        i += 1
    return prime


@hybrid.script
def levenshtein(a: Array, b: Array) -> Number:
    n, m = a.shape[0], b.shape[0]
    row = allocate((m + 1,), "int32")
    for j in range(m + 1):
        row[j] = j
    for i in range(1, n + 1):
        corner = row[0]
        row[0] = i
        for j in range(1, m + 1):
            above = row[j]
            cost = select(a[i - 1] == b[j - 1], 0, 1)
            row[j] = min(row[j] + 1, row[j - 1] + 1, corner + cost)
            corner = above
    return row[m]


@hybrid.script
def longest_run(a: Array) -> Number:
    best = 0
    current = 0
    for i in range(a.shape[0]):
        if i > 0 and a[i] == a[i - 1]:
            current += 1
        else:
            current = 1
        best = max(best, current)
    return best


@hybrid.script
def knapsack(weights: Array, values: Array, capacity: Number) -> Number:
    best = allocate((31,), "int64")
    for i in range(weights.shape[0]):
        for w in range(capacity, weights[i] - 1, -1):
            best[w] = max(best[w], best[w - weights[i]] + values[i])
    return best[capacity]


@hybrid.script
def k_means_step(points: Array, centers: Array) -> Array:
    n, k, dims = points.shape[0], centers.shape[0], points.shape[1]
    label = output_tensor((n,), "int32")
    total = output_tensor((k, dims), points.dtype)
    count = allocate((k,), "int64")
    for i in range(n):
        best = math.inf
        for c in range(k):
            distance = 0.0
            for d in range(dims):
                difference = points[i, d] - centers[c, d]
                distance += difference * difference
            if distance < best:
                best = distance
                label[i] = c
        count[label[i]] += 1
        for d in range(dims):
            total[label[i], d] += points[i, d]
    for c in range(k):
        if count[c] > 0:
            for d in range(dims):
                total[c, d] /= count[c]
    return label, total


@hybrid.script
def n_body(position: Array, velocity: Array, mass: Array, dt: Number) -> None:
    n = position.shape[0]
    for i in range(n):
        force = allocate((3,), "float64", "local")
        for j in range(n):
            if i == j:
                continue
            square = 1e-3
            for d in range(3):
                square += (position[j, d] - position[i, d]) ** 2
            strength = mass[j] / (square * sqrt(square))
            for d in range(3):
                force[d] += strength * (position[j, d] - position[i, d])
        for d in range(3):
            velocity[i, d] += dt * force[d]
    for i in range(n):
        for d in range(3):
            position[i, d] += dt * velocity[i, d]


def lorenz(x: Number, y: Number, z: Number) -> Number:
    """The right-hand side of the Lorenz system."""
    return 10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z


@hybrid.script
def runge_kutta(steps: Number, h: Number) -> Array:
    path = output_tensor((8, 3), "float64")
    x, y, z = 1.0, 1.0, 1.0
    for i in range(steps):
        ax, ay, az = lorenz(x, y, z)
        bx, by, bz = lorenz(x + h / 2 * ax, y + h / 2 * ay, z + h / 2 * az)
        cx, cy, cz = lorenz(x + h / 2 * bx, y + h / 2 * by, z + h / 2 * bz)
        dx, dy, dz = lorenz(x + h * cx, y + h * cy, z + h * cz)
        x += h / 6 * (ax + 2 * bx + 2 * cx + dx)
        y += h / 6 * (ay + 2 * by + 2 * cy + dy)
        z += h / 6 * (az + 2 * bz + 2 * cz + dz)
        path[i, 0], path[i, 1], path[i, 2] = x, y, z
    return path


@hybrid.script
def fft(re: Array, im: Array) -> None:
    """Radix 2, in place, with bit reversal."""
    n = re.shape[0]
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j |= bit
        if i < j:
            re[i], re[j] = re[j], re[i]
            im[i], im[j] = im[j], im[i]
    length = 2
    while length <= n:
        for start in range(0, n, length):
            for k in range(length // 2):
                angle = -2.0 * math.pi * k / length
                c, s = cos(angle), sin(angle)
                p, q = start + k, start + k + length // 2
                x = re[q] * c - im[q] * s
                y = re[q] * s + im[q] * c
                re[q], im[q] = re[p] - x, im[p] - y
                re[p], im[p] = re[p] + x, im[p] + y
        length *= 2


@hybrid.script
def horner(coefficients: Array, x: Array) -> Array:
    y = output_tensor(x.shape, x.dtype)
    for i in range(x.shape[0]):
        for k in range(coefficients.shape[0] - 1, -1, -1):
            y[i] = y[i] * x[i] + coefficients[k]
    return y


@hybrid.script
def monte_carlo_pi(n: Number) -> Number:
    state = uint32(12345)
    inside = 0
    for _ in range(n):
        state = state * uint32(1103515245) + uint32(12345)
        x = float(state >> 8) / 16777216.0
        state = state * uint32(1103515245) + uint32(12345)
        y = float(state >> 8) / 16777216.0
        if x * x + y * y <= 1.0:
            inside += 1
    return 4.0 * inside / max(n, 1)


@hybrid.script
def dot_kahan(a: Array, b: Array) -> Number:
    total = 0.0
    lost = 0.0
    for i in range(a.shape[0]):
        term = a[i] * b[i] - lost
        new = total + term
        lost = (new - total) - term
        total = new
    return total


@hybrid.script
def black_scholes(spot: Array, strike: Number, rate: Number, years: Number) -> Array:
    price = output_tensor(spot.shape, "float64")
    for i in range(spot.shape[0]):
        s = float(spot[i])
        spread = 0.2 * math.sqrt(years)
        d1 = (math.log(s / strike) + (rate + 0.02) * years) / spread
        d2 = d1 - spread
        n1 = 0.5 * math.erfc(-d1 / math.sqrt(2.0))
        n2 = 0.5 * math.erfc(-d2 / math.sqrt(2.0))
        price[i] = s * n1 - strike * math.exp(-rate * years) * n2
    return price


@hybrid.script
def flood_fill(grid_: Array, start: Number) -> Number:
    """A queue in an array: cells of the same value that are connected."""
    n = grid_.shape[0]
    queue = allocate((64,), "int32")
    seen = allocate((64,), "bool")
    head, tail = 0, 1
    queue[0] = start
    seen[start] = True
    while head < tail:
        at = queue[head]
        head += 1
        for step in (-1, 1):
            to = at + step
            if 0 <= to < n and not seen[to] and grid_[to] == grid_[at]:
                seen[to] = True
                queue[tail] = to
                tail += 1
    return tail


CASES = (
    case(bubble_sort, sweep(lambda d: (d.out(d.n),), dtypes=REALS)),
    case(insertion_sort, sweep(lambda d: (d.out(d.n),), dtypes=REALS)),
    case(
        binary_search,
        *(sweep(lambda d, x=x: (np.sort(d(d.n)), x), dtypes=REALS) for x in (-100, 2, 100)),
    ),
    case(histogram, sweep(lambda d: (d(d.n, low=0, high=99), 10), dtypes=REALS)),
    case(sieve, call(0), call(3), call(50)),
    case(
        levenshtein,
        sweep(lambda d: (d(d.n, low=0, high=3), d(4, low=0, high=3)), dtypes=("uint8", "int64")),
    ),
    case(longest_run, sweep(lambda d: (d(d.n, low=0, high=2),), dtypes=("uint8", "bool"))),
    case(knapsack, sweep(lambda d: (d(d.n, low=1), d(d.n, low=1), 30), dtypes=("int64", "int32"))),
    case(k_means_step, sweep(lambda d: (d(d.n, 2), d(3, 2)))),
    case(n_body, sweep(lambda d: (d.out(d.n, 3), d.out(d.n, 3), d(d.n, low=1), 0.01))),
    case(runge_kutta, call(0, 0.01), call(8, 0.01)),
    case(fft, sweep(lambda d: (d.out(d.n), d.out(d.n)), sizes=(8, 1, 2)), ulp=64),
    case(horner, sweep(lambda d: (d(4), d(d.n)), dtypes=("float64", "float32", "int32"))),
    case(monte_carlo_pi, call(0), call(200)),
    case(dot_kahan, sweep(lambda d: (d(d.n), d(d.n))), joined=True),
    case(black_scholes, sweep(lambda d: (d(d.n, low=50, high=150), 100.0, 0.05, 1.0)), ulp=4096),
    case(
        flood_fill, sweep(lambda d: (d(d.n, low=0, high=2), 0), dtypes=("uint8",), sizes=(7, 1, 2))
    ),
)
