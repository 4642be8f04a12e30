"""Realistic kernels: convolutions, stencils, filters, cellular automata, boxes."""

from hybridjit import hybrid
from hybridjit.hybrid import allocate, const_range, output_tensor, parallel, unroll
from tests.corpus.case import Array, Number, case, sweep


@hybrid.script
def conv2d(image: Array, kernel: Array) -> Array:
    rows = max(image.shape[0] - kernel.shape[0] + 1, 0)
    columns = max(image.shape[1] - kernel.shape[1] + 1, 0)
    out = output_tensor((rows, columns), image.dtype)
    for i in range(rows):
        for j in range(columns):
            for di in range(kernel.shape[0]):
                for dj in range(kernel.shape[1]):
                    out[i, j] += image[i + di, j + dj] * kernel[di, dj]
    return out


@hybrid.script
def conv_batch(x: Array, w: Array) -> Array:
    out = output_tensor((x.shape[0], w.shape[0], x.shape[2] - w.shape[2] + 1), x.dtype)
    for n in parallel(x.shape[0]):
        for co in range(w.shape[0]):
            for i in range(out.shape[2]):
                for ci in range(x.shape[1]):
                    for k in unroll(3):
                        out[n, co, i] += x[n, ci, i + k] * w[co, ci, k]
    return out


@hybrid.script
def jacobi(a: Array, steps: Number) -> Array:
    n, m = a.shape
    u = output_tensor((2, n, m), a.dtype)
    for i in range(n):
        for j in range(m):
            u[0, i, j] = a[i, j]
            u[1, i, j] = a[i, j]
    for t in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                u[(t + 1) % 2, i, j] = 0.25 * (
                    u[t % 2, i - 1, j]
                    + u[t % 2, i + 1, j]
                    + u[t % 2, i, j - 1]
                    + u[t % 2, i, j + 1]
                )
    return u


@hybrid.script
def gauss_seidel(a: Array) -> None:
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            a[i, j] = (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]) / 4


@hybrid.script
def wave(u: Array) -> Array:
    n = u.shape[0]
    v = output_tensor(u.shape, u.dtype)
    for i in range(n):
        left = u[i - 1] if i > 0 else u[n - 1]
        right = u[(i + 1) % n]
        v[i] = u[i] + 0.5 * (left - 2 * u[i] + right)
    return v


@hybrid.script
def median_filter(a: Array) -> Array:
    out = output_tensor(a.shape, a.dtype)
    for i in range(1, a.shape[0] - 1):
        window = allocate((3,), a.dtype)
        for k in const_range(3):
            window[k] = a[i + k - 1]
        for p in range(2):
            for q in range(2 - p):
                if window[q] > window[q + 1]:
                    window[q], window[q + 1] = window[q + 1], window[q]
        out[i] = window[1]
    return out


@hybrid.script
def max_pool(a: Array) -> Array:
    out = output_tensor((a.shape[0] // 2, a.shape[1] // 2), a.dtype)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            best = a[2 * i, 2 * j]
            for di in range(2):
                for dj in range(2):
                    best = max(best, a[2 * i + di, 2 * j + dj])
            out[i, j] = best
    return out


@hybrid.script
def game_of_life(cells: Array) -> Array:
    n, m = cells.shape
    out = output_tensor(cells.shape, "uint8")
    for i in range(n):
        for j in range(m):
            alive = 0
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    if di != 0 or dj != 0:
                        alive += int(cells[(i + di) % n, (j + dj) % m])
            if alive == 3 or (alive == 2 and cells[i, j]):
                out[i, j] = 1
    return out


@hybrid.script
def suppress_boxes(boxes: Array, scores: Array, threshold: Number) -> Array:
    """Non-maximum suppression: keep the best box, drop what overlaps it, repeat."""
    n = boxes.shape[0]
    keep = output_tensor((n,), "bool")
    done = allocate((n,), "bool")
    for _ in range(n):
        best = -1
        for i in range(n):
            if not done[i] and (best < 0 or scores[i] > scores[best]):
                best = i
        if best < 0:
            break
        keep[best] = True
        done[best] = True
        for i in range(n):
            width = min(boxes[i, 2], boxes[best, 2]) - max(boxes[i, 0], boxes[best, 0])
            height = min(boxes[i, 3], boxes[best, 3]) - max(boxes[i, 1], boxes[best, 1])
            if width > 0 and height > 0 and width * height > threshold:
                done[i] = True
    return keep


@hybrid.script
def resize_bilinear(a: Array, scale: Number) -> Array:
    out = output_tensor((6, 6), "float64")
    for i in range(6):
        for j in range(6):
            y = i / scale
            x = j / scale
            y0 = min(int(y), a.shape[0] - 1)
            x0 = min(int(x), a.shape[1] - 1)
            y1 = min(y0 + 1, a.shape[0] - 1)
            x1 = min(x0 + 1, a.shape[1] - 1)
            fy = y - y0
            fx = x - x0
            top = a[y0, x0] * (1 - fx) + a[y0, x1] * fx
            bottom = a[y1, x0] * (1 - fx) + a[y1, x1] * fx
            out[i, j] = top * (1 - fy) + bottom * fy
    return out


CASES = (
    case(conv2d, sweep(lambda d: (d(d.n, 5), d(2, 3)), dtypes=("float64", "float32", "int32"))),
    case(conv_batch, sweep(lambda d: (d(d.n, 2, 6), d(2, 2, 3)))),
    case(jacobi, sweep(lambda d: (d(d.n, 5), 3))),
    case(gauss_seidel, sweep(lambda d: (d.out(d.n, 5),))),
    case(wave, sweep(lambda d: (d(d.n),))),
    case(median_filter, sweep(lambda d: (d(d.n),), dtypes=("float64", "uint8"))),
    case(max_pool, sweep(lambda d: (d(d.n, 6),), dtypes=("float32", "int8"))),
    case(game_of_life, sweep(lambda d: (d(d.n, 5),), dtypes=("bool", "uint8"))),
    case(
        suppress_boxes,
        sweep(lambda d: (d(d.n, 4), d(d.n, dtype="float32"), 2.0), dtypes=("float64",)),
    ),
    case(resize_bilinear, sweep(lambda d: (d(d.n, 4), 1.5), sizes=(7, 1, 2))),
)
