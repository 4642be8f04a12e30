"""Random numbers in scripts: bit for bit NumPy's streams, and the state that it would leave."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy
import pytest

from hybridjit import ArgumentError, ParseError, hybrid
from hybridjit.errors import ScheduleError

np: Any = numpy
Array = Any
Rng = Any
MANY = 1_000_000
FEW = 300


@hybrid.script
def random(rng: Rng, n: int) -> Array:
    return rng.random(n)


@hybrid.script
def uniform(rng: Rng, n: int) -> Array:
    return rng.uniform(0.3, 2.5, n)


@hybrid.script
def standard_normal(rng: Rng, n: int) -> Array:
    return rng.standard_normal(n)


@hybrid.script
def normal(rng: Rng, n: int) -> Array:
    return rng.normal(0.3, 2.5, size=n)


@hybrid.script
def exponential(rng: Rng, n: int) -> Array:
    return rng.exponential(2.5, n)


@hybrid.script
def small_integers(rng: Rng, n: int) -> Array:
    return rng.integers(-5, 12, n)


@hybrid.script
def biased_integers(rng: Rng, n: int) -> Array:
    return rng.integers(3 << 30, size=n)


@hybrid.script
def halves(rng: Rng, n: int) -> Array:
    return rng.integers(0, 1 << 32, n)


@hybrid.script
def large_integers(rng: Rng, n: int) -> Array:
    return rng.integers(-(1 << 62), (1 << 62) + 12345, n, endpoint=True)


@hybrid.script
def permutation(rng: Rng, n: int) -> Array:
    return rng.permutation(n)


@hybrid.script
def choice(rng: Rng, n: int) -> Array:
    return rng.choice(100, n)


@hybrid.script
def weighted(rng: Rng, n: int) -> Array:
    return rng.choice(4, n, p=[0.1, 0.2, 0.65, 0.05])


@hybrid.script
def mixture(rng: Rng, n: int) -> Array:
    out = np.zeros(n)
    for i in range(n):
        k = rng.integers(4)
        if k == 0:
            out[i] = rng.random()
        elif k == 1:
            out[i] = rng.normal(1.0, 2.0) * rng.standard_normal()
        elif k == 2:
            out[i] = rng.exponential() + rng.standard_exponential()
        else:
            out[i] = rng.uniform(-1, 1) + rng.integers(0, 1 << 40) + rng.choice(9)
    return out


STREAMS = [
    *(random, uniform, standard_normal, normal, exponential, small_integers, biased_integers),
    *(halves, large_integers, permutation, choice, weighted, mixture),
]


def check(kernel: Any, *args: Any, interpret: bool = False) -> None:
    """Fail unless a script gives NumPy's bits, and leaves the generator in NumPy's state."""
    ours, numpys = np.random.default_rng(5), np.random.default_rng(5)
    found = (kernel.interpret if interpret else kernel)(ours, *args)
    wanted = kernel.__hybrid_function__(numpys, *args)
    assert ours.bit_generator.state == numpys.bit_generator.state
    np.testing.assert_equal(found, wanted)
    types = [np.asarray(x).dtype for x in (found, wanted) if not isinstance(x, tuple)]
    assert types[:1] == types[1:]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("kernel", STREAMS, ids=lambda kernel: kernel.__name__)
def test_a_million_draws(kernel: Any) -> None:
    check(kernel, MANY)


@pytest.mark.parametrize("kernel", STREAMS, ids=lambda kernel: kernel.__name__)
def test_interpreted(kernel: Any) -> None:
    check(kernel, FEW, interpret=True)


# -- orders ----------------------------------------------------------------------------------------


@hybrid.script
def shuffled(rng: Rng, a: Array) -> Array:
    x = a.copy()
    rng.shuffle(x)
    return x, rng.permutation(a)


@hybrid.script
def sample(rng: Rng, a: Any, n: int) -> Array:
    return rng.choice(a, n, replace=False)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("interpret", [False, True])
@pytest.mark.parametrize("shape", [(0,), (1,), (50,), (20, 3), (4, 3, 2)])
def test_elements_and_rows_are_shuffled(shape: tuple[int, ...], interpret: bool) -> None:
    check(shuffled, np.arange(np.prod(shape, dtype=int)).reshape(shape) * 1.5, interpret=interpret)


@pytest.mark.parametrize("size", [(1, 1), (10, 10), (1000, 101), (20000, 5000), (20000, 50)])
def test_a_sample_without_replacement(size: tuple[int, int]) -> None:
    check(sample, *size)
    check(sample, np.arange(size[0]) * 0.5, size[1])


@hybrid.script
def by_chance(rng: Rng, a: Any, p: Any) -> Any:
    one, few = rng.choice(a, p=p), rng.choice(a, (2, 3), p=p)
    return one, few, rng.choice(len(p), p=p), rng.choice(9), rng.choice(len(a), 3, True, p)


@hybrid.script
def by_chance_of_all(a: Any, p: Any) -> Any:
    one, few = np.random.choice(a, p=p), np.random.choice(a, (2, 3), p=p)
    return one, few, np.random.choice(len(p), p=p), np.random.choice(9)


@hybrid.script
def few_by_chance(rng: Rng, p: Any) -> Any:
    return rng.choice(3, 2, replace=False, p=p)


def test_chances() -> None:
    a, p = np.array([1.5, 2.5, -1.0]), np.array([0.25, 0.0, 0.75])
    for interpret in (False, True):
        check(by_chance, a, p, interpret=interpret)
        check(by_chance, a, p.astype(np.float32), interpret=interpret)
    for run in (by_chance_of_all, by_chance_of_all.interpret):
        np.random.seed(3)
        found = run(a, p)
        np.random.seed(3)
        assert repr(found) == repr(by_chance_of_all.py_func(a, p))


@pytest.mark.parametrize(
    ("p", "message"),
    [([0.5, 0.5], "same size"), ([1.5, -0.5, 0], "non-negative"), ([0.5, 0.2, 0.2], "sum to 1")],
)
def test_wrong_chances(p: Any, message: str) -> None:
    for run in (by_chance, by_chance.interpret, by_chance.py_func):
        with pytest.raises(ValueError, match=message):
            run(np.random.default_rng(1), np.arange(3.0), np.array(p))


def test_chances_of_different_elements_are_refused() -> None:
    with pytest.raises(ParseError, match="different elements have equal chances"):
        few_by_chance(np.random.default_rng(1), np.ones(3) / 3)


# -- shapes, types, names --------------------------------------------------------------------------


@hybrid.script
def of_shapes(rng: Rng) -> Any:
    return (
        rng.random((3, 4)),
        rng.normal(size=(2, 2)),
        rng.integers(10, size=(2, 3)),
        rng.choice(np.array([1.5, 2.5]), (2, 2)),
    )


@hybrid.script
def with_singles(rng: Rng, a: Array) -> Any:
    return a * rng.random(), a * rng.standard_normal(), a + rng.integers(3)


def _drawn(rng: Rng, scale: float) -> float:
    return rng.standard_normal() * scale


@hybrid.script
def through_a_function(rng: numpy.random.Generator, n: int) -> float:
    total = 0.0
    for i in range(n):
        total += _drawn(rng, i)
    return total


@hybrid.script
def of_two(rngs: Any) -> Any:
    return rngs[0].random(), rngs[1].random()


def test_shapes() -> None:
    check(of_shapes)


def test_single_numbers_are_pythons() -> None:
    check(with_singles, np.ones(3, np.float32))


def test_a_generator_goes_through_functions() -> None:
    check(through_a_function, 30)


def test_generators_in_a_tuple() -> None:
    ours = tuple(np.random.default_rng(seed) for seed in (1, 2))
    numpys = tuple(np.random.default_rng(seed) for seed in (1, 2))
    assert of_two(ours) == of_two.__hybrid_function__(numpys)
    assert [r.bit_generator.state for r in ours] == [r.bit_generator.state for r in numpys]


class Walk(NamedTuple):
    start: Array
    rng: Rng


@dataclass
class Search:
    start: Array
    rng: Rng


@pytest.mark.parametrize("interpret", [False, True])
@pytest.mark.parametrize("kind", [Walk, Search])
def test_a_generator_in_or_beside_an_object_with_fields(kind: Any, interpret: bool) -> None:
    @hybrid.script
    def drawn(inside: Any, beside: Rng) -> float:
        return inside.start[0] + inside.rng.random() * beside.random()

    @hybrid.script
    def only_beside(inside: Any, beside: Rng) -> float:
        return inside.start[0] * beside.random()

    for kernel in (drawn, only_beside):
        run = kernel.interpret if interpret else kernel
        ours, numpys = ((kind(np.ones(2), rng(1)), rng(2)) for rng in [np.random.default_rng] * 2)
        for _ in range(3):
            assert run(*ours) == kernel.py_func(*numpys)
        for mine, theirs in ((ours[0].rng, numpys[0].rng), (ours[1], numpys[1])):
            assert mine.bit_generator.state == theirs.bit_generator.state


# -- made in the script ----------------------------------------------------------------------------


@hybrid.script
def made(seed: int, n: int) -> Array:
    rng = np.random.default_rng(seed)
    return rng.random(n)


@hybrid.script
def made_without_seed() -> float:
    return np.random.default_rng().random()


@pytest.mark.parametrize("seed", [0, 1, 42, (1 << 32) - 1, 1 << 32, (1 << 63) - 1])
def test_made_from_a_seed(seed: int) -> None:
    wanted = np.random.default_rng(seed).random(7)
    np.testing.assert_array_equal(made(seed, 7), wanted)
    np.testing.assert_array_equal(made.interpret(seed, 7), wanted)


def test_a_negative_seed_is_an_error() -> None:
    with pytest.raises(ValueError, match="expected non-negative integer"):
        made(-1, 7)


def test_one_without_a_seed_is_made_outside() -> None:
    with pytest.raises(ParseError, match="a generator without a seed"):
        made_without_seed()


# -- errors ----------------------------------------------------------------------------------------


@hybrid.script
def fails_after(rng: Rng, n: int) -> Array:
    x = rng.random(n)
    if x[0] >= 0:
        raise ValueError("after some draws")
    return x


@hybrid.script
def between(rng: Rng, low: int, high: int) -> int:
    return rng.integers(low, high)


@hybrid.script
def wide_by(rng: Rng, scale: float) -> float:
    return rng.normal(0.0, scale)


@hybrid.script
def gamma(rng: Rng) -> float:
    return rng.gamma(2.0)


@hybrid.script
def small(rng: Rng) -> Array:
    return rng.integers(5, size=3, dtype=np.int8)


@hybrid.script
def in_parallel(rng: Rng, n: int) -> Array:
    out = np.zeros(n)
    for i in hybrid.parallel(n):
        out[i] = rng.random()
    return out


@hybrid.script
def shifted(rng: Rng, low: Any, high: Any) -> Array:
    first = rng.uniform(low, high), rng.normal(low, high), rng.exponential(high)
    return first, rng.uniform(low, high, 3), rng.normal(low, high, 3), rng.exponential(high, 3)


@hybrid.script
def shifted_of_all(low: Any, high: Any) -> Array:
    first = np.random.uniform(low, high), np.random.normal(low, high)
    more = np.random.exponential(high), np.random.exponential(high, 3)
    return first, more, np.random.uniform(low, high, 3), np.random.normal(low, high, 3)


def test_draws_before_an_error_are_drawn() -> None:
    ours, numpys = np.random.default_rng(5), np.random.default_rng(5)
    with pytest.raises(ValueError, match="after some draws"):
        fails_after(ours, 10)
    numpys.random(10)
    assert ours.bit_generator.state == numpys.bit_generator.state


@pytest.mark.parametrize(
    ("kernel", "args", "message"),
    [
        (between, (3, 3), "low >= high"),
        (wide_by, (-1.0,), "scale < 0"),
        (shifted, (2.0, 1.0), "high - low < 0"),
        (sample, (3, 4), "Cannot take a larger sample than population"),
        (sample, (0, 1), "a must be a positive integer"),
    ],
)
def test_wrong_numbers(kernel: Any, args: tuple[Any, ...], message: str) -> None:
    for run in (kernel, kernel.interpret, kernel.__hybrid_function__):
        with pytest.raises(ValueError, match=message):
            run(np.random.default_rng(1), *args)


def test_what_a_generator_does_not_have() -> None:
    with pytest.raises(ParseError, match=r"'rng.gamma' is not supported"):
        gamma(np.random.default_rng(1))
    with pytest.raises(ParseError, match="integers are of 64 bits here"):
        small(np.random.default_rng(1))


def test_iterations_that_share_a_generator_are_not_parallel() -> None:
    with pytest.raises(ScheduleError, match="cannot be parallel"):
        in_parallel(np.random.default_rng(1), 5)


def test_a_generator_is_passed_once() -> None:
    rng = np.random.default_rng(1)
    with pytest.raises(ArgumentError, match="two arguments are the same generator"):
        of_two((rng, rng))


def test_a_callback_may_not_draw_from_the_generator_of_the_script(unchecked: None) -> None:
    """The script has a copy of the state: both would get the same numbers."""
    rng, other = np.random.default_rng(1), np.random.default_rng(2)
    drawn: list[Any] = [other]
    draw = hybrid.packed(lambda: drawn[0].random(), "float64", "draw")

    @hybrid.script
    def mixed(rng: Any) -> Any:
        return rng.random() + draw()

    for way in (mixed.interpret, *[mixed] * 4):
        drawn[0] = other
        way(rng)
        drawn[0] = rng
        with pytest.raises(ArgumentError, match="a callback drew from a generator"):
            way(rng)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.float16, np.float32, np.int64])
def test_numbers_are_drawn_in_double_precision(dtype: Any) -> None:
    """Whatever the types of bounds, means and widths."""
    pair = dtype(1 if dtype is np.uint8 else -100), dtype(100)
    for _ in range(2):
        ours, numpys = np.random.default_rng(4), np.random.default_rng(4)
        assert str(shifted(ours, *pair)) == str(shifted.py_func(numpys, *pair))
        np.random.seed(4)
        found = str(shifted_of_all(*pair))
        np.random.seed(4)
        assert found == str(shifted_of_all.py_func(*pair))


@pytest.mark.parametrize("kernel", [shifted, shifted_of_all])
@pytest.mark.parametrize(("low", "high"), [(0.0, np.inf), (np.nan, 1.0), (-1e308, 1e308)])
def test_ranges_that_are_too_wide(kernel: Any, low: float, high: float) -> None:
    rng = [np.random.default_rng(1)] * (kernel is shifted)
    for run in (kernel, kernel.interpret, kernel.py_func):
        with pytest.raises(OverflowError, match="ange exceeds valid bounds"):
            run(*rng, low, high)


def test_other_kinds_of_generators() -> None:
    with pytest.raises(ArgumentError, match="is a generator of MT19937"):
        random(np.random.Generator(np.random.MT19937(1)), 3)


def test_threads_share_a_generator(unchecked: None) -> None:
    """Each draw is made once, by one of them."""
    rng = np.random.default_rng(9)
    drawn: list[float] = []
    random(rng, 10)

    def draw() -> None:
        for _ in range(50):
            drawn.extend(random(rng, 10))

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(drawn) == set(np.random.default_rng(9).random(2010)[10:])
    assert len(drawn) == 2000


def test_check_runs_copies() -> None:
    rng = np.random.default_rng(1)
    mixture.check(rng, 50)
    assert rng.bit_generator.state == np.random.default_rng(1).bit_generator.state


def test_lists_are_shuffled_and_drawn_from() -> None:
    @hybrid.script
    def of_lists(seed: Any, n: Any) -> Any:
        rng = np.random.default_rng(seed)
        known, growing = [1, 2, 3, n], [0]
        for k in range(n):
            growing.append(k * k)
        rng.shuffle(known)
        rng.shuffle(growing)
        drawn = rng.choice([3.5, 1, 2], 4), rng.choice([1, 2], p=[0.2, 0.8], size=3)
        return known, growing, rng.permutation([3, 1, 2]), drawn

    for run in (of_lists, of_lists.interpret):
        np.testing.assert_equal(run(5, 7), of_lists.py_func(5, 7))
