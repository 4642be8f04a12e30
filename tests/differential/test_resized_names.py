"""Names whose arrays have another size in each round of a loop: NumPy's values every way."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import hybrid, parse, structural_equal
from hybridjit.errors import ParseError
from tests.support.array_results import assert_agree
from tests.support.memory import needs_proc, resident_megabytes

np: Any = numpy


@hybrid.script
def selected(a: Any) -> Any:
    x = a.copy()
    rounds = 0
    while x.size > 1:
        x = x[x > x.mean()]
        rounds += 1
    return x, rounds


@hybrid.script
def without_last(a: Any) -> Any:
    c = a
    t = 0.0
    while len(c) > 0:
        t = t * 0.5 + c[-1] + c.sum()
        c = c[:-1]
    return t


@hybrid.script
def of_an_argument(a: Any) -> Any:
    t = 0.0
    while a.shape[0] > 2:
        t += a[0]
        a = a[2:]
    return t, a.copy()


@hybrid.script
def appended(n: Any) -> Any:
    x = np.zeros(1)
    for i in range(n):
        x = np.append(x, i * 0.5)
    return x


@hybrid.script
def rows(a: Any) -> Any:
    m = np.ones((2, 3)) * a[0]
    b = np.arange(3.0).reshape(1, 3)
    for i in range(a.shape[0]):
        if i % 2 == 0:
            m = np.concatenate((m, b + a[i]))
            b = b + 1
        else:
            m = m[1:, :]
        if m.shape[0] > 4:
            break
        m[0, 0] += 1
    return m, m.sum()


@hybrid.script
def several_steps(n: Any) -> Any:
    x = np.array([1, 1])
    k = 0
    while k < n:
        y = x[::-1]
        x = np.concatenate((x[1:], np.array([x[-1] + y[1]])))
        x = np.append(x, k)
        k += 1
        if x.shape[0] > 6:
            x = x[::2]
            continue
    return x


@hybrid.script
def sifted(n: Any) -> Any:
    cand = np.arange(2, n + 3)
    out: Any = []
    while cand.size > 0:
        p = cand[0]
        out.append(p)
        cand = cand[cand % p != 0]
    return np.array(out)


@hybrid.script
def element_of(a: Any, k: Any) -> Any:
    x = a
    t = 0.0
    while x.size > 3:
        x = x[1:]
        t += x[k]
    return t


@hybrid.script
def stored_in(a: Any, k: Any) -> Any:
    x = a.copy()
    while x.size > 3:
        x = x[x != x[0]]
        x[k] = 9.0
    return x


@hybrid.script
def in_nested_loops(a: Any, n: Any) -> Any:
    x = a.copy()
    for i in range(n):
        while x.size > 3 and x[0] < i:
            x = x[1:]
        x = np.append(x, 1.0 * i)
    return x


@hybrid.script
def from_both_ends(a: Any) -> Any:
    while len(a) > 1:
        last = a[-1]
        if a[0] > last:
            a = a[1:]
        else:
            a = a[:-1]
            last -= 1
    return a


@hybrid.script
def kept_if_larger(a: Any, n: Any) -> Any:
    best = a[:1].copy()
    for i in range(n):
        cand = a[a > i]
        if cand.size > best.size:
            best = cand
    return best


@hybrid.script
def joined(a: Any, n: Any) -> Any:
    x = np.zeros(0)
    for i in range(n):
        if i % 2:
            x = np.concatenate((x, a[:i]))
    return x * 2


OF_ARRAYS = (selected, without_last, of_an_argument, rows, from_both_ends)
OF_NUMBERS = (appended, several_steps, sifted)
OF_BOTH = (in_nested_loops, kept_if_larger, joined)
ALL = (*OF_ARRAYS, *OF_NUMBERS, *OF_BOTH)


def arguments(kernel: Any, size: int) -> list[Any]:
    a = np.random.default_rng(size).permutation(np.arange(size + 1.0))
    if kernel in OF_ARRAYS:
        return [a]
    return [size] if kernel in OF_NUMBERS else [a, size // 2]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("kernel", ALL, ids=lambda kernel: kernel.__name__)
def test_as_plain_python(kernel: Any) -> None:
    for size in (1, 2, 3, 8, 21):
        assert_agree(kernel, arguments(kernel, size))


@pytest.mark.parametrize("kernel", ALL, ids=lambda kernel: kernel.__name__)
def test_the_printed_program_reads_back(kernel: Any) -> None:
    func = kernel.prim_func(*arguments(kernel, 8))
    assert structural_equal(parse(str(func)), func)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["float32", "int16", "complex128"])
@pytest.mark.parametrize("kernel", [without_last, of_an_argument])
def test_strides_and_types(kernel: Any, dtype: str) -> None:
    a = np.arange(40).astype(dtype)
    for array in (a[::2], a[::-3], np.repeat(a, 2)[:30]):
        assert_agree(kernel, [array])


def test_indices_outside_are_errors() -> None:
    a = np.arange(10.0)
    for run in (element_of, element_of.interpret):
        assert run(a, -3) == element_of.py_func(a, -3)
        for k in (3, -4, 2**40):
            with pytest.raises(IndexError, match="out of bounds for axis 0 with size"):
                run(a, k)
    for other in (stored_in, stored_in.interpret):
        assert other(a, 1).tolist() == stored_in.py_func(a, 1).tolist()
        for k in (3, -6):
            with pytest.raises(IndexError, match="out of bounds for axis 0 of 'x' with size"):
                other(a, k)


def test_an_argument_is_not_written_to_through_its_parts() -> None:
    @hybrid.script
    def f(a: Any) -> Any:
        x = a
        while x.size > 3:
            x[0] = 9.0
            x = x[1:]
        return x.sum()

    with pytest.raises(ParseError, match="is a copy of it here"):
        f.prim_func(np.ones(5))


def test_rows_of_other_lengths_are_refused() -> None:
    @hybrid.script
    def f(a: Any, k: Any) -> Any:
        x = a.copy()
        for i in range(k):
            x = x[:, x[0] > i]
        return x.sum()

    with pytest.raises(ParseError, match="is given arrays of other sizes in this loop"):
        f.prim_func(np.ones((5, 5)), 3)


@hybrid.script
def fails_late(n: Any, fails: Any) -> Any:
    x = np.zeros(n)
    for i in range(5):
        x = np.append(x, x[: n // 8])
        if i == fails:
            raise ValueError("late")
    return x.shape[0]


@needs_proc
def test_memory_is_freed_at_the_end_and_on_errors() -> None:
    size = 2_000_000
    fails_late(size, -1)
    before = resident_megabytes()
    for _ in range(3):
        assert fails_late(size, -1) == size * 13 // 8
        with pytest.raises(ValueError, match="late"):
            fails_late(size, 3)
    assert resident_megabytes() - before < 64
