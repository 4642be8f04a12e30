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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from weakref import WeakKeyDictionary

from hybridjit.frontend.flow import UNBOUND, Definition, Flow, Place, Reaching
from hybridjit.frontend.inner_functions import bound_names
from hybridjit.record import record
from hybridjit.syntax import nodes_of


@record(eq=False, frozen=False)
class Web:
    """One variable: the definitions whose values meet in some read, and where it lives.

    One that `is_captured` is read by functions inside, wherever these are called.
    """

    name: str
    home: Place
    definitions: list[Definition] = field(default_factory=list[Definition])
    is_mutable: bool = False
    may_be_unbound: bool = False
    is_captured: bool = False


@record
class Variables:
    """The webs of one function, by the AST nodes that read and write them.

    `names` are all local names, bound in branches that are never taken too. `direct` maps a read
    to the one loop target or parameter whose value it sees, `needs_store` holds the loop targets
    whose mutable variable must be set in every round. `last` are the statements that no other can
    follow: what stands behind them has no variables.
    """

    names: frozenset[str]
    reads: Mapping[ast.AST, Web]
    writes: Mapping[ast.AST, Web]
    direct: Mapping[ast.AST, ast.AST]
    needs_store: frozenset[ast.AST]
    last: frozenset[ast.AST]
    homes: Mapping[tuple[int, int], list[Web]]

    def mutable_at(self, block: Sequence[ast.stmt], index: int) -> Sequence[Web]:
        """The mutable variables to be made before statement `index` of `block`."""
        return self.homes.get((id(block), index), ())


class _Analyses:
    """What is known of one function: its variables, for each way that its static branches go."""

    def __init__(self, func: ast.FunctionDef) -> None:
        self.branches = [node for node in nodes_of(func) if isinstance(node, ast.If)]
        self.found: dict[tuple[bool | None, ...], Variables] = {}


# Functions of the library, and others that many kernels call, are analysed once.
_known: WeakKeyDictionary[ast.FunctionDef, _Analyses] = WeakKeyDictionary()


def find_variables(
    func: ast.FunctionDef, taken: Mapping[ast.If, bool], *, printed: bool = False
) -> Variables:
    """Analyse the names that `func` binds. `taken` tells the `if`s whose condition is static.

    In a printed function, `x: float32` makes a new variable; in Python's eyes it does nothing.
    """
    if printed:
        return _analyse(func, taken, printed=True)
    known = _known.get(func)
    if known is None:
        known = _known[func] = _Analyses(func)
    ways = tuple(taken.get(branch) for branch in known.branches)
    if ways not in known.found:
        known.found[ways] = _analyse(func, taken, printed=False)
    return known.found[ways]


def _analyse(func: ast.FunctionDef, taken: Mapping[ast.If, bool], *, printed: bool) -> Variables:
    flow = Flow(func, taken, printed=printed)
    flow.run()
    return _build(flow)


class _Union:
    """Union-find over the definitions that share a value."""

    def __init__(self) -> None:
        self.parent: dict[Definition, Definition] = {}
        self.unbound: set[Definition] = set()
        self.expanded: set[Definition] = set()

    def find(self, definition: Definition) -> Definition:
        """The definition that stands for the set."""
        while (parent := self.parent.setdefault(definition, definition)) is not definition:
            definition = parent
        return definition

    def join(self, reaching: Iterable[Definition], with_: Definition | None = None) -> None:
        """Put definitions that one read can see into one set, and what merges into them."""
        first = with_
        for definition in reaching:
            if definition is UNBOUND:
                continue
            if first is None:
                first = definition
            self.parent[self.find(definition)] = self.find(first)
            if definition.merges is not None and definition not in self.expanded:
                self.expanded.add(definition)
                self.join(definition.merges, definition)
        if first is not None and UNBOUND in reaching:
            self.unbound.add(first)


def _build(flow: Flow) -> Variables:
    union = _Union()
    for definition in flow.definitions.values():
        union.find(definition)
    for _, _, reaching in flow.uses:
        union.join(reaching)
    for seen in _seen_by_calls(flow).values():
        union.join(frozenset[Definition]().union(*seen))
    webs = _webs(flow, union)
    reads, direct, indirect = _resolve_reads(flow, union, webs)
    for web in webs.values():
        web.is_mutable = web.is_mutable or not _is_plain_value(web)
    return Variables(
        names=frozenset(flow.names),
        reads=reads,
        writes={node: webs[union.find(d)] for node, d in flow.definitions.items()},
        direct=direct,
        needs_store=_stored_each_round(flow, webs.values(), indirect),
        last=frozenset(flow.last),
        homes=_homes(webs.values()),
    )


def _webs(flow: Flow, union: _Union) -> dict[Definition, Web]:
    """A web for each set of definitions, under the one that stands for it."""
    webs: dict[Definition, Web] = {}
    for name, place in flow.declarations.items():
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
    return webs


def _resolve_reads(
    flow: Flow, union: _Union, webs: Mapping[Definition, Web]
) -> tuple[dict[ast.AST, Web], dict[ast.AST, ast.AST], list[tuple[Web, Place]]]:
    """The web of each read; the reads that see one fixed value, and where the others are."""
    reads: dict[ast.AST, Web] = {}
    direct: dict[ast.AST, ast.AST] = {}
    indirect: list[tuple[Web, Place]] = []
    fixed = _fixed_definitions(flow)
    several = {node for node, seen in _seen_by_calls(flow).items() if len(seen) > 1}
    for node, place, reaching in flow.uses:
        definition = next((d for d in reaching if d is not UNBOUND), None)
        if definition is None:
            continue
        web = reads[node] = webs[union.find(definition)]
        web.home = web.home.common(place)
        web.is_captured = web.is_captured or node in flow.captured
        if len(reaching) == 1 and definition.node in fixed and node not in several:
            direct[node] = definition.node
        else:
            indirect.append((web, place))
    return reads, direct, indirect


def _seen_by_calls(flow: Flow) -> dict[ast.AST, set[Reaching]]:
    """What the reads in functions inside see, in one call and in another."""
    found: dict[ast.AST, set[Reaching]] = {}
    for node, _, reaching in flow.uses:
        if node in flow.captured:
            found.setdefault(node, set()).add(reaching)
    return found


def _fixed_definitions(flow: Flow) -> set[ast.AST]:
    """The loop targets and parameters: they hold their value until the next binding."""
    fixed: set[ast.AST] = {node for node in flow.definitions if isinstance(node, ast.arg)}
    for stmt in nodes_of(flow.func):
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
    flow: Flow, webs: Iterable[Web], indirect: list[tuple[Web, Place]]
) -> frozenset[ast.AST]:
    """Loop targets whose variable is looked at, or set, before their loop is over."""
    stored: set[ast.AST] = set()
    for stmt in nodes_of(flow.func):
        if not isinstance(stmt, ast.For):
            continue
        for name in bound_names([stmt.target]):
            definition = flow.definitions.get(name)
            if definition is None:
                continue
            web = next(w for w in webs if definition in w.definitions)
            touched = [place for w, place in indirect if w is web]
            touched += [d.place for d in web.definitions if d.merges is None]
            if stmt in flow.loops_with_break or any(
                place.is_inside(definition.place) for place in touched
            ):
                stored.add(name)
    return frozenset(stored)


def _homes(webs: Iterable[Web]) -> dict[tuple[int, int], list[Web]]:
    homes: dict[tuple[int, int], list[Web]] = {}
    for web in webs:
        if web.is_mutable:
            homes.setdefault(web.home.steps[-1], []).append(web)
    return homes
