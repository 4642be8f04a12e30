"""What is made of a product is stored in place of the product, where that is the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import config, hybrid
from hybridjit.schedule.arrays import choose_tile
from tests.support.array_results import assert_agree
from tests.support.optimized import optimized

np: Any = numpy
Array = Any
RNG: Any = np.random.default_rng(3)
M, K, N = 17, 33, 31  # worth a product in blocks, and no multiple of a tile
DEPTH, DEEP = 16, 40  # terms that are summed at once, and a number that takes three times


@pytest.fixture(autouse=True)
def shallow_panels(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the depth of a release, products of several panels keep the interpreter busy."""
    monkeypatch.setattr(choose_tile, "DEPTH", DEPTH)


def update(alpha: float, beta: float, c: Array, a: Array, b: Array) -> None:
    c[:] = alpha * a @ b + beta * c


def subtract_part(c: Array, a: Array, b: Array) -> None:
    c[2:-1, 3:] -= a @ b


def of_other_type(a: Array, b: Array) -> Array:
    return (a @ b).astype(np.float32) + 1


def transposed_target(c: Array, a: Array, b: Array) -> None:
    c[:] = (a @ b).T


def with_numbers_per_row(c: Array, a: Array, b: Array, x: Array) -> None:
    c[:] = (a @ b) * x[:, None] + np.exp(x)[:, None]


def scaled_factors(a: Array, b: Array) -> Array:
    return (a - 1.0) @ (b * b)


SUNK: dict[str, tuple[Any, Callable[[int], list[Any]]]] = {
    "update": (update, lambda k: [1.5, 0.5, *real((M, N), (M, k), (k, N))]),
    "part": (subtract_part, lambda k: real((M + 3, N + 3), (M, k), (k, N))),
    "type": (of_other_type, lambda k: real((M, k), (k, N))),
    "transposed": (transposed_target, lambda k: real((N, M), (M, k), (k, N))),
    "rows": (with_numbers_per_row, lambda k: real((M, N), (M, k), (k, N), (M,))),
    "factors": (scaled_factors, lambda k: real((M, k), (k, N))),
}


def onto_a_factor(a: Array, b: Array) -> None:
    a[:] = 2.0 * (a @ b)


def onto_a_scaled_factor(a: Array, b: Array) -> None:
    a[:] = (2.0 * a) @ b + a


def from_another_place(c: Array, a: Array, b: Array) -> None:
    c[:-1] = (a @ b) + c[1:]


def added_up(a: Array, b: Array) -> Array:
    return (a @ b).sum(axis=0)


def used_twice(a: Array, b: Array) -> Array:
    p = a @ b
    return p + p[::-1]


def source_made_in_between(c: Array, a: Array, b: Array) -> None:
    p = a @ b
    c += 1.0
    c[:] = p * c


STAY: dict[str, tuple[Any, list[tuple[int, ...]]]] = {
    "factor": (onto_a_factor, [(M, N), (N, N)]),
    "scaled": (onto_a_scaled_factor, [(M, N), (N, N)]),
    "place": (from_another_place, [(M + 1, N), (M, K), (K, N)]),
    "sum": (added_up, [(M, K), (K, N)]),
    "twice": (used_twice, [(M, K), (K, N)]),
    "between": (source_made_in_between, [(M, N), (M, K), (K, N)]),
}


def real(*shapes: tuple[int, ...]) -> list[Any]:
    return [RNG.integers(-8, 9, shape) / 4 for shape in shapes]


def has_product(function: Any, args: list[Any]) -> bool:
    kernel: Any = hybrid.script(function)
    return "product = allocate" in str(optimized(kernel, *args))


def check(function: Any, args: list[Any]) -> None:
    kernel: Any = hybrid.script(function)
    with config.scope(cache_enabled=False):
        assert_agree(kernel, args)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("terms", [K, DEEP])
@pytest.mark.parametrize("name", SUNK)
def test_product_needs_no_memory(name: str, terms: int) -> None:
    function, make = SUNK[name]
    args = make(terms)
    assert not has_product(function, args)
    check(function, args)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", STAY)
def test_product_stays(name: str) -> None:
    function, shapes = STAY[name]
    check(function, real(*shapes))


@pytest.mark.parametrize("name", ["factor", "scaled", "place", "sum", "twice"])
def test_product_is_in_memory(name: str) -> None:
    function, shapes = STAY[name]
    assert has_product(function, real(*shapes))


def test_sizes_that_are_not_known() -> None:
    kernel: Any = hybrid.script(update)
    n, m = "n", "m"
    func = optimized(kernel, 1.5, 0.5, hj.f64[n, n], hj.f64[n, m], hj.f64[m, n])
    assert "product = allocate" not in str(func)
    for size, terms in [(3, 4), (5, 7), (40, 30), (30, DEEP), (0, 5), (5, 0)]:
        args = [1.5, 0.5, *real((size, size), (size, terms), (terms, size))]
        with config.scope(cache_enabled=False):
            assert_agree(kernel, args)
