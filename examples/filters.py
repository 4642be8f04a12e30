"""Signals: a recursive filter as a scan, with state that is carried from sample to sample."""

from __future__ import annotations

import numpy as np

from hybridjit import hybrid


@hybrid.script
def biquad(signal, b, a):
    """A second-order section in direct form; `b` and `a` are tuples of coefficients."""
    result = output_tensor(signal.shape, signal.dtype)
    s1 = 0.0
    s2 = 0.0
    for t in scan(0, signal.shape[0]):
        x = signal[t]
        y = b[0] * x + s1
        s1 = b[1] * x - a[0] * y + s2
        s2 = b[2] * x - a[1] * y
        result[t] = y
    return result


def reference(signal, b, a):
    """The same by the difference equation."""
    y = np.zeros_like(signal)
    x = np.concatenate([[0.0, 0.0], signal])
    for t in range(len(signal)):
        y1 = y[t - 1] if t >= 1 else 0.0
        y2 = y[t - 2] if t >= 2 else 0.0
        y[t] = b[0] * x[t + 2] + b[1] * x[t + 1] + b[2] * x[t] - a[0] * y1 - a[1] * y2
    return y


def main() -> None:
    t = np.arange(2000) / 1000.0
    signal = np.sin(2 * np.pi * 5 * t) + 0.5 * np.sin(2 * np.pi * 120 * t)
    b, a = (0.02008, 0.04017, 0.02008), (-1.56102, 0.64135)
    smooth = biquad(signal, b, a)
    assert np.allclose(smooth, reference(signal, b, a))
    rough = np.abs(np.diff(signal)).mean()
    print(f"mean step before {rough:.3f}, after {np.abs(np.diff(smooth)).mean():.3f}")


if __name__ == "__main__":
    main()
