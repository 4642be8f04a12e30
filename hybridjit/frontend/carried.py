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

from hybridjit.frontend.arrays.elementwise import shape_text
from hybridjit.frontend.arrays.memory import locate
from hybridjit.frontend.branches import BranchTranslator
from hybridjit.frontend.frame import Carry, Pending, State, Variable
from hybridjit.frontend.operands import is_only_operand
from hybridjit.frontend.values import (
    Array,
    ArrayExpr,
    Items,
    Nothing,
    Scalar,
    Value,
    View,
    buffers_of,
    describe,
)
from hybridjit.frontend.variables import Web
from hybridjit.ir.dtype import INT64, ScalarType
from hybridjit.ir.expr import Buffer, Const, Eq, Expr, Load, Node
from hybridjit.ir.stmt import Allocate, For, If, Let, Seq, Stmt, Store
from hybridjit.ir.visit import rewrite, substitute, walk, walk_stmts

# Three names that are exchanged in turn take three; each is a copy of the body.
MAX_STATES = 12


class CarriedArrays(BranchTranslator):
    """Loops, translated once for each state of the names that they carry."""

    def carry(self, stmt: ast.For | ast.While, web: Web) -> None:
        """Let a loop that is started over carry a name; a copy of its own often does as well."""
        value = self.frame.bindings[web]
        if isinstance(value, Array) and self._may_copy(value, stmt):
            copy = self.copied(self.array(value), web.name, self.span(stmt))
            self.unit.rebound.add(copy)
            self.unit.standins[copy] = _standin(web.name)
            self.frame.bindings[web] = Array(copy)
            return
        webs = self.carried.setdefault((self.frame.path, stmt), [])
        assert web not in webs, web.name
        webs.append(web)

    def _may_copy(self, value: Array, stmt: ast.stmt) -> bool:
        """True for an array that a loop only computes with before it gives its name another."""
        if value.indices or value.buffer in self.unit.rebound or self.unit.shares_memory:
            return False
        bindings = self.frame.bindings.items()
        names = {web.name for web, bound in bindings if value.buffer in buffers_of(bound)}
        return is_only_operand(names, stmt)

    def is_carried(self, stmt: ast.stmt) -> bool:
        """True for a loop that carries names."""
        return (self.frame.path, stmt) in self.carried

    def forget_others(self, known: Collection[Web]) -> None:
        """Forget the names that live in a block which has come to its end."""
        bindings = self.frame.bindings
        self.frame.bindings = {web: bindings[web] for web in known}

    def run_loop(
        self,
        stmt: ast.For | ast.While,
        once: Callable[[], bool],
        make: Callable[[Stmt], Stmt],
        *,
        may_not_run: bool = True,
    ) -> Stmt:
        """Emit the loop that `make` makes of its body; `once` translates the body, for one state.

        `once` returns whether the end of the body can be reached.
        """
        webs = self.carried.get((self.frame.path, stmt), ())
        outer, homes = self.frame.bindings, dict(self.homes)
        first = tuple(outer[web] for web in webs)
        register = Buffer("arrays", INT64, (), Buffer.REGISTER)
        carry = Carry(stmt, webs, register, [first])
        self._check_order(carry)
        loop = make(self._rounds(carry, once))
        self.forget_others(outer)
        self.frame.bindings |= zip(webs, first, strict=True)
        self.homes = homes
        self._prepare(carry, loop)
        self.emit(loop)
        exits = carry.left | carry.ended | ({0} if may_not_run else set[int]())
        self._bring_together(carry, sorted(exits))
        return loop

    def _check_order(self, carry: Carry) -> None:
        loop = self.frame.loops[-1]
        if carry.webs and loop.kind is not None and loop.kind.is_concurrent:
            name = carry.webs[0].name
            raise self.refuse(
                f"'{name}' is given another array in a {loop.word} loop: its iterations have no "
                "order",
                carry.stmt,
                help=f"use another name inside the loop, or assign the elements: {name}[:] = ...",
            )

    # -- rounds --------------------------------------------------------------------------------

    def _rounds(self, carry: Carry, once: Callable[[], bool]) -> Stmt:
        """The body of the loop: for each state, what a round does that begins in it."""
        outer = self.frame.bindings
        sides: list[Stmt] = []
        while len(sides) < len(carry.states):
            if len(sides) == MAX_STATES:
                raise self._refuse_states(carry)
            carry.entry = len(sides)
            state = carry.states[carry.entry]
            self.frame.bindings = outer | dict(zip(carry.webs, state, strict=True))
            sides.append(self._one_round(carry, once))
            outer = {web: self.frame.bindings[web] for web in outer}
        body = sides[-1]
        for position in reversed(range(len(sides) - 1)):
            body = If(Eq(Load(carry.register), Const(position)), sides[position], body)
        return body

    def _one_round(self, carry: Carry, once: Callable[[], bool]) -> Stmt:
        carry.mark, carry.renamed = len(self.unit.made), {}
        if carry.webs:
            carry.known = {b for value in self.bound_values() for b in buffers_of(value)}
        with self.collect() as stmts:
            carry.blocks = [stmts]
            for web in carry.webs:
                self.homes[self.frame.path, web] = stmts
            self.carries.append(carry)
            if once():
                self.leave_round()
            self.carries.pop()
            return self._without_arrays(self.close(stmts), carry)

    def leave_round(self, *, and_loop: bool = False) -> None:
        """Note what the names stand for where a round of the innermost loop ends."""
        carry = self.carries[-1]
        state = tuple(self._lasting(self.frame.bindings[web], web, carry) for web in carry.webs)
        keys = [_key(known) for known in carry.states]
        if _key(state) not in keys:
            carry.states.append(state)
            keys.append(_key(state))
        position = keys.index(_key(state))
        (carry.left if and_loop else carry.ended).add(position)
        if position != carry.entry:
            self.emit(Store(carry.register, (), Const(position)))

    def _lasting(self, value: Value | Variable, web: Web, carry: Carry) -> Value | Variable:
        """What a name stands for, in memory that is still there in the next round."""
        match value:
            case Array(buffer) | View(buffer):
                self._check_place(value, web, carry)
                if self.unit.made.get(buffer, -1) >= carry.mark:
                    return replace(value, buffer=self._lasting_array(buffer, carry))
                return value
            case Scalar():
                return self._lasting_number(value, web, carry)
            case Items(items):
                is_changed = _value_key(value) != _value_key(carry.states[0][carry.webs.index(web)])
                if is_changed and any(isinstance(item, (Scalar, Items)) for item in items):
                    raise self._refuse_tuple(web, carry)
                return value
            case _:
                return value

    def _check_place(self, value: Array | View, web: Web, carry: Carry) -> None:
        """Refuse a part of an array that is found only with what a round computes."""
        nodes = [node for place in self.view(value).places for node in walk(place.start)]
        if any(node in self.unit.loop_ranges or node in self.unit.let_values for node in nodes):
            raise self.refuse(
                f"'{web.name}' is {describe(value)}, taken inside a loop, and is used after the "
                "round that takes it",
                carry.stmt,
                help="keep the index in a variable, and index the array again",
            )

    def _lasting_number(self, value: Scalar, web: Web, carry: Carry) -> Variable:
        """A number that a round leaves to the next one, in a variable."""
        key = self.frame.path, (web, carry.stmt)
        variable = carry.numbers.setdefault(web, Variable(key, web.name))
        self.assign_variable(variable, value, value.expr.span)
        return variable

    def _lasting_array(self, made: Buffer, carry: Carry) -> Buffer:
        """An array of this round, as one that the next round finds."""
        if made not in carry.renamed:
            free = self._find_free(made, carry)
            carry.renamed[made] = free or made
            if free is None:
                carry.hoisted.append(made)
            if made in self.unit.reassociable:
                self.unit.reassociable.add(carry.renamed[made])
            self.unit.rebound.add(free or made)
        return carry.renamed[made]

    def _find_free(self, made: Buffer, carry: Carry) -> Buffer | None:
        """Memory of the same size that no name stood for when the round began."""
        standins = self.unit.standins
        for buffer in (b for state in carry.states for value in state for b in buffers_of(value)):
            is_taken = buffer in carry.known or buffer in carry.renamed.values()
            is_taken = is_taken or (buffer in standins) != (made in standins)
            if buffer in self.unit.made and not is_taken and self.is_alike(buffer, made):
                return buffer
        return None

    def is_alike(self, one: Buffer, other: Buffer) -> bool:
        """True if arrays are sure to have the same type and shape."""
        is_alike = one.dtype is other.dtype and one.ndim == other.ndim
        return is_alike and all(map(self.ranges.same, one.shape, other.shape))

    def _without_arrays(self, side: Stmt, carry: Carry) -> Stmt:
        """A round that finds the arrays which it leaves to the next one made."""

        def rule(node: Node) -> Node | None:
            if isinstance(node, Allocate) and node.buffer in carry.renamed:
                return self._zeroed(node.buffer) if node.zero else Seq(())
            return None

        if not carry.renamed:
            return side
        moved = {old: new for old, new in carry.renamed.items() if new is not old}
        self.unit.renamed |= moved
        return substitute(rewrite(side, rule), {}, moved)

    def _zeroed(self, buffer: Buffer) -> Stmt:
        with self.collect() as stmts:
            zero = Const(buffer.dtype.numpy.type(0).item(), buffer.dtype)
            self.nest(buffer.shape, lambda at: self.emit(Store(buffer, at, zero)), None)
        return self.close(stmts)

    def _prepare(self, carry: Carry, loop: Stmt) -> None:
        """What a loop finds when it begins: its state, and the arrays that its rounds leave."""
        inside = {s.var for s in walk_stmts(loop) if carry.hoisted and isinstance(s, (For, Let))}
        for buffer in carry.hoisted:
            nodes = [node for size in buffer.shape for node in walk(size)]
            if any(isinstance(node, Load) or node in inside for node in nodes):
                raise self.refuse(
                    f"'{buffer.name}' is used after the round of the loop that makes it, and its "
                    "size is known only in that round",
                    carry.stmt,
                    help=f"make it as large as it can get before the loop, and assign "
                    f"{buffer.name}[:n] = ...",
                )
            self.emit(Allocate(buffer, zero=False))
        for variable in carry.numbers.values():
            self.emit(Pending(variable=variable))
        if len(carry.states) > 1:
            self.emit(Allocate(carry.register, zero=False))
            self.emit(Store(carry.register, (), Const(0)))

    # -- after the loop ------------------------------------------------------------------------

    def _bring_together(self, carry: Carry, exits: Sequence[int]) -> None:
        """Make each name stand for one array after the loop, in whatever state it ended."""
        others = [web for web in self.frame.bindings if not self._is_read_later(web, carry.stmt)]
        others.extend(carry.webs)
        taken = {b for value in self.bound_values(others) for b in buffers_of(value)}
        open: list[int] = []
        for position, web in enumerate(carry.webs):
            if not exits or not self._is_read_later(web, carry.stmt):
                continue
            values = [carry.states[k][position] for k in exits]
            if len({_value_key(value) for value in values}) > 1:
                open.append(position)
                continue
            taken.update(buffers_of(values[0]))
            self._bind_after(web, values[0])
        named = set(taken)
        targets: list[Buffer] = []
        for position in open:
            values = [carry.states[k][position] for k in exits]
            # A copy is another array: a loop around this one has to see it as one.
            is_copy = self._may_be_copy(values, [carry.states[k] for k in exits], named)
            if is_copy and self._loops_around(carry.stmt):
                taken.update(b for value in values for b in buffers_of(value))
            targets.append(self._common_array(carry.webs[position], values, taken, carry))
            taken.add(targets[-1])
            self._guard(carry, exits, position)
            self._bind_after(carry.webs[position], Array(targets[-1]))
        for k in exits:
            values = [carry.states[k][position] for position in open]
            self._note_shared(values, targets, named)
            self._move(k, list(zip(values, targets, strict=True)), carry)

    def _note_shared(
        self, values: Sequence[Value | Variable], targets: Sequence[Buffer], named: set[Buffer]
    ) -> None:
        """An array with two names becomes two arrays: neither sees what is written to the other."""
        buffers = [next(buffers_of(value), None) for value in values]
        for buffer, target in zip(buffers, targets, strict=True):
            if buffer is not None and (buffer in named or buffers.count(buffer) > 1):
                for copy in (buffer, target):
                    self.unit.standins[copy] = (
                        f"'{copy.name}' may be an array with two names after a loop, and each of "
                        "them stands for a copy here",
                        f"give each name an array of its own, with {copy.name}.copy()",
                    )

    def _bind_after(self, web: Web, value: Value | Variable) -> None:
        if _value_key(value) == _value_key(self.frame.bindings[web]):
            return
        self.check_divisible(web)
        self.frame.bindings[web] = value

    def _common_array(
        self, web: Web, values: Sequence[Value | Variable], taken: set[Buffer], carry: Carry
    ) -> Buffer:
        """Memory for what a name stands for after the loop, in any state."""
        arrays = [value for value in values if isinstance(value, (Array, View))]
        for value in values:
            if not isinstance(value, (Array, View)) and not _is_unbound(value):
                raise self._refuse_meeting(web, values, carry)
            if isinstance(value, (Array, View)) and not self._agree_in_type(value, arrays[0]):
                raise self._refuse_meeting(web, values, carry)
        for value in arrays:
            if self._is_own(value) and value.buffer not in taken:
                break
        else:
            first = self.view(arrays[0])
            made = Buffer(web.name, first.dtype, first.shape, "global")
            self.emit(Allocate(made, zero=False))
            value = Array(made)
        self.unit.rebound.add(value.buffer)
        for other in arrays:
            if not self._is_own(other) or other.buffer in self.unit.standins:
                why = self.unit.standins.get(other.buffer) or _standin(web.name)
                self.unit.standins[value.buffer] = why
        return value.buffer

    def _may_be_copy(
        self, values: Sequence[Value | Variable], states: Sequence[State], named: set[Buffer]
    ) -> bool:
        """True if a name may stand for an array that has another name, or belongs to the caller."""
        for value, state in zip(values, states, strict=True):
            if not isinstance(value, (Array, View)):
                continue
            count = sum(value.buffer in buffers_of(other) for other in state)
            is_own = self._is_own(value) and value.buffer not in self.unit.standins
            if not is_own or value.buffer in named or count > 1:
                return True
        return False

    def _loops_around(self, stmt: ast.stmt) -> list[ast.For | ast.While]:
        loops = [loop for _, loop in self.around if isinstance(loop, (ast.For, ast.While))]
        return [loop for loop in loops if loop is not stmt]

    def _is_own(self, value: Array | View) -> bool:
        """True for all of an array that is made here."""
        return isinstance(value, Array) and not value.indices and value.buffer in self.unit.made

    def _agree_in_type(self, one: Array | View, other: Array | View) -> bool:
        is_alike = one.buffer.dtype is other.buffer.dtype and len(one.shape) == len(other.shape)
        return is_alike and all(map(self.ranges.same, one.shape, other.shape))

    def _move(
        self, position: int, moves: Sequence[tuple[Value | Variable, Buffer]], carry: Carry
    ) -> None:
        """Copy arrays to where they are expected, all at once, if the loop ended in a state."""
        pairs = [
            (self.view(value), target)
            for value, target in moves
            if isinstance(value, (Array, View)) and value != Array(target)
        ]
        if not pairs:
            return
        with self.collect() as stmts:
            while pairs:
                shape = pairs[0][1].shape
                alike = [pair for pair in pairs if len(pair[1].shape) == len(shape)]
                alike = [p for p in alike if all(map(self.ranges.same, p[1].shape, shape))]
                pairs = [pair for pair in pairs if pair not in alike]
                self._copy_at_once(alike, shape)
        is_here = Eq(Load(carry.register), Const(position))
        self.emit(If(is_here, self.close(stmts)))

    def _copy_at_once(self, pairs: Sequence[tuple[View, Buffer]], shape: tuple[Expr, ...]) -> None:
        """Elements of several arrays, all read before one is written: they may change places."""

        def body(at: tuple[Expr, ...]) -> None:
            loads = [Load(view.buffer, locate(view, at)) for view, _ in pairs]
            values = [Scalar(load, ScalarType(load.dtype)) for load in loads]
            if len(pairs) > 1:
                values = [self.let(value, "t", None) for value in values]
            for (_, to), value in zip(pairs, values, strict=True):
                self.emit(Store(to, at, value.expr))

        self.nest(shape, body, None)

    def _guard(self, carry: Carry, exits: Sequence[int], position: int) -> None:
        """Let a name that is given no array in some state be looked at only where it has one."""
        web = carry.webs[position]
        bound = [k for k in exits if not _is_unbound(carry.states[k][position])]
        if len(bound) == len(exits):
            return
        flag = Buffer(web.name, INT64, (), Buffer.REGISTER)
        self.emit(Allocate(flag, zero=False))
        for k in bound:
            is_here = Eq(Load(carry.register), Const(k))
            self.emit(If(is_here, Store(flag, (), Const(1))))
        self.frame.maybe_unbound[web] = flag

    def _is_read_later(self, web: Web, stmt: ast.stmt) -> bool:
        """True if a name may be read after a loop: behind it, or in the next round of another."""
        around = self._loops_around(stmt)
        reads = [node for node, read in self.frame.variables.reads.items() if read is web]
        return any(
            (_start(node) > _start(stmt) and not _is_inside(node, stmt))
            or any(_is_inside(node, loop) for loop in around)
            for node in reads
        )

    # -- refusals ------------------------------------------------------------------------------

    def _refuse_states(self, carry: Carry) -> Exception:
        names = ", ".join(f"'{web.name}'" for web in carry.webs)
        return self.refuse(
            f"{names} stand for different arrays in each round of this loop, in more than "
            f"{MAX_STATES} ways",
            carry.stmt,
            help="assign the elements, as in a[:] = ..., in place of the name",
        )

    def _refuse_meeting(
        self, web: Web, values: Sequence[Value | Variable], carry: Carry
    ) -> Exception:
        kinds = list(dict.fromkeys(self._kind_of(value) for value in values))
        is_none = any(isinstance(value, Nothing) for value in values)
        return self.refuse(
            f"after this loop, '{web.name}' may be {kinds[0]} or "
            f"{'another' if len(kinds) == 1 else kinds[1]}",
            carry.stmt,
            help="give it a number from the start, such as -inf, inf or nan"
            if is_none
            else f"give it one type and shape before the loop, as in {web.name} = np.zeros(shape)",
        )

    def _refuse_tuple(self, web: Web, carry: Carry) -> Exception:
        return self.refuse(
            f"'{web.name}' is a tuple of numbers that change from round to round of this loop",
            carry.stmt,
            help="keep each number in a variable of its own, or in an array",
        )

    def _kind_of(self, value: Value | Variable) -> str:
        match value:
            case Array() | View():
                return f"{value.buffer.dtype} of shape {shape_text(value.shape)}"
            case Variable() | Scalar():
                return "a number"
            case _:
                return describe(value)


def _standin(name: str) -> tuple[str, str]:
    """Why an array is not written to that may be another one, and what to do."""
    why = f"'{name}' may still be the array that it was before a loop, and is a copy of it here"
    return why, f"make it an array of its own before the loop: {name} = {name}.copy()"


def _is_unbound(value: Value | Variable) -> bool:
    return isinstance(value, Variable) and value.buffer is None


def _key(state: State) -> object:
    """What two states have in common if names stand for the same in both."""
    return tuple(_value_key(value) for value in state)


def _value_key(value: Value | Variable) -> object:
    match value:
        case Array(buffer, indices):
            return id(buffer), indices
        case View(buffer, places, shape):
            return id(buffer), places, shape
        case Items(items):
            return _key(items)
        case Variable() | ArrayExpr():
            return id(value)
        case _:
            return value


def _start(node: ast.AST) -> tuple[int, int]:
    return node.lineno, node.col_offset  # type: ignore[attr-defined]


def _is_inside(node: ast.AST, stmt: ast.stmt) -> bool:
    end = stmt.end_lineno or stmt.lineno, stmt.end_col_offset or 0
    return _start(stmt) <= _start(node) < end
