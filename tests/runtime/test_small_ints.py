"""Code for ints that are as small as sizes are, and other code for those that are not."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import hybrid
from hybridjit.ir.header import MAX_EXTENT

np: Any = numpy
Array = Any
LEAST, MOST = -(2**63), 2**63 - 1
# Where int64 ends, where small ints end, and some that are neither.
NUMBERS = [
    *(LEAST, LEAST + 2, -(2**48) - 1, -(2**48), -7, 0, 1, 6, 12, 13, 2**30, 2**48, 2**48 + 1),
    *(2**62, MOST - 9, MOST - 1, MOST),
]


def fill(a: Array, n: int) -> None:
    for i in range(n - 5, n + 3):
        a[i % 12] += i


def fill_after(a: Array, n: int) -> None:
    for i in range(min(n - 5, 40)):
        a[i] = i + 1


def fill_backwards(a: Array, n: int) -> None:
    for i in range(min(n, 20) - 1, max(n - 9, -3), -2):
        a[i + 2] += n


def gather(a: Array, n: int) -> None:
    for i in range(6):
        a[i] = a[n + i]


def scale(a: Array, n: int) -> None:
    for i in range(3):
        for j in range(min(n * 4, 4)):
            a[i * n + j] += 1


KERNELS = [fill, fill_after, fill_backwards, gather, scale]


def outcome(run: Any, *args: Any) -> Any:
    a = np.arange(12)
    try:
        run(a, *args)
    except (IndexError, ValueError) as error:
        return str(error), a.tolist()
    return None, a.tolist()


@pytest.mark.parametrize("function", KERNELS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("order", [1, -1])
def test_all_numbers_in_turns(function: Any, order: int) -> None:
    """Whichever code was made first, and learned: each number runs what is right for it."""
    kernel: Any = hybrid.script(function)
    for _ in range(3):
        for n in NUMBERS[::order]:
            for number in (n, np.int64(n)):
                assert outcome(kernel, number) == outcome(kernel.interpret, number), n


def test_two_kinds_of_code() -> None:
    kernel = hybrid.script(fill)
    for n in (7, 8, MOST, 9):
        outcome(kernel, n)
    (made,) = kernel.specializations
    assert sorted(layout.small for layout in made.natives) == [(), (1,)]
    assert kernel.inspect("lowered", np.arange(12), MOST) != kernel.inspect(
        "lowered", np.arange(12), MAX_EXTENT
    )


def test_a_number_that_counts_nothing() -> None:
    """Seeds and masks may be of any size: they have one code."""

    @hybrid.script
    def mixed(a: Array, seed: int, n: int) -> Array:
        x = seed
        for i in range(n):
            x = (x * 6364136223846793005 + 1442695040888963407) ^ (x >> 7)
            a[i] = x & 1023
        return a

    for seed in (3, MOST, LEAST, 2**50):
        a, b = np.zeros((2, 9), np.int64)
        np.testing.assert_array_equal(mixed(a, seed, 9), mixed.interpret(b, seed, 9))
    (made,) = mixed.specializations
    assert [layout.small for layout in made.natives] == [(2,)]


def test_no_second_version() -> None:
    """Sums of small ints are exact, so that the loop needs no test of them."""

    @hybrid.script
    def powers(n: int) -> Array:
        out = np.ones(n + 1)
        for i in range(n):
            out[i + 1] = out[i] * 2
        return out

    assert "281474976710656" not in powers.inspect("lowered", 5)
    assert "checked_index" not in powers.inspect("lowered", 5)
    assert "281474976710656" in powers.inspect("lowered", 2**50)
    np.testing.assert_array_equal(powers(9), 2.0 ** np.arange(10))


def test_names_for_numbers() -> None:
    @hybrid.script
    def between(a: Array, low: int, count: int) -> int:
        end = low + count
        last = end - 1
        total = 0
        for i in range(low, last):
            total += a[i]
        return total

    a = np.arange(40)
    for low, count in ((3, 9), (MOST - 3, 9), (LEAST, -1), (3, 9), (35, 10), (0, 2**49)):
        expected = outcome_of(between.interpret, a, low, count)
        assert outcome_of(between, a, low, count) == expected
    assert between.specializations[0].summary.counters == (1, 2)


def outcome_of(run: Any, *args: Any) -> Any:
    try:
        return run(*args)
    except IndexError as error:
        return str(error)


SCRIPT = """
import sys
import numpy as np
import hybridjit as hj
from hybridjit import hybrid

@hybrid.script
def fill(a, n):
    for i in range(n - 5, n + 3):
        a[i % 12] += i

for n in map(int, sys.argv[1:]):
    a = np.zeros(12, np.int64)
    fill(a, n)
    fill(a, n)
    print(a.tolist())
"""


def test_code_on_disk(tmp_path: Any) -> None:
    """The code for small ints of an earlier process is not taken for others."""
    path = tmp_path / "script.py"
    path.write_text(SCRIPT, encoding="utf-8")

    def run(*numbers: int) -> list[str]:
        command = [sys.executable, str(path), *map(str, numbers)]
        environment = {"HYBRIDJIT_CACHE_DIR": str(tmp_path / "cache"), "HYBRIDJIT_CACHE": "1"}
        done = subprocess.run(
            command,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.splitlines()

    small, large = run(7), run(MOST)
    assert run(MOST, 7, 7, MOST) == [*large, *small, *small, *large]
    assert run(7) == small


def test_types_stand_for_small_ints() -> None:
    """What was compiled for types is there for the call."""
    kernel: Any = hybrid.script(fill)
    kernel.compile(hj.i64[12], 5)
    (made,) = kernel.specializations
    before = dict(made.natives)
    kernel(np.arange(12), 9)
    assert made.natives == before
