"""After a loop that gives names other arrays: what they stand for is brought together.

    if arrays == 1:             # the loop may have ended in several states (carried.py)
        x[:] = y
    return x

Lists meet in a new list, arrays of one type and shape in one of them, or in a copy.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hybridjit.arith.ranges import ZERO
from hybridjit.frontend.arrays.memory import locate, nest, view_of
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.frame import Carry, LoopEnd, Resizable, Skip, State
from hybridjit.frontend.name_states import (
    Stood,
    agree_in_type,
    is_own,
    is_unbound,
    kind_of,
    let_vary,
    loops_around,
    standin,
    value_key,
)
from hybridjit.frontend.values import (
    Array,
    GrowingList,
    Items,
    Nothing,
    View,
    buffers_of,
)
from hybridjit.frontend.variables import Web
from hybridjit.ir.dtype import INT64, ScalarType
from hybridjit.ir.expr import Buffer, Const, Eq, Expr, Load
from hybridjit.ir.stmt import Allocate, If, Store
from hybridjit.lazy import lazy_module
from hybridjit.scalars.scalar import Scalar

if TYPE_CHECKING:
    from hybridjit.frontend import resized
    from hybridjit.frontend.arrays import lists as array_lists
else:
    array_lists = lazy_module("hybridjit.frontend.arrays.lists")
    resized = lazy_module("hybridjit.frontend.resized")


# What follows a loop is translated for each of so many states in which it may end.
_FEW_ENDS = 3


def bring_together(build: Builder, carry: Carry, exits: Sequence[int]) -> None:
    """Make each name stand for one array after the loop, in whatever state it ended."""
    if len(exits) > 1 and (build.frame.path, carry.stmt) in build.knowledge.ended_apart:
        build.divided_end = LoopEnd(carry, exits)
        return
    others = [web for web in build.frame.bindings if not _is_read_later(build, web, carry.stmt)]
    others.extend(carry.webs)
    taken = {b for value in build.bound_values(others) for b in buffers_of(value)}
    open: list[int] = []
    for position, web in enumerate(carry.webs):
        if not exits or not _is_read_later(build, web, carry.stmt):
            continue
        values = [carry.states[k][position] for k in exits]
        if len({value_key(value) for value in values}) > 1:
            lists = [value for value in values if isinstance(value, GrowingList)]
            if len(lists) == len(values):
                _meet_in_list(build, web, lists, exits, carry)
            else:
                open.append(position)
            continue
        taken.update(buffers_of(values[0]))
        _bind_after(build, web, values[0])
    named = set(taken)
    targets: list[Buffer] = []
    for position in open:
        values = [carry.states[k][position] for k in exits]
        # A copy is another array: a loop around this one has to see it as one.
        is_copy = _may_be_copy(build, values, [carry.states[k] for k in exits], named)
        if is_copy and loops_around(build, carry.stmt):
            taken.update(b for value in values for b in buffers_of(value))
        targets.append(_common_array(build, carry.webs[position], values, taken, carry))
        taken.add(targets[-1])
        _guard(build, carry, exits, position)
        _bind_after(build, carry.webs[position], Array(targets[-1]))
    for k in exits:
        values = [carry.states[k][position] for position in open]
        _note_shared(build, values, targets, named)
        _move(build, k, list(zip(values, targets, strict=True)), carry)


def _meet_in_list(
    build: Builder, web: Web, lists: Sequence[GrowingList], exits: Sequence[int], carry: Carry
) -> None:
    """Make a name stand for a list with the items of that which it stands for in each state."""
    for k, one in zip(exits, lists, strict=True):
        names = sum(value_key(other) == value_key(one) for other in carry.states[k])
        if (
            names > 1
            or build.is_shared(one.count, web)
            or not array_lists.same_items(one, lists[0])
        ):
            raise _refuse_meeting(build, web, lists, carry)
    made = array_lists.list_like(build, lists[0], carry.stmt)
    for k, one in zip(exits, lists, strict=True):
        with build.collect() as stmts:
            array_lists.append_all(
                build, made, one, ZERO, array_lists.length(build, one, carry.stmt), carry.stmt
            )
        build.emit(If(Eq(Load(carry.register), Const(k)), build.close(stmts)))
    _bind_after(build, web, made)


def _note_shared(
    build: Builder,
    values: Sequence[Stood],
    targets: Sequence[Buffer],
    named: set[Buffer],
) -> None:
    """An array with two names becomes two arrays: neither sees what is written to the other."""
    buffers = [next(buffers_of(value), None) for value in values]
    for buffer, target in zip(buffers, targets, strict=True):
        if buffer is not None and (buffer in named or buffers.count(buffer) > 1):
            for copy in (buffer, target):
                build.unit.standins[copy] = (
                    f"'{copy.name}' may be an array with two names after a loop, and each of "
                    "them stands for a copy here",
                    f"give each name an array of its own, with {copy.name}.copy()",
                )


def _bind_after(build: Builder, web: Web, value: Stood) -> None:
    if isinstance(value, Resizable):
        value = resized.as_view(build, value)
    if value_key(value) == value_key(build.frame.bindings[web]):
        return
    build.check_divisible(web)
    build.frame.bindings[web] = value


def _common_array(
    build: Builder, web: Web, values: Sequence[Stood], taken: set[Buffer], carry: Carry
) -> Buffer:
    """Memory for what a name stands for after the loop, in any state."""
    arrays = [value for value in values if isinstance(value, (Array, View))]
    for value in values:
        if not isinstance(value, (Array, View)) and not is_unbound(value):
            raise _refuse_meeting(build, web, values, carry)
        if isinstance(value, (Array, View)) and not agree_in_type(build, value, arrays[0]):
            let_vary(build, web, value, carry)
            raise _refuse_meeting(build, web, values, carry)
    for value in arrays:
        if is_own(build, value) and value.buffer not in taken:
            break
    else:
        first = view_of(build, arrays[0])
        made = Buffer(web.name, first.dtype, first.shape, "global")
        build.emit(Allocate(made, zero=False))
        value = Array(made)
    build.unit.rebound.add(value.buffer)
    for other in arrays:
        if not is_own(build, other) or other.buffer in build.unit.standins:
            why = build.unit.standins.get(other.buffer) or standin(web.name)
            build.unit.standins[value.buffer] = why
    return value.buffer


def _may_be_copy(
    build: Builder, values: Sequence[Stood], states: Sequence[State], named: set[Buffer]
) -> bool:
    """True if a name may stand for an array that has another name, or belongs to the caller."""
    for value, state in zip(values, states, strict=True):
        if not isinstance(value, (Array, View)):
            continue
        count = sum(value.buffer in buffers_of(other) for other in state)
        is_mine = is_own(build, value) and value.buffer not in build.unit.standins
        if not is_mine or value.buffer in named or count > 1:
            return True
    return False


def _move(
    build: Builder, position: int, moves: Sequence[tuple[Stood, Buffer]], carry: Carry
) -> None:
    """Copy arrays to where they are expected, all at once, if the loop ended in a state."""
    pairs = [
        (view_of(build, value), target)
        for value, target in moves
        if isinstance(value, (Array, View)) and value != Array(target)
    ]
    if not pairs:
        return
    with build.collect() as stmts:
        while pairs:
            shape = pairs[0][1].shape
            alike = [pair for pair in pairs if len(pair[1].shape) == len(shape)]
            alike = [p for p in alike if all(map(build.ranges.same, p[1].shape, shape))]
            pairs = [pair for pair in pairs if pair not in alike]
            _copy_at_once(build, alike, shape)
    is_here = Eq(Load(carry.register), Const(position))
    build.emit(If(is_here, build.close(stmts)))


def _copy_at_once(
    build: Builder, pairs: Sequence[tuple[View, Buffer]], shape: tuple[Expr, ...]
) -> None:
    """Elements of several arrays, all read before one is written: they may change places."""

    def body(at: tuple[Expr, ...]) -> None:
        loads = [Load(view.buffer, locate(view, at)) for view, _ in pairs]
        values = [Scalar(load, ScalarType(load.dtype)) for load in loads]
        if len(pairs) > 1:
            values = [build.let(value, "t", None) for value in values]
        for (_, to), value in zip(pairs, values, strict=True):
            build.emit(Store(to, at, value.expr))

    nest(build, shape, body, None)


def _guard(build: Builder, carry: Carry, exits: Sequence[int], position: int) -> None:
    """Let a name that is given no array in some state be looked at only where it has one."""
    web = carry.webs[position]
    bound = [k for k in exits if not is_unbound(carry.states[k][position])]
    if len(bound) == len(exits):
        return
    flag = Buffer(web.name, INT64, (), Buffer.REGISTER)
    build.emit(Allocate(flag, zero=False))
    for k in bound:
        is_here = Eq(Load(carry.register), Const(k))
        build.emit(If(is_here, Store(flag, (), Const(1))))
    build.frame.maybe_unbound[web] = flag


def _is_read_later(build: Builder, web: Web, stmt: ast.stmt) -> bool:
    """True if a name may be read after a loop: behind it, or in the next round of another."""
    if web.is_captured:
        return True
    around = loops_around(build, stmt)
    reads = [node for node, read in build.frame.variables.reads.items() if read is web]
    return any(
        (_start(node) > _start(stmt) and not _is_inside(node, stmt))
        or _is_result(node, stmt)
        or any(_is_inside(node, loop) for loop in around)
        for node in reads
    )


def _is_result(node: ast.AST, stmt: ast.stmt) -> bool:
    """True for what a loop is read for that a call was written out as: it stands at its place."""
    return _start(node) == _start(stmt) and all(inner is not node for inner in ast.walk(stmt))


def _let_end_apart(build: Builder, values: Sequence[Stood], carry: Carry) -> None:
    """Let the next round translate what follows a loop for each state in which it may end.

    Of what is None in one state and a number in another, or a tuple with arrays, that is little.
    """
    if not any(isinstance(value, (Nothing, Items)) or is_unbound(value) for value in values):
        return
    place = build.frame.path, carry.stmt
    read = [web for web in carry.webs if _is_read_later(build, web, carry.stmt)]
    is_home = all(build.home_of(web) is build.body for web in read)
    if not is_home or len(values) > _FEW_ENDS or place in build.knowledge.ended_apart:
        return
    build.knowledge.ended_apart.add(place)
    build.unit.found_division = True
    raise Skip


def _refuse_meeting(build: Builder, web: Web, values: Sequence[Stood], carry: Carry) -> Exception:
    _let_end_apart(build, values, carry)
    kinds = list(dict.fromkeys(kind_of(build, value) for value in values))
    is_none = any(isinstance(value, Nothing) for value in values)
    return build.refuse(
        f"after this loop, '{web.name}' may be {kinds[0]} or "
        f"{'another' if len(kinds) == 1 else kinds[1]}",
        carry.stmt,
        help="give it a number from the start, such as -inf, inf or nan"
        if is_none
        else f"give it one type and shape before the loop, as in {web.name} = np.zeros(shape)",
    )


def _start(node: ast.AST) -> tuple[int, int]:
    return node.lineno, node.col_offset  # type: ignore[attr-defined]


def _is_inside(node: ast.AST, stmt: ast.stmt) -> bool:
    end = stmt.end_lineno or stmt.lineno, stmt.end_col_offset or 0
    return _start(stmt) <= _start(node) < end
