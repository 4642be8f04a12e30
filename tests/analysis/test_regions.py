"""Regions against brute force: run every iteration, note every index."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

import pytest

from hybridjit.analysis.instances import infer_instances
from hybridjit.analysis.regions import AxisRange, Region, box_around, touched_elements
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import And, Buffer, Const, Expr, Ge, Load, Lt, Max, Min, Select, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.printer import format_expr
from hybridjit.ir.stmt import For, If, Stmt, Store

N, M = Var("n"), Var("m")
DATA = Buffer("data", INT64, (N, M))
RESULT = Buffer("result", INT64, (Const(1),))


def read(indices: Sequence[Expr]) -> Stmt:
    return Store(RESULT, (Const(0),), Load(DATA, tuple(indices)))


def loop(var: Var, start: Expr | int, stop: Expr | int, body: Stmt, step: int = 1) -> For:
    first, end = (Const(x) if isinstance(x, int) else x for x in (start, stop))
    return For(var, first, end, Const(step), body)


def region_of(outer: For) -> Region:
    """What one iteration of `outer` reads of DATA."""
    func = PrimFunc("program", (DATA, RESULT), outer)
    part = infer_instances(func, outer.body)
    touched = touched_elements(part, DATA)
    assert touched is not None
    return box_around(part, DATA, touched)


def shown(region: Region) -> list[tuple[str, str, str, int | None]]:
    return [
        (format_expr(axis.start), format_expr(axis.stop), format_expr(axis.extent), axis.limit)
        for axis in region.axes
    ]


def test_a_choice_in_an_expression_guards_what_it_reads():
    """Without the condition, row - 1 would be -1 for the first row, which is the last one."""
    o, i = Var("o"), Var("i")
    row = o * 32 + i
    above = Select(Ge(row, Const(1)), Load(DATA, (row - 1, Const(0))), Const(0))
    body = If(Lt(row, N), Store(RESULT, (Const(0),), above))

    found = shown(region_of(loop(o, 0, N, loop(i, 0, 32, body))))

    assert found[0] == ("max(o * 32 - 1, 0)", "min(o * 32 + 31, n - 1)", found[0][2], 32)


def test_stencil_bounds_are_min_and_max():
    o, i = Var("o"), Var("i")
    row = o * 32 + i
    guarded = If(And(Ge(row, Const(1)), Lt(row, N - 1)), read([row + 1, Const(0)]))

    found = shown(region_of(loop(o, 0, N, loop(i, 0, 32, guarded))))

    assert found[0] == ("max(o * 32 + 1, 2)", "min(o * 32 + 33, n)", found[0][2], 32)


def test_an_index_that_is_not_affine_takes_the_axis():
    o, i = Var("o"), Var("i")

    found = region_of(loop(o, 0, 8, loop(i, 0, 4, read([i * i, o]))))

    assert [axis.limit for axis in found.axes] == [None, 1]
    assert shown(found)[0][:2] == ("0", "n")


def test_a_buffer_that_is_not_touched_has_no_region():
    body = Store(RESULT, (Const(0),), Const(1))
    func = PrimFunc("program", (DATA, RESULT), body)

    part = infer_instances(func, body)
    assert touched_elements(part, DATA) is None
    assert touched_elements(part, RESULT, writes=False) is None


# Random programs


def evaluate(expr: Expr, values: Mapping[str, int]) -> int:
    return int(eval(format_expr(expr), {"min": min, "max": max}, dict(values)))


def touched(stmt: Stmt, values: dict[str, int]) -> Iterator[tuple[int, int]]:
    """Every element of DATA that `stmt` reads, by running it."""
    match stmt:
        case For(var, start, stop, step, body):
            for value in range(*(evaluate(bound, values) for bound in (start, stop, step))):
                yield from touched(body, {**values, var.name: value})
        case If(cond, then):
            if evaluate(cond, values):
                yield from touched(then, values)
        case Store(value=Load(_, (row, column))):
            element = evaluate(row, values), evaluate(column, values)
            sizes = values["n"], values["m"]
            if all(-size <= index < size for index, size in zip(element, sizes, strict=True)):
                yield element[0] % sizes[0], element[1] % sizes[1]
        case _:
            raise AssertionError(type(stmt))


def random_index(rng: random.Random, variables: Sequence[Var]) -> Expr:
    index: Expr = Const(rng.randint(-2, 3))
    for var in variables:
        if rng.random() < 0.6:
            index = index + var * rng.choice([-2, -1, 1, 1, 1, 2, 3])
    if rng.random() < 0.3:
        index = index // rng.choice([2, 3])
    if rng.random() < 0.2:
        index = index % rng.choice([2, 5])
    if rng.random() < 0.2:
        index = rng.choice([Min, Max])(index, N - 1)
    return index


def random_program(rng: random.Random) -> For:
    o, i, j = Var("o"), Var("i"), Var("j")
    body: Stmt = read([random_index(rng, (o, i, j)), random_index(rng, (o, i, j))])
    if rng.random() < 0.5:
        body = If(Lt(random_index(rng, (o, i, j)), rng.choice([N, M, Const(4)])), body)
    inner = loop(j, rng.choice([0, 1, i]), rng.choice([3, N, o + 2]), body, rng.choice([1, 2]))
    middle = rng.choice([loop(i, 0, 4, inner), loop(i, 3, -1, inner, -1), loop(i, o, N, inner)])
    return loop(o, 0, rng.choice([4, N]), middle)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(30))
def test_random_regions_are_the_boxes_around_what_is_touched(seed: int):
    rng = random.Random(seed)
    program = random_program(rng)
    region = region_of(program)
    for n, m in ((1, 1), (4, 3), (7, 5)):
        outer = {"n": n, "m": m}
        for o in range(evaluate(program.start, outer), evaluate(program.stop, outer)):
            values = {**outer, "o": o}
            elements = list(touched(program.body, values))
            for axis, found in enumerate(region.axes):
                if elements:
                    check_axis(found, [element[axis] for element in elements], values)


def check_axis(found: AxisRange, indices: Sequence[int], values: Mapping[str, int]) -> None:
    if found.is_whole:  # isl gave up
        return
    start, stop = evaluate(found.start, values), evaluate(found.stop, values)
    assert (start, stop) == (min(indices), max(indices) + 1)
    assert evaluate(found.extent, values) == stop - start
    assert found.limit is None or found.limit >= stop - start
