"""Loops in which names are given other arrays: what they stand for is carried from round to round.

    u, v = x.copy(), y.copy()          arrays = 0            # u is x, v is y
    for t in range(n):                 for t in range(n):
        v[:] = f(u)                        if arrays == 0:
        u, v = v, u           -->              y[:] = f(x); arrays = 1
    return u                               else:             # u is y, v is x
                                               x[:] = f(y); arrays = 0
                                       if arrays == 1: x[:] = y
                                       return x

Wherever it is translated, a name stands for one array, so that different arrays are known to be
different memory. A *state* says what the names stand for when a round begins; the body of the loop
is translated once for each state that is reached. An array that a round makes and leaves to the
next is made before the loop, or takes the memory of one that no name stands for any more. After
the loop, the arrays of all states in which it may end are brought together in one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hybridjit.frontend.after_loops import bring_together
from hybridjit.frontend.arrays.memory import copied, elements_of, nest, view_of
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.frame import Carry, Pending, Resizable, Variable
from hybridjit.frontend.name_states import (
    Stood,
    agree_in_type,
    is_alike,
    is_own,
    kind_of,
    let_vary,
    standin,
    state_key,
    value_key,
)
from hybridjit.frontend.values import (
    Array,
    GrowingList,
    ItemPlace,
    Items,
    Nothing,
    Value,
    View,
    buffers_of,
    describe,
)
from hybridjit.frontend.variables import Web
from hybridjit.ir.dtype import INT64, ScalarType
from hybridjit.ir.expr import Buffer, Const, Eq, Load, Node
from hybridjit.ir.stmt import Allocate, For, If, Let, Seq, Stmt, Store
from hybridjit.ir.visit import rewrite, substitute, walk, walk_stmts
from hybridjit.lazy import lazy_module
from hybridjit.scalars.scalar import Scalar

if TYPE_CHECKING:
    from hybridjit.frontend import operands, tuple_variables
    from hybridjit.frontend import resized as resized_arrays
    from hybridjit.frontend.arrays import elementwise as elementwise_arrays
else:
    elementwise_arrays = lazy_module("hybridjit.frontend.arrays.elementwise")
    operands = lazy_module("hybridjit.frontend.operands")
    resized_arrays = lazy_module("hybridjit.frontend.resized")
    tuple_variables = lazy_module("hybridjit.frontend.tuple_variables")


# Three names that are exchanged in turn take three; each is a copy of the body.
MAX_STATES = 12
# Parts of an array in so many states are likely to be others in each round.
_FEW_STATES = 3


def prepare_loop(build: Builder, stmt: ast.For | ast.While) -> None:
    """Let a loop carry the names that a round before found to be given other arrays in it."""
    build.carried[build.frame.path, stmt] = []
    build.resized.pop((build.frame.path, stmt), None)
    place = build.frame.path, stmt
    names = build.knowledge.resized.get(place, ())
    resized = [web for web in build.frame.bindings if web.is_mutable and web.name in names]
    # One that is asked for again is carried, since a copy of its array did not do.
    for web in (*build.knowledge.divided_at(place), *resized):
        if web in build.frame.bindings and web not in build.resized.get(place, ()):
            _carry(build, stmt, web)


def _carry(build: Builder, stmt: ast.For | ast.While, web: Web) -> None:
    """Let a loop carry a name; a copy of its own often does as well."""
    value = build.frame.bindings[web]
    place = build.frame.path, stmt
    names = build.knowledge.resized.get(place, ())
    if web.name in names and isinstance(value, (Array, View)):
        home = resized_arrays.make_home(build, web, value)
        build.resized.setdefault(place, {})[web] = home
        if not is_own(build, value) or build.is_shared(value.buffer, web):
            build.unit.standins[home.home] = standin(web.name)
    elif isinstance(value, Array) and _may_copy(build, value, stmt):
        copy = copied(build, elements_of(build, value), web.name, build.span(stmt))
        build.unit.rebound.add(copy)
        build.unit.standins[copy] = standin(web.name)
        build.frame.bindings[web] = Array(copy)
        return
    webs = build.carried[build.frame.path, stmt]
    if web not in webs:  # it is asked for once more in each state of a loop around this one
        webs.append(web)


def _may_copy(build: Builder, value: Array, stmt: ast.stmt) -> bool:
    """True for an array that a loop only computes with before it gives its name another."""
    if value.indices or value.buffer in build.unit.rebound or build.unit.shares_memory:
        return False
    bindings = build.frame.bindings.items()
    webs = [web for web, bound in bindings if value.buffer in buffers_of(bound)]
    if any(web.is_captured for web in webs):
        return False
    return operands.is_only_operand({web.name for web in webs}, stmt)


def is_carried(build: Builder, stmt: ast.stmt) -> bool:
    """True for a loop that carries names."""
    return bool(build.carried.get((build.frame.path, stmt)))


def forget_others(build: Builder, known: Collection[Web]) -> None:
    """Forget the names that live in a block which has come to its end."""
    bindings = build.frame.bindings
    build.frame.bindings = {web: bindings[web] for web in known}


def run_loop(
    build: Builder,
    stmt: ast.For | ast.While,
    once: Callable[[], bool],
    make: Callable[[Stmt], Stmt],
    *,
    may_not_run: bool = True,
) -> Stmt:
    """Emit the loop that `make` makes of its body; `once` translates the body, for one state.

    `once` returns whether the end of the body can be reached.
    """
    webs = build.carried.get((build.frame.path, stmt), ())
    outer, homes = build.frame.bindings, dict(build.homes)
    resized = build.resized.get((build.frame.path, stmt), {})
    first = tuple(resized.get(web) or outer[web] for web in webs)
    register = Buffer("arrays", INT64, (), Buffer.REGISTER)
    carry = Carry(stmt, webs, register, [first], resized)
    _check_order(build, carry)
    loop = make(_rounds(build, carry, once))
    forget_others(build, outer)
    build.frame.bindings |= {web: outer[web] for web in webs}
    build.homes = homes
    _prepare(build, carry, loop)
    build.emit(loop)
    exits = carry.left | carry.ended | ({0} if may_not_run else set[int]())
    bring_together(build, carry, sorted(exits))
    return loop


def _check_order(build: Builder, carry: Carry) -> None:
    loop = build.frame.loops[-1]
    if carry.webs and loop.kind is not None and loop.kind.is_concurrent:
        name = carry.webs[0].name
        raise build.refuse(
            f"'{name}' is given another array in a {loop.word} loop: its iterations have no order",
            carry.stmt,
            help=f"use another name inside the loop, or assign the elements: {name}[:] = ...",
        )


# rounds


def _rounds(build: Builder, carry: Carry, once: Callable[[], bool]) -> Stmt:
    """The body of the loop: for each state, what a round does that begins in it."""
    outer = build.frame.bindings
    sides: list[Stmt] = []
    while len(sides) < len(carry.states):
        if len(sides) == MAX_STATES:
            raise _refuse_states(build, carry)
        carry.entry = len(sides)
        state = carry.states[carry.entry]
        build.frame.bindings = outer | {
            web: value
            for web, value in zip(carry.webs, state, strict=True)
            if not isinstance(value, Resizable)
        }
        sides.append(_one_round(build, carry, once))
        outer = {web: build.frame.bindings[web] for web in outer}
    body = sides[-1]
    for position in reversed(range(len(sides) - 1)):
        body = If(Eq(Load(carry.register), Const(position)), sides[position], body)
    return body


def _one_round(build: Builder, carry: Carry, once: Callable[[], bool]) -> Stmt:
    carry.mark, carry.renamed = len(build.unit.made), {}
    if carry.webs:
        carry.known = {b for value in build.bound_values() for b in buffers_of(value)}
    with build.collect() as stmts:
        carry.blocks = [stmts]
        for web in carry.webs:
            build.homes[build.frame.path, web] = stmts
        for web, home in carry.resized.items():
            build.frame.bindings[web] = resized_arrays.as_view(build, home)
        build.carries.append(carry)
        try:
            if once():
                leave_round(build)
        finally:
            build.carries.pop()
        return _without_arrays(build, build.close(stmts), carry)


def leave_round(build: Builder, *, and_loop: bool = False) -> None:
    """Note what the names stand for where a round of the innermost loop ends."""
    carry = build.carries[-1]
    state = tuple(_lasting(build, build.frame.bindings[web], web, carry) for web in carry.webs)
    keys = [state_key(known) for known in carry.states]
    if state_key(state) not in keys:
        _check_sizes(build, carry)
        carry.states.append(state)
        keys.append(state_key(state))
    position = keys.index(state_key(state))
    (carry.left if and_loop else carry.ended).add(position)
    if position != carry.entry:
        build.emit(Store(carry.register, (), Const(position)))


def _check_sizes(build: Builder, carry: Carry) -> None:
    """Let names have arrays of any size that have had several, in one round after the other."""
    if len(carry.states) < _FEW_STATES:
        return
    for web, first in zip(carry.webs, carry.states[0], strict=True):
        value = build.frame.bindings[web]
        if isinstance(first, (Array, View)) and isinstance(value, (Array, View)):
            is_new = build.unit.made.get(value.buffer, -1) >= carry.mark
            is_other = is_new and not agree_in_type(build, value, first)
            is_part = value.buffer is first.buffer and value_key(value) != value_key(first)
            if is_other or is_part:
                let_vary(build, web, value, carry)


def _kept(
    build: Builder, value: Value | Variable, web: Web, home: Resizable, carry: Carry
) -> Resizable:
    """Leave an array of any size to the next round."""
    is_here = isinstance(value, (Array, View)) and (
        value.buffer is home.home or build.unit.made.get(value.buffer, -1) >= carry.mark
    )
    if (
        not is_here
        or not isinstance(value, (Array, View))
        or not resized_arrays.fits(build, value, home)
    ):
        rows = elementwise_arrays.shape_text(home.home.shape[1:])
        raise build.refuse(
            f"'{web.name}' is given arrays of other sizes in this loop, and "
            f"{kind_of(build, value)} cannot take their place",
            carry.stmt,
            help=f"give it a copy, with .copy(), of {home.home.dtype} with rows of shape {rows}",
        )
    resized_arrays.keep(build, value, home)
    return home


def _lasting(build: Builder, value: Value | Variable, web: Web, carry: Carry) -> Stood:
    """What a name stands for, in memory that is still there in the next round."""
    if web in carry.resized:
        return _kept(build, value, web, carry.resized[web], carry)
    match value:
        case Array(buffer) | View(buffer):
            _check_place(build, value, web, carry)
            if build.unit.made.get(buffer, -1) >= carry.mark:
                return replace(value, buffer=_lasting_array(build, buffer, carry))
            return value
        case GrowingList(count=count) if build.unit.made.get(count, -1) >= carry.mark:
            return _lasting_list(build, value, carry)
        case Scalar():
            return _lasting_number(build, value, web, (), carry)
        case Variable(type=ScalarType() as type, buffer=Buffer() as buffer):
            if _is_from_before(value, carry):
                return value
            return _lasting_number(build, Scalar(Load(buffer), type), web, (), carry)
        case Items():
            first = carry.states[0][carry.webs.index(web)]
            if value_key(value) == value_key(first):
                return value
            tuple_variables.spread(build, web, value)
            return _lasting_items(build, value, first, web, (), carry)
        case _:
            return value


def _is_from_before(variable: Variable, carry: Carry) -> bool:
    """Whether a variable lives outside of the loop, and not in a loop or a branch of this round."""
    known = (value_key(value) for state in carry.states for value in state)
    return value_key(variable) in known


def _check_place(build: Builder, value: Array | View, web: Web, carry: Carry) -> None:
    """Refuse a part of an array that is found only with what a round computes."""
    nodes = [node for place in view_of(build, value).places for node in walk(place.start)]
    if any(node in build.unit.loop_ranges or node in build.unit.let_values for node in nodes):
        let_vary(build, web, value, carry)
        raise build.refuse(
            f"'{web.name}' is {describe(value)}, taken inside a loop, and is used after the "
            "round that takes it",
            carry.stmt,
            help="keep the index in a variable, and index the array again",
        )


def _lasting_items(
    build: Builder, value: Items, first: Stood, web: Web, place: ItemPlace, carry: Carry
) -> Items:
    """A tuple of arrays and numbers: each of them is left to the next round."""
    before = first.items if isinstance(first, Items) else ()
    items: list[Value] = []
    for position, item in enumerate(value.items):
        known = before[position] if position < len(before) else Nothing()
        here = (*place, position)
        if value_key(item) == value_key(known):
            items.append(item)
        elif isinstance(item, Items):
            items.append(_lasting_items(build, item, known, web, here, carry))
        elif isinstance(item, Scalar):
            number = _lasting_number(build, item, web, here, carry)
            assert number.buffer is not None
            assert number.type is not None
            items.append(Scalar(Load(number.buffer), number.type))
        else:
            lasting = _lasting(build, item, web, carry)
            assert not isinstance(lasting, (Variable, Resizable))
            items.append(lasting)
    return replace(value, items=tuple(items))


def _lasting_number(
    build: Builder, value: Scalar, web: Web, place: ItemPlace, carry: Carry
) -> Variable:
    """A number that a round leaves to the next one, in a variable."""
    key = build.frame.path, (web, place, carry.stmt)
    variable = carry.numbers.setdefault((web, place), Variable(key, web.name))
    build.assign_variable(variable, value, value.expr.span)
    return variable


def _lasting_array(build: Builder, made: Buffer, carry: Carry) -> Buffer:
    """An array of this round, as one that the next round finds."""
    if made not in carry.renamed:
        free = _find_free(build, made, carry)
        carry.renamed[made] = free or made
        if free is None:
            carry.hoisted.append(made)
        if made in build.unit.reassociable:
            build.unit.reassociable.add(carry.renamed[made])
        build.unit.rebound.add(free or made)
    return carry.renamed[made]


def _lasting_list(build: Builder, made: GrowingList, carry: Carry) -> GrowingList:
    """A list of this round, as one that the next round finds."""
    parts = list(buffers_of(made))
    if made.count not in carry.renamed:
        free = _find_free_list(build, parts, carry)
        carry.renamed |= dict(zip(parts, free or parts, strict=True))
        carry.hoisted += [] if free else parts
    columns = {
        place: replace(column, buffer=carry.renamed[column.buffer])
        for place, column in made.columns.items()
    }
    lasting = replace(made, count=carry.renamed[made.count], columns=columns)
    return carry.lists.setdefault(lasting.count, lasting)


def _find_free_list(build: Builder, parts: Sequence[Buffer], carry: Carry) -> list[Buffer] | None:
    """The memory of a list of the same items that no name stood for when the round began."""
    for value in (value for state in carry.states for value in state):
        found = list(buffers_of(value)) if isinstance(value, GrowingList) else []
        is_taken = any(b in carry.known or b in carry.renamed.values() for b in found)
        if is_taken or len(found) != len(parts) or not all(b in build.unit.made for b in found):
            continue
        if all(is_alike(build, one, other) for one, other in zip(found, parts, strict=True)):
            return found
    return None


def _find_free(build: Builder, made: Buffer, carry: Carry) -> Buffer | None:
    """Memory of the same size that no name stood for when the round began."""
    standins = build.unit.standins
    for buffer in (b for state in carry.states for value in state for b in buffers_of(value)):
        is_taken = buffer in carry.known or buffer in carry.renamed.values()
        is_taken = is_taken or (buffer in standins) != (made in standins)
        if buffer in build.unit.made and not is_taken and is_alike(build, buffer, made):
            return buffer
    return None


def _without_arrays(build: Builder, side: Stmt, carry: Carry) -> Stmt:
    """A round that finds the arrays which it leaves to the next one made."""

    def rule(node: Node) -> Node | None:
        if isinstance(node, Allocate) and node.buffer in carry.renamed:
            return _zeroed(build, node.buffer) if node.zero else Seq(())
        return None

    if not carry.renamed:
        return side
    moved = {old: new for old, new in carry.renamed.items() if new is not old}
    build.unit.renamed |= moved
    return substitute(rewrite(side, rule), {}, moved)


def _zeroed(build: Builder, buffer: Buffer) -> Stmt:
    with build.collect() as stmts:
        zero = Const(buffer.dtype.numpy.type(0).item(), buffer.dtype)
        nest(build, buffer.shape, lambda at: build.emit(Store(buffer, at, zero)), None)
    return build.close(stmts)


def _prepare(build: Builder, carry: Carry, loop: Stmt) -> None:
    """What a loop finds when it begins: its state, and the arrays that its rounds leave."""
    inside = {s.var for s in walk_stmts(loop) if carry.hoisted and isinstance(s, (For, Let))}
    for buffer in carry.hoisted:
        nodes = [node for size in buffer.shape for node in walk(size)]
        if any(isinstance(node, Load) or node in inside for node in nodes):
            _let_arrays_vary(build, buffer, carry)
            raise build.refuse(
                f"'{buffer.name}' is used after the round of the loop that makes it, and its "
                "size is known only in that round",
                carry.stmt,
                help=f"make it as large as it can get before the loop, and assign "
                f"{buffer.name}[:n] = ...",
            )
        build.emit(Allocate(buffer, zero=False))
    for variable in carry.numbers.values():
        build.emit(Pending(variable=variable))
    if len(carry.states) > 1:
        build.emit(Allocate(carry.register, zero=False))
        build.emit(Store(carry.register, (), Const(0)))


def _let_arrays_vary(build: Builder, buffer: Buffer, carry: Carry) -> None:
    """Let names that stand for an array in some state have arrays of any size."""
    for state in carry.states:
        for web, value in zip(carry.webs, state, strict=True):
            if isinstance(value, (Array, View)) and value.buffer is buffer:
                let_vary(build, web, value, carry)


# refusals


def _refuse_states(build: Builder, carry: Carry) -> Exception:
    names = ", ".join(f"'{web.name}'" for web in carry.webs)
    verb = "stands" if len(carry.webs) == 1 else "stand"
    return build.refuse(
        f"{names} {verb} for different arrays in each round of this loop, in more than "
        f"{MAX_STATES} ways",
        carry.stmt,
        help="assign the elements, as in a[:] = ..., in place of the name; of a part that moves or "
        "shrinks, keep its start in a variable",
    )
