"""`try`: errors that scripts raise are caught as plain Python catches them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
import pytest

from hybridjit import hybrid, parse, structural_equal
from hybridjit.errors import ParseError
from tests.frontend.from_text import script_from_text
from tests.support.array_results import assert_agree
from tests.support.memory import needs_proc, resident_megabytes
from tests.support.oracle import fresh

np: Any = numpy


@hybrid.script
def element(a: Any, i: Any) -> Any:
    try:
        x = a[i]
    except IndexError:
        x = a[0] * 100
    return x


@hybrid.script
def quotients(n: int, out: Any) -> Any:
    """In a loop, with `else` and `finally`; numbers of Python are divided."""
    bad = 0
    for i in range(len(out)):
        try:
            out[i] = 60 // (i - n)
        except ZeroDivisionError:
            out[i] = -1
            bad += 1
        else:
            out[i] += 100
        finally:
            out[i] *= 2
    return bad


@hybrid.script
def several(a: Any, i: Any, j: Any) -> Any:
    """The first handler that fits; what was set before the error stays."""
    k = 0
    try:
        k = 1
        y = a[i]
        k = 2
        if y > 3:
            raise ValueError(f"{y} is large")
        assert y > 0, "negative"
        k = 3
        for m in range(j):
            k += 10 * m
            a[m] += 20 // (m - 2)
            if k > 300:
                break
    except (ValueError, AssertionError):
        return k, 1
    except IndexError:
        return k, 2
    except Exception:
        k = -k
        return k, 3
    return k, 0


@hybrid.script
def leaves(a: Any, n: Any) -> Any:
    """`continue`, `break` and the end of a loop around, each through `finally`."""
    s = 0.0
    for i in range(n):
        try:
            if a[i] == 2:
                continue
            if a[i] == 5:
                break
            s += a[i]
        except IndexError:
            s += 1000
            break
        finally:
            s += 1
    return s


@hybrid.script
def returns(a: Any, i: Any, log: Any) -> Any:
    """What is returned is computed before `finally`."""
    try:
        return log[0] + a[i]
    except IndexError:
        return log[0] - 7.0
    finally:
        log[0] += 1


@hybrid.script
def asked(a: Any, b: Any) -> Any:
    """In the condition of a loop, and behind `and`."""
    k = 0
    try:
        while a[k] > 0 and a[b[k]] > 0:
            k += 1
    except IndexError:
        k += 100
    return k


@hybrid.script
def inside(a: Any, i: Any) -> Any:
    try:
        try:
            x = a[i]
        except ZeroDivisionError:
            x = 1.0
        if x > 2:
            raise ValueError("x")
    except IndexError:
        return -1.0
    except ValueError:
        return -2.0
    return x


def at_or(a: Any, i: Any, other: Any) -> Any:
    try:
        return a[i]
    except IndexError:
        return other


@hybrid.script
def called(a: Any) -> Any:
    s = 0.0
    for i in range(-6, 6):
        s += at_or(a, i, -5.0) * (i + 10)
    return s


@hybrid.script
def arrays(x: Any, n: Any) -> Any:
    """Names of arrays, sizes, and an error that nobody catches in the midst."""
    y = x + 1
    try:
        y = x * 2
        z = np.zeros(n)
        y[len(z)] = 7.0
    except ValueError:
        y = y - 1
    except IndexError:
        y[0] = 100.0
    return y


A = np.array([1.0, 2.0, 3.0, 4.0, 5.0])


@hybrid.script
def jumps(n: Any) -> Any:
    """What `finally` gives a name is there after a jump, whatever else the round would do."""
    total, last = 0, -1
    for i in range(6):
        try:
            total += 10 // (i - n)
            if i == 4:
                continue
        except ZeroDivisionError:
            total += 1000
            continue
        finally:
            total += 1
        total += 10000
    while True:
        try:
            break
        finally:
            last = n
    return total, last


@hybrid.script
def goes_on(n: Any, log: Any) -> Any:
    """A jump in `finally` takes along what the round gave to names, whatever it jumps over."""
    rounds, last = 0, -1
    while True:
        if rounds >= n:
            break
        rounds += 1
        try:
            log[1] += 10 // (rounds - 2)
            last = rounds
        except ZeroDivisionError:
            last = 100
        finally:
            log[0] += last
            continue  # noqa: B012
    return rounds, last


@hybrid.script
def stops(n: Any, log: Any) -> Any:
    """As above; one of the jumps comes before `finally` is done with a name."""
    rounds, last, total = 0, -1, 0
    for i in range(n):
        rounds += 1
        try:
            if i == 1:
                continue
            log[0] += 1
        finally:
            last = i
            if i == 3:
                break  # noqa: B012
            last += 10
        total += last
    for _ in range(n):
        total += 1000
        try:
            log[1] += 1
        finally:
            break  # noqa: B012
    return rounds, last, total


@hybrid.script
def from_loops(n: Any, log: Any) -> Any:
    """A return from a loop passes `finally`, where nothing else can fail."""
    try:
        for i in range(n):
            if i == 5:
                return i
        while n > 2:
            n -= 2
            if n == 3:
                return -1
    finally:
        log[0] += 1
    return n


@hybrid.script
def no_return(n: Any, log: Any) -> Any:
    """A jump in `finally` takes the place of a return, which may stand in a loop of its own."""
    for i in range(4):
        try:
            log[1] += 6 // (i - 3 + n % 2)
            for j in range(3):
                if j == n:
                    return -1
                log[0] += 1
        except ZeroDivisionError:
            log[1] += 50
            return -2
        finally:
            log[0] += 10
            if i + n < 5:
                continue  # noqa: B012
            if n > 7:
                break  # noqa: B012
        log[0] += 100
    return n


@hybrid.script
def no_break(n: Any, log: Any) -> Any:
    """A `break` that `finally` takes back, by a jump or by an error, does not end the loop."""
    for i in range(n):
        try:
            break
        finally:
            log[0] += i + 1
            if i != 3:
                continue  # noqa: B012
    else:
        log[0] += 100
    while n > 0:
        n -= 1
        try:
            try:
                break
            finally:
                log[1] += 6 // (n % 2)
        except ZeroDivisionError:
            log[1] += 10
    else:
        log[1] += 100
    for k in (4, 5, 6):
        try:
            if k > n:
                break
        finally:
            log[1] += k
            if k < 6:
                continue  # noqa: B012
        log[0] += 1000
    return n


@hybrid.script
def sure(a: Any, c: Any, n: Any, log: Any) -> Any:
    """What is sure to fail when the script is compiled is caught as well."""
    b = a[1:]
    for k in range(n):
        try:
            log[0] += 1
            if k == 0:
                log[1] += b[-len(a)]
            elif k == 1:
                log[1] += a.shape[2]
            elif k == 2:
                b[c > 0] = 7
            elif k == 3:
                log[1] += b[c > 0].sum()
            else:
                b[len(a)] = 1
            log[1] += 10
        except IndexError:
            log[1] += 100 * k + 1
    return n


@hybrid.script
def not_reached(a: Any, n: Any) -> Any:
    """An index that is sure to be outside of a part fails only where it is used."""
    v = a
    if n > 2:
        v = a[1:]
    x = a[0]
    for _ in range(n):
        x += v[-len(a)]
    if n > 5:
        x += a[2:][len(a)]
    return x


@hybrid.script
def never_else(a: Any, i: Any) -> Any:
    try:
        return a[i]
    except IndexError:
        i = -1
    else:
        i = 7
    return a[i]


@hybrid.script
def shapes(a: Any, b: Any, log: Any) -> Any:
    try:
        log[0] += 1
        c = a + b
        log[1] = c[0]
    except ValueError:
        log[2] += 1
        c = a * 2
    finally:
        log[3] += 1
    return c


@hybrid.script
def shapes_in_loops(a: Any, b: Any) -> Any:
    n = 0
    for i in range(3):
        try:
            a[:] = b
            n += 1
        except ValueError:
            a[i] = 7
    return n


@hybrid.script
def always_leaves(a: Any, i: Any, log: Any) -> Any:
    try:
        if i > 3:
            raise ValueError("large")
        return a[i]
    finally:
        log[0] += 1


@hybrid.script
def never_fails(n: Any, log: Any) -> Any:
    try:
        return n + 1
    finally:
        log[0] += 1


@hybrid.script
def counted_until_it_fails(a: Any, n: Any) -> Any:
    """What a loop counts with keeps the value of the round that an error left."""
    i = j = k = x = -1
    try:
        for i in range(n):
            a[i] += 1
            for j, x in enumerate(a[: n - i]):
                for k in range(2, n, 2):
                    a[j + k] += x
    except IndexError:
        return i, j, k, x
    finally:
        a[0] += i * 100 + j * 10 + k
    return i, j, k, x


def doubled_before(a: Any) -> Any:
    try:
        return a * 2, a[0] + 1, a[1:]
    finally:
        a[0] = 3


@hybrid.script
def computed_before_the_end(a: Any) -> Any:
    twice, first, rest = doubled_before(a)
    return twice.sum(), first, rest + a[0]


CASES = {
    counted_until_it_fails: [(np.arange(5), n) for n in (0, 1, 3, 4, 5, 6, 9)],
    computed_before_the_end: [(np.arange(1, 6),), (np.arange(2, 4),)],
    always_leaves: [(A, 1, np.zeros(1)), (A, 4, np.zeros(1)), (A, -9, np.zeros(1))],
    never_fails: [(1, np.zeros(1))],
    shapes: [(A, A[: n + 1], np.zeros(4)) for n in (1, 4, 2, 0, 3)],
    shapes_in_loops: [(A, A[:3]), (A, A + 1), (A, A[:2]), (A[:4], A)],
    never_else: [(A, 1), (A, 99)],
    jumps: [(0,), (3,), (7,)],
    goes_on: [(n, np.zeros(2)) for n in (0, 1, 2, 3, 17)],
    stops: [(n, np.zeros(2)) for n in (0, 1, 2, 3, 4, 17)],
    no_return: [(n, np.zeros(2)) for n in (0, 1, 2, 3, 4, 9)],
    no_break: [(n, np.zeros(2)) for n in (0, 1, 2, 3, 4, 17)],
    sure: [(A, A[:3] - 1, n, np.zeros(2)) for n in (0, 1, 3, 5)],
    not_reached: [(A, n) for n in (0, 2, 3, 6)],
    from_loops: [(n, np.zeros(2)) for n in (0, 4, 5, 9)],
    element: [(A, 0), (A, 4), (A, 5), (A, -5), (A, -6)],
    quotients: [(2, np.zeros(4, np.int64)), (9, np.zeros(4, np.int64))],
    several: [(A, 0, 1), (A, 2, 3), (A, 9, 0), (A, 4, 1), (A - 3, 0, 1), (A, 0, 2)],
    leaves: [(A, 0), (A, 2), (A, 7), (A[:4], 7)],
    returns: [(A, 1, np.zeros(1)), (A, 7, np.zeros(1))],
    asked: [(A, np.arange(5)), (A, np.array([1, 9])), (A - 3, np.arange(5)), (A, np.arange(2))],
    inside: [(A, 1), (A, 3), (A, 9)],
    called: [(A,)],
    arrays: [(A, 2), (A, -1), (A, 5)],
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("kernel", "calls"), CASES.items(), ids=lambda case: str(case)[:9])
def test_as_plain_python(kernel: Any, calls: Sequence[tuple[Any, ...]]) -> None:
    kernel = fresh(kernel)
    for args in calls:
        assert_agree(kernel, args)


@pytest.mark.parametrize(("kernel", "calls"), CASES.items(), ids=lambda case: str(case)[:9])
def test_print_parses_back(kernel: Any, calls: Sequence[tuple[Any, ...]]) -> None:
    func = kernel.prim_func(*calls[0])
    assert structural_equal(parse(str(func)), func)


@hybrid.script
def again(a: Any, i: Any) -> Any:
    try:
        if a[i] < 0:
            raise ValueError("negative")
        return a[i]
    except (IndexError, ValueError):
        a[0] = 77.0
        raise
    except RuntimeError:
        return 0.0


@pytest.mark.parametrize("run", [again, again.interpret], ids=["native", "interpreted"])
def test_errors_that_are_raised_again(run: Any) -> None:
    for values, i, error, text in (
        ([1.0], 3, IndexError, "out of bounds"),
        ([1.0, -1.0], 1, ValueError, "negative"),
    ):
        a = np.array(values)
        with pytest.raises(error, match=text):
            run(a, i)
        assert a[0] == 77


def test_errors_that_nobody_catches_pass_finally() -> None:
    @hybrid.script
    def last(a: Any, i: Any) -> Any:
        try:
            a[i] = 1.0
        except ZeroDivisionError:
            a[0] = 5.0
        finally:
            a[1] = 2.0

    for run in (last, last.interpret):
        a = np.zeros(3)
        with pytest.raises(IndexError, match="out of bounds"):
            run(a, 3)
        assert a.tolist() == [0, 2, 0]


@needs_proc
def test_memory_is_given_back(unchecked: None) -> None:
    @hybrid.script
    def wasteful(a: Any, n: Any, i: Any) -> Any:
        try:
            b = np.ones(n)
            found = [x for x in b]
            return found[0] + a[i]
        except IndexError:
            return 0.0

    assert wasteful(A, 2_000_000, 9) == 0
    before = resident_megabytes()
    for _ in range(5):
        wasteful(A, 2_000_000, 9)
    assert resident_megabytes() < before + 60


def test_a_call_of_python_is_refused() -> None:
    @hybrid.packed
    def careful(a: Any) -> None:
        raise KeyError

    @hybrid.script
    def f(a: Any) -> Any:
        try:
            careful(a)
        except KeyError:
            a[0] = 1.0

    with pytest.raises(ParseError, match="inside try is not supported"):
        f(A)


def choosing(side: str) -> list[str]:
    """Scripts that try `side` in a conditional expression and behind `and`."""
    handled = "except (ValueError, IndexError):\n        x = -1\n    return x\n"
    choices = (f"{side} if n > 2 else 0", f"n > 2 and {side} > 0")
    return [f"def f(a, c, n):\n    try:\n        x = {it}\n    {handled}" for it in choices]


@pytest.mark.parametrize("side", ["(a + c).sum()", "(n, 1)[2]", "a[c > 0][0]"])
def test_what_is_sure_to_fail_but_may_not_be_reached_is_refused(side: str) -> None:
    for text in choosing(side):
        with pytest.raises((ValueError, IndexError), match=r"shape|out of bounds"):
            script_from_text(text)(A, A[:3], 1)


def test_an_element_that_is_sure_to_be_missing_fails_where_it_is_reached() -> None:
    for text in choosing("a[1:][20]"):
        kernel = script_from_text(text)
        for n in (1, 3):
            assert kernel(A, A[:3], n) == kernel.py_func(A, A[:3], n)


@hybrid.script
def named_computation(a: Any, b: Any) -> None:
    for i in range(len(a)):
        try:
            with hybrid.block("scaled"):
                b[i] = a[i] * 2 if a[i] >= 0 else a[i + 99]
            continue
        except IndexError:
            b[0] = i
        finally:
            b[1] += 1


def test_a_block_in_a_try_sees_the_loops_around() -> None:
    assert_agree(named_computation, [np.array([1, -2, 3, -4, 5]), np.zeros(6)])
    s = named_computation.schedule(np.zeros(5), np.zeros(6))
    assert 'with block("scaled", ' in s.show()


def counted_last(n: int, k: int) -> Any:
    try:
        n = 60 // n
        return n
    finally:
        for i in range(k, -1, -2):
            n += i
        return i < n, i  # noqa: B012, SIM107


def made_last(n: int, k: int) -> Any:
    try:
        if k > 2:
            return np.full(3, float(60 // n))
    finally:
        made = np.zeros(3) + n
        if k != 1:
            return made  # noqa: B012
    return np.ones(3)


@hybrid.script
def returns_last(n: int, k: int) -> Any:
    x, y = counted_last(n, k)
    return x, y, made_last(n + 1, k)


def test_what_is_returned_last_is_what_that_end_computes() -> None:
    for n in (0, 1, 7):
        for k in (0, 1, 4):
            assert_agree(returns_last, [n, k])
