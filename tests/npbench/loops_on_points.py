"""The other kernels as loops over elements: statistics, bodies, signals and networks."""

from __future__ import annotations

from typing import Any

import numpy

np: Any = numpy
Array = Any


def azimint_naive(data: Array, radius: Array, npt: int):
    n = data.shape[0]
    rmax = radius[0]
    for i in range(n):
        rmax = max(rmax, radius[i])
    res = np.zeros(npt, np.float64)
    for i in range(npt):
        r1 = rmax * i / npt
        r2 = rmax * (i + 1) / npt
        total = 0.0
        number = 0
        for j in range(n):
            if r1 <= radius[j] and radius[j] < r2:
                total += data[j]
                number += 1
        res[i] = total / number
    return res


def azimint_hist(data: Array, radius: Array, npt: int):
    n = data.shape[0]
    low = radius[0]
    high = radius[0]
    for i in range(n):
        low = min(low, radius[i])
        high = max(high, radius[i])
    weights = np.zeros(npt, np.float64)
    counts = np.zeros(npt, np.int64)
    for i in range(n):
        bin = int((radius[i] - low) / (high - low) * npt)
        if bin == npt:
            bin -= 1
        weights[bin] += data[i]
        counts[bin] += 1
    res = np.zeros(npt, np.float64)
    for i in range(npt):
        res[i] = weights[i] / counts[i]
    return res


def crc16(data: Array, poly: int = 0x8408):
    crc = 0xFFFF
    for i in range(data.shape[0]):
        byte = int(data[i])
        for _ in range(8):
            if (crc & 1) != (byte & 1):
                crc = (crc >> 1) ^ poly
            else:
                crc >>= 1
            byte >>= 1
    crc = ~crc & 0xFFFF
    crc = (crc << 8) | (crc >> 8)
    return crc & 0xFFFF


def spmv(A_row: Array, A_col: Array, A_val: Array, x: Array):
    rows = A_row.shape[0] - 1
    y = np.zeros(rows, A_val.dtype)
    for i in range(rows):
        for k in range(A_row[i], A_row[i + 1]):
            y[i] += A_val[k] * x[A_col[k]]
    return y


def softmax(x: Array):
    n, heads, rows, columns = x.shape
    out = np.zeros((n, heads, rows, columns), x.dtype)
    for b in range(n):
        for h in range(heads):
            for i in range(rows):
                largest = x[b, h, i, 0]
                for j in range(1, columns):
                    largest = max(largest, x[b, h, i, j])
                total = 0 * largest
                for j in range(columns):
                    out[b, h, i, j] = np.exp(x[b, h, i, j] - largest)
                    total += out[b, h, i, j]
                for j in range(columns):
                    out[b, h, i, j] /= total
    return out


def conv2d(input: Array, weights: Array, output: Array):
    n, height, width, c_out = output.shape
    size, _, c_in, _ = weights.shape
    for b in range(n):
        for i in range(height):
            for j in range(width):
                for k in range(size):
                    for m in range(size):
                        for c in range(c_in):
                            for o in range(c_out):
                                value = input[b, i + k, j + m, c] * weights[k, m, c, o]
                                output[b, i, j, o] += value


def conv2d_bias(input: Array, weights: Array, bias: Array):
    n, height, width, _ = input.shape
    border = weights.shape[0] - 1
    c_out = weights.shape[3]
    shape = (n, height - border, width - border, c_out)
    output = np.zeros(shape, np.float32)
    result = np.zeros(shape, bias.dtype)
    conv2d(input, weights, output)
    for b in range(n):
        for i in range(height - border):
            for j in range(width - border):
                for o in range(c_out):
                    result[b, i, j, o] = output[b, i, j, o] + bias[o]
    return result


def batchnorm2d(x: Array, out: Array, eps: float):
    n, height, width, channels = x.shape
    for i in range(height):
        for j in range(width):
            for c in range(channels):
                mean = 0 * x[0, 0, 0, 0]
                for b in range(n):
                    mean += x[b, i, j, c]
                mean /= n
                variance = 0 * mean
                for b in range(n):
                    variance += (x[b, i, j, c] - mean) * (x[b, i, j, c] - mean)
                scale = np.sqrt(np.sqrt(variance / n) + eps)
                for b in range(n):
                    out[b, i, j, c] = (x[b, i, j, c] - mean) / scale


def clamp(x: Array):
    n, height, width, channels = x.shape
    for b in range(n):
        for i in range(height):
            for j in range(width):
                for c in range(channels):
                    x[b, i, j, c] = max(x[b, i, j, c], 0)


def resnet(input: Array, conv1: Array, conv2: Array, conv3: Array):
    n, height, width, wide = input.shape
    narrow = conv1.shape[3]
    first = np.zeros((n, height, width, narrow), np.float32)
    padded = np.zeros((n, height + 2, width + 2, narrow), np.float64)
    second = np.zeros((n, height, width, narrow), np.float32)
    third = np.zeros((n, height, width, wide), np.float32)
    conv2d(input, conv1, first)
    for b in range(n):
        for i in range(height):
            for j in range(width):
                for c in range(narrow):
                    padded[b, i + 1, j + 1, c] = first[b, i, j, c]
    batchnorm2d(padded, padded, 1e-5)
    clamp(padded)
    conv2d(padded, conv2, second)
    batchnorm2d(second, second, 1e-5)
    clamp(second)
    conv2d(second, conv3, third)
    batchnorm2d(third, third, 1e-5)
    for b in range(n):
        for i in range(height):
            for j in range(width):
                for c in range(wide):
                    third[b, i, j, c] += input[b, i, j, c]
    clamp(third)
    return third


def mandelbrot2(
    xmin: float,
    xmax: float,
    ymin: float,
    ymax: float,
    xn: int,
    yn: int,
    itermax: int,
    horizon: float = 2.0,
):
    points = np.zeros((yn, xn), np.complex128)
    steps = np.zeros((yn, xn), np.int64)
    for j in range(yn):
        for i in range(xn):
            x = xmin + i * ((xmax - xmin) / (xn - 1)) if i < xn - 1 else xmax
            y = ymin + j * ((ymax - ymin) / (yn - 1)) if j < yn - 1 else ymax
            c = x + y * 1j
            z = 0j
            for n in range(itermax):
                z = z * z + c
                if abs(z) > horizon:
                    points[j, i] = z
                    steps[j, i] = n + 1
                    break
    return points, steps


def accelerate(pos: Array, mass: Array, acc: Array, G: float, softening: float):
    n = pos.shape[0]
    for i in range(n):
        for axis in range(3):
            acc[i, axis] = 0
        for j in range(n):
            dx = pos[j, 0] - pos[i, 0]
            dy = pos[j, 1] - pos[i, 1]
            dz = pos[j, 2] - pos[i, 2]
            pull = dx * dx + dy * dy + dz * dz + softening * softening
            if pull > 0:
                pull = pull ** (-1.5)
            acc[i, 0] += G * dx * pull * mass[j, 0]
            acc[i, 1] += G * dy * pull * mass[j, 0]
            acc[i, 2] += G * dz * pull * mass[j, 0]


def kinetic_energy(vel: Array, mass: Array):
    total = 0.0
    for i in range(vel.shape[0]):
        for axis in range(3):
            total += mass[i, 0] * vel[i, axis] ** 2
    return 0.5 * total


def potential_energy(pos: Array, mass: Array, G: float):
    total = 0.0
    for i in range(pos.shape[0]):
        for j in range(i + 1, pos.shape[0]):
            dx = pos[j, 0] - pos[i, 0]
            dy = pos[j, 1] - pos[i, 1]
            dz = pos[j, 2] - pos[i, 2]
            distance = np.sqrt(dx * dx + dy * dy + dz * dz)
            if distance > 0:
                total -= mass[i, 0] * mass[j, 0] / distance
    return G * total


def kick(vel: Array, acc: Array, dt: float):
    for i in range(vel.shape[0]):
        for axis in range(3):
            vel[i, axis] += acc[i, axis] * dt / 2.0


def nbody(
    mass: Array, pos: Array, vel: Array, N: int, Nt: int, dt: float, G: float, softening: float
):
    total_mass = 0.0
    for i in range(N):
        total_mass += mass[i, 0]
    for axis in range(3):
        momentum = 0.0
        for i in range(N):
            momentum += mass[i, 0] * vel[i, axis]
        for i in range(N):
            vel[i, axis] -= momentum / total_mass
    acc = np.zeros((N, 3), np.float64)
    KE = np.zeros(Nt + 1, np.float64)
    PE = np.zeros(Nt + 1, np.float64)
    accelerate(pos, mass, acc, G, softening)
    KE[0] = kinetic_energy(vel, mass)
    PE[0] = potential_energy(pos, mass, G)
    for step in range(Nt):
        kick(vel, acc, dt)
        for i in range(N):
            for axis in range(3):
                pos[i, axis] += vel[i, axis] * dt
        accelerate(pos, mass, acc, G, softening)
        kick(vel, acc, dt)
        KE[step + 1] = kinetic_energy(vel, mass)
        PE[step + 1] = potential_energy(pos, mass, G)
    return KE, PE


def stockham_fft(N: int, R: int, K: int, x: Array, y: Array):
    other = np.zeros(N, np.complex128)
    for i in range(N):
        y[i] = x[i]
    blocks = 1
    rest = N // R
    for _ in range(K):
        for i in range(N):
            other[i] = 0
        # y[blocks, R, rest] goes to other[R, blocks, rest], with the twiddle factors on the way
        for q in range(R):
            for s in range(R):
                for b in range(blocks):
                    angle = -2.0 * np.pi * s * (b + blocks * q) / (blocks * R)
                    factor = np.cos(angle) + np.sin(angle) * 1j
                    for t in range(rest):
                        value = y[(b * R + s) * rest + t]
                        other[(q * blocks + b) * rest + t] += factor * value
        for i in range(N):
            y[i] = other[i]
        blocks *= R
        rest //= R


def swap_rows(matrix: Array, i: int, k: int):
    for j in range(matrix.shape[1]):
        swapped = matrix[k, j]
        matrix[k, j] = matrix[i, j]
        matrix[i, j] = swapped


def eliminate(T: Array, X: Array, k: int):
    """Bring the largest pivot of column k to its row, and zeros below it."""
    n, m = X.shape
    pivot = k
    for i in range(k + 1, n):
        if abs(T[i, k]) > abs(T[pivot, k]):
            pivot = i
    if pivot != k:
        swap_rows(T, pivot, k)
        swap_rows(X, pivot, k)
    for i in range(k + 1, n):
        factor = T[i, k] / T[k, k]
        for j in range(k + 1, n):
            T[i, j] -= factor * T[k, j]
        for j in range(m):
            X[i, j] -= factor * X[k, j]


def solve_in_place(T: Array, X: Array):
    """X becomes the solution of T @ X = X."""
    n, m = X.shape
    for k in range(n):
        eliminate(T, X, k)
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            for j in range(m):
                X[i, j] -= T[i, k] * X[k, j]
        for j in range(m):
            X[i, j] /= T[i, i]


def sum_of_powers(z: complex, Ham: Array, slab_per_bc: int, T: Array):
    """T becomes the polynomial with the coefficients Ham at z."""
    for i in range(T.shape[0]):
        for j in range(T.shape[1]):
            T[i, j] = 0
    for n in range(slab_per_bc + 1):
        power = z ** (slab_per_bc / 2 - n)
        for i in range(T.shape[0]):
            for j in range(T.shape[1]):
                T[i, j] += power * Ham[n, i, j]


def contour_integral(NR: int, NM: int, slab_per_bc: int, Ham: Array, int_pts: Array, Y: Array):
    P0 = np.zeros((NR, NM), np.complex128)
    P1 = np.zeros((NR, NM), np.complex128)
    T = np.zeros((NR, NR), np.complex128)
    X = np.zeros((NR, NM), np.complex128)
    for p in range(int_pts.shape[0]):
        z = int_pts[p]
        sum_of_powers(z, Ham, slab_per_bc, T)
        for i in range(NR):
            for j in range(NM):
                X[i, j] = Y[i, j]
                if NR == NM:
                    X[i, j] = 1 if i == j else 0
        solve_in_place(T, X)
        sign = -1 if abs(z) < 1.0 else 1
        for i in range(NR):
            for j in range(NM):
                P0[i, j] += sign * X[i, j]
                P1[i, j] += z * (sign * X[i, j])
    return P0, P1
