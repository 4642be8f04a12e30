"""Names for arrays: what a name that several assignments give an array stands for.

A name stands for one array at a time. Where the new array fits in the memory of the old one, and no
other name stands for that, it is stored there, so that branches and loops agree about what the name
means after them. Where they cannot, they are translated for each array on its own.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hybridjit.arith.ranges import constant
from hybridjit.errors import ParseError
from hybridjit.frontend.arrays.lists import grow
from hybridjit.frontend.arrays.memory import view_of
from hybridjit.frontend.arrays.stores import own_array, replace_array
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.frame import Pending, Variable
from hybridjit.frontend.tuple_variables import leaves_of, spread
from hybridjit.frontend.values import (
    Array,
    ArrayExpr,
    GrowingList,
    Items,
    Nothing,
    Value,
    View,
    buffers_of,
    describe,
)
from hybridjit.frontend.variables import Web
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import Buffer, Const, Expr, Load
from hybridjit.ir.stmt import Allocate, Stmt, Store
from hybridjit.ir.visit import walk
from hybridjit.scalars.scalar import Scalar


def assign_array(build: Builder, web: Web, value: ArrayExpr, target: ast.Name) -> None:
    """A name that several assignments give an array: one buffer, which takes each of them."""
    bound = build.frame.bindings.get(web)
    if isinstance(bound, Array) and bound.buffer in build.unit.rebound:
        _replace(build, web, bound, value, target)
        _note_bound(build, web)
        return
    if isinstance(bound, Variable) and bound.buffer is None and _is_at_home(build, web):
        _give_memory(build, web, value, target)
        return
    if not isinstance(bound, Variable) or bound.buffer is not None:
        rebind(build, web, value, target)
        return
    if bound.block is not None and _is_lasting(build, value.shape):
        home = _made_at_home(build, bound, bound.block, value, target)
        if web.may_be_unbound:
            _watch(build, web, bound, bound.block)
        build.frame.bindings[web] = home
        replace_array(build, home, value, target)
        _note_bound(build, web)
        return
    build.check_divisible(web)
    raise build.refuse(
        f"'{target.id}' gets its first array inside a branch or a loop, and is used after it",
        target,
        help=f"make it before, as in {target.id} = np.zeros(shape), and assign "
        f"{target.id}[:] = ...",
    )


def _replace(build: Builder, web: Web, old: Array, value: ArrayExpr, target: ast.Name) -> None:
    """Give a name another array: in the memory of the old one if that is sure to fit."""
    fits = len(value.shape) == len(old.shape) and value.dtype is old.buffer.dtype
    fits = fits and not build.is_shared(old.buffer, web)
    if fits and all(map(build.ranges.same, value.shape, old.shape)):
        replace_array(build, old, value, target)
        if _is_at_home(build, web):
            build.unit.standins.pop(old.buffer, None)
    elif _is_at_home(build, web):
        _give_memory(build, web, value, target)
    else:
        is_resized = fits and _may_differ(build, value.shape, old.shape)
        is_another = not fits or is_resized or _differ(value.shape, old.shape)
        build.check_divisible(web, loops=is_another, is_resized=is_resized)
        if not fits:
            raise _refuse_rebinding(build, old, value, target)
        replace_array(build, old, value, target)


def _is_at_home(build: Builder, web: Web) -> bool:
    """True in the block that a name lives in: what it is given here follows what it was."""
    return build.home_of(web) is build.body


def _give_memory(build: Builder, web: Web, value: ArrayExpr, target: ast.Name) -> None:
    made = own_array(build, value, target.id, target)
    build.unit.rebound.add(made.buffer)
    build.frame.bindings[web] = made


def _is_lasting(build: Builder, shape: Sequence[Expr]) -> bool:
    """True if sizes are known where the script begins, not only where they are computed."""
    nodes = [node for size in shape for node in walk(size)]
    return not any(
        isinstance(node, Load) or node in build.unit.loop_ranges or node in build.unit.let_values
        for node in nodes
    )


def _made_at_home(
    build: Builder, variable: Variable, home: list[Stmt], value: ArrayExpr, target: ast.Name
) -> Array:
    """An array for a name that is given its value in a branch, made where the name lives."""
    buffer = Buffer(target.id, value.dtype, tuple(value.shape), "global")
    allocate = Allocate(buffer, zero=False, span=build.span(target))
    home.insert(_place_of(variable, home), allocate)
    build.unit.rebound.add(buffer)
    return Array(buffer)


def _watch(build: Builder, web: Web, variable: Variable, home: list[Stmt]) -> None:
    """Note at run time whether a name was given an array before it is looked at."""
    flag = Buffer(web.name, INT64, (), Buffer.REGISTER)
    home.insert(_place_of(variable, home), Allocate(flag, zero=False))
    build.frame.maybe_unbound[web] = flag


def _note_bound(build: Builder, web: Web) -> None:
    if web in build.frame.maybe_unbound:
        build.emit(Store(build.frame.maybe_unbound[web], (), Const(1)))


def rebind(build: Builder, web: Web, value: Value, target: ast.Name) -> None:
    """A name that several assignments share can hold an array only if it is always the same."""
    bound = build.frame.bindings.get(web)
    _let_grow(build, bound, value, target)
    is_unused = isinstance(bound, Variable) and bound.buffer is None
    if _is_at_home(build, web) and isinstance(value, ArrayExpr):
        _give_memory(build, web, value, target)
        return
    if is_unused and web.may_be_unbound and isinstance(value, (Array, View)):
        build.knowledge.guarded.add(web)
        build.check_divisible(web)
    if bound is None or is_unused or bound == value or _is_at_home(build, web):
        if isinstance(bound, Variable) and bound.block is not build.body:
            _check_outlives(build, value, target)
            if isinstance(value, (GrowingList, Items)) and not _is_left_to_next(build, web):
                _let_outlive(build, web, value, target)
        if isinstance(value, Scalar):  # as it is now: what it is read from may change
            value = build.let(value, target.id, build.span(target))
        build.frame.bindings[web] = value
        return
    build.check_divisible(web)
    raise _refuse_rebinding(build, bound, value, target)


def _let_grow(
    build: Builder, bound: Value | Variable | None, value: Value, target: ast.Name
) -> None:
    """Of two lists that a name stands for, both grow, or none."""
    pair = bound, value
    if any(isinstance(each, GrowingList) for each in pair):
        for each in pair:
            if isinstance(each, Items) and each.origin is not None:
                raise grow(build, each, target)


def _refuse_rebinding(
    build: Builder, bound: Value | Variable, value: Value, target: ast.Name
) -> ParseError:
    other = "a number" if isinstance(bound, Variable) else describe(bound)
    return build.refuse(
        f"'{target.id}' stands for {other}, and cannot become {describe(value)} here",
        target,
        help=_rebinding_help(bound, value, target.id),
    )


def _check_outlives(build: Builder, value: Value, target: ast.Name) -> None:
    """Refuse a part of an array whose place or size is known only inside the loop around it."""
    if not isinstance(value, (Array, View)):
        return
    view = view_of(build, value)
    found = [*(place.start for place in view.places), *view.shape]
    nodes = [node for expr in found for node in walk(expr)]
    if any(node in build.unit.loop_ranges or node in build.unit.let_values for node in nodes):
        raise build.refuse(
            f"'{target.id}' is {describe(value)}, taken inside a loop or a branch, and is used "
            "after it",
            target,
            help="keep the index in a variable, and index the array again after the loop",
        )


def _let_outlive(build: Builder, web: Web, value: Value, target: ast.Name) -> None:
    """Let a tuple or a list that is made in a branch or a loop be there after it."""
    if all(_is_there(build, leaf) for _, leaf in leaves_of(value)) and not web.may_be_unbound:
        return
    if isinstance(value, Items) and value.origin is not None:
        raise grow(build, value, target)
    if isinstance(value, Items):
        spread(build, web, value)
    build.knowledge.guarded.update([web] if web.may_be_unbound else [])
    build.check_divisible(web)
    raise build.refuse(
        f"'{target.id}' is {describe(value)}, made inside a loop or a branch, and is used after it",
        target,
        help="make it before, and change it there",
    )


def _is_left_to_next(build: Builder, web: Web) -> bool:
    """True for a name that a loop carries: what it is given stays after the round."""
    return bool(build.carries) and web in build.carries[-1].webs and _is_at_home(build, web)


def _is_there(build: Builder, value: Value) -> bool:
    """True for what is the same before and after a loop or a branch: nothing in it makes it."""
    match value:
        case Scalar(expr):
            return isinstance(expr, Const)
        case GrowingList():
            return False
        case _:
            return all(buffer not in build.unit.made for buffer in buffers_of(value))


def _differ(shape: Sequence[Expr], other: Sequence[Expr]) -> bool:
    """True if arrays are sure to have different shapes."""
    pairs = zip(shape, other, strict=True)
    return any(isinstance(a, Const) and isinstance(b, Const) and a != b for a, b in pairs)


def _may_differ(build: Builder, shape: Sequence[Expr], other: Sequence[Expr]) -> bool:
    """True if a size may be another than the one that it takes the place of, as far as is known.

    Sizes that come at run time under two names have differed in a call.
    """
    pairs = zip(shape, other, strict=False)
    return any(
        not build.ranges.same(new, old) and None in (constant(new), constant(old))
        for new, old in pairs
    )


def _place_of(variable: Variable, home: Sequence[Stmt]) -> int:
    """Where in its block a variable is made."""
    pending = (k for k, s in enumerate(home) if isinstance(s, Pending) and s.variable is variable)
    return next(pending)


def _rebinding_help(bound: Value | Variable | None, value: Value, name: str) -> str:
    if isinstance(bound, Array) and isinstance(value, Array):
        return (
            "to choose between two arrays, make one array with a leading dimension of 2 and index "
            "it with 0 or 1; to swap them in each step t, index it with t % 2"
        )
    if isinstance(bound, Array) and isinstance(value, ArrayExpr):
        return f"start with an array of its own: {name} = {name}.copy()"
    if isinstance(bound, Nothing) or isinstance(value, Nothing):
        return "give it a number from the start, such as -inf, inf or nan"
    return "use another name for the other value"
