"""Two products with an exponential between them, C = A B, D = exp(C), F = D E: a story in steps.

    OPENBLAS_NUM_THREADS=1 python examples/te/story.py 1        # M 1024, K 2048, L 1024, N 3072
    OPENBLAS_NUM_THREADS=1 python examples/te/story.py 1 60s    # and two searches of a minute

What is computed stays the same from the first step to the last: each is checked when it is taken,
and its result against NumPy.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from _measure import compare

import hybridjit as hj
from hybridjit import hybrid, te

Made = tuple[Any, list[te.Tensor]]  # a schedule, and the parameters of its function


class Story:
    """The tensors, at 1 / `part` of their sizes, and schedules for them."""

    def __init__(self, part: int) -> None:
        self.M, self.K, self.L, self.N = (size // part for size in (1024, 2048, 1024, 3072))

    def tensors(self) -> list[te.Tensor]:
        A = te.placeholder((self.M, self.K), "float32", "A")
        B = te.placeholder((self.K, self.L), "float32", "B")
        E = te.placeholder((self.L, self.N), "float32", "E")
        k, x = te.reduce_axis((0, self.K), "k"), te.reduce_axis((0, self.L), "x")
        C = te.compute((self.M, self.L), lambda m, n: te.sum(A[m, k] * B[k, n], axis=k), "C")
        D = te.compute((self.M, self.L), lambda p, q: te.exp(C[p, q]), "D")
        F = te.compute((self.M, self.N), lambda i, j: te.sum(D[i, x] * E[x, j], axis=x), "F")
        return [A, B, E, C, D, F]

    def opened(self) -> tuple[Any, list[te.Tensor], list[te.Tensor]]:
        """A schedule, the parameters of the function, and the two products."""
        A, B, E, C, _, F = self.tensors()
        return te.create_schedule(F.op), [A, B, E, F], [C, F]

    # -- the first part: a schedule for each tensor ------------------------------------------------

    def without_steps(self) -> Made:
        """What the compiler makes of the tensors by itself."""
        s, params, _ = self.opened()
        return s, params

    def in_any_order(self) -> Made:
        """The same, where sums may be added in another order, and products rounded with them."""
        A, B, E, _, _, F = self.tensors()
        return te.create_schedule(F.op, fastmath={"reassoc", "contract"}), [A, B, E, F]

    def reordered(self) -> Made:
        """Along the rows, not down the columns."""
        s, params, products = self.opened()
        for T in products:
            s[T].reorder(T.op.axis[0], T.op.reduce_axis[0], T.op.axis[1])
        return s, params

    def in_tiles(self) -> Made:
        """Tiles, so that what is read stays in the cache."""
        s, params, _ = self.tiled(8)
        return s, params

    def in_lanes(self) -> Made:
        """Larger tiles, whose columns are lanes."""
        s, params, columns = self.tiled(64)
        for T, column in columns.items():
            s[T].vectorize(column)
        return s, params

    def tiled(self, size: int) -> tuple[Any, list[te.Tensor], dict[te.Tensor, Any]]:
        """Both products in tiles, and the loop over the columns of each."""
        s, params, products = self.opened()
        columns: dict[te.Tensor, Any] = {}
        for T in products:
            xo, yo, xi, columns[T] = s[T].tile(*T.op.axis, size, size)
            ro, ri = s[T].split(T.op.reduce_axis[0], factor=size)
            s[T].reorder(xo, yo, ro, xi, ri, columns[T])
        return s, params, columns

    # -- the second part: a schedule for the program, across its tensors ---------------------------

    def merged(self) -> hj.Schedule:
        """The exponentials of a tile as soon as it is there: C shrinks to a tile."""
        A, B, E, _, _, F = self.tensors()
        s = hj.Schedule(te.create_prim_func([A, B, E, F]))
        (m, n, k), (p, q) = s.loops("C"), s.loops("D")
        (mo, mi), (no, ni) = s.split(m, factor=16), s.split(n, factor=64)
        s.reorder(mo, no, k, mi, ni)
        (po, pi), (qo, qi) = s.split(p, factor=16), s.split(q, factor=64)
        s.reorder(po, qo, pi, qi)
        s.merge(no, qo)  # the loops over rows of tiles, mo and po, are merged first
        s.vectorize(ni)
        s.vectorize(qi)
        return s


def template(story: Story, knobs: Any) -> Made:
    """Numbers that are left to a search."""
    s, params, products = story.opened()
    for T in products:
        _, xi = knobs.sample_perfect_tile(loop=T.op.axis[0], n=2)
        yi = knobs.sample_categorical([16, 32, 64, 128])
        xo, yo, x, y = s[T].tile(*T.op.axis, xi, yi)
        ro, ri = s[T].split(T.op.reduce_axis[0], factor=knobs.sample_categorical([8, 32, 128]))
        s[T].reorder(xo, yo, ro, ri, x, y)
        s[T].vectorize(y)
    return s, params


@hybrid.script
def chain(a, b, e):
    return np.exp(a @ b) @ e


def main(part: int = 8, budget: str | None = None) -> None:
    story = Story(part)
    generator = np.random.default_rng(0)
    shapes = (story.M, story.K), (story.K, story.L), (story.L, story.N)
    a, b, e = (generator.standard_normal(shape).astype(np.float32) / 40 for shape in shapes)
    expected, found = np.exp(a @ b) @ e, np.empty((story.M, story.N), np.float32)
    runs: dict[str, Callable[[], object]] = {}

    def check(name: str, run: Callable[..., object]) -> None:
        found[:] = 0
        run(a, b, e, found)
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)
        runs[name] = lambda: run(a, b, e, found)

    steps = (story.without_steps, story.reordered, story.in_tiles, story.in_lanes)
    for make in (*steps, story.in_any_order):
        check(make.__name__, hj.build(*make()))
    schedule = story.merged()
    print(schedule.trace)
    check("merged", hj.build(schedule))
    if budget is not None:
        tuned = hj.tune(lambda knobs: template(story, knobs), (a, b, e, found), budget=budget)
        print(tuned.tuned)
        check("tuned", tuned)
    runs["as a script"] = lambda: chain(a, b, e)
    if budget is not None:
        fast = chain.tune(a, b, e, budget=budget)
        print(fast.tuned)
        runs["the script, tuned"] = lambda: fast(a, b, e)
    runs["NumPy"] = lambda: np.exp(a @ b) @ e
    compare(runs, rounds=5 if part < 4 else 20)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
