"""Signal processing: filters, transforms, peaks, envelopes."""

import numpy as np

from tests.wild.compilers import njit


@njit
def fir(x, taps):
    n, m = len(x), len(taps)
    y = np.zeros(n)
    for i in range(n):
        lo = max(0, i - m + 1)
        y[i] = np.dot(x[lo : i + 1], taps[: i + 1 - lo][::-1])
    return y


@njit
def biquad(x, b, a):
    b0, b1, b2 = b
    _, a1, a2 = a
    y = np.empty_like(x)
    z1 = z2 = 0.0
    for n, v in enumerate(x):
        out = b0 * v + z1
        z1 = b1 * v - a1 * out + z2
        z2 = b2 * v - a2 * out
        y[n] = out
    return y


@njit
def fft_recursive(x):
    """By recursion on arrays, for lengths that are powers of two."""
    n = len(x)
    if n == 1:
        return x.astype(np.complex128)
    even = fft_recursive(x[::2])
    odd = fft_recursive(x[1::2])
    t = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
    return np.concatenate((even + t, even - t))


@njit
def goertzel(x, k):
    w = 2 * np.pi * k / len(x)
    c = 2 * np.cos(w)
    s1 = s2 = 0.0
    for v in x:
        s1, s2 = v + c * s1 - s2, s1
    return s1 * s1 + s2 * s2 - c * s1 * s2


@njit
def find_peaks(x, height=None, distance=1):
    peaks = []
    for i in range(1, len(x) - 1):
        if x[i - 1] < x[i] >= x[i + 1]:
            if height is not None and x[i] < height:
                continue
            if peaks and i - peaks[-1] < distance:
                if x[i] > x[peaks[-1]]:
                    peaks[-1] = i
                continue
            peaks.append(i)
    return np.array(peaks)


@njit
def dtw(a, b, window):
    n, m = len(a), len(b)
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(max(1, i - window), min(m, i + window) + 1):
            cost = abs(a[i - 1] - b[j - 1])
            D[i, j] = cost + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    return D[-1, -1]


@njit
def zero_crossings(x, skip=0):
    s = np.sign(x[skip or None :])
    s[s == 0] = 1
    return np.where(s[1:] != s[:-1])[0] + skip


@njit
def trim(x, threshold, keep_end=False):
    """Without what is quiet at the beginning and, unless asked to keep it, at the end."""
    loud = np.flatnonzero(np.abs(x) > threshold)
    if loud.size == 0:
        return x[:0]
    return x[loud[0] : None if keep_end else loud[-1] + 1]


@njit
def resample_linear(x, factor):
    m = int(len(x) * factor)
    out = np.empty(m)
    for i in range(m):
        t = i / factor
        k = int(t)
        if k + 1 >= len(x):
            out[i] = x[-1]
        else:
            out[i] = x[k] + (t - k) * (x[k + 1] - x[k])
    return out


@njit
def lms(x, d, mu, order):
    w = np.zeros(order)
    err = np.zeros(len(x))
    for n in range(order, len(x)):
        u = x[n - order : n][::-1]
        e = d[n] - w @ u
        w += 2 * mu * e * u
        err[n] = e
    return w, err


@njit
def haar(x):
    out = x.astype(np.float64)
    n = len(out)
    while n > 1:
        half = n // 2
        a = (out[0:n:2] + out[1:n:2]) / np.sqrt(2)
        d = (out[0:n:2] - out[1:n:2]) / np.sqrt(2)
        out[:half] = a
        out[half:n] = d
        n = half
    return out


@njit
def run_lengths(bits):
    """(value, length) of each run."""
    if len(bits) == 0:
        return [(0, 0)][:0]
    runs = []
    current, length = bits[0], 1
    for b in bits[1:]:
        if b == current:
            length += 1
        else:
            runs.append((current, length))
            current, length = b, 1
    runs.append((current, length))
    return runs


@njit
def windows(x, size, hop):
    for start in range(0, len(x) - size + 1, hop):
        yield x[start : start + size]


@njit
def short_time_energy(x, size, hop):
    return np.array([np.sum(w**2) for w in windows(x, size, hop)])


@njit
def safe_snr(signal, noise):
    """In decibels; 0 where there is no noise to speak of."""
    try:
        p_noise = 0
        for v in noise:
            p_noise += v * v
        p_signal = 0
        for v in signal:
            p_signal += v * v
        ratio = p_signal // p_noise
    except ZeroDivisionError:
        return 0.0
    return 10 * np.log10(ratio)


@njit
def savgol_matrix(half, degree):
    """The smoothing weights, from the normal equations."""
    t = np.arange(-half, half + 1).astype(np.float64)
    A = np.empty((len(t), degree + 1))
    for j in range(degree + 1):
        A[:, j] = t**j
    return np.linalg.inv(A.T @ A) @ A.T
