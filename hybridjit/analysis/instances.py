"""The instances of the statements in a part of a program: where they run, what they touch, when.

A statement runs once for each iteration of the loops around it. Its *domain* is the set of these
iterations, its *accesses* map an iteration to elements of buffers, and its *time* is where the
iteration stands in the order of execution. All three are text of isl (arith/polyhedra.py), exact
for affine programs and supersets otherwise.

Variables bound outside of the part are parameters. Each run of an `Allocate` makes a new buffer,
so an element of one made inside the part is named by the iteration that made it, too.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import field, replace

from hybridjit.analysis.bounds import Facts
from hybridjit.analysis.products import ProductNames
from hybridjit.analysis.reduction import Reduction, find_reduction
from hybridjit.arith.polyhedra import AffineNames
from hybridjit.arith.products import Product
from hybridjit.arith.ranges import all_of
from hybridjit.ir.expr import (
    And,
    Buffer,
    BufferRef,
    Const,
    Expr,
    ExternCall,
    Ge,
    Gt,
    Le,
    Load,
    Lt,
    Max,
    Min,
    Node,
    Or,
    Select,
)
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.signature import ScalarParam
from hybridjit.ir.stmt import (
    Allocate,
    Assert,
    Block,
    For,
    If,
    Iter,
    IterKind,
    Let,
    Print,
    Raise,
    Reserve,
    Seq,
    Stmt,
    Store,
    While,
)
from hybridjit.ir.visit import children, walk
from hybridjit.record import record


@record(eq=False)
class AffineAccess:
    """One read or write. `element` has a text for each index of the buffer; None: any index.

    `condition` is what must be true inside the statement for it to happen; empty: nothing. An
    index that is None may be limited: it is called x0, x1 ... in `within`.
    """

    buffer: Buffer
    element: tuple[str | None, ...]
    is_write: bool
    node: Node
    condition: str = ""
    within: tuple[str, ...] = ()


@record(eq=False)
class Instances:
    """All the runs of one statement, or of the condition or the bounds of a compound one.

    There is a dimension for each loop, in `dims`, and more for `products` (arith/products.py).
    """

    name: str
    node: Stmt
    loops: tuple[For, ...]
    dims: tuple[str, ...]
    domain: str
    time: tuple[str, ...]
    accesses: tuple[AffineAccess, ...]
    has_effects: bool = False
    reduction: Reduction | None = None
    products: tuple[Product, ...] = ()

    @property
    def space(self) -> tuple[str, ...]:
        """All dimensions: those of the loops come first."""
        return (*self.dims, *(dim for product in self.products for dim in product.dims))

    def time_of(self, loop: For) -> str:
        """When the iteration of `loop`, one of those around, runs among the others of the loop."""
        dim = self.dims[self.loops.index(loop)]
        return f"-{dim}" if steps_down(loop) else dim


@record(eq=False, frozen=False)
class Part:
    """A part of a program: its statements, and the facts that hold around it."""

    statements: list[Instances] = field(default_factory=list[Instances])
    names: AffineNames = field(default_factory=AffineNames)
    context: list[str] = field(default_factory=list[str])
    # For a buffer made inside the part, the loops around the place where it is made.
    private: dict[Buffer, tuple[str, ...]] = field(default_factory=dict[Buffer, "tuple[str, ...]"])

    @property
    def parameters(self) -> str:
        """The list of parameters, as isl writes it before a set."""
        products = (dim for product in self.names.constants for dim in product.dims)
        return f"[{', '.join(dict.fromkeys([*self.names.parameters, *products]))}]"

    def inside(self, stmt: Stmt) -> list[Instances]:
        """The statements that stand in `stmt`, or are it."""
        nodes = {node for node in walk(stmt) if isinstance(node, Stmt)}
        return [found for found in self.statements if found.node in nodes]


def infer_instances(func: PrimFunc, root: Stmt, *, products: bool = False) -> Part:
    """The statements of `root`, which is a part of the body of `func` (found by identity).

    With `products`, indices may have factors and divisors that are not numbers: more is known,
    but only about pairs of instances (`Dependences`), and what a statement touches is a superset.
    """
    part = Part(names=ProductNames(Facts.of(func)) if products else AffineNames())
    for dimension in func.dimensions:
        part.context.append(f"{part.names.parameter(dimension)} >= 0")
    for param in func.params:
        # Named before anything in the body is met: two parts at one place have the same names.
        if isinstance(param, ScalarParam) and param.var.dtype.is_integer:
            part.names.parameter(param.var)
    way = _find_way(func.body, root)
    if way is None:
        raise ValueError("the statement is not a part of the function")
    _Builder(part).approach(way)
    part.context += (fact for product in part.names.constants for fact in product.known)
    return part


def _find_way(stmt: Stmt, root: Stmt) -> list[Stmt] | None:
    """The statements from `stmt` down to `root`, both included."""
    if stmt is root:
        return [stmt]
    for child in children(stmt):
        below = _find_way(child, root) if isinstance(child, Stmt) else None
        if below is not None:
            return [stmt, *below]
    return None


@record(eq=False, frozen=False)
class _Builder:
    part: Part
    loops: list[For] = field(default_factory=list[For])
    dims: list[str] = field(default_factory=list[str])
    guards: list[str] = field(default_factory=list[str])
    time: list[str] = field(default_factory=list[str])
    # Whether the block around leaves the order of its terms open.
    is_open: bool = False

    # -- outside of the part: variables are parameters, conditions are facts -----------------------

    def approach(self, way: Sequence[Stmt]) -> None:
        """Go the way down to the part, and take that apart."""
        for stmt, inner in itertools.pairwise(way):
            self._pass(stmt, inner)
        self.visit(way[-1])

    def _pass(self, stmt: Stmt, inner: Stmt) -> None:
        """Note what holds in `inner` because `stmt` stands around it."""
        names, facts = self.part.names, self.part.context
        match stmt:
            case Seq(stmts):
                for before in stmts[: stmts.index(inner) + 1]:
                    if isinstance(before, Let):
                        self._bind(before)
            case For():
                facts += loop_bounds(stmt, names.enter_loop(stmt, inside=False), names)
            case If(cond, then):
                facts += _some(names.condition(cond, holds=inner is then))
            case Block(iters=iters):
                for item in iters:
                    names.bind(item.var, item.value)
            case _:
                pass

    def _bind(self, let: Let) -> None:
        """A variable whose value has no text is a parameter outside of the part."""
        names = self.part.names
        names.bind(let.var, let.value)
        if names.texts[let.var] is None and let.var.dtype.is_integer and not self.time:
            names.parameter(let.var)

    # -- inside ------------------------------------------------------------------------------------

    def visit(self, stmt: Stmt) -> None:
        """Take `stmt` apart."""
        match stmt:
            case Seq(stmts):
                self.time.append("")
                for position, inner in enumerate(stmts):
                    self.time[-1] = str(position)
                    self.visit(inner)
                self.time.pop()
            case For():
                self._visit_loop(stmt)
            case If():
                self._visit_if(stmt)
            case Block():
                self._visit_block(stmt)
            case While():
                self._add(stmt, _accesses_inside(stmt, self.part.names))
            case _:
                self._visit_leaf(stmt)

    def _visit_loop(self, loop: For) -> None:
        names = self.part.names
        bounds = (loop.start, loop.stop, loop.step)
        self._add_reads(loop, bounds)
        dim = names.enter_loop(loop, inside=True)
        mark, products = len(self.guards), len(names.products)
        self.guards += loop_bounds(loop, dim, names)
        if not isinstance(loop.step, Const):
            # The dimension counts the iterations, and what the variable is then has no text.
            names.texts[loop.var] = None
        self.loops.append(loop)
        self.dims.append(dim)
        self.time += ("1", f"-{dim}" if steps_down(loop) else dim)
        self.visit(loop.body)
        del self.time[-2:], self.guards[mark:], names.products[products:]
        self.loops.pop()
        self.dims.pop()

    def _visit_if(self, stmt: If) -> None:
        self._add_reads(stmt, (stmt.cond,))
        self.time.append("1")
        for side, holds in ((stmt.then, True), (stmt.otherwise, False)):
            if side is not None:
                mark = len(self.guards)
                self.guards += _some(self.part.names.condition(stmt.cond, holds=holds))
                self.visit(side)
                del self.guards[mark:]
        self.time.pop()

    def _visit_block(self, block: Block) -> None:
        names = self.part.names
        first: list[str] = []
        for item in block.iters:
            names.bind(item.var, item.value)
            if item.kind is IterKind.REDUCE:
                first += self._is_first(item.value, item.domain)
        self.time.append("0")
        if block.init is not None:
            mark = len(self.guards)
            self.guards += first
            self.visit(block.init)
            del self.guards[mark:]
        self.time[-1] = "1"
        outer, self.is_open = self.is_open, block.is_open
        self.visit(block.body)
        self.is_open = outer
        self.time.pop()

    def _is_first(self, value: Expr, domain: tuple[Expr, Expr] | None) -> list[str]:
        """The condition that an iteration of a reduction is the first."""
        start = domain[0] if domain is not None else self._start(value)
        left, right = self.part.names.affine(value), start and self.part.names.affine(start)
        return [] if left is None or right is None else [f"{left} = {right}"]

    def _start(self, value: Expr) -> Expr | None:
        return next((loop.start for loop in self.loops if loop.var is value), None)

    def _visit_leaf(self, stmt: Stmt) -> None:
        match stmt:
            case Let(value=value):
                self._add_reads(stmt, (value,))
                self._bind(stmt)
            case Allocate(buffer):
                self.part.private[buffer] = tuple(self.dims)
                self._add_reads(stmt, buffer.shape)
            case _:
                reduction = find_reduction(stmt) if isinstance(stmt, Store) else None
                if reduction is not None and self.is_open:
                    reduction = replace(reduction, is_open=True)
                self._add(stmt, [*_accesses_below(stmt, self.part.names)], reduction)

    def _add_reads(self, stmt: Stmt, exprs: Sequence[Expr]) -> None:
        """The reads of a compound statement's header, if there are any."""
        reads = [*_reads(exprs, self.part.names)]
        effects = any(_is_effect(node) for expr in exprs for node in walk(expr))
        if reads or effects:
            self.time.append("0")
            self._add(stmt, reads)
            self.time.pop()

    def _add(
        self, stmt: Stmt, accesses: Sequence[AffineAccess], reduction: Reduction | None = None
    ) -> None:
        header = isinstance(stmt, For | If)
        effects = not header and any(_is_effect(node) for node in walk(stmt))
        products = tuple(self.part.names.products)
        self.part.statements.append(
            Instances(
                f"S{len(self.part.statements)}",
                stmt,
                tuple(self.loops),
                tuple(self.dims),
                " and ".join(
                    [*self.guards, *(fact for found in products for fact in found.bounds)]
                ),
                tuple(self.time),
                tuple(accesses),
                effects,
                reduction,
                products,
            )
        )


def loop_bounds(loop: For, dim: str, names: AffineNames) -> list[str]:
    """The constraints on the variable of `loop`, called `dim`, that have a text."""
    if not isinstance(loop.step, Const) or not isinstance(loop.step.value, int):
        return [f"{dim} >= 0"]
    start, step = names.affine(loop.start), loop.step.value
    found = [names.condition(limit) for limit in _limits(loop)]
    bounds = [text for text in found if text is not None]
    if abs(step) != 1 and start is not None:
        bounds.append(f"({dim} - {start}) mod {abs(step)} = 0")
    return bounds


def has_known_bounds(loop: For, names: AffineNames) -> bool:
    """Whether all constraints on the variable of `loop` have a text."""
    is_counted = isinstance(loop.step, Const)
    return is_counted and all(names.condition(limit) is not None for limit in _limits(loop))


def _limits(loop: For) -> list[Expr]:
    """What holds for the variable of a loop, one thing at a time: of the least of two numbers, one
    may have a text though the other has none.
    """
    limits: list[Expr] = []
    if steps_down(loop):
        limits += (Le(loop.var, bound) for bound in all_of(loop.start, Min))
        limits += (Gt(loop.var, bound) for bound in all_of(loop.stop, Max))
    else:
        limits += (Ge(loop.var, bound) for bound in all_of(loop.start, Max))
        limits += (Lt(loop.var, bound) for bound in all_of(loop.stop, Min))
    return limits


def steps_down(loop: For) -> bool:
    """Whether the variable of `loop` falls from one iteration to the next."""
    return isinstance(loop.step, Const) and isinstance(loop.step.value, int) and loop.step.value < 0


def _reads(exprs: Sequence[Expr], names: AffineNames) -> Iterator[AffineAccess]:
    for expr in exprs:
        yield from _accesses_below(expr, names)


def _accesses_below(
    node: Node, names: AffineNames, conditions: tuple[str, ...] = ()
) -> Iterator[AffineAccess]:
    """What `node` and its children touch, each under the conditions that decide over it."""
    yield from _accesses_of(node, names, " and ".join(conditions))
    for child in children(node):
        decides = _deciding(node, child)
        known = () if decides is None else _some(names.condition(decides[0], holds=decides[1]))
        yield from _accesses_below(child, names, (*conditions, *known))


def _deciding(node: Node, child: Node) -> tuple[Expr, bool] | None:
    """The condition, and what it must be, for `child` to be evaluated whenever `node` is."""
    match node:
        case Select(cond, then, otherwise) if child is not cond:
            return None if then is otherwise else (cond, child is then)
        case And(first, second) | Or(first, second) if child is second and first is not second:
            return first, isinstance(node, And)
        case _:
            return None


def _accesses_of(node: Node, names: AffineNames, condition: str = "") -> Iterator[AffineAccess]:
    """What `node` itself touches, its children aside."""
    match node:
        case Load(buffer, indices) | Store(buffer, indices):
            element = tuple(names.affine(index) for index in indices)
            known = " and ".join([*filter(None, [condition]), *names.divisions(element)])
            yield AffineAccess(buffer, element, isinstance(node, Store), node, known)
        case ExternCall(callee, args):
            for place, arg in enumerate(args):
                if isinstance(arg, BufferRef):
                    yield _passed(arg, callee.writes(place), names, condition)
        case _:
            pass


def _passed(ref: BufferRef, is_write: bool, names: AffineNames, condition: str) -> AffineAccess:
    """A callee may touch all that it is given."""
    element: list[str | None] = [None] * ref.buffer.ndim
    within: list[str] = []
    texts: list[str] = []
    for axis, (start, extent) in enumerate(zip(ref.starts, ref.extents, strict=True)):
        first = names.affine(start)
        if extent is None:
            element[axis] = first
            continue
        count = names.affine(extent)
        if first is not None and count is not None:
            texts += (first, count)
            within.append(f"{first} <= x{axis} < {first} + {count}")
    known = " and ".join([*filter(None, [condition]), *names.divisions([*element, *texts])])
    return AffineAccess(ref.buffer, tuple(element), is_write, ref, known, tuple(within))


def _accesses_inside(stmt: Stmt, names: AffineNames) -> list[AffineAccess]:
    """The accesses of a statement taken as a whole: the variables of its loops have no text."""
    nodes = list(walk(stmt))
    for node in nodes:
        match node:
            case For(var):
                names.texts[var] = None
            case Let(var, value) | Iter(var, value):
                names.bind(var, value)
            case _:
                pass
    return [access for node in nodes for access in _accesses_of(node, names)]


def _is_effect(node: Node) -> bool:
    if isinstance(node, ExternCall):
        return not node.callee.is_reentrant
    return isinstance(node, Print | Raise | Assert | Reserve)


def _some(text: str | None) -> list[str]:
    return [] if text is None else [text]
