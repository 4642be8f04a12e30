"""Random graphs and operators of stdlib through te.gradient, natively, against differences.

See tests/campaigns.
"""

from __future__ import annotations

import random
import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy

import hybridjit as hj
from hybridjit import config, te
from hybridjit.ir.expr import Var
from tests.campaigns.drawn import Drawn
from tests.gradients.differences import compare, slopes
from tests.gradients.functions import Function, Gradient, make_function, make_gradient
from tests.graphs.check import OTHER_SIZES, ScheduledGraph, Subject, choose_moves
from tests.graphs.generate import RandomGraph, shape_at
from tests.graphs.made import Array, Made
from tests.nests.check import native_code

np: Any = numpy
# One gradient in so many is of float32, every second one has a schedule.
NARROW_EVERY = 5
SCHEDULED_EVERY = 2
# Elements of an input whose slopes are looked at.
MAX_ELEMENTS = 60
# How far off a gradient may be, of the numbers that it is the sum of.
TOLERANCES = {"float64": 1e-7, "float32": 2e-3}
RANGES = ((-2.0, 2.0), (0.25, 2.5), (-0.9, 0.9))
NEAR = 0.2
_SINGULAR = re.compile(r"(sqrt|log\w*|cbrt|asin|acosh?|atanh|hypot)\(|\*\*|/")


def try_number(seed: int, number: int) -> Drawn:
    """One function: its gradient, and perhaps a schedule of it, at some sizes."""
    label = f"{seed}/{number}"
    dtype = "float32" if number % NARROW_EVERY == 3 else "float64"
    drawn = Drawn()
    drawn.counts["programs"] += 1
    choose = random.Random(f"{label} values")
    with config.scope(cache_enabled=False, verify=False):
        function = make_function(label, number, "float64")
        drawn.count("kinds", function.kinds)
        narrow = make_function(label, number, dtype) if dtype == "float32" else function
        gradient = make_gradient(narrow, choose)
        graph = _graph_of(gradient)
        run, shown = _runner(drawn, graph, choose, number)
        try:
            module = hj.build(function.args)
            for sizes in _sizes(graph, choose):
                _Trial(function, gradient, module, sizes, choose).run(drawn, run)
            drawn.counts["native"] += 1
        except Exception:
            drawn.failures.append(f"{traceback.format_exc(limit=-3)}\n{function.kinds}\n{shown}")
    return drawn


def _graph_of(gradient: Gradient) -> RandomGraph:
    head = [] if gradient.head is None else [gradient.head]
    made = [*gradient.function.given, *head, *gradient.results]
    return RandomGraph(made, gradient.function.kinds, gradient.results, made)


Run = Callable[[Sequence[Array]], None]


def _runner(
    drawn: Drawn, graph: RandomGraph, choose: random.Random, number: int
) -> tuple[Run, object]:
    """Native code of the gradients, as they are or under a schedule, and what it is made of."""
    subject = Subject(choose, graph)
    if number % SCHEDULED_EVERY == 0:
        found = ScheduledGraph(subject)
        found.take(choose_moves(choose))
        drawn.count("accepted", [move.kind for move in found.made])
        drawn.count("refused", [move.kind for move in found.refused])
        if found.func is not None:
            code = native_code(
                found.func, [np.zeros(item.sizes, item.dtype) for item in graph.made]
            )
            return lambda arrays: _ignored(code(arrays)), found
    module = hj.build(graph.args)
    return lambda arrays: _ignored(module(*arrays)), subject.plain


def _ignored(result: object) -> None:
    del result


def _sizes(graph: RandomGraph, choose: random.Random) -> list[dict[str, int]]:
    """Sizes to run at, by name: those that the graph was made for, and others."""
    usual = {
        extent.name: size
        for item in graph.made
        for extent, size in zip(item.tensor.buffer.shape, item.sizes, strict=True)
        if isinstance(extent, Var)
    }
    others = [{name: choose.choice(OTHER_SIZES) for name in usual} for _ in range(2)]
    return [usual, *others] if usual else [usual]


@dataclass
class _Trial:
    """A gradient at some sizes, and the function, in float64, whose differences it is held against.

    `module` computes the function.
    """

    function: Function
    gradient: Gradient
    module: hj.Module
    sizes: Mapping[str, int]
    choose: random.Random

    def run(self, drawn: Drawn, code: Run) -> None:
        """Fail unless the gradients are what differences are."""
        gradient, given = self.gradient, self.gradient.function.given
        items = [*given, *([] if gradient.head is None else [gradient.head])]
        shapes = [shape_at(item, self.sizes) for item in (*items, *gradient.results)]
        if any(size < 0 for shape in shapes for size in shape):
            return
        values = [self._values(item) for item in items]
        wide = [array.astype("f8") if array.dtype.kind == "f" else array for array in values]
        evaluate = self._evaluator()
        try:
            evaluate(wide[: len(given)])
        except (IndexError, ValueError, ZeroDivisionError):
            return  # the function is not defined at these sizes
        results = [np.full(shape_at(r, self.sizes), np.nan, r.dtype) for r in gradient.results]
        code([*(array.copy() for array in values), *results])
        drawn.counts["native calls"] += 1
        drawn.count_arrays(values)
        heads = self._heads(wide)
        for item, result in zip(gradient.function.wanted, results, strict=True):
            place = given.index(item)
            found = result.astype("f8").reshape(len(heads), *values[place].shape)
            for slope in slopes(evaluate, wide[: len(given)], place, self.choose, MAX_ELEMENTS):
                tolerance = TOLERANCES[result.dtype.name]
                known = compare(slope, heads, found, tolerance, is_singular=self.is_singular)
                drawn.count("slopes", ["known" if known else "at a kink, or not a number"])

    @cached_property
    def is_singular(self) -> bool:
        """Whether the function calls one that has infinite slopes, or divides."""
        return _SINGULAR.search(str(te.create_prim_func(self.function.args))) is not None

    def _values(self, item: Made) -> Array:
        known = self.gradient.function.known.get(item)
        generator = np.random.default_rng(self.choose.randrange(1 << 32))
        if known is not None and item not in self.gradient.function.wanted:
            return known
        if known is not None:  # near what the documentation shows, which is whole numbers often
            return (known + generator.uniform(-NEAR, NEAR, known.shape)).astype(item.dtype)
        low, high = self.choose.choice(RANGES)
        return generator.uniform(low, high, shape_at(item, self.sizes)).astype(item.dtype)

    def _evaluator(self) -> Callable[[Sequence[Array]], Array]:
        """The function itself, natively."""
        shape = shape_at(self.function.output, self.sizes)

        def evaluate(arrays: Sequence[Array]) -> Array:
            result = np.full(shape, np.nan)
            self.module(*arrays, result)
            return result

        return evaluate

    def _heads(self, wide: Sequence[Array]) -> Array:
        """What outputs are weighted with, one after the other."""
        shape = shape_at(self.function.output, self.sizes)
        count = int(np.prod(shape))
        if self.gradient.head is None:
            return np.eye(count).reshape(count, *shape)
        extra = wide[-1].ndim - len(shape)
        return wide[-1].reshape(int(np.prod(wide[-1].shape[:extra])), *shape)
