"""make_blocks: which stores get a block, what it is called, and what its iters are."""

from textwrap import dedent

import pytest

from hybridjit.analysis.make_blocks import make_blocks
from hybridjit.ir.dtype import BOOL, FLOAT32, INT64
from hybridjit.ir.expr import Add, Buffer, Const, Expr, Gt, Load, Mul, Var
from hybridjit.ir.printer import format_stmt
from hybridjit.ir.stmt import (
    UNBOUND,
    Allocate,
    Block,
    For,
    If,
    Iter,
    IterKind,
    Let,
    LoopKind,
    Seq,
    Stmt,
    Store,
    While,
    seq,
)
from hybridjit.ir.visit import walk

ZERO = Const(0.0, FLOAT32)
EIGHT = Const(8)


def array(name: str, ndim: int = 1) -> Buffer:
    return Buffer(name, FLOAT32, (EIGHT,) * ndim)


def register(name: str) -> Buffer:
    return Buffer(name, FLOAT32, (), Buffer.REGISTER)


def loop(var: Var, *body: Stmt, stop: Expr = EIGHT) -> For:
    return For(var, Const(0), stop, Const(1), seq(*body))


def add_to(buffer: Buffer, indices: tuple[Expr, ...], value: Expr) -> Store:
    return Store(buffer, indices, Add(Load(buffer, indices), value))


def check(stmt: Stmt, expected: str) -> None:
    assert format_stmt(stmt) == dedent(expected).strip()


i, j, k = Var("i"), Var("j"), Var("k")


def test_matmul() -> None:
    a, b, c = array("a", 2), array("b", 2), array("c", 2)
    product = Mul(Load(a, (i, k)), Load(b, (k, j)))
    body = loop(i, loop(j, Store(c, (i, j), ZERO), loop(k, add_to(c, (i, j), product))))
    check(
        make_blocks(body),
        """
        for i in range(8):
            for j in range(8):
                with block("c", i, j):
                    c[i, j] = 0.0
                for k in range(8):
                    with block("c_1", i, j, reduce(k)):
                        c[i, j] = c[i, j] + a[i, k] * b[k, j]
        """,
    )


def test_iters_are_fresh_variables_bound_to_the_loops() -> None:
    c = array("c")
    made = make_blocks(loop(i, Store(c, (i,), ZERO)))
    block = next(node for node in walk(made) if isinstance(node, Block))
    (item,) = block.iters
    assert item.value is i
    assert item.var is not i
    assert item.domain is None
    assert isinstance(block.body, Store)
    assert block.body.indices == (item.var,)


def test_a_loop_over_time_is_a_scan() -> None:
    s = array("s")
    step = Store(s, (i,), Add(Load(s, (i - 1,)), ZERO))
    check(
        make_blocks(For(i, Const(1), EIGHT, Const(1), step, LoopKind.SCAN)),
        """
        for i in scan(1, 8):
            with block("s", scan(i)):
                s[i] = s[i - 1] + 0.0
        """,
    )


def test_a_register_gets_a_block_only_for_a_reduction_in_a_loop() -> None:
    a, acc, last = array("a"), register("acc"), register("last")
    one = Const(1.0, FLOAT32)
    body = Seq(
        (
            Allocate(acc, zero=False),
            Allocate(last, zero=False),
            Store(acc, (), ZERO),
            add_to(acc, (), one),
            loop(i, add_to(acc, (), Load(a, (i,))), Store(last, (), Load(a, (i,)))),
        )
    )
    check(
        make_blocks(body),
        """
        acc: float32
        last: float32
        acc = 0.0
        acc = acc + 1.0
        for i in range(8):
            with block("acc", reduce(i)):
                acc = acc + a[i]
            last = a[i]
        """,
    )


def test_a_register_of_each_iteration_is_spatial_outside() -> None:
    a, acc = array("a", 2), register("acc")
    nest = loop(i, Allocate(acc, zero=False), loop(k, add_to(acc, (), Load(a, (i, k)))))
    check(
        make_blocks(nest),
        """
        for i in range(8):
            acc: float32
            for k in range(8):
                with block("acc", i, reduce(k)):
                    acc = acc + a[i, k]
        """,
    )


def test_a_store_outside_of_loops_gets_a_block_without_iters() -> None:
    check(
        make_blocks(Store(array("c"), (Const(0),), ZERO)),
        """
        with block("c"):
            c[0] = 0.0
        """,
    )


def test_stores_under_if_and_while_get_blocks_inside() -> None:
    a, c = array("a"), array("c")
    positive = Gt(Load(a, (i,)), ZERO)
    body = loop(i, If(positive, Store(c, (i,), ZERO), While(positive, Store(a, (i,), ZERO))))
    check(
        make_blocks(body),
        """
        for i in range(8):
            if a[i] > 0.0:
                with block("c", i):
                    c[i] = 0.0
            else:
                while a[i] > 0.0:
                    with block("a", i):
                        a[i] = 0.0
        """,
    )


def test_a_let_stays_outside_and_is_visible() -> None:
    a, c, x = array("a"), array("c"), Var("x", FLOAT32)
    body = loop(i, Let(x, Mul(Load(a, (i,)), Load(a, (i,)))), Store(c, (i,), Add(x, x)))
    check(
        make_blocks(body),
        """
        for i in range(8):
            x = a[i] * a[i]
            with block("c", i):
                c[i] = x + x
        """,
    )


def by_name(name: str, body: Stmt, init: Stmt | None = None) -> Block:
    """A block as a script names one, which is not bound to its loops."""
    return Block(name, (), body, init, ((UNBOUND, True),))


def test_names_avoid_those_written_by_hand() -> None:
    c, c_1 = array("c"), array("c_1")
    zero = (Const(0),)
    by_hand = by_name("c_2", Store(array("d"), zero, ZERO))
    stores = [Store(buffer, zero, ZERO) for buffer in (c, c_1, c, c, c_1)]
    made = make_blocks(Seq((*stores, by_hand)))
    names = [node.name for node in walk(made) if isinstance(node, Block)]
    assert names == ["c", "c_1", "c_3", "c_4", "c_1_1", "c_2"]


def test_a_name_written_twice_is_made_unique() -> None:
    blocks = [by_name("x", Store(array(name), (Const(0),), ZERO)) for name in "ab"]
    made = make_blocks(Seq(tuple(blocks)))
    assert [node.name for node in walk(made) if isinstance(node, Block)] == ["x", "x_1"]


def test_a_block_by_hand_around_one_store_is_bound() -> None:
    a, c = array("a", 2), array("c")
    by_hand = by_name("sum", add_to(c, (i,), Load(a, (i, k))))
    check(
        make_blocks(loop(i, loop(k, by_hand))),
        """
        for i in range(8):
            for k in range(8):
                with block("sum", i, reduce(k)):
                    c[i] = c[i] + a[i, k]
        """,
    )


def test_loops_inside_a_block_by_hand_get_blocks_of_their_own() -> None:
    a, c = array("a", 2), array("c", 2)
    inner = loop(j, Store(c, (i, j), Load(a, (i, j))), stop=i)
    by_hand = by_name("row", Seq((Store(c, (i, Const(0)), ZERO), inner)))
    made = make_blocks(loop(i, by_hand))
    check(
        made,
        """
        for i in range(8):
            with block("row", i):
                c[i, 0] = 0.0
                for j in range(i):
                    with block("c", j):
                        c[i, j] = a[i, j]
        """,
    )
    row = next(node for node in walk(made) if isinstance(node, Block))
    used = {node for node in walk(row.body) if isinstance(node, Var)}
    assert i not in used
    assert row.iters[0].var in used


def test_an_allocation_whose_size_is_an_iter_is_rebuilt() -> None:
    buffer = Buffer("t", FLOAT32, (Add(i, Const(1)),), "local")
    by_hand = by_name("b", Seq((Allocate(buffer), Store(buffer, (i,), ZERO))))
    made = make_blocks(loop(i, by_hand))
    block = next(node for node in walk(made) if isinstance(node, Block))
    assert isinstance(block.body, Seq)
    allocate, store = block.body.stmts
    assert isinstance(allocate, Allocate)
    assert isinstance(store, Store)
    assert allocate.buffer is store.buffer
    assert allocate.buffer.shape == (Add(block.iters[0].var, Const(1)),)


def test_the_init_of_a_block_by_hand_is_not_wrapped() -> None:
    a, c = array("a", 2), array("c", 2)
    init = loop(j, Store(c, (i, j), ZERO))
    main = loop(Var("j"), add_to(c, (i, Const(0)), Load(a, (i, k))))
    by_hand = by_name("b", main, init)
    check(
        make_blocks(loop(i, loop(k, by_hand))),
        """
        for i in range(8):
            for k in range(8):
                with block("b", i, reduce(k)):
                    with init():
                        for j in range(8):
                            c[i, j] = 0.0
                    for j_1 in range(8):
                        with block("c", reduce(j_1)):
                            c[i, 0] = c[i, 0] + a[i, k]
        """,
    )


def test_an_explicit_block_is_left_exactly_as_it_is() -> None:
    c, x = array("c", 2), Var("i")
    explicit = Block(
        "b", (Iter(x, i, IterKind.SCAN),), loop(j, Store(c, (x, j), ZERO), Store(c, (x, x), ZERO))
    )
    body = loop(i, explicit)
    assert make_blocks(body) is body


def test_stores_beside_an_explicit_block_are_wrapped() -> None:
    c, x = array("c"), Var("i")
    explicit = Block("c", (Iter(x, i),), Store(c, (x,), ZERO))
    body = loop(i, explicit, Store(array("d"), (i,), ZERO))
    made = make_blocks(body)
    assert [node.name for node in walk(made) if isinstance(node, Block)] == ["c", "d"]
    assert explicit in walk(made)


def test_an_automatic_block_inside_an_explicit_one_is_bound() -> None:
    c, x = array("c", 2), Var("i")
    by_hand = by_name("inner", Store(c, (x, j), ZERO))
    explicit = Block("outer", (Iter(x, i),), loop(j, by_hand))
    check(
        make_blocks(loop(i, explicit)),
        """
        for i in range(8):
            with block("outer", i):
                for j in range(8):
                    with block("inner", j):
                        c[i, j] = 0.0
        """,
    )


@pytest.mark.parametrize("explicit", [False, True])
def test_nothing_to_do_gives_the_same_object(explicit: bool) -> None:
    acc = register("acc")
    bare = Block("b", (), Store(array("c"), (Const(0),), ZERO))
    body = Seq((Allocate(acc, zero=False), Store(acc, (), ZERO)))
    whole = Seq((body, bare)) if explicit else body
    assert make_blocks(whole) is whole


def test_twice_is_once() -> None:
    a, c, acc = array("a", 2), array("c"), register("acc")
    nest = loop(i, loop(k, add_to(acc, (), Load(a, (i, k)))), Store(c, (i,), Load(acc)))
    made = make_blocks(Seq((Allocate(acc, zero=False), Store(acc, (), ZERO), nest)))
    assert make_blocks(made) is made


def test_indices_of_loads_in_conditions_stay_outside() -> None:
    flag, c = Buffer("flag", BOOL, (EIGHT,)), array("c")
    index = Buffer("index", INT64, (EIGHT,))
    body = loop(i, If(Load(flag, (i,)), add_to(c, (Load(index, (i,)),), ZERO)))
    check(
        make_blocks(body),
        """
        for i in range(8):
            if flag[i]:
                with block("c", reduce(i)):
                    c[index[i]] = c[index[i]] + 0.0
        """,
    )
