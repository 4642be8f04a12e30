"""The quick proof that iterations are independent: what it sees, and what it leaves to isl."""

from __future__ import annotations

import dataclasses
from itertools import product
from random import Random
from typing import Any

import pytest

import hybridjit as hj
from hybridjit.analysis.accesses import Access, find_accesses, scopes_of_loops
from hybridjit.analysis.bounds import Facts
from hybridjit.analysis.distances import Order
from hybridjit.analysis.independence import Independence, LoopProofs
from hybridjit.analysis.lower_blocks import lower_blocks
from hybridjit.arith.simplify import simplify
from hybridjit.frontend.parse import parse_text
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import Buffer, Const, Expr, Load, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Evaluate, For, Let, Seq, Stmt, Store, seq
from hybridjit.ir.visit import substitute, walk
from hybridjit.lowering.check_bounds import check_bounds
from tests.frontend.from_text import script_from_text
from tests.support.rows import in_each

# -- functions whose indices are not checked -------------------------------------------------------


def loop_of(body: str) -> tuple[PrimFunc, For]:
    """The loop over j of a function with the statements `body`."""
    lines = [f"    {line}\n" for line in body.split("\n")]
    script: Any = script_from_text("def f(a, b, n):\n" + "".join(lines), {})
    func = script.prim_func(hj.f64["m", 32], hj.f64[32], 3)
    loops = [node for node in walk(func.body) if isinstance(node, For) and node.var.name == "j"]
    return func, loops[0]


@pytest.mark.parametrize(
    "body",
    [
        "for j in range(32):\n    b[j] = 2 * b[j]",
        "for j in range(16):\n    b[2 * j + 1] = b[2 * j + 1] + a[0, j]",
        "for j in range(15):\n    b[2 * j + 1] = b[2 * j]",
        "for i in range(a.shape[0]):\n    for j in range(32):\n        if b[j] > 0:\n"
        "            a[i, j] += b[j]",
        "for j in range(4):\n    for i in range(8):\n        a[j, 8 + i] = 1",
        "for j in range(4):\n    for i in range(8):\n        b[8 * j + i] = 1",
        "for j in range(0, 32, 8):\n    for i in range(j, j + 8):\n        b[i] = 1",
        "for j in range(32):\n    x = b[j]\n    x += 1\n    b[j] = x",
        "for j in range(31, -1, -1):\n    b[j] = 1",
        "for j in range(32):\n    if j > 4:\n        b[j - 5] = 1",
        "for j in range(16):\n    b[j] = b[31 - j]",
        "for j in range(32):\n    while b[j] > 0:\n        b[j] -= 1",
    ],
)
def test_elements_of_their_own(body: str) -> None:
    func, loop = loop_of(body)
    around = scopes_of_loops(func.body)[loop.var]
    assert Independence.at(func, around).prove_independent([loop], loop.body)


@pytest.mark.parametrize(
    "body",
    [
        "for j in range(31):\n    b[j] = b[j + 1]",
        "for j in range(32):\n    b[0] += a[0, j]",
        "for j in range(32):\n    b[j - 5] = 1",  # b[-5] is b[27]
        "for j in range(n, 32):\n    b[j] = 1",  # n may be negative
        "for j in range(4):\n    for i in range(4):\n        b[i + j] = 1",
        "for j in range(4):\n    for i in range(9):\n        b[8 * j + i] = 1",
        "for j in range(0, 32, 8):\n    for i in range(j, j + 9):\n        b[i] = 1",
        "for j in range(32):\n    k = 31 - j\n    b[j] = b[k]",
        "for j in range(32):\n    if j > 3:\n        b[j - 5] = 1",
        "for j in range(32):\n    b[int(a[0, j])] = 1",
        "for j in range(32):\n    print(j)",
    ],
)
def test_not_seen(body: str) -> None:
    func, loop = loop_of(body)
    around = scopes_of_loops(func.body)[loop.var]
    assert not Independence.at(func, around).prove_independent([loop], loop.body)


def test_loops_of_a_statement_that_is_no_function_yet() -> None:
    func, loop = loop_of("for j in range(32):\n    b[j] = 2 * b[j]")
    assert LoopProofs(func.body).prove_independent(loop)


# -- functions whose indices are checked -----------------------------------------------------------

HEAD = "def f(a: int64[8, 8], b: int64[8]):\n    for i in range(8):\n        for j in range(8):\n"


BY_ROWS = """
def f(a: int64["n", "m"], b: int64["k"]):
    for i in range(a.shape[0]):
        for j in range({}):
            {}
"""


@pytest.mark.parametrize(
    ("stop", "store", "is_independent"),
    [
        ("a.shape[1]", "b[i * a.shape[1] + j] = a[i, j]", True),
        ("a.shape[1]", "b[j + a.shape[1] * i] = a[i, j]", False),  # as nobody writes it
        ("a.shape[1]", "b[i * a.shape[1] + j] = b[i * a.shape[1] + j] + 1", True),
        ("a.shape[1]", "b[i * a.shape[1] + j] = b[j]", False),
        ("a.shape[1] + 1", "b[i * a.shape[1] + j] = 1", False),
        ("a.shape[0]", "b[i * a.shape[1] + j] = 1", False),
        ("a.shape[1]", "b[i * a.shape[0] + j] = 1", False),
        ("1, a.shape[1]", "b[i * a.shape[1] + j] = 1", False),
        ("a.shape[1]", "b[(i - 1) * a.shape[1] + j] = 1", False),  # the first row is the last one
    ],
)
def test_elements_that_are_counted_by_rows(stop: str, store: str, is_independent: bool) -> None:
    func = check_bounds(lower_blocks(parse_text(BY_ROWS.format(stop, store))))
    rows = next(node for node in walk(func.body) if isinstance(node, For))
    assert Independence.at(func).prove_independent([rows], rows.body) == is_independent


def nest_of(store: str) -> tuple[PrimFunc, list[For]]:
    func = check_bounds(lower_blocks(parse_text(f"{HEAD}            {store}\n")))
    return func, [node for node in walk(func.body) if isinstance(node, For)]


@pytest.mark.parametrize(
    ("store", "is_independent"),
    [
        ("a[i, j] = a[i, j] + b[j]", True),
        ("a[j, i] = b[i]", True),
        ("a[i, 0] = b[j]", False),
        ("a[i, j] = a[j, i]", False),
        ("b[j] = a[i, j]", False),
    ],
)
def test_independent(store: str, is_independent: bool) -> None:
    func, loops = nest_of(store)
    assert Independence.at(func).prove_independent(loops, loops[-1].body) is is_independent


def test_what_bounds_read_may_not_change() -> None:
    func, (outer, inner) = nest_of("a[i, j] = 1")
    buffer = func.buffers[0]
    moving = dataclasses.replace(inner, stop=Load(buffer, (Const(3), Const(3))))
    assert not Independence.at(func).prove_independent([outer, moving], inner.body)


@pytest.mark.parametrize(
    ("store", "is_kept"),
    [
        ("a[i, j] = a[i, j] + b[j]", True),
        ("b[i] = b[i] + a[i, j]", True),
        ("if i > 0 and j > 0:\n                a[i, j] = a[i - 1, j - 1]", True),
        ("if i > 0 and j < 7:\n                a[i, j] = a[i - 1, j + 1]", False),
        ("a[i, 0] = b[j]", True),
        ("a[j, i] = a[i, j]", False),
        ("b[0] = b[0] + a[i, j]", False),
    ],
)
def test_reordered(store: str, is_kept: bool) -> None:
    func, (outer, inner) = nest_of(store)
    independence = Independence.at(func)
    assert independence.prove_reordered([outer, inner], [inner, outer], inner.body) is is_kept


def test_an_error_comes_first_in_one_order_only() -> None:
    func, (outer, inner) = nest_of("assert b[j] > a[i, j]")
    assert not Independence.at(func).prove_reordered([outer, inner], [inner, outer], inner.body)


# -- one access in all iterations ------------------------------------------------------------------

i, j, x, outside = Var("i"), Var("j"), Var("x"), Var("outside")


def prove_distinct(loop: For, indices: tuple[Expr, ...]) -> bool:
    """Whether the elements at `indices`, in the innermost loop, differ between iterations."""
    buffer = Buffer("c", INT64, (Const(1000),) * len(indices))
    store = Store(buffer, indices, Const(0))
    inner = For(loop.var, loop.start, loop.stop, loop.step, _innermost(loop.body, store))
    return Independence.within(Facts(), (), is_checked=True).prove_distinct(inner, store)


def _innermost(body: Stmt, store: Store) -> Stmt:
    match body:
        case For():
            return dataclasses.replace(body, body=_innermost(body.body, store))
        case Seq(stmts):
            return seq(*stmts[:-1], _innermost(stmts[-1], store))
        case _:
            return store


def nest(inner: int, step: int = 1, value: Expr | None = None) -> For:
    """for i in range(0, 12, step): for j in range(inner): x = value"""
    body = Seq((Let(x, value if value is not None else i + j), Evaluate(x)))
    inside = For(j, Const(0), Const(inner), Const(1), body)
    return For(i, Const(0), Const(12), Const(step), inside)


@pytest.mark.parametrize(
    "index",
    [i, -i, i + outside, i * 4 + j, j - i * 4, i * 5 + j, outside * 3 - i * 4 - j],
    ids=str,
)
def test_proved(index: Expr) -> None:
    assert prove_distinct(nest(4), (index,))
    assert prove_distinct(nest(4), (j, index))


@pytest.mark.parametrize(
    "index", [j, outside, i * 3 + j, i // 2, i % 5, i * i, Const(3), i - i], ids=str
)
def test_not_proved(index: Expr) -> None:
    assert not prove_distinct(nest(4), (index,))
    assert not prove_distinct(nest(4), (index, outside))


def test_names_are_looked_through() -> None:
    assert prove_distinct(nest(4, value=i * 4 + j), (x,))
    assert not prove_distinct(nest(4, value=i * 4 + j * 2), (x,))
    assert not prove_distinct(nest(4, value=i * i), (x,))


@in_each("step", [1, 2, 3])
@pytest.mark.parametrize("inner", range(1, 7))
@in_each("scale", range(-6, 7))
def test_agrees_with_all_iterations(scale: int, inner: int, step: int) -> None:
    touched = [{scale * a + b for b in range(inner)} for a in range(0, 12, step)]
    is_distinct = sum(map(len, touched)) == len(set[int]().union(*touched))
    assert prove_distinct(nest(inner, step), (i * scale + j,)) == is_distinct


def test_unknown_ranges_are_not_trusted() -> None:
    loop = For(i, Const(0), Const(9), Const(1), For(j, Const(0), outside, Const(1), Evaluate(j)))
    assert not prove_distinct(loop, (i * 4 + j,))
    shifted = For(j, outside, outside + 4, Const(1), Evaluate(j))
    loop = For(i, Const(0), Const(9), Const(1), shifted)
    assert prove_distinct(loop, (i * 4 + j,))


def test_ranges_that_move_with_the_loop_count_twice() -> None:
    """4 * i - j with j in range(i, i + 4) is 0 for i = 0 and for i = 1; 5 * i - j never is."""
    moving = For(j, i, i + 4, Const(1), Evaluate(j))
    assert not prove_distinct(For(i, Const(0), Const(9), Const(1), moving), (i * 4 - j,))
    assert prove_distinct(For(i, Const(0), Const(9), Const(1), moving), (i * 5 - j,))
    named = Seq((Let(x, i + 1), For(j, x, x + 4, Const(1), Evaluate(j))))
    assert not prove_distinct(For(i, Const(0), Const(9), Const(1), named), (i * 4 - j,))


def test_unknown_steps_are_not_trusted() -> None:
    loop = For(i, Const(0), Const(9), outside, Evaluate(i))
    assert not prove_distinct(loop, (i,))


def test_indices_that_wrap_around_are_not_trusted() -> None:
    """8 * i is 0 modulo 2^64 for i = 0 and for i = 2^61."""
    loop = For(i, Const(0), Const((1 << 62) + 1), Const(1 << 61), Evaluate(i))
    assert not prove_distinct(loop, (i * 8,))
    assert prove_distinct(loop, (i * 3,))


# -- in which order --------------------------------------------------------------------------------


def order_of(ours: tuple[Expr, ...], theirs: tuple[Expr, ...], loops: list[For]) -> Order:
    """When a store at `ours` may run, seen from a load at `theirs`."""
    buffer = Buffer("c", INT64, (Const(1000),) * len(ours))
    scope = tuple(loops)
    store, load = Store(buffer, ours, Const(0)), Load(buffer, theirs)
    independence = Independence.within(Facts(), (), is_checked=True)
    return independence.meet(Access(store, scope), Access(load, scope), loops).order()


LOOPS = [
    For(i, Const(0), Const(12), Const(1), Evaluate(i)),
    For(j, Const(0), Const(4), Const(1), Evaluate(j)),
]


@pytest.mark.parametrize(
    ("ours", "theirs", "order"),
    [
        ((i, j), (i, j), Order.SAME),
        ((i, j), (i - 1, j), Order.BEFORE),
        ((i, j), (i + 1, j - 3), Order.AFTER),
        ((i, j), (i, j + 1), Order.AFTER),
        ((i, j), (i, j + 4), Order.NEVER),
        ((i * 2, j), (i * 2 + 1, j), Order.NEVER),
        ((i * 4 + j,), (i * 4 + j,), Order.SAME),
        ((i * 4 + j,), (i * 4 + j - 4,), Order.BEFORE),
        ((i, Const(0)), (i, j), Order.ANY),
        ((i,), (outside,), Order.ANY),
    ],
)
def test_order(ours: tuple[Expr, ...], theirs: tuple[Expr, ...], order: Order) -> None:
    assert order_of(ours, theirs, LOOPS) is order


def test_order_of_loops_that_count_down() -> None:
    down = For(i, Const(11), Const(-1), Const(-1), Evaluate(i))
    assert order_of((i,), (i - 1,), [down]) is Order.AFTER


@pytest.mark.parametrize("steps", list(product((1, 2, -1, -3), (1, 2))))
@pytest.mark.parametrize(
    ("a", "b"), [((1, 0, 0), (1, 0, 1)), ((2, 1, 0), (2, 1, 2)), ((4, -1, 3), (4, -1, 0))]
)
def test_orders_are_those_of_all_iterations(
    steps: tuple[int, int], a: tuple[int, int, int], b: tuple[int, int, int]
) -> None:
    ranges = [range(0, 12, s) if s > 0 else range(11, -1, s) for s in steps]
    loops = [
        For(var, Const(r.start), Const(r.stop), Const(r.step), Evaluate(var))
        for var, r in zip((i, j), ranges, strict=True)
    ]
    form = [((p * i + q * j + r),) for p, q, r in (a, b)]
    proved = order_of(form[0], form[1], loops)
    points = list(enumerate(product(*ranges)))
    for (n, u), (m, v) in product(points, points):
        if a[0] * u[0] + a[1] * u[1] + a[2] == b[0] * v[0] + b[1] * v[1] + b[2]:
            seen = Order.SAME if n == m else Order.BEFORE if n < m else Order.AFTER
            assert seen in proved


def test_accesses_know_their_conditions() -> None:
    func, _ = nest_of("if i > 3:\n                b[j] = a[i, j]\n            else:\n"
                      "                b[j] = 1")  # fmt: skip
    found = [access for access in find_accesses(func.body) if access.buffer.name == "b"]
    conditions = [[str(item) for item in a.scope if isinstance(item, Expr)] for a in found]
    assert len(conditions) == 2
    assert [len(each) for each in conditions] == [1, 1]
    assert conditions[0] != conditions[1]


# -- against all iterations of random nests --------------------------------------------------------


def _linear(drawn: Random, *variables: Var) -> Expr:
    """A small sum over some of the variables."""
    total: Expr = Const(drawn.choice([-2, 0, 0, 1, 3]))
    for var in variables:
        factor = drawn.choice([-2, -1, 0, 1, 1, 2, 4])
        total = total + var * factor if factor else total
    return total


def _random_nest(drawn: Random) -> tuple[list[For], Store, Load]:
    """Two loops, the inner one of which may move with the outer, and two accesses in them."""
    step = drawn.choice([1, 2, -1])
    ends = (Const(5), Const(-1)) if step < 0 else (Const(0), Const(6))
    start = drawn.choice([Const(0), Const(2), i, i * 2])
    inner = For(j, start, start + drawn.choice([1, 3, 4]), Const(1), Evaluate(j))
    axes = drawn.choice([1, 2])
    buffer = Buffer("c", INT64, (Const(9),) * axes)
    places = [tuple(_linear(drawn, i, j) for _ in range(axes)) for _ in range(2)]
    if drawn.random() < 0.5:
        places[1] = tuple(index + drawn.choice([0, 0, 1, -1]) for index in places[0])
    loops = [For(i, *ends, Const(step), inner), inner]
    return loops, Store(buffer, places[0], Const(0)), Load(buffer, places[1])


def _touched(loops: list[For], indices: tuple[Expr, ...], *, wraps: bool) -> list[tuple[int, ...]]:
    """The element of every iteration, in order; one that is outside touches nothing."""
    found: list[tuple[int, ...]] = []
    outer, inner = loops
    for a in range(*(_value(bound, {}) for bound in (outer.start, outer.stop, outer.step))):
        known = {i: a}
        for b in range(_value(inner.start, known), _value(inner.stop, known)):
            place = [_value(index, {i: a, j: b}) for index in indices]
            if wraps:
                place = [at + 9 if at < 0 else at for at in place]
            found.append(tuple(place) if all(0 <= at < 9 for at in place) else (-1,))
    return found


def _value(expr: Expr, known: dict[Var, int]) -> int:
    values: dict[Var, Expr] = {var: Const(number) for var, number in known.items()}
    value = simplify(substitute(expr, values))
    assert isinstance(value, Const)
    return int(value.value.real)


@pytest.mark.parametrize("is_checked", [True, False])
@in_each("seed", range(150))
def test_proofs_hold_in_all_iterations(seed: int, is_checked: bool) -> None:
    drawn = Random(seed)
    loops, store, load = _random_nest(drawn)
    independence = Independence.within(Facts(), (), is_checked=is_checked)
    ours, theirs = Access(store, tuple(loops)), Access(load, tuple(loops))
    order = independence.meet(ours, theirs, loops).order()
    never = independence.prove_never_meet(ours, theirs)
    wraps = not is_checked
    stored, loaded = (_touched(loops, a.indices, wraps=wraps) for a in (store, load))
    for (n, x), (m, y) in product(enumerate(stored), enumerate(loaded)):
        if x == y != (-1,):
            seen = Order.SAME if n == m else Order.BEFORE if n < m else Order.AFTER
            assert seen in order
            assert not never
