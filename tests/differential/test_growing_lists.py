"""Lists that grow: plain Python, the interpreter and native code give the same."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy
import pytest

from hybridjit import hybrid, parse, structural_equal
from hybridjit.errors import ParseError, TypeMismatch
from tests.support.array_results import assert_agree
from tests.support.memory import needs_proc, resident_megabytes
from tests.support.oracle import (
    assert_same_outcome,
    run_interpreted,
    run_native,
    run_once,
    run_plain,
)

np: Any = numpy
SIZES = (0, 1, 2, 5, 17, 40)


@hybrid.script
def appended(n: Any) -> Any:
    out: Any = []
    for i in range(n):
        if i % 3 != 1:
            out.append(i * 0.5)
    return out


def added(out: Any, x: Any) -> Any:
    out.append(x)
    return len(out)


@hybrid.script
def updated_while_it_changes(n: Any) -> Any:
    out: Any = [n, 5, 6]
    out[-1] += added(out, 2)
    out[0] -= added(out, 3)
    out[-2] *= out.pop()
    out[-1] += out.pop()
    return out


@hybrid.script
def read_before_it_grows(n: Any) -> Any:
    primes: Any = []
    seen = 0
    for i in range(2, n):
        is_prime = True
        for p in primes:
            seen += 1
            if i % p == 0:
                is_prime = False
                break
        if is_prime:
            primes.append(i)
    return primes, seen


@hybrid.script
def of_tuples(n: Any) -> Any:
    out: Any = []
    for i in range(n):
        out.append((i, (i * 0.5, i % 2 == 0)))
    return out


@hybrid.script
def as_arrays(n: Any) -> Any:
    flat = [0.5]
    rows = [(0, 0.25)]
    for i in range(n):
        flat.append(i * 1.5)
        rows.append((i, i * 0.5))
    b = np.array(rows)
    return np.array(flat), b, b[:, 1].sum(), np.mean(flat), np.array(flat)[::-1] * 2


@hybrid.script
def by_index(n: Any) -> Any:
    out = [1, 2, 3]
    for i in range(n):
        out[i % 3] = out[-1] + out[i % len(out)]
        out[-2] += i
        out[i % 3 - 3] -= 1
    return out, out[0], out[-1]


@hybrid.script
def popped(n: Any) -> Any:
    out = [7]
    total = 0
    for i in range(n):
        out.append(i * i)
        out.append(i)
        total += out.pop(0) + out.pop(-1) * 10
        out.insert(1, total % 5)
        out.insert(-100, i)
        out.insert(100, i + 1)
        total += out.pop(i % 3) + out.pop()
    return out, total


@hybrid.script
def joined(n: Any) -> Any:
    a = [0.0, 1.0]
    for i in range(n):
        a.append(float(i))
    b = a[1:-1]
    c = a.copy()
    c.extend(b)
    c += [2.5, n * 1.0]
    c.extend(np.arange(3.0))
    b.extend(b)
    a.clear()
    return a, b, c, a[:5], c[-3:], c[:n]


@hybrid.script
def looped_over(n: Any) -> Any:
    a = [3]
    b = [(1, 0.5)]
    for i in range(n):
        a.append(i)
        b.append((i, i * 0.25))
    total = 0.0
    for i, x in enumerate(a):
        total += i * x
    for x, (k, y) in zip(a, b, strict=False):
        total += x * k * y
    for x in reversed(a):
        total = total * 0.5 + x
    return total, sum(a), min(a), max(a), 2 in a, 2 not in a, (1, 0.5) in b, sorted(a)


@hybrid.script
def in_levels(n: Any) -> Any:
    seen = np.zeros(n + 1, np.int64)
    frontier = [0]
    level = 0
    while frontier:
        level += 1
        following: Any = []
        for v in frontier:
            for w in range(2 * v + 1, 2 * v + 3):
                if w < n and seen[w] == 0:
                    seen[w] = level
                    following.append(w)
        frontier = following
    return seen


@hybrid.script
def made_in_each_round(n: Any) -> Any:
    total = 0
    for i in range(n):
        digits: Any = []
        k = i * 37
        while k > 0:
            digits.append(k % 10)
            k //= 10
        for d in digits:
            total = total * 3 % 1000 + d
        if len(digits) > 2:
            continue
        total += len(digits)
    return total


def push(stack: Any, x: Any) -> Any:
    stack.append(x)
    return len(stack)


def squares(n: Any) -> Any:
    out: Any = []
    for i in range(n):
        out.append(i * i)
    return out


@hybrid.script
def through_helpers(n: Any) -> Any:
    stack: Any = []
    total = 0
    for i in range(n):
        total += push(stack, i * 2)
    other = squares(n)
    same = other
    same.append(-1)
    return stack, total, other, sum(squares(3))


@hybrid.script
def comprehensions(n: Any) -> Any:
    evens = [i for i in range(n) if i % 2 == 0]
    grid = np.array([[i, j] for i in range(n + 1) for j in range(i + 1)])
    halves = [x / 2 for x in evens]
    return evens, grid, halves, len([1 for x in halves if x > 1])


@hybrid.script
def repeated(n: Any) -> Any:
    counts = [0] * (n + 1)
    for i in range(2 * n):
        counts[i % (n + 1)] += 1
    fixed = [1.5] * 4
    fixed[n % 4] = 0.0
    return counts, fixed, [2, 3] * n


@hybrid.script
def changed_meanwhile(n: Any) -> Any:
    queue = [(0, 1)]
    order = 0
    for k, (v, d) in enumerate(queue):
        order = (order * 7 + v + k) % 10007
        if len(queue) < n:
            queue.append((2 * v + 1, d + 1))
        elif len(queue) > k + 5:
            queue.pop()
    return queue, order


@hybrid.script
def with_steps(n: Any) -> Any:
    squares = [i * i for i in range(n)]
    pairs = [(i, i * 0.5) for i in range(n)]
    path = [n]
    while path[-1] > 0:
        path.append(path[-1] // 2)
    few = pairs[::3], squares[-2::-2], squares[: n - 3 : 2], pairs[n // 2 : 0 : -1]
    return path[::-1], squares[n - 4 :: n // 9 + 1], few, sum(squares[::2])


@hybrid.script
def put_together(n: Any) -> Any:
    small = [1, n]
    small = small + [n + 1]  # noqa: RUF005
    small += [4]
    first, second = [i for i in range(n)], [2 * i for i in range(n // 2)]
    both = first + second + [7]
    both.append(8)
    rows = [(0, 0.5)] + [(i, i * 1.5) for i in range(n)]
    return small, both, rows, first


@hybrid.script
def deleted(n: Any) -> Any:
    out = [i * 2 for i in range(n + 2)]
    del out[n // 2], out[-1]
    few = [1, 2, n]
    del few[0]
    return out, few


@hybrid.script
def of_lists(n: Any) -> Any:
    """A list of lists holds lists, one of tuples tuples."""
    rows = [[n, n + 1]]
    mixed = [(0, [1, 2.5])]
    total = 0.0
    for i in range(n):
        rows.append([i, i * 2])
        mixed.append((i, [i + 1, 2.0]))
    for k, (x, y) in mixed:
        total += k * x * y
    return rows, mixed, total, rows[-1], mixed[0], np.array(rows), [[i, -i] for i in range(n)]


KERNELS = (
    *(read_before_it_grows, updated_while_it_changes, with_steps, put_together, deleted),
    *(changed_meanwhile, appended, as_arrays, by_index, popped, joined, looped_over, in_levels),
    *(made_in_each_round, through_helpers, comprehensions, repeated),
)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_as_plain_python(kernel: Any) -> None:
    for size in SIZES:
        assert_agree(kernel, [size])


def test_items_are_lists_or_tuples() -> None:
    for size in SIZES:
        wanted = run_once(run_plain, of_lists, [size])
        for way in (run_interpreted, run_native):
            assert_same_outcome(run_once(way, of_lists, [size]), wanted)


def test_objects_with_fields_are_no_items() -> None:
    class Pair(NamedTuple):
        x: Any
        y: Any

    @hybrid.script
    def pairs(n: Any) -> Any:
        out: Any = []
        for i in range(n):
            out.append(Pair(i, 2))
        return out

    with pytest.raises(TypeMismatch, match=r"(?s)an object with fields.*\(x.x, x.y\)"):
        pairs(3)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_the_printed_program_reads_back(kernel: Any) -> None:
    func = kernel.prim_func(5)
    assert structural_equal(parse(str(func)), func)


def test_every_step() -> None:
    @hybrid.script
    def parts(n: Any, start: Any, stop: Any, step: Any) -> Any:
        out = [i * i for i in range(n)]
        return out[start:stop:step], out[start::step], out[:stop:step], out[::step]

    for n in (0, 1, 5):
        for start, stop, step in product((-7, -2, 0, 3, 9), (-9, -1, 0, 4), (-3, -1, 1, 2)):
            wanted = parts.py_func(n, start, stop, step)
            assert parts(n, start, stop, step) == wanted
    assert parts.interpret(5, -2, 0, -1) == parts.py_func(5, -2, 0, -1)
    for run in (parts, parts.interpret, parts.py_func):
        with pytest.raises(ValueError, match="slice step cannot be zero"):
            run(5, 0, 3, 0)


def test_what_is_not_there_cannot_be_deleted() -> None:
    @hybrid.script
    def without(n: Any, k: Any) -> Any:
        out = [i for i in range(n)]
        del out[k]
        return out

    for run in (without, without.interpret, without.py_func):
        assert run(3, -1) == [0, 1]
        for k in (3, -4):
            with pytest.raises(IndexError, match="out of range"):
                run(3, k)


def test_numbers_are_of_the_types_of_plain_python() -> None:
    @hybrid.script
    def mixed(a: Any) -> Any:
        out: Any = []
        for i in range(a.shape[0]):
            out.append((i, a[i], i * 0.5, (a[i] > 0, True)))
        return out

    a = np.arange(3, dtype=np.float32)
    expected = mixed.py_func(a)
    for found in (mixed(a), mixed.interpret(a)):
        assert found == expected
        assert repr(found) == repr(expected)


def test_a_list_is_returned_beside_others_and_on_several_paths() -> None:
    @hybrid.script
    def f(n: Any) -> Any:
        out: Any = []
        for i in range(n):
            if i == 5:
                return n, out, np.arange(2)
            out.append((i, 0.5))
        return -n, out, np.arange(3)[1:]

    for n in (0, 3, 9):
        plain, found = f.py_func(n), f(n)
        assert found[:2] == plain[:2]
        assert found[2].tolist() == plain[2].tolist()


# errors


@hybrid.script
def item_of(n: Any, at: Any) -> Any:
    out: Any = []
    for i in range(n):
        out.append(i)
    return out[at]


@hybrid.script
def pop_of(n: Any) -> Any:
    out = [1]
    total = 0
    for _ in range(n):
        total += out.pop()
    return total


def test_errors_are_those_of_python() -> None:
    for run in (item_of, item_of.interpret):
        assert run(3, -3) == 0
        for at in (3, -4, 2**62, -(2**62)):
            with pytest.raises(IndexError, match="list index out of range"):
                run(3, at)
    for other in (pop_of, pop_of.interpret):
        assert other(1) == 1
        with pytest.raises(IndexError, match="pop from empty list"):
            other(2)


def refused(kernel: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        kernel.prim_func(3)


def test_what_a_list_cannot_hold_is_refused() -> None:
    @hybrid.script
    def of_types(n: Any) -> Any:
        out: Any = []
        out.append(1)
        out.append(0.5)
        return out

    @hybrid.script
    def of_forms(n: Any) -> Any:
        out: Any = []
        out.append((1, 2))
        out.append(3)
        return out

    @hybrid.script
    def of_lists(n: Any) -> Any:
        rows = [[1]]
        rows.append([])
        return len(rows)

    @hybrid.script
    def of_nothing(n: Any) -> Any:
        out: Any = []
        out.clear()
        return out

    @hybrid.script
    def over_nothing(n: Any) -> Any:
        out: Any = []
        total = 0
        for x in out:
            total += x
        out.clear()
        return total

    refused(over_nothing, ParseError, "nothing is ever put into it")
    refused(of_types, TypeMismatch, "others in it are Python int")
    refused(of_forms, TypeMismatch, "not all of one form")
    refused(of_lists, TypeMismatch, "a list holds numbers")
    refused(of_nothing, ParseError, "nothing is ever put into it")


def test_what_is_done_to_a_list_out_of_order_is_refused() -> None:
    @hybrid.script
    def in_parallel(n: Any) -> Any:
        out: Any = []
        for i in hybrid.parallel(n):
            out.append(i)
        return out

    @hybrid.script
    def while_zipped(n: Any) -> Any:
        out = [1]
        out.append(2)
        for x, y in zip(out, range(n), strict=False):
            out.append(x + y)
        return out

    refused(in_parallel, ParseError, "its iterations have no order")
    refused(while_zipped, ParseError, "changed in a loop over it and others")


def test_a_list_from_outside_is_not_changed() -> None:
    @hybrid.script
    def f(given: Any) -> Any:
        given.append(1)
        return len(given)

    with pytest.raises(ParseError, match="comes from outside of the script"):
        f([1, 2])
    with pytest.raises(ParseError, match="its items are fixed"):
        f((1, 2))


# memory


@hybrid.script
def fails_late(n: Any, fails: Any) -> Any:
    out: Any = []
    for i in range(n):
        out.append((i, i * 0.5))
        if i == fails:
            raise ValueError("late")
    return len(out)


@needs_proc
def test_memory_is_freed_at_the_end_and_on_errors() -> None:
    fails_late(1_000_000, -1)
    before = resident_megabytes()
    for _ in range(10):
        assert fails_late(1_000_000, -1) == 1_000_000
        with pytest.raises(ValueError, match="late"):
            fails_late(1_000_000, 999_999)
    assert resident_megabytes() - before < 64


@needs_proc
@pytest.mark.sampled(3)
@pytest.mark.parametrize("kernel", [appended, made_in_each_round, in_levels])
def test_many_calls_leave_nothing_behind(kernel: Any, many_calls: int) -> None:
    for _ in range(1000):
        kernel(100)
    before = resident_megabytes()
    for _ in range(many_calls):
        kernel(100)
    assert resident_megabytes() - before < 4
