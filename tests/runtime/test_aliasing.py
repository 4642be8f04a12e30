"""Arguments that share memory: a call means what its statements mean, one after the other.

With --fuzz=N, N random combinations of three views are tried.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

from hybridjit import Kernel, config, hybrid
from hybridjit.hybrid import output_tensor
from tests.support.oracle import fresh

AnyKernel = Kernel[..., Any]
MEMORY: Any = np.random.default_rng(7).integers(-9, 9, 40).astype(np.float64)
SHORT = 60


@dataclass(frozen=True)
class View:
    """A part of the memory, as one of its arguments."""

    start: int
    step: int
    size: int = 8
    dtype: str = "float64"

    def of(self, memory: Any) -> Any:
        itemsize = np.dtype(self.dtype).itemsize
        offset, stride = self.start * 8, self.step * itemsize
        array: Any = np.ndarray((self.size,), self.dtype, memory, offset, (stride,))
        return array

    def __str__(self) -> str:
        return f"{self.start}:{self.step}:{self.size}:{self.dtype}"


STARTS = ((8, 1), (9, 1), (7, 1), (10, 1), (15, -1), (16, -1), (8, 2), (9, 2), (22, -2), (24, 1))
VIEWS = [View(start, step) for start, step in STARTS]


@hybrid.script
def double(a: Any, b: Any) -> Any:
    for i in range(a.shape[0]):
        b[i] = a[i] * 2


@hybrid.script
def from_the_left(a: Any, b: Any) -> Any:
    for i in range(1, a.shape[0]):
        b[i] = a[i - 1] + 1


@hybrid.script
def running_sum(a: Any, b: Any) -> Any:
    total = a[0] * 0
    for i in range(a.shape[0]):
        total += a[i]
        b[i] = total
    return total


@hybrid.script
def both(a: Any, b: Any) -> Any:
    for i in range(a.shape[0]):
        a[i] = b[i] + 1
        b[i] = a[a.shape[0] - 1 - i] - 1


@hybrid.script
def summed(a: Any, b: Any) -> Any:
    """The sum could stay in a register if b were elsewhere."""
    for i in range(a.shape[0]):
        b[0] = b[0] + a[i]


@hybrid.script
def three(a: Any, b: Any, c: Any) -> Any:
    for i in range(a.shape[0]):
        c[i] = a[i] + b[a.shape[0] - 1 - i]


@hybrid.script
def two_of_three(a: Any, b: Any, c: Any) -> Any:
    for i in range(a.shape[0]):
        b[i] = a[i] + c[i]
        c[i] = b[0] - a[i]


PAIRS: tuple[AnyKernel, ...] = (double, from_the_left, running_sum, both, summed)


def native(kernel: AnyKernel) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        with config.scope(interpret=False):
            return kernel(*args, **kwargs)

    return call


def run_on(call: Callable[..., Any], views: Sequence[View]) -> tuple[Any, bytes]:
    memory = MEMORY.copy()
    result = call(*(view.of(memory) for view in views))
    return result, memory.tobytes()


@cache
def _reference(function: Any) -> AnyKernel:
    return Kernel(function)


def check(kernel: AnyKernel, views: Sequence[View]) -> None:
    """The first native calls go through Python, the later ones do not."""
    with np.errstate(all="ignore"):
        # By another kernel: sizes that one has been interpreted with stay exact ones.
        expected = run_on(_reference(kernel.__hybrid_function__).interpret, views)
        for _ in range(3):
            found = run_on(native(kernel), views)
            shown = ", ".join(map(str, views))
            assert found[1] == expected[1], f"{kernel.__name__} on {shown}"
            np.testing.assert_equal(found[0], expected[0])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kernel", PAIRS, ids=lambda kernel: kernel.__name__)
def test_two_views(kernel: AnyKernel) -> None:
    made = fresh(kernel)
    for views in itertools.product(VIEWS, VIEWS):
        check(made, views)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kernel", PAIRS, ids=lambda kernel: kernel.__name__)
def test_two_views_of_run_time_size(kernel: AnyKernel) -> None:
    made = fresh(kernel)
    for size in (5, 6, 7, 3):
        for first, second in itertools.product(VIEWS[::2], VIEWS[1::3]):
            check(made, [View(view.start, view.step, size) for view in (first, second)])


def random_view(choices: random.Random, size: int, dtype: str) -> View:
    step = choices.choice((1, 1, 1, -1, 2, -2, 3))
    reach = step * (size - 1)
    low, high = max(0, -reach), 39 - max(0, reach)
    return View(choices.randint(low, high), step, size, dtype)


@pytest.mark.parametrize("kernel", [three, two_of_three], ids=lambda kernel: kernel.__name__)
def test_three_views(kernel: AnyKernel, request: pytest.FixtureRequest) -> None:
    count: int = request.config.getoption("--fuzz") or SHORT
    choices = random.Random(11)
    made = fresh(kernel)
    for number in range(count):
        if number % 500 == 499:  # code for a few hundred layouts is enough at a time
            made = fresh(kernel)
        size = choices.choice((8, 8, 5, 1))
        dtype = choices.choice(("float64", "int64"))
        check(made, [random_view(choices, size, dtype) for _ in range(3)])


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("dtypes", list(itertools.permutations(("float64", "int64", "uint8"), 2)))
def test_views_of_other_types(dtypes: tuple[str, str]) -> None:
    made = fresh(from_the_left)
    for first, second in itertools.product((8, 9, 10), (8, 9, 7)):
        check(made, [View(first, 1, dtype=dtypes[0]), View(second, 1, dtype=dtypes[1])])


# Matrices


@hybrid.script
def transposed(a: Any, b: Any) -> Any:
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[j, i]


@hybrid.script
def stencil(a: Any, b: Any) -> Any:
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            b[i, j] = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]


def windows(memory: Any) -> dict[str, Any]:
    square: Any = np.reshape(memory[:36], (6, 6))
    return {
        "corner": square[:4, :4],
        "next": square[1:5, :4],
        "aside": square[:4, 1:5],
        "below": square[2:, 2:],
        "turned": square[:4, :4].T,
        "mirrored": square[3::-1, 3::-1],
        "upside down": square[4:0:-1, :4],
        "dense": np.reshape(memory[:16], (4, 4)),
        "dense, later": np.reshape(memory[3:19], (4, 4)),
    }


@pytest.mark.parametrize("kernel", [transposed, stencil], ids=lambda kernel: kernel.__name__)
def test_windows_of_a_matrix(kernel: AnyKernel) -> None:
    for first, second in itertools.product(windows(MEMORY), repeat=2):

        def run(call: Callable[..., Any], first: str = first, second: str = second) -> bytes:
            memory = MEMORY.copy()
            views = windows(memory)
            call(views[first], views[second])
            return memory.tobytes()

        expected = run(kernel.interpret)
        for _ in range(3):
            assert run(native(kernel)) == expected, (first, second)


# Results


@hybrid.script
def smoothed(a: Any, b: Any) -> Any:
    out = output_tensor((a.shape[0],), "float64")
    for i in range(a.shape[0]):
        out[i] = a[i] + b[a.shape[0] - 1 - i]
    return out


@hybrid.script
def swapped(a: Any, b: Any) -> Any:
    first = output_tensor((a.shape[0],), "float64")
    second = output_tensor((a.shape[0],), "float64")
    for i in range(a.shape[0]):
        first[i] = b[i]
        second[i] = a[a.shape[0] - 1 - i]
    return first, second


def test_results_into_memory_of_arguments() -> None:
    for views in itertools.product(VIEWS[:8:2], VIEWS[1::3], VIEWS):

        def run(call: Callable[..., Any], views: Sequence[View] = views) -> bytes:
            memory = MEMORY.copy()
            a, b, out = (view.of(memory) for view in views)
            assert call(a, b, out=out) is out
            return memory.tobytes()

        expected = run(smoothed.interpret)
        for _ in range(3):
            assert run(native(smoothed)) == expected, list(map(str, views))


def test_two_results_into_memory_of_arguments() -> None:
    def run(call: Callable[..., Any]) -> bytes:
        memory = MEMORY.copy()
        a, b = VIEWS[0].of(memory), View(20, 1).of(memory)
        call(a, b, out=(a, b))
        return memory.tobytes()

    expected = run(swapped.interpret)
    for _ in range(4):
        assert run(native(swapped)) == expected


def test_two_results_in_one_place_are_refused() -> None:
    for _ in range(4):
        memory = MEMORY.copy()
        a, b = VIEWS[0].of(memory), VIEWS[1].of(memory)
        with pytest.raises(ValueError, match="two arrays of out= share memory"):
            native(swapped)(a, b, out=(a, b))
        assert memory.tobytes() == MEMORY.tobytes()


def test_one_array_in_a_tuple_and_alone() -> None:
    @hybrid.script
    def first_of_pair(pair: Any, b: Any) -> Any:
        for i in range(1, b.shape[0]):
            b[i] = pair[0][i - 1] + pair[1][i]

    def run(call: Callable[..., Any], same: bool) -> list[float]:
        a, b = np.arange(8.0), np.arange(8.0)
        call((a, b if same else a), b)
        return b.tolist()

    for same in (False, True, False, True, True):
        assert run(native(first_of_pair), same) == run(first_of_pair.interpret, same)
