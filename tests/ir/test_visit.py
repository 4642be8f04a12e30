"""Traversal and rewriting: order, identity when nothing changes, fresh binders."""

from collections.abc import Callable

import pytest

from hybridjit.ir.dtype import BOOL, FLOAT32
from hybridjit.ir.equal import structural_equal
from hybridjit.ir.expr import Add, Buffer, Const, Expr, Load, Mul, Node, Sub, Var, const
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.printer import format_expr, format_stmt
from hybridjit.ir.stmt import (
    Allocate,
    Assert,
    Block,
    Evaluate,
    For,
    If,
    Iter,
    Let,
    Seq,
    Stmt,
    Store,
    seq,
)
from hybridjit.ir.visit import (
    Mutator,
    children,
    fresh_copy,
    map_children,
    rewrite,
    substitute,
    walk,
    walk_stmts,
)
from tests.ir.samples import ONE, SAMPLES, ZERO, buffer, loop, matmul

i, j, k = Var("i"), Var("j"), Var("k")
a, b = buffer("a", 8), buffer("b", 8)

each_sample = pytest.mark.parametrize("make", SAMPLES)


def test_children_come_in_the_order_of_the_text() -> None:
    assert list(children(Add(i, j))) == [i, j]
    assert list(children(Load(a, (i, j)))) == [i, j]
    assert list(children(Assert(Var("p", BOOL), ("i is", i))))[1:] == [i]
    assert list(children(Iter(k, i, domain=(ZERO, ONE)))) == [i, ZERO, ONE]


def test_binders_and_buffers_are_not_children() -> None:
    body = Evaluate(i)
    assert list(children(loop(i, 8, body))) == [ZERO, Const(8), ONE, body]
    assert list(children(Allocate(a))) == []


def test_walk_visits_parents_first() -> None:
    tree = Add(Mul(i, j), k)
    assert [type(node).__name__ for node in walk(tree)] == ["Add", "Mul", "Var", "Var", "Var"]


@each_sample
def test_walk_follows_the_children(make: Callable[[], PrimFunc]) -> None:
    def below(node: Node) -> list[Node]:
        return [node, *(found for child in children(node) for found in below(child))]

    body = make().body

    assert list(walk(body)) == below(body)
    assert list(walk_stmts(body)) == [node for node in below(body) if isinstance(node, Stmt)]


def test_walk_is_not_limited_by_depth() -> None:
    deep: Expr = i
    for _ in range(5000):
        deep = Add(deep, i)
    assert sum(1 for _ in walk(deep)) == 10001


@each_sample
def test_unchanged_tree_is_the_same_object(make: Callable[[], PrimFunc]) -> None:
    body = make().body
    assert rewrite(body, lambda node: None) is body
    assert substitute(body, {Var("i"): ZERO}) is body
    for node in walk(body):
        assert map_children(node, lambda child: child) is node


def test_rewrite_works_children_first() -> None:
    seen: list[str] = []

    def rule(node: Node) -> Node | None:
        if isinstance(node, Expr):
            seen.append(format_expr(node))
        return ONE if node is j else None

    assert rewrite(Add(Mul(i, j), k), rule) == Add(Mul(i, ONE), k)
    assert seen == ["i", "j", "i * 1", "k", "i * 1 + k"]


def test_rewrite_keeps_what_did_not_change() -> None:
    kept, changed = Evaluate(i), Evaluate(j)
    result = rewrite(Seq((kept, changed)), lambda node: k if node is j else None)
    assert result.stmts[0] is kept
    assert format_stmt(result) == "i\nk"


def test_rewrite_reaches_200_levels() -> None:
    deep: Expr = i
    for _ in range(200):
        deep = Add(deep, i)
    assert rewrite(deep, lambda node: j if node is i else None) == substitute(deep, {i: j})


class _Shift(Mutator):
    """Counts the loops around each variable; the most specific handler wins."""

    def __init__(self) -> None:
        self.depth = 0

    def rewrite_For(self, node: For) -> Stmt:
        self.depth += 1
        result = self.generic(node)
        self.depth -= 1
        return result

    def rewrite_Binary(self, node: Node) -> Node:
        return self.generic(node)

    def rewrite_Sub(self, node: Sub) -> Expr:
        return node

    def rewrite_Var(self, node: Var) -> Expr:
        return Const(self.depth)


class _ShiftMore(_Shift):
    def rewrite_Add(self, node: Add) -> Expr:
        return ZERO


def test_mutator_keeps_state_on_the_way() -> None:
    nest = loop(i, 8, seq(Evaluate(i), loop(j, i, Evaluate(Mul(i, j)))))
    assert format_stmt(_Shift().rewrite(nest)) == (
        "for i in range(8):\n    1\n    for j in range(2):\n        2 * 2"
    )


def test_most_specific_handler_wins() -> None:
    assert _Shift().rewrite(Sub(i, j)) == Sub(i, j)
    assert _Shift().rewrite(Add(i, j)) == Add(ZERO, ZERO)


def test_handlers_are_inherited() -> None:
    assert _ShiftMore().rewrite(Mul(Add(i, j), i)) == Mul(ZERO, ZERO)


def test_handler_for_an_unknown_node_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Typo\.rewrite_Fro: there is no such node class"):
        type("Typo", (Mutator,), {"rewrite_Fro": Mutator.generic})


def test_substitute_replaces_variables_and_buffers() -> None:
    stmt = Store(a, (i,), Load(a, (i + 1,)))
    assert format_stmt(substitute(stmt, {i: j * 2}, {a: b})) == "b[j * 2] = b[j * 2 + 1]"


def test_substitute_keeps_spans() -> None:
    made = matmul()
    assert substitute(made.body, {}).span is made.body.span


def test_substitute_reaches_the_shape_of_an_allocation() -> None:
    scratch = Buffer("scratch", FLOAT32, (i,))
    stmt = seq(Allocate(scratch), Store(scratch, (ZERO,), const(1, FLOAT32)))
    assert format_stmt(substitute(stmt, {i: j})) == (
        'scratch = allocate((j,), "float32", "global")\nscratch[0] = 1.0'
    )


def binders(stmt: Stmt) -> set[Var | Buffer]:
    found: set[Var | Buffer] = set()
    for node in walk(stmt):
        if isinstance(node, For | Let | Iter):
            found.add(node.var)
        elif isinstance(node, Allocate):
            found.add(node.buffer)
    return found


@each_sample
def test_fresh_copy_binds_everything_anew(make: Callable[[], PrimFunc]) -> None:
    body = make().body
    copy = fresh_copy(body)
    assert structural_equal(copy, body)
    assert binders(body).isdisjoint(binders(copy))
    assert len(binders(body)) == len(binders(copy))


def test_fresh_copy_keeps_free_names() -> None:
    copy = fresh_copy(loop(i, 8, If(Var("p", BOOL), Store(a, (i,), Load(b, (j,))))))
    variables = {node for node in walk(copy) if isinstance(node, Var)}
    assert j in variables
    assert i not in variables


def test_fresh_copy_renames_inside_domains_and_shapes() -> None:
    u, v = Var("u"), Var("v")
    scratch = Buffer("scratch", FLOAT32, (v,))
    iters = (Iter(u, i + 1, domain=(ZERO, Const(8))), Iter(v, i + 2, domain=(ZERO, u)))
    copy = fresh_copy(Block("b", iters, Allocate(scratch)))
    assert isinstance(copy, Block)
    assert isinstance(copy.body, Allocate)
    (first, second) = copy.iters
    assert second.domain == (ZERO, first.var)
    assert copy.body.buffer.shape == (second.var,)
    assert first.var is not u
