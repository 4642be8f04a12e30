"""What every read of a local name can see: one walk over the statements of a function."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from hybridjit.frontend.inner_functions import Holders, bound_names, defaults, nodes_in, parameters
from hybridjit.record import record
from hybridjit.syntax import nodes_of


@record(eq=False, frozen=False)
class Definition:
    """One place that gives a name a value: an assignment, a loop, a parameter, or a loop head.

    At a loop head meet the value that entered the loop and the one that the last round left;
    such a *merge* lists what meets in `merges`.
    """

    name: str
    node: ast.AST
    place: Place
    merges: frozenset[Definition] | None = None


Reaching = frozenset[Definition]
State = dict[str, Reaching]


@record
class Place:
    """Where a statement stands: a block and an index for each level of nesting, outermost first."""

    steps: tuple[tuple[int, int], ...] = ()

    def enter(self, block: Sequence[ast.stmt], index: int) -> Place:
        """The place of a statement of a block that stands here."""
        return Place((*self.steps, (id(block), index)))

    def common(self, other: Place) -> Place:
        """The innermost block that holds both, at the statement that comes first."""
        shared: list[tuple[int, int]] = []
        for (block, index), (other_block, other_index) in zip(
            self.steps, other.steps, strict=False
        ):
            if block != other_block:
                break
            shared.append((block, min(index, other_index)))
            if index != other_index:
                break
        return Place(tuple(shared))

    def is_inside(self, other: Place) -> bool:
        """True if this statement is nested in the other."""
        depth = len(other.steps)
        return len(self.steps) > depth and self.steps[:depth] == other.steps


@record(eq=False, frozen=False)
class _Loop:
    """The states that leave the body of one loop other than by its end."""

    breaks: list[State | None] = field(default_factory=list["State | None"])
    continues: list[State | None] = field(default_factory=list["State | None"])


UNBOUND = Definition("", ast.Pass(), Place())


class Flow:
    """One walk over the statements that records what every read can see."""

    def __init__(
        self, func: ast.FunctionDef, taken: Mapping[ast.If, bool], *, printed: bool = False
    ) -> None:
        self.func = func
        self.taken = taken
        self.printed = printed
        self.loops: list[_Loop] = []
        self.place = Place()
        self.uses: list[tuple[ast.Name, Place, Reaching]] = []
        self.definitions: dict[ast.AST, Definition] = {}
        self.declarations: dict[str, Place] = {}
        self.loops_with_break: set[ast.AST] = set()
        # The statements that no other follows.
        self.last: set[ast.AST] = set()
        self.names: set[str] = set()
        self.holders = Holders(func)
        # The reads in functions inside this one.
        self.captured: set[ast.Name] = set()

    def run(self) -> None:
        """Walk the whole function."""
        body, args = self.func.body, self.func.args
        start = Place().enter(body, 0)
        state: State = {name.id: frozenset((UNBOUND,)) for name in bound_names(body)}
        self.names.update(state)
        for arg in parameters(args):
            self.definitions[arg] = Definition(arg.arg, arg, start)
            state[arg.arg] = frozenset((self.definitions[arg],))
            self.names.add(arg.arg)
        self.block(body, state)

    def block(self, body: list[ast.stmt], state: State | None) -> State | None:
        """The state after a block; None if its end is never reached."""
        outer = self.place
        for index, stmt in enumerate(body):
            if state is None:
                break  # what follows a return or a break is never run
            self.place = outer.enter(body, index)
            state = self.statement(stmt, state)
            if state is None:
                self.last.add(stmt)
        self.place = outer
        return state

    def statement(self, stmt: ast.stmt, state: State) -> State | None:
        match stmt:
            case ast.AugAssign(target=ast.Name() as target):
                self.use(target, state)
                self.read(stmt.value, state)
                return self.bind([target], state)
            case ast.AnnAssign(target=ast.Name() as target, value=None):
                self.declarations.setdefault(target.id, self.place)
                # In printed IR this is the allocation: a new variable in every round of a loop.
                return state | {target.id: frozenset((UNBOUND,))} if self.printed else state
            case ast.If():
                return self.branch(stmt, state)
            case ast.For() | ast.While():
                return self.loop(stmt, state)
            case ast.Try():
                return self.attempt(stmt, state)
            case ast.With(items=items, body=body):
                for item in items:
                    self.read(item, state)
                return self.block(body, self.bind(items, state))
            case ast.Break() | ast.Continue() if self.loops:
                loop = self.loops[-1]
                (loop.breaks if isinstance(stmt, ast.Break) else loop.continues).append(state)
                return None
            case ast.Return() | ast.Raise():
                self.read(stmt, state)
                return None
            case _:
                return self.simple(stmt, state)

    def simple(self, stmt: ast.stmt, state: State) -> State:
        if isinstance(stmt, ast.Assign):
            if isinstance(stmt.value, ast.Lambda):  # it is called by its name
                for default in defaults(stmt.value.args).values():
                    self.read(default, state)
            else:
                self.read(stmt.value, state)
            return self.assign(stmt.targets, state)
        if isinstance(stmt, ast.Delete):
            gone = [target.id for target in stmt.targets if isinstance(target, ast.Name)]
            for target in stmt.targets:
                if not isinstance(target, ast.Name):
                    self.read(target, state)
            return state | {name: frozenset((UNBOUND,)) for name in gone}
        self.read(stmt, state)
        return self.bind([stmt], state)

    def branch(self, stmt: ast.If, state: State) -> State | None:
        self.read(stmt.test, state)
        known = self.taken.get(stmt)
        then = None if known is False else self.block(stmt.body, state)
        otherwise = None if known is True else self.block(stmt.orelse, state)
        return _meet([then, otherwise])

    def attempt(self, stmt: ast.Try, state: State) -> State | None:
        """The state after a `try`. What a handler sees may be from anywhere in the body, and what
        `finally` sees from anywhere before it. Jumps out of the rest go through `finally`, those
        that stand in it do not.
        """
        jumps = self.loops[-1] if self.loops else _Loop()
        marks = len(jumps.breaks), len(jumps.continues)
        # An error leaves loops as a break does.
        self.loops_with_break.update(nodes_of(stmt))
        end = self.block(stmt.body, state)
        ends = [end if end is None else self.block(stmt.orelse, end)]
        failed = self._anywhere(stmt.body, state)
        for handler in stmt.handlers:
            if handler.type is not None:
                self.read(handler.type, failed)
            ends.append(self.block(handler.body, failed))
        if not stmt.finalbody:
            return _meet(ends)
        before = [*stmt.body, *stmt.handlers, *stmt.orelse]
        goes_on = _meet(ends) is not None
        ways = [slice(marks[0], len(jumps.breaks)), slice(marks[1], len(jumps.continues))]
        end = self.block(stmt.finalbody, self._anywhere(before, state))
        last = {name.id for name in bound_names(stmt.finalbody)}
        for left, way in zip((jumps.breaks, jumps.continues), ways, strict=True):
            left[way] = [_then(jump, end, last) for jump in left[way]]
        return end if goes_on else None

    def _anywhere(self, nodes: Sequence[ast.AST], state: State) -> State:
        """What names may stand for in the midst of statements that have been looked at."""
        found = dict(state)
        for name in bound_names(nodes):
            definition = self.definitions.get(name)
            if definition is not None:
                found[name.id] = found[name.id] | {definition}
        return found

    def loop(self, stmt: ast.For | ast.While, state: State) -> State | None:
        """The state after a loop. Its head merges what enters and what comes back."""
        targets: list[ast.expr] = []
        if isinstance(stmt, ast.For):
            self.read(stmt.iter, state)
            targets = [stmt.target]
        merges = {
            name.id: Definition(name.id, stmt, self.place, frozenset())
            for name in bound_names((*targets, *stmt.body))
        }
        head = state | {name: frozenset((merge,)) for name, merge in merges.items()}
        endless = False
        if isinstance(stmt, ast.While):
            self.read(stmt.test, head)
            endless = isinstance(stmt.test, ast.Constant) and bool(stmt.test.value)
        loop = _Loop()
        self.loops.append(loop)
        end = self.block(stmt.body, self.bind(targets, head))
        self.loops.pop()
        if loop.breaks:
            self.loops_with_break.add(stmt)
        back = _meet([end, *loop.continues]) or {}
        for name, merge in merges.items():
            merge.merges = (state[name] | back.get(name, frozenset())) - {merge}
        return _meet([None if endless else head, *loop.breaks])

    def bind(self, targets: Iterable[ast.AST], state: State) -> State:
        names = list(bound_names(targets))
        for name in names:
            self.definitions[name] = Definition(name.id, name, self.place)
        return state | {name.id: frozenset((self.definitions[name],)) for name in names}

    def assign(self, targets: Iterable[ast.expr], state: State) -> State:
        """Bind targets from left to right: `i, a[i] = 2, x` stores to a[2]."""
        for target in targets:
            if isinstance(target, (ast.Tuple, ast.List)):
                state = self.assign(target.elts, state)
            else:
                self.read(target, state)
                state = self.bind([target], state)
        return state

    def read(self, node: ast.AST, state: State) -> None:
        for child in nodes_in(node):
            if isinstance(child, ast.Lambda):
                self.capture(self.holders.read_by(child), state)
            elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load):
                self.use(child, state)
                self.capture(self.holders.read_through(child), state)

    def capture(self, names: Iterable[ast.Name], state: State) -> None:
        """Reads in functions that may be called here, of names as they are here."""
        for name in names:
            self.captured.add(name)
            self.use(name, state)

    def use(self, node: ast.Name, state: State) -> None:
        if node.id in state:
            self.uses.append((node, self.place, state[node.id]))


def _then(state: State | None, end: State | None, names: Iterable[str]) -> State | None:
    """The state of a jump after the `finally` on its way, which ends in another for its names."""
    if state is None or end is None:
        return None
    return state | {name: end[name] for name in names}


def _meet(states: Sequence[State | None]) -> State | None:
    """What a name may mean after any of several paths; None if none of them gets here."""
    live = [state for state in states if state is not None]
    if len(live) <= 1:
        return live[0] if live else None
    return {name: frozenset().union(*(state[name] for state in live)) for name in live[0]}
