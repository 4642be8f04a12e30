"""Functions of numbers on whole arrays: ufuncs, generalised ufuncs, and expressions as text."""

from __future__ import annotations

import numpy as np

from hybridjit import hybrid


@hybrid.vectorize
def compressed(x, threshold, ratio=4.0):
    """What an audio compressor makes of one sample: loud ones are turned down."""
    if abs(x) <= threshold:
        return x
    louder = threshold + (abs(x) - threshold) / ratio
    return louder if x > 0 else -louder


@hybrid.vectorize(identity=0)
def gcd(a, b):
    """The greatest common divisor. `identity` declares that it may be grouped at will."""
    while b != 0:
        a, b = b, a % b
    return a


@hybrid.script
def weighted_mean(x, weights):
    """One number for one row; as a gufunc, one for each row of any array."""
    total = 0.0
    weight = 0.0
    for i in range(x.shape[0]):
        total += x[i] * weights[i]
        weight += weights[i]
    return total / weight


def main() -> None:
    samples = np.sin(np.linspace(0, 20, 1_000)).astype("float32")
    soft = compressed(samples, np.array([[0.5], [0.1]], "float32"))  # two thresholds at once
    assert soft.shape == (2, 1_000)
    assert soft.dtype == np.float32
    print(f"loudest sample: {abs(samples).max():.3f} -> {abs(soft).max(axis=1).round(3)}")

    numbers = np.arange(1, 13).reshape(3, 4) * 6
    assert gcd.reduce(numbers, axis=None) == 6
    assert (gcd.outer([12, 18], [8, 27]) == np.gcd.outer([12, 18], [8, 27])).all()
    print(f"greatest common divisors of columns: {gcd.reduce(numbers)}")

    mean = weighted_mean.as_gufunc("(n),(n)->()")
    grades = np.random.default_rng(0).uniform(1, 6, (5, 3, 4))
    weights = np.array([1.0, 2.0, 2.0, 5.0])
    assert np.allclose(mean(grades, weights), grades @ weights / weights.sum())
    print(f"weighted means: {mean(grades, weights).shape} of {grades.shape}")

    a, b = np.linspace(0, 1, 5), 2.0
    wave = hybrid.evaluate("exp(-a) * cos(2*pi*b*a) if a > 0 else 1")
    assert np.allclose(wave, np.exp(-a) * np.cos(2 * np.pi * b * a))
    print(f"a wave, from its formula: {wave.round(3)}")


if __name__ == "__main__":
    main()
