"""Scratch arrays that share memory, are made once, and are not filled with zeros for nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.analysis.lower_blocks import lower_blocks
from hybridjit.frontend.parse import parse_text
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, For
from hybridjit.ir.visit import walk_stmts
from hybridjit.lowering.plan_storage import plan_storage
from tests.support.array_results import assert_agree

N = 500  # 4000 bytes: not so small that arrays do not share


def planned(body: str, head: str = "a: float64[500], c: float64[500], n: int") -> PrimFunc:
    lines = "".join(f"    {line}\n" for line in body.strip("\n").splitlines())
    return plan_storage(lower_blocks(parse_text(f"def f({head}):\n{lines}")))


def arrays(func: PrimFunc) -> list[str]:
    stmts = [stmt for stmt in walk_stmts(func.body) if isinstance(stmt, Allocate)]
    return [stmt.buffer.name for stmt in stmts if not stmt.buffer.is_register]


def zeros(func: PrimFunc) -> list[str]:
    stmts = [stmt for stmt in walk_stmts(func.body) if isinstance(stmt, Allocate)]
    return [stmt.buffer.name for stmt in stmts if stmt.zero]


TWO = """
x = allocate((500,), "float64", "global", zero=False)
for i in range(500):
    x[i] = a[i] * 2.0
y = allocate((500,), "float64", "global", zero=False)
for i in range(500):
    y[i] = x[{read}] + 1.0
for i in range(500):
    c[i] = y[499 - i]{more}
"""


def test_an_array_takes_the_memory_of_the_one_it_is_computed_from():
    assert arrays(planned(TWO.format(read="i", more=""))) == ["x"]


def test_not_if_elements_are_read_after_they_would_be_overwritten():
    assert arrays(planned(TWO.format(read="499 - i", more=""))) == ["x", "y"]


def test_not_while_the_other_one_is_still_used():
    assert arrays(planned(TWO.format(read="i", more=" + x[i]"))) == ["x", "y"]


def test_an_array_that_is_used_no_more_gives_its_memory_away():
    func = planned("""
x = allocate((500,), "float64", "global", zero=False)
for i in range(500):
    x[i] = a[i] * 2.0
for i in range(500):
    c[i] = x[499 - i]
y = allocate((500,), "float64", "global", zero=False)
for i in range(500):
    y[i] = a[i] + 1.0
for i in range(500):
    a[i] = y[499 - i]
""")
    assert arrays(func) == ["x"]


@pytest.mark.parametrize("shape", ['(501,), "float64"', '(500,), "int64"', '(20,), "float64"'])
def test_other_types_and_shapes_do_not_share(shape: str):
    func = planned(f"""
x = allocate((500,), "float64", "global", zero=False)
for i in range(500):
    x[i] = a[i] * 2.0
for i in range(500):
    c[i] = x[499 - i]
y = allocate({shape}, "global", zero=False)
for i in range(20):
    y[i] = 1
for i in range(20):
    a[i] = y[19 - i] * 1.0
""")
    assert arrays(func) == ["x", "y"]


LOOP = """
for t in {loop}(n):
    x = allocate(({size},), "float64", "global", zero={zero})
    for i in range(499):
        x[i] = a[i] * 2.0
    for i in range(499):
        c[i] = x[498 - i] + c[i]
"""


def _first(func: PrimFunc) -> type[Any]:
    return type(next(s for s in walk_stmts(func.body) if isinstance(s, Allocate | For)))


def test_an_array_is_made_once_before_a_loop():
    assert _first(planned(LOOP.format(loop="range", size=500, zero=False))) is Allocate


@pytest.mark.parametrize(
    ("loop", "size", "zero"),
    [("range", "n", False), ("range", "500", True), ("range", "t + 500", False)],
    ids=["maybe negative", "zeros", "another size each time"],
)
def test_an_array_that_is_made_in_every_iteration(loop: str, size: str, zero: bool):
    assert _first(planned(LOOP.format(loop=loop, size=size, zero=zero))) is For


def test_iterations_that_run_at_once_have_arrays_of_their_own():
    func = planned("""
for t in parallel(4):
    x = allocate((500,), "float64", "global", zero=False)
    for i in range(500):
        x[i] = a[i] * 2.0
    for i in range(125):
        c[t * 125 + i] = x[499 - i]
""")
    assert _first(func) is For


FILLED = """
x = allocate((500,), "float64", "global")
for i in range({count}):
    {store}
for i in range(500):
    c[i] = x[499 - i]
"""


def test_what_is_written_as_a_whole_is_not_filled_with_zeros():
    assert zeros(planned(FILLED.format(count=500, store="x[i] = a[i]"))) == []


@pytest.mark.parametrize(
    ("count", "store"),
    [
        (499, "x[i] = a[i]"),
        (500, "x[i] = x[i] + a[i]"),
        (500, "x[0] = a[i]"),
        (500, "if a[i] > 0.0:\n        x[i] = a[i]"),
        (500, "x[i] = a[i]\n    if a[i] > 0.0:\n        break"),
        (500, "x[i] = a[i]\n    c[i] = x[499 - i]"),
    ],
    ids=["not all", "reads itself", "one element", "some", "left early", "reads what comes later"],
)
def test_what_is_not_written_as_a_whole_is_zero(count: int, store: str):
    assert zeros(planned(FILLED.format(count=count, store=store))) == ["x"]


def test_memory_is_shared_in_a_loop_over_time():
    """`x` and `z` are alive at once, `y` and `z` are not: two arrays, made before the loop."""

    @hybrid.script
    def kernel(a: Any, steps: int):
        for _ in range(steps):
            x = np.sin(a) + a[::-1]
            y = np.cos(x)[::-1] + x
            a[:] = y[::-1] * 0.5
            z = np.exp(-a) + np.exp(a[::-1])
            a += z[::-1] * 0.25 + z

    array = np.linspace(0, 1, N)
    assert_agree(kernel, [array, 3])
    lowered = kernel.inspect("lowered", array, 3)
    assert lowered.count("allocate(") < kernel.inspect("tir", array, 3).count("allocate(")
    assert lowered.index("allocate(") < lowered.index("for ")


ROWS = """
x = allocate((500,), "float64", "global", zero=False)
for i in range(500):
    x[i] = a[i] * 2.0
y = allocate((500,), "float64", "global", zero=False)
for i in range(500):
    y[i] = x[i] + 1.0
z = allocate((500,), "float64", "global", zero=False)
for i in range(500):
    {}
for i in range(500):
    c[i] = z[499 - i]
"""


@pytest.mark.parametrize(
    ("store", "left"),
    [
        ("z[i] = y[i] * 2.0", ["x"]),
        ("z[i] = y[499 - i]", ["x", "z"]),
        ("for k in range(3):\n        c[0] = c[0] + y[k]\n    z[i] = y[i]", ["x", "z"]),
        ("z[i] = 1.0\n    c[i] = y[i]", ["x", "z"]),
    ],
    ids=["element by element", "others", "others in a loop inside", "after the store"],
)
def test_memory_that_has_changed_hands_is_still_read(store: str, left: list[str]):
    """`y` lives in the memory of `x`: what `z` may overwrite is `y`."""
    assert arrays(planned(ROWS.format(store))) == left


def shares(a: Any) -> Any:
    n = a.shape[0]
    e = a @ a + 1
    p = np.empty((n, n), a.dtype)
    for i in range(n):
        for j in range(n):
            t = hybrid.allocate((n,), a.dtype)
            for k in range(n):
                t[i] += e[i, k]
            p[i, j] = e[i, j] / t[i]
    return p.sum(axis=1)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [1, 3, 12, 13, 16, 17, 33])
def test_rows_that_are_read_while_elements_are_written(size: int, dtype: str):
    a = np.random.default_rng(size).random((size, size)).astype(dtype)
    kernel: Any = hybrid.script(shares)
    np.testing.assert_allclose(kernel(a), np.ones(size), rtol=1e-5)


def test_an_array_that_nothing_uses_gives_no_memory_away():
    """It may live in that of another, which goes on to be used."""
    body = """
h = allocate((500,), "float64", "global", zero=False)
for i in range(500):
    h[i] = a[i] * 2.0
unused = allocate((500,), "float64", "global", zero=False)
w = allocate((500,), "float64", "global", zero=False)
for i in range(500):
    w[i] = a[i] * 3.0
for i in range(500):
    c[i] = h[499 - i] + w[i]
"""
    assert arrays(planned(body.strip())) == ["h", "w"]
