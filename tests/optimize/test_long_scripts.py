"""Scripts of many array statements: fusion takes time in proportion to their number."""

from __future__ import annotations

import cProfile
import pstats
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit.ir.expr import Expr
from hybridjit.ir.stmt import For
from hybridjit.ir.visit import children, walk, walk_stmts
from hybridjit.optimize.fuse import fuse_arrays, merge
from hybridjit.schedule.arrays import inline
from tests.frontend.from_text import script_from_text
from tests.support.array_results import assert_agree
from tests.support.optimized import optimized


def twice_used(n: int) -> list[str]:
    """Each array is used twice by the next one, and once by the one after that."""
    steps = [f"t{k} = t{k - 1} * a + t{k - 1} * b + t{k - 2}" for k in range(2, n)]
    return ["t0 = a + b", "t1 = a - b", *steps, f"return t{n - 1}"]


def used_once(n: int) -> list[str]:
    return ["t0 = a + b", *(f"t{k} = t{k - 1} * a + b" for k in range(1, n)), f"return t{n - 1}"]


def one_name(n: int) -> list[str]:
    return ["t = a + b", *["t = t * a + b"] * n, "return t"]


def updates(n: int) -> list[str]:
    return ["b *= a", "b += 0.25"] * (n // 2)


def state(n: int) -> list[str]:
    """Polynomials in what was computed before, as an equation of state has them."""
    random, names, lines = np.random.default_rng(n), ["a", "b"], list[str]()
    for k in range(n):
        x, y, z = (names[-1 - int(i)] for i in random.integers(0, min(15, len(names)), 3))
        lines.append(f"q{k} = (0.3 + {x} * (0.2 + {y} * (0.1 + 1e-3 * {z}))) * 0.5")
        names.append(f"q{k}")
    return [*lines, "return " + " + ".join(names[-10:])]


KINDS = [twice_used, used_once, one_name, updates, state]


def script_of(lines: list[str]) -> Any:
    return script_from_text("def f(a, b):\n" + "".join(f"    {line}\n" for line in lines))


def work(kind: Any, n: int, *shape: int) -> int:
    """How many functions are called to translate a script of `n` statements."""
    kernel = script_of(kind(n))
    profile = cProfile.Profile()
    profile.runcall(optimized, kernel, hj.f64[shape], hj.f64[shape])
    return pstats.Stats(profile).total_calls  # type: ignore[attr-defined]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("shape", [(40,), (6, 7)])
@pytest.mark.parametrize("kind", KINDS)
def test_three_times_the_statements_are_three_times_the_work(kind: Any, shape: Any) -> None:
    work(kind, 5, *shape)  # what is done once in a process
    assert work(kind, 48, *shape) < 5 * work(kind, 16, *shape)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("n", [6, 14, 50, 100])
@pytest.mark.parametrize("kind", KINDS)
def test_as_in_numpy(kind: Any, n: int) -> None:
    random = np.random.default_rng(n)
    assert_agree(script_of(kind(n)), [random.random(33) * 0.5, random.random(33) * 0.5])


def test_as_in_numpy_by_rows() -> None:
    random = np.random.default_rng(0)
    assert_agree(script_of(state(30)), [random.random((5, 19)), random.random((5, 19))])


def test_fused_loops_and_their_expressions_have_bounds() -> None:
    func = optimized(script_of(one_name(200)), hj.f64[40], hj.f64[40])
    loops = [stmt for stmt in walk_stmts(func.body) if isinstance(stmt, For)]
    assert 1 < len(loops) <= 200 // fuse_arrays.MOST_NESTS + 2
    assert max(sum(1 for _ in walk_stmts(loop)) for loop in loops) <= merge.MOST_STATEMENTS
    exprs = [node for node in walk(func.body) if isinstance(node, Expr)]
    assert max(map(depth, exprs)) <= inline.MOST_DEPTH


def depth(expr: Any) -> int:
    return 1 + max(map(depth, children(expr)), default=0)


def test_a_short_chain_is_one_loop() -> None:
    func = optimized(script_of(twice_used(14)), hj.f64[40], hj.f64[40])
    assert sum(isinstance(stmt, For) for stmt in walk_stmts(func.body)) == 1
