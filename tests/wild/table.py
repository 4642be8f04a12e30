"""The collection: which functions there are, and with which arguments they are called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy

from tests.wild.fields.physics import Body

np: Any = numpy
Array = Any
Make = Callable[[int], tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Entry:
    """A function of a field; `make(n)` gives arguments of about the size n.

    `small` is the size for tests, `large` the one for measuring. `refused` says why it does not
    run, where it does not.
    """

    field: str
    name: str
    make: Make
    small: int
    large: int
    refused: str | None = None


def _random(seed: int = 0) -> Any:
    return np.random.default_rng(seed)


def _floats(*shape: int, seed: int = 0) -> Array:
    return _random(seed).normal(size=shape)


def _bases(n: int, seed: int = 0) -> Array:
    return _random(seed).integers(0, 4, n)


def _prices(n: int) -> Array:
    return 100 * np.exp(np.cumsum(0.02 * _floats(n, seed=3)))


def _image(n: int) -> Array:
    return _random(4).random((n, n + 3))


def _gray(n: int) -> Array:
    return _random(5).integers(0, 256, (n, n + 3)).astype(np.uint8)


def _blobs(n: int) -> Array:
    return _random(6).random((n, n)) < 0.5


def _solvable(n: int) -> Array:
    a = _floats(n, n, seed=7)
    return a @ a.T + n * np.eye(n)


def _sparse_graph(n: int) -> tuple[Array, Array, Array]:
    """Rows, columns and weights of n nodes with about four neighbours each."""
    edges = _random(8).integers(0, n, (4 * n, 2))
    order = np.argsort(edges[:, 0], kind="stable")
    indptr = np.searchsorted(edges[order, 0], np.arange(n + 1))
    return indptr, edges[order, 1], _random(9).random(4 * n)


def _dag(n: int) -> Array:
    return np.sort(_random(10).integers(0, n, (3 * n, 2)), axis=1) + np.array([0, 1])


def _dense_graph(n: int) -> Array:
    adjacent = _random(11).random((n, n)) < 0.3
    return adjacent | adjacent.T


def _bipartite(n: int) -> Array:
    adjacent = np.zeros((n, n), np.bool_)
    half = n // 2
    adjacent[:half, half:] = _random(12).random((half, n - half)) < 0.4
    return adjacent | adjacent.T


def _hidden_chain(n: int) -> tuple[Array, ...]:
    rows = _random(13).random((3, 3)), _random(14).random((3, 4))
    trans, emit = (np.log(row / row.sum(axis=1)[:, None]) for row in rows)
    return _bases(n), np.log(np.ones(3) / 3), trans, emit


def _planet() -> Any:
    return Body(np.array([1.0, 0.0]), np.array([0.0, 1.1]), 2.0)


def _tone(n: int) -> Array:
    t = np.arange(n)
    return np.sin(0.3 * t) + 0.5 * np.sin(0.05 * t + 1) + 0.1 * _floats(n)


def _power(n: int) -> int:
    return 1 << (n - 1).bit_length()


_POLYNOMIAL = np.array([1.0, -6.0, 11.0, -6.0])

ENTRIES = (
    Entry("recipes", "bisect", lambda n: (2.0, 3.0, 10.0**-n), 9, 14),
    Entry("recipes", "newton_all", lambda n: (_POLYNOMIAL, np.linspace(-1, 5, n)), 9, 2000),
    Entry("recipes", "simpson_adaptive", lambda n: (0.0, 2.0, 10.0**-n), 6, 12),
    Entry("recipes", "romberg", lambda n: (n,), 5, 14),
    Entry(
        "recipes",
        "thomas",
        lambda n: (*(_floats(n, seed=k) + 4 * (k == 1) for k in range(4)),),
        9,
        100_000,
    ),
    Entry("recipes", "lu_solve", lambda n: (_floats(n, n), _floats(n, seed=1)), 7, 150),
    Entry("recipes", "conjugate_gradient", lambda n: (_solvable(n), _floats(n)), 8, 300),
    Entry(
        "recipes",
        "cubic_spline",
        lambda n: (np.arange(n) ** 1.2, _floats(n), np.linspace(0, n - 1.5, 3 * n)),
        8,
        5000,
    ),
    Entry("recipes", "reduced_fractions", lambda n: (n,), 12, 400),
    Entry("recipes", "ackermann", lambda n: (2, n), 5, 200),
    Entry("recipes", "sieve", lambda n: (n,), 100, 1_000_000),
    Entry("recipes", "first_primes", lambda n: (n,), 20, 5000),
    Entry("recipes", "rk45", lambda n: (np.array([2.0, 0.0]), 0.5 * n, 1e-4), 5, 200),
    Entry("recipes", "nelder_mead", lambda n: (np.array([-1.2, 1.0]), 0.5, n), 30, 200),
    Entry("images", "box_blur", lambda n: (_image(n), 2), 9, 200),
    Entry("images", "median3", lambda n: (_gray(n),), 7, 200),
    Entry("images", "sobel", lambda n: (_image(n),), 7, 200),
    Entry("images", "otsu", lambda n: (_gray(n),), 9, 500),
    Entry("images", "flood_fill", lambda n: (_blobs(n).astype(np.int64), (1, 1), 7), 9, 300),
    Entry("images", "label", lambda n: (_blobs(n),), 9, 200),
    Entry("images", "rotate", lambda n: (_image(n), 0.3), 9, 300),
    Entry("images", "integral_image", lambda n: (_gray(n),), 7, 500),
    Entry(
        "images",
        "rgb_to_hsv",
        lambda n: (_random(1).integers(0, 256, (n, n, 3)).astype(np.uint8),),
        6,
        150,
    ),
    Entry("images", "local_maxima", lambda n: (_image(n), 0.7), 9, 300),
    Entry("images", "crop_to_content", lambda n: (np.pad(_gray(n), 3), 1), 6, 500),
    Entry("bioinformatics", "levenshtein", lambda n: (_bases(n), _bases(n + 3, 1)), 8, 500),
    Entry("bioinformatics", "needleman_wunsch", lambda n: (_bases(n), _bases(n + 2, 1)), 8, 400),
    Entry("bioinformatics", "smith_waterman", lambda n: (_bases(n), _bases(n, 1)), 9, 500),
    Entry(
        "bioinformatics", "kmer_counts", lambda n: (_random(2).integers(0, 5, n), 3), 40, 100_000
    ),
    Entry("bioinformatics", "gc_windows", lambda n: (_bases(n), 8, 3), 40, 50_000),
    Entry("bioinformatics", "open_reading_frames", lambda n: (_bases(n), 6), 600, 200_000),
    Entry("bioinformatics", "viterbi", _hidden_chain, 12, 5000),
    Entry("bioinformatics", "hamming_matrix", lambda n: (_bases(9 * n).reshape(n, 9),), 5, 300),
    Entry(
        "bioinformatics",
        "upgma",
        lambda n: (np.abs(np.subtract.outer(_floats(n), _floats(n))),),
        6,
        80,
    ),
    Entry("finance", "black_scholes", lambda n: (100.0, 90.0 + n, 1.0, 0.03, 0.2, False), 5, 9),
    Entry(
        "finance",
        "implied_vol",
        lambda n: (np.linspace(1.0, 120.0, n), 100.0, 95.0, 1.0, 0.02),
        9,
        2000,
    ),
    Entry("finance", "binomial_american_put", lambda n: (100.0, 110.0, 1.0, 0.05, 0.3, n), 9, 300),
    Entry(
        "finance",
        "monte_carlo_asian",
        lambda n: (100.0, 100.0, 0.03, 0.2, 1.0, 12, n, 7),
        20,
        10_000,
    ),
    Entry("finance", "macd", lambda n: (_prices(n),), 40, 100_000),
    Entry("finance", "rsi", lambda n: (_prices(n),), 40, 100_000),
    Entry("finance", "max_drawdown", lambda n: (_prices(n),), 40, 100_000),
    Entry("finance", "crossover_trades", lambda n: (_prices(n), 5, 20), 120, 20_000),
    Entry("finance", "bootstrap_mean", lambda n: (_prices(50), n, 3), 20, 2000),
    Entry(
        "finance",
        "portfolio_variance",
        lambda n: (_floats(n), _solvable(n)),
        9,
        500,
        refused="the order of a float sum decides its rounding: a parallel one needs fastmath",
    ),
    Entry("finance", "irr", lambda n: (np.concatenate([[-1000.0], np.full(n, 300.0)]),), 5, 1000),
    Entry("physics", "lennard_jones", lambda n: (_random(3).random((n, 3)) * 5, 5.0, 2.5), 8, 300),
    Entry(
        "physics",
        "leapfrog",
        lambda n: (_floats(n, 3), _floats(n, 3, seed=1), np.ones(n), 0.01, 5),
        5,
        80,
    ),
    Entry("physics", "ising", lambda n: (n, 0.4, 5, 11), 6, 100),
    Entry(
        "physics",
        "heat_until",
        lambda n: (np.pad(np.zeros((n, n)), 1, constant_values=1.0), 1e-4),
        6,
        60,
    ),
    Entry("physics", "wave_1d", lambda n: (n, 20), 20, 5000),
    Entry(
        "physics",
        "mandelbrot",
        lambda n: (np.linspace(-2, 1, n), np.linspace(-1, 1, n), 60),
        9,
        150,
    ),
    Entry("physics", "energy_history", lambda n: (_planet(), 0.01, n), 9, 2000),
    Entry("physics", "random_walk", lambda n: (n, 5), 400, 1_000_000),
    Entry("physics", "cell_list", lambda n: (_random(4).random((n, 2)) * 10, 10.0, 1.5), 30, 2000),
    Entry("physics", "pi_by_darts", lambda n: (n,), 200, 1_000_000),
    Entry("graphs", "bfs", lambda n: (*_sparse_graph(n)[:2], 0), 12, 50_000),
    Entry(
        "graphs",
        "connected_components",
        lambda n: (n, _random(5).integers(0, n, (n, 2))),
        12,
        20_000,
    ),
    Entry("graphs", "dijkstra", lambda n: (*_sparse_graph(n), 0), 12, 20_000),
    Entry("graphs", "floyd_warshall", lambda n: (_random(6).random((n, n)),), 6, 150),
    Entry("graphs", "pagerank", lambda n: (_dense_graph(n).astype(np.float64),), 6, 200),
    Entry("graphs", "topological_order", lambda n: (n + 1, _dag(n)), 8, 500),
    Entry(
        "graphs",
        "kruskal",
        lambda n: (n, _random(7).integers(0, n, (4 * n, 2)), _random(8).random(4 * n)),
        9,
        5000,
    ),
    Entry("graphs", "count_triangles", lambda n: (_dense_graph(n),), 8, 150),
    Entry("graphs", "n_queens", lambda n: (n,), 5, 9),
    Entry("graphs", "is_bipartite", lambda n: (_bipartite(n),), 8, 400),
    Entry("signals", "fir", lambda n: (_tone(n), _floats(9)), 20, 50_000),
    Entry(
        "signals", "biquad", lambda n: (_tone(n), (0.2, 0.4, 0.2), (1.0, -0.3, 0.1)), 20, 100_000
    ),
    Entry(
        "signals",
        "fft_recursive",
        lambda n: (_tone(_power(n)),),
        8,
        4096,
        refused="recursion on arrays",
    ),
    Entry("signals", "goertzel", lambda n: (_tone(n), 3), 20, 100_000),
    Entry("signals", "find_peaks", lambda n: (_tone(n), 0.3, 4), 60, 100_000),
    Entry("signals", "dtw", lambda n: (_tone(n), _tone(n + 3), 5), 12, 1000),
    Entry("signals", "zero_crossings", lambda n: (_tone(n), n // 4), 40, 100_000),
    Entry("signals", "trim", lambda n: (np.pad(_tone(n), 5), 0.2), 20, 100_000),
    Entry("signals", "resample_linear", lambda n: (_tone(n), 1.7), 20, 100_000),
    Entry("signals", "lms", lambda n: (_tone(n), _tone(n + 1)[1:], 0.01, 6), 30, 20_000),
    Entry("signals", "haar", lambda n: (_tone(_power(n)),), 16, 65_536),
    Entry("signals", "run_lengths", lambda n: (_random(9).integers(0, 2, n),), 30, 100_000),
    Entry(
        "signals",
        "short_time_energy",
        lambda n: (_tone(n), 8, 3),
        40,
        50_000,
        refused="a generator function",
    ),
    Entry("signals", "safe_snr", lambda n: (np.arange(n), np.ones(n, np.int64)), 9, 10_000),
    Entry("signals", "savgol_matrix", lambda n: (n, 3), 4, 30),
)
