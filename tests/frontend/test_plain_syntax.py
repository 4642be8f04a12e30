"""Syntax that is short for other syntax: as plain Python has it, in every engine."""

from __future__ import annotations

import gc
import math
import weakref
from typing import Any

import numpy
import pytest

from hybridjit import hybrid
from hybridjit.errors import ParseError
from hybridjit.source import read_function
from tests.frontend.from_text import script_from_text
from tests.support.array_results import assert_agree
from tests.support.rows import thinned

np: Any = numpy


def for_else(a: Any, n: int) -> Any:
    for i in range(len(a)):
        if a[i] > n:
            found = i
            break
    else:
        found = -1
    return found


def for_else_without_break(a: Any, n: int) -> Any:
    total = 0.0
    for x in a:
        total += x
    else:
        total = -total
    return total + n


def nested_else(a: Any, n: int) -> Any:
    count = 0
    for i in range(2, 20):
        for j in range(2, i):
            if i % j == 0:
                break
        else:
            count += i
        if count > 10 * n:
            break
    else:
        count = -count
    return count + a.shape[0]


def while_else(a: Any, n: int) -> Any:
    k = 0
    while k < len(a):
        if a[k] < 0:
            k = k * 10
            break
        k += 1
    else:
        k = 99
    return k + n


def walrus(a: Any, n: int) -> Any:
    total = 0.0
    k = 0
    while (k := k + 1) < 5 + n:
        if (x := a[k % len(a)]) > 0 and x < 2:
            total += x
        elif (y := x * 2) < -1:
            total -= y
    z = (w := total * 2) + w
    return z, k


def matches(a: Any, n: int) -> Any:
    total = 0
    for k in range(6):
        match k + n:
            case 1:
                total += 1
            case 2 | 3:
                total += 20
            case _ if k > 3:
                total += 300
            case _:
                total += 4000
    return total + a.shape[0]


def matches_a_name(a: Any, n: int) -> Any:
    match n * 2:
        case 2:
            x = 5
        case y:
            x = y
    return x + a.shape[0]


def matches_with_guards(a: Any, n: int) -> Any:
    total = 0
    for k in range(7):
        match k * 2 - n:
            case 1 | 2 as few:
                total += few
            case x if x > 8:
                continue
            case x if x == 6:
                break
            case x:
                total += 10 * x
    else:
        total += 10_000
    return total + a.shape[0]


def matches_tuples(a: Any, n: int) -> Any:
    total = 0
    for k in range(6):
        match k % 3, n:
            case 0, 0:
                total += 1
            case 0, y:
                total += 10 * y
            case (x, y) if x == y:
                total += 100 + x
            case 2 | 7 as x, _:
                total += 1000 * x
            case one, two, three:  # pyright: ignore[reportUnnecessaryComparison]
                total += one + two + three
            case pair:
                total += 10_000 * pair[0]
    return total + a.shape[0]


def none_by_choice(a: Any, n: int) -> Any:
    stop = None if n == 0 else -n
    limit = n + 1 if n > 1 else None
    if limit is None:
        return a[:stop].sum(), 0
    return a[:stop].sum(), limit


def tuples(a: Any, n: int) -> Any:
    total = 0.0
    for d in (-1, 0, 1, 2):
        if d == n:
            continue
        for e in (1, 3):
            if a[d] * e > 2:
                break
            total += a[d] * e
        if total > 3:
            break
        total += 1
    else:
        total = -total
    return total


def folds(a: Any, n: int) -> Any:
    x = 3.0  # not the one of the generators
    s = sum(x * n for x in a if x > 0)
    t = sum([i * y for i, y in enumerate(a)], 10)
    some = any(x > 1 for x in a)
    every = all(x > -9 and i < 99 for i, x in enumerate(a))
    pairs = sum(p * q for p in a for q in a if q > p)
    return s, t, some, every, pairs, max(abs(x) for x in a), min(-x for x in a), x


def functions(a: Any, n: int) -> Any:
    q, r = divmod(17, n + 3)
    ordered, turned = sorted(a), sorted(a, reverse=True)
    return (
        sum(a), sum(a, 2), any(a > 1), all(a > 1), min(a), max(a), ordered[0], turned[0], q, r,
        pow(7, n + 5, 11), pow(7, 3, -11),
    )  # fmt: skip


def of_math(a: Any, n: int) -> Any:
    return (
        math.comb(n + 9, 3), math.comb(2, n + 3), math.perm(n + 4), math.perm(n + 4, 2),
        math.factorial(n + 3), math.isqrt(n + 99), math.gcd(n + 12, 18), math.lcm(n + 4, 6),
        math.prod(a), math.dist(a, a[::-1]), math.degrees(a[0]), math.radians(a[0]),
        math.isclose(a[0], a[0] + 1e-12), math.remainder(a[0] * 7, 2.0), math.modf(a[0] * 3)[0],
        math.hypot(a[0], n, a[1]), math.hypot(n), math.gcd(n + 12, 18, 8), math.lcm(n + 4, 6, 9),
        math.frexp(a[0]), math.ldexp(a[0], n - 1), math.nextafter(a[0], n), math.ulp(a[0]),
        math.fsum(a), math.fsum(x * 1e20 for x in a), math.prod(x * n for x in a),
    )  # fmt: skip


def over_elements(a: Any, n: int) -> Any:
    m = np.concatenate((a, a)).reshape(2, -1)
    total = 0.0
    for i, j in np.ndindex(2, a.shape[0]):
        total += m[i, j] * (i + 2 * j)
    for i, j in np.ndindex(m.shape):
        total -= m[i, j] * j
    for (i, j), x in np.ndenumerate(m):
        total += x * i * j
    for place, x in np.ndenumerate(m):
        total += m[place] * x
    for x in m.flat:
        total += x
    for i, j in np.ndindex(*m.shape):
        total += m[i, j] * i
    for place in np.ndindex(*m.shape):
        total += m[place] * place[0]
    for place in np.ndindex(2, n):
        total += m[place] * place[1]
    return total + n


def bounds_that_may_be_none(a: Any, n: int) -> Any:
    behind = a[n or None :].sum(), a[: None if n > 1 else n].sum()
    computed = a[n if n > 1 else None : int(abs(a[1])) + 1 if n else None]
    down = a[: n or None : -1].copy(), a[None if n else 2 :: -2].copy()
    return behind, computed.sum(), down


def kinds(a: Any, n: int) -> Any:
    found = 0
    for position, value in enumerate((a, n, a[0], a[0] > 0, 0.5, (1, 2), [n], None, "text")):
        if isinstance(value, (np.ndarray, int)):
            found += 1 << position
        if isinstance(value, (float, np.floating, tuple)):
            found += 1 << (position + 10)
        if isinstance(value, (np.bool_, list, str)):
            found += 1 << (position + 20)
    return found


def behind_conditions(a: Any, n: int) -> Any:
    found: list[Any] = []
    for x in a:
        if n > 0 and all(x > y for y in found):
            found.append(x)
    both = (n > 0 and any(x > 1 for x in a) and n < 2) or len(found) > 2
    most = max(x for x in a) if n > 1 else sum(x for x in found) + np.sqrt(abs(a[0]))
    rest = [x for x in found] if n > 0 else [x for x in a]
    while found and any(x > 0 for x in found):
        found.pop()
    y = -1.0
    if n > 0 and (y := a[n]) > 0:
        y += 10
    return both, most, len(rest), found, not found, y


def lists_of_anything(a: Any, n: int) -> Any:
    numbers: Any = list(range(n))
    empty: Any = list()  # pyright: ignore
    pairs: Any = list(enumerate(a))  # pyright: ignore
    for x in a[: n + 1]:
        empty.append(x)
    pairs.sort(key=lambda pair: -pair[1])  # pyright: ignore
    numbers.reverse()
    low, middle, high = sorted((a[0], a[1], a[2]))
    pairs_are_in_order = pairs[0] > pairs[1] or (n, 1) <= (n, 1, 0)
    return numbers, empty, pairs, low + 2 * middle + 3 * high, pairs_are_in_order


def made_in_order(a: Any, n: int) -> Any:
    return sorted(x * n for x in a), sorted((-x for x in a), reverse=True), list(x + n for x in a)


def largest(a: Any, n: int) -> Any:
    return sorted(a, reverse=True)[: n + 1]


def pairs_in_order(a: Any, n: int) -> Any:
    return sorted([(x > 0, x + n) for x in a])


def equal_in_order(a: Any, n: int) -> Any:
    return sorted([(k % 2, k + n) for k in range(9)], key=lambda p: p[0]), a.shape[0]


SHORT = (
    *(for_else, for_else_without_break, nested_else, while_else, walrus, matches, matches_a_name),
    *(matches_with_guards, matches_tuples, none_by_choice, tuples, folds, over_elements, kinds),
    *(behind_conditions, largest),
)
# These take seconds to compile: they sort several arrays, or call many functions.
LONG = (
    *(bounds_that_may_be_none, lists_of_anything, functions, of_math),
    *(made_in_order, pairs_in_order),
)


@pytest.mark.parametrize(
    "function",
    [equal_in_order, *thinned(4, SHORT), *thinned(6, LONG)],
    ids=lambda function: function.__name__,
)
def test_as_plain_python(function: Any) -> None:
    kernel: Any = hybrid.script(function)
    for seed, n in ((0, 0), (1, 1), (2, 2)):
        assert_agree(kernel, [np.random.default_rng(seed).standard_normal(5 + seed), n])


BY_KEYS = {
    "largest": "max([(i, a[i]) for i in range(len(a))], key=lambda p: p[1])",
    "nearest": "min(a, key=lambda x: abs(x - n))",
    "where": "max(range(len(a)), key=lambda i: a[i])",
    "ranks": "sorted(range(len(a)), key=lambda i: -a[i])",
    "steps": "max(zip(a, a[1:]), key=lambda p: (p[0] > p[1], p[0]))",
    "by place": "sorted(enumerate(a), key=lambda p: p[1], reverse=True)",
    "made": "min((x * 2 for x in a if x > -9), key=abs)",
    "of three": "min([3, 1, 2], key=lambda k: (k + n) % 3)",
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("key", BY_KEYS)
def test_items_by_keys(key: str) -> None:
    kernel: Any = script_from_text(f"def f(a, n):\n    return {BY_KEYS[key]}\n")
    for seed, n in ((0, 0), (1, 1), (2, 2)):
        assert_agree(kernel, [np.random.default_rng(seed).standard_normal(5 + seed), n])


def test_no_item_has_the_smallest_key() -> None:
    @hybrid.script
    def smallest(a: Any) -> Any:
        return min(range(len(a)), key=lambda i: a[i])

    assert smallest(np.array([2.0, 1.0, 1.0])) == 1
    for run in (smallest, smallest.interpret):
        with pytest.raises(ValueError, match="empty"):
            run(np.zeros(0))


def test_a_name_that_is_first_set_behind_a_condition_that_reads_it() -> None:
    text = """def f(a, n):
    for i in range(a.shape[0]):
        if i == 0 or a[i] > top:
            top = a[i]
            if i == 0 or n > where:
                where = i
    return top, where
"""
    assert_agree(script_from_text(text), [np.array([0.5, 3.0, -1.0, 4.0]), 2])


def test_imports_inside() -> None:
    text = """def f(a, n):
    import math as mathematics, numpy.linalg
    from math import floor, pi
    return mathematics.sin(pi * n), floor(a[0]), numpy.linalg.norm(a)
"""
    assert_agree(script_from_text(text), [np.arange(3.0) + 0.5, 2])


def test_arrays_or_none_stay_expressions() -> None:
    """What is given, in another shape, or nothing: known while the script is compiled."""
    text = """def f(a, w):
    flat = None if w is None else np.ravel(w)
    part = a[1:] if w is not None else None
    return a.sum() if flat is None else (flat * 2).sum() + part.sum()
"""
    kernel = script_from_text(text, {"np": np})
    for w in (None, np.arange(6.0).reshape(2, 3)):
        assert kernel(np.arange(3.0), w) == kernel.py_func(np.arange(3.0), w)


def test_patterns_that_are_not_known() -> None:
    texts = ("[x, *rest]", "int()", '{"x": 1}', "(1, x) | (x, 1)")
    for pattern in texts:
        cases = f"match n, n:\n        case {pattern}:\n            return 1\n"
        text = f"def f(n):\n    {cases}    return 0\n"
        with pytest.raises(ParseError, match=r"(?s)a pattern of this match .*use if, elif"):
            script_from_text(text)(3)


def test_what_comes_before_is_evaluated_before() -> None:
    """A name that was read, or a call, is not overtaken."""

    @hybrid.script
    def reads_first(a: Any) -> Any:
        x = 1.0
        return x + (x := a[0])

    @hybrid.script
    def calls_first(a: Any) -> Any:
        return a.sum() > 0 and sum(x for x in a) > 1

    with pytest.raises(ParseError, match="':=' is not supported"):
        reads_first(np.ones(2))
    with pytest.raises(ParseError, match="generator expressions are not supported"):
        calls_first(np.ones(2))


def test_folds_of_nothing() -> None:
    @hybrid.script
    def largest(a: Any) -> Any:
        return max(x for x in a)

    @hybrid.script
    def smallest(a: Any) -> Any:
        return min(a)

    for kernel in (largest, smallest):
        for _ in range(2):
            with pytest.raises(ValueError, match=r"m..\(\) iterable argument is empty"):
                kernel(np.zeros(0))


@pytest.mark.parametrize("text", ["math.factorial(-1)", "math.isqrt(-1)", "math.comb(-1, 2)"])
def test_errors_are_those_of_python(text: str) -> None:
    @hybrid.script
    def calls(n: int) -> Any:
        if n == 0:
            return math.factorial(n - 1)
        if n == 1:
            return math.isqrt(n - 2)
        return math.comb(n - 3, 2)

    n = ("factorial", "isqrt", "comb").index(text[5:].partition("(")[0])
    with pytest.raises(ValueError, match=r"."):
        calls.py_func(n)
    with pytest.raises(ValueError, match="negative"):
        calls(n)


def test_the_type_of_an_array_makes_numbers() -> None:
    @hybrid.script
    def scaled(a: Any) -> Any:
        return a.dtype.type(3) * a[0]

    assert_agree(scaled, [np.ones(2, np.float32)])


def test_what_was_written_out_goes_with_the_function() -> None:
    for body in ("return a[0]", "return sum(x for x in a)"):
        kernel = script_from_text(f"def f(a):\n    {body}\n")
        kernel(np.ones(3))
        node = weakref.ref(read_function(kernel.__hybrid_function__).node)
        del kernel
        gc.collect()
        assert node() is None


def test_elements_are_read_before_what_changes_them() -> None:
    @hybrid.script
    def ordered(a: Any) -> Any:
        def bump(i: Any) -> Any:
            a[0] += i
            return a[0]

        total = a[0] + sum(bump(i) for i in range(3))
        a[0] += sum(bump(i) for i in range(3))
        pair = a[0] + (z := bump(1)), z
        larger = max(a[0], sum(bump(i) for i in range(2)))
        return (a[0], bump(1)), pair, (larger, a[0] < bump(1)), total, (a[0], (bump(2), a[0]))

    assert_agree(ordered, [np.arange(3.0)])


@pytest.mark.parametrize(
    "body",
    [
        "return (y := n + 1) * (y := y + 1) - y",
        "n += (n := 3)\n    return n",
        "a[n] += (n := 2)\n    return n",
    ],
)
def test_a_name_that_is_set_after_it_was_read(body: str) -> None:
    kernel = script_from_text(f"def f(a, n):\n    {body}\n")
    with pytest.raises(ParseError, match="':=' is not supported"):
        kernel(np.ones(3), 1)


def test_a_name_that_is_set_once_an_operand_is_over() -> None:
    kernel = script_from_text(
        "def f(a, n):\n"
        "    i = 0\n"
        "    while (v := a[i]) != 4 and (i := i + 1) < n:\n"
        "        n = n if v < 5 else n - 1\n"
        "    return i, v, (w := 3) if (w := n) > 2 else (w := 4), w\n"
    )
    for n in (1, 3, 6):
        assert_agree(kernel, [np.array([3, 1, 5, 2, 4, 1]), n])


@pytest.mark.parametrize(
    "expression",
    [
        "sum((x[0], n)), sum([n, x[1]]), sum((x[0], x[1])), sum((n, 1)), sum(()), sum((), x[0])",
        "sum((n, 1), x[0]), sum((x[0], 1), 0.5), sum(x, n), sum((1, 2.5))",
        "math.prod((n, 3)), math.prod([n, x[0]]), math.prod((n, 2), start=2), math.prod([1.5, 2])",
    ],
)
def test_terms_meet_one_by_one(expression: str) -> None:
    """An array of them would give np.uint8(200) and 100 one type, in which they are 300."""
    kernel = script_from_text(f"import math\ndef f(x, n):\n    return {expression}\n")
    for x in (np.array([200, 2], "u1"), np.array([0.1, 2], "f4"), np.array([-3, 2], "i8")):
        with np.errstate(all="ignore"):
            wanted = kernel.py_func(x, 100)
        for way in (kernel, kernel.interpret):
            assert list(map(repr, way(x, 100))) == list(map(repr, wanted))
