"""Which assignment does a name mean here? Reaching definitions of a function's local names.

Python reuses names freely: `s` in one loop and `s` in the next are two variables. Assignments and
reads that can see each other's value form a *web*; each web becomes a variable of its own:

    s = 0.0                 # web 1: the accumulator and its updates share a value ...
    for k in range(n):
        s += a[k]
    for k in range(n):      # (each k is a web of its own)
        s = b[k]            # web 2: ... which this assignment never sees
        c[k] = s

A web with one assignment that is only read after it, in the same block, is a plain value. Any
other web is a mutable variable; it lives in the smallest block that holds all of it, and outside
every loop that carries its value from one round to the next. So what lives in a loop body is
private to the iteration.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(eq=False, slots=True)
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


@dataclass(frozen=True, slots=True)
class Place:
    """Where a statement stands: a block and an index for each level of nesting, outermost first."""

    steps: tuple[tuple[int, int], ...] = ()

    def enter(self, block: Sequence[ast.stmt], index: int) -> Place:
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


@dataclass(eq=False, slots=True)
class Web:
    """One variable: the definitions whose values meet in some read, and where it lives."""

    name: str
    home: Place
    definitions: list[Definition] = field(default_factory=list[Definition])
    is_mutable: bool = False
    may_be_unbound: bool = False


@dataclass(frozen=True, slots=True)
class Variables:
    """The webs of one function, by the AST nodes that read and write them.

    `direct` maps a read to the one loop target or parameter whose value it sees, `needs_store`
    holds the loop targets whose mutable variable must be set in every round.
    """

    reads: Mapping[ast.AST, Web]
    writes: Mapping[ast.AST, Web]
    direct: Mapping[ast.AST, ast.AST]
    needs_store: frozenset[ast.AST]
    declarations: Mapping[str, ast.AnnAssign]
    homes: Mapping[tuple[int, int], list[Web]]

    def mutable_at(self, block: Sequence[ast.stmt], index: int) -> Sequence[Web]:
        """The mutable variables to be made before statement `index` of `block`."""
        return self.homes.get((id(block), index), ())


def find_variables(func: ast.FunctionDef, taken: Mapping[ast.If, bool]) -> Variables:
    """Analyse the names that `func` binds. `taken` tells the `if`s whose condition is static."""
    flow = _Flow(func, taken)
    flow.run()
    return _build(flow)


def bound_names(body: Iterable[ast.AST]) -> Iterator[ast.Name]:
    """Every name that a statement of `body` binds, nested blocks included."""
    stack = list(body)
    while stack:
        node = stack.pop(0)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node
        elif not isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            stack[:0] = ast.iter_child_nodes(node)


@dataclass(eq=False, slots=True)
class _Loop:
    """The states that leave the body of one loop other than by its end."""

    breaks: list[State | None] = field(default_factory=list["State | None"])
    continues: list[State | None] = field(default_factory=list["State | None"])


_UNBOUND = Definition("", ast.Pass(), Place())


class _Flow:
    """One walk over the statements that records what every read can see."""

    def __init__(self, func: ast.FunctionDef, taken: Mapping[ast.If, bool]) -> None:
        self.func = func
        self.taken = taken
        self.loops: list[_Loop] = []
        self.place = Place()
        self.uses: list[tuple[ast.Name, Place, Reaching]] = []
        self.definitions: dict[ast.AST, Definition] = {}
        self.declarations: dict[str, tuple[ast.AnnAssign, Place]] = {}
        self.loops_with_break: set[ast.AST] = set()

    def run(self) -> None:
        body, args = self.func.body, self.func.args
        start = Place().enter(body, 0)
        state: State = {name.id: frozenset((_UNBOUND,)) for name in bound_names(body)}
        for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs):
            self.definitions[arg] = Definition(arg.arg, arg, start)
            state[arg.arg] = frozenset((self.definitions[arg],))
        self.block(body, state)

    def block(self, body: list[ast.stmt], state: State | None) -> State | None:
        outer = self.place
        for index, stmt in enumerate(body):
            if state is None:
                break  # what follows a return or a break is never run
            self.place = outer.enter(body, index)
            state = self.statement(stmt, state)
        self.place = outer
        return state

    def statement(self, stmt: ast.stmt, state: State) -> State | None:
        match stmt:
            case ast.AugAssign(target=ast.Name() as target):
                self.use(target, state)
                self.read(stmt.value, state)
                return self.bind([target], state)
            case ast.AnnAssign(target=ast.Name() as target, value=None):
                self.declarations.setdefault(target.id, (stmt, self.place))
                return state
            case ast.If():
                return self.branch(stmt, state)
            case ast.For():
                self.read(stmt.iter, state)
                return self.loop(stmt, state)
            case ast.While():
                return self.loop(stmt, state)
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
            self.read(stmt.value, state)
            return self.assign(stmt.targets, state)
        self.read(stmt, state)
        return self.bind([stmt], state)

    def branch(self, stmt: ast.If, state: State) -> State | None:
        self.read(stmt.test, state)
        known = self.taken.get(stmt)
        then = None if known is False else self.block(stmt.body, state)
        otherwise = None if known is True else self.block(stmt.orelse, state)
        return _meet([then, otherwise])

    def loop(self, stmt: ast.For | ast.While, state: State) -> State | None:
        targets = [stmt.target] if isinstance(stmt, ast.For) else []
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
        for child in ast.walk(node):
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load):
                self.use(child, state)

    def use(self, node: ast.Name, state: State) -> None:
        if node.id in state:
            self.uses.append((node, self.place, state[node.id]))


def _meet(states: Sequence[State | None]) -> State | None:
    """What a name may mean after any of several paths; None if none of them gets here."""
    live = [state for state in states if state is not None]
    if len(live) <= 1:
        return live[0] if live else None
    return {name: frozenset().union(*(state[name] for state in live)) for name in live[0]}


class _Union:
    """Union-find over the definitions that share a value."""

    def __init__(self) -> None:
        self.parent: dict[Definition, Definition] = {}
        self.unbound: set[Definition] = set()
        self.expanded: set[Definition] = set()

    def find(self, definition: Definition) -> Definition:
        while (parent := self.parent.setdefault(definition, definition)) is not definition:
            definition = parent
        return definition

    def join(self, reaching: Iterable[Definition], with_: Definition | None = None) -> None:
        """Put definitions that one read can see into one set, and what merges into them."""
        first = with_
        for definition in reaching:
            if definition is _UNBOUND:
                continue
            if first is None:
                first = definition
            self.parent[self.find(definition)] = self.find(first)
            if definition.merges is not None and definition not in self.expanded:
                self.expanded.add(definition)
                self.join(definition.merges, definition)
        if first is not None and _UNBOUND in reaching:
            self.unbound.add(first)


def _build(flow: _Flow) -> Variables:
    union = _Union()
    for definition in flow.definitions.values():
        union.find(definition)
    for _, _, reaching in flow.uses:
        union.join(reaching)
    webs: dict[Definition, Web] = {}
    for name, (_, place) in flow.declarations.items():
        same = [d for d in flow.definitions.values() if d.name == name]
        union.join(same)
        if same:
            webs[union.find(same[0])] = Web(name, place, is_mutable=True)
    for definition in list(union.parent):
        root = union.find(definition)
        web = webs.setdefault(root, Web(definition.name, definition.place))
        web.definitions.append(definition)
        web.home = web.home.common(definition.place)
    for definition in union.unbound:
        webs[union.find(definition)].may_be_unbound = True

    reads: dict[ast.AST, Web] = {}
    direct: dict[ast.AST, ast.AST] = {}
    indirect: list[tuple[Web, Place]] = []
    targets = _fixed_definitions(flow)
    for node, place, reaching in flow.uses:
        definition = next((d for d in reaching if d is not _UNBOUND), None)
        if definition is None:
            continue
        web = reads[node] = webs[union.find(definition)]
        web.home = web.home.common(place)
        if len(reaching) == 1 and definition.node in targets:
            direct[node] = definition.node
        else:
            indirect.append((web, place))

    for web in webs.values():
        web.is_mutable = web.is_mutable or not _is_plain_value(web)
    return Variables(
        reads=reads,
        writes={node: webs[union.find(d)] for node, d in flow.definitions.items()},
        direct=direct,
        needs_store=_stored_each_round(flow, webs.values(), indirect),
        declarations={name: stmt for name, (stmt, _) in flow.declarations.items()},
        homes=_homes(webs.values()),
    )


def _fixed_definitions(flow: _Flow) -> set[ast.AST]:
    """The loop targets and parameters: they hold their value until the next binding."""
    fixed: set[ast.AST] = {node for node in flow.definitions if isinstance(node, ast.arg)}
    for stmt in ast.walk(flow.func):
        if isinstance(stmt, ast.For):
            fixed.update(bound_names([stmt.target]))
    return fixed


def _is_plain_value(web: Web) -> bool:
    """One assignment, which every read is sure to follow inside the same block."""
    if len(web.definitions) != 1 or web.may_be_unbound:
        return False
    definition = web.definitions[0]
    return definition.merges is None and web.home == definition.place


def _stored_each_round(
    flow: _Flow, webs: Iterable[Web], indirect: list[tuple[Web, Place]]
) -> frozenset[ast.AST]:
    """Loop targets whose variable is looked at before their loop is over."""
    stored: set[ast.AST] = set()
    for stmt in ast.walk(flow.func):
        if not isinstance(stmt, ast.For):
            continue
        for name in bound_names([stmt.target]):
            definition = flow.definitions.get(name)
            if definition is None:
                continue
            web = next(w for w in webs if definition in w.definitions)
            if stmt in flow.loops_with_break or any(
                w is web and place.is_inside(definition.place) for w, place in indirect
            ):
                stored.add(name)
    return frozenset(stored)


def _homes(webs: Iterable[Web]) -> dict[tuple[int, int], list[Web]]:
    homes: dict[tuple[int, int], list[Web]] = {}
    for web in webs:
        if web.is_mutable:
            homes.setdefault(web.home.steps[-1], []).append(web)
    return homes
