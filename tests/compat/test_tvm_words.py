"""What tutorials and old programs write besides te: modules, schedules of programs, builders."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import hybridjit as hj
import hybridjit.compat.tvm as package
from hybridjit.errors import ArgumentError, ScheduleError

np: Any = numpy  # whose types say nothing of arrays that may be any
tvm: Any = package
te: Any = tvm.te
topi: Any = tvm.topi
X: Any = np.arange(24, dtype="float32").reshape(4, 6)


def product(size: int = 32) -> list[Any]:
    A, B = (te.placeholder((size, size), name=name) for name in "AB")
    k = te.reduce_axis((0, size), "k")

    def element(i: Any, j: Any) -> Any:
        return te.sum(A[i, k] * B[k, j], axis=k)

    return [A, B, te.compute((size, size), element, name="C")]


def run_product(module: Any, size: int = 32) -> None:
    a, b = (np.random.default_rng(seed).random((size, size), np.float32) for seed in (0, 1))
    c = tvm.nd.empty((size, size))
    module(tvm.nd.array(a), tvm.nd.array(b), c)
    tvm.testing.assert_allclose(c.numpy(), a @ b, rtol=1e-4)


# -- targets, modules of functions, libraries ------------------------------------------------------


def test_targets() -> None:
    target = tvm.target.Target(target="llvm -mcpu=core-avx2", host="llvm")
    assert target.kind.name == "llvm"
    assert target.host.kind.name == "llvm"
    assert tvm.target.Target({"kind": "llvm"}).kind.name == "llvm"
    assert tvm.target.Target.current() is None
    with target:
        assert tvm.target.Target.current() is target


def test_a_module_is_printed_and_built() -> None:
    args = product()
    module = tvm.IRModule({"main": te.create_prim_func(args)})
    assert module.script() == str(module) == str(module["main"])
    with tvm.transform.PassContext(opt_level=3, config={"tir.disable_vectorize": True}):
        run_product(tvm.build(module, target="llvm"))
    run_product(tvm.build(tvm.lower(te.create_schedule(args[-1].op), args)))


def test_several_functions_in_a_module() -> None:
    first, second = (te.create_prim_func(product(), name) for name in ("f", "g"))
    run_product(tvm.build(tvm.IRModule({"f": first, "g": second}))["g"])


NAMED: dict[str, Callable[[Any], Any]] = {
    "a module": lambda module: module,
    "one that was lowered": tvm.lower,
    "one that was scheduled": lambda module: tvm.tir.Schedule(module).mod,
    "a schedule": tvm.tir.Schedule,
    "a copy of a schedule": lambda module: tvm.tir.Schedule(module).copy(),
    "the module of one function": lambda module: tvm.IRModule.from_expr(module["mm"]),
}


@pytest.mark.parametrize("way", NAMED)
def test_functions_have_the_names_that_the_module_gives_them(way: str) -> None:
    func = te.create_prim_func(product(), "mm" if way == "the module of one function" else "main")
    module = tvm.build(NAMED[way](tvm.IRModule({"mm": func})), target="llvm")
    assert module.entry_name == "mm"
    run_product(module["mm"])


def test_several_functions_are_lowered_and_scheduled() -> None:
    module = tvm.IRModule({name: te.create_prim_func(product()) for name in ("f", "g")})
    assert tvm.lower(module).get_global_vars() == ["f", "g"]
    run_product(tvm.build(tvm.lower(module))["g"])


def test_structural_equality() -> None:
    module = tvm.IRModule({"main": te.create_prim_func(product())})
    tvm.ir.assert_structural_equal(module, tvm.IRModule({"main": te.create_prim_func(product())}))
    with pytest.raises(AssertionError, match="is not"):
        tvm.ir.assert_structural_equal(module["main"], te.create_prim_func(product(8)))


def test_a_library_is_saved_and_loaded() -> None:
    args = product(8)
    built = tvm.build(te.create_schedule(args[-1].op), args, name="multiply")
    folder = tvm.contrib.utils.tempdir()
    built.save(folder.relpath("multiply.o"))
    tvm.contrib.cc.create_shared(folder.relpath("m.so"), [folder.relpath("multiply.o")])
    assert "m.so" in folder.listdir()
    run_product(tvm.runtime.load_module(folder.relpath("m.so")), 8)
    assert "define" in built.get_source()


# -- schedules of programs -------------------------------------------------------------------------


def test_a_schedule_of_a_program() -> None:
    sch = tvm.tir.Schedule(tvm.IRModule({"main": te.create_prim_func(product())}))
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    i0, i1 = sch.split(i, [None, 8])
    j0, j1 = sch.split(j, factors=[None, 16])
    sch.reorder(i0, j0, k, i1, j1)
    sch.vectorize(j1)
    sch.parallel(i0)
    run_product(tvm.build(sch.mod, target="llvm"))
    run_product(tvm.build(sch))
    assert "s.split" in str(sch.trace)
    assert "vectorize" in sch.mod.script()


def test_factors_are_sampled_and_copies_are_numbered() -> None:
    sch = tvm.tir.Schedule(te.create_prim_func(product()), seed=3)
    block = sch.get_block("C")
    loop = sch.get_loops(block)[0]
    factors = sch.sample_perfect_tile(loop=loop, n=2, max_innermost_factor=16)
    sch.split(loop, factors)
    sch.cache_read(block, 1, "local")
    sch.cache_write(block, 0, "local")
    assert "B_local" in str(sch.mod)
    assert "C_local" in str(sch.mod)
    run_product(tvm.build(sch.mod))
    with pytest.raises(ScheduleError, match="there is no buffer 2"):
        sch.cache_read(block, 2, "local")


def test_producers_and_consumers() -> None:
    A = te.placeholder((8,), name="A")

    def one(i: Any) -> Any:
        return A[i] + 1

    B = te.compute((8,), one, name="B")

    def two(i: Any) -> Any:
        return B[i] * 2

    sch = tvm.tir.Schedule(te.create_prim_func([A, te.compute((8,), two, name="C")]))
    first, second = sch.get_block("B"), sch.get_block("C")
    assert sch.get_consumers(first) == [second]
    assert sch.get_producers(second) == [first]
    sch.compute_inline(first)
    assert "B" not in [block.name for block in sch.blocks()]


# -- te --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [0, 1, -1, -2])
def test_partial_sums(place: int) -> None:
    A = te.placeholder((4, 6), name="A")
    k = te.reduce_axis((0, 6), "k")

    def row(i: Any) -> Any:
        return te.sum(A[i, k], axis=k)

    B = te.compute((4,), row, name="B")
    s = te.create_schedule(B.op)
    _, inner = s[B].split(k, factor=2)
    partial = s.rfactor(B, inner, place)
    assert partial.shape == ((4, 2) if place in (1, -1) else (2, 4))
    b = tvm.nd.empty((4,))
    tvm.build(s, [A, B])(X, b)
    tvm.testing.assert_allclose(b.numpy(), X.sum(1))


def test_what_is_gathered_is_not_inlined() -> None:
    A, places = te.placeholder((4, 6), name="A"), te.placeholder((3,), "int32", "places")

    def three(i: Any, j: Any) -> Any:
        return A[i, j] * 3

    P = te.compute((4, 6), three, name="P")

    def chosen(i: Any, j: Any) -> Any:
        return P[places[i], j]

    C = te.compute((3, 6), chosen, name="C")
    s = te.create_schedule(C.op)
    te.schedule.AutoInlineInjective(s)
    s[C].set_scope("global")
    rows, found = np.array([3, 0, 2], "int32"), tvm.nd.empty((3, 6))
    tvm.build(s, [A, places, C])(X, rows, found)
    np.testing.assert_array_equal(found, X[rows] * 3)


@pytest.mark.parametrize("order", [*itertools.permutations(range(4))])
def test_reduced_axes_in_any_order(order: tuple[int, ...]) -> None:
    cube = te.placeholder((3, 4, 6), name="X")
    p, q = te.reduce_axis((0, 4), "p"), te.reduce_axis((0, 6), "q")

    def element(i: Any) -> Any:
        return te.sum(cube[i, p, q], axis=[p, q])

    Y = te.compute((3,), element, name="Y")
    s = te.create_schedule(Y.op)
    qo, qi = s[Y].split(q, factor=4)
    axes = Y.op.axis[0], p, qo, qi
    s[Y].reorder(*(axes[place] for place in order))
    x = np.random.default_rng(0).random((3, 4, 6), np.float32)
    y = tvm.nd.empty((3,))
    tvm.build(s, [cube, Y])(x, y)
    np.testing.assert_allclose(y, x.sum((1, 2)), rtol=1e-5)
    is_kept = [place for place in order if place] == [1, 2, 3]
    assert bool(s.fastmath) is not is_kept


def test_the_place_of_the_largest() -> None:
    def larger(x: Any, y: Any) -> Any:
        first = x[1] >= y[1]
        return tuple(tvm.tir.Select(first, x[place], y[place]) for place in (0, 1))

    def least(place: Any, value: Any) -> Any:
        return tvm.tir.const(-1, place), te.min_value(value)

    argmax = te.comm_reducer(larger, least, name="argmax")
    places = te.placeholder((4, 6), "int32", "places")
    values = te.placeholder((4, 6), name="values")
    k = te.reduce_axis((0, 6), "k")

    def row(i: Any) -> Any:
        return argmax((places[i, k], values[i, k]), axis=k)

    first, second = te.compute((4,), row, name="T")
    x = np.sin(X)
    found, largest = np.zeros(4, "int32"), np.zeros(4, "float32")
    numbers = np.broadcast_to(np.arange(6, dtype="int32"), (4, 6)).copy()
    tvm.build(te.create_schedule(first.op), [places, values, first, second])(
        numbers, x, found, largest
    )
    np.testing.assert_array_equal(found, x.argmax(1))
    np.testing.assert_array_equal(largest, x.max(1))


def test_a_state_that_begins_with_a_literal() -> None:
    A, state = te.placeholder((4, 6), name="A"), te.placeholder((4, 6))

    def begin(_: Any, i: Any) -> Any:
        return 0.0

    def step(t: Any, i: Any) -> Any:
        return state[t - 1, i] + A[t, i]

    sums = te.scan(te.compute((1, 6), begin), te.compute((4, 6), step), state)
    found = np.zeros((4, 6), "float32")
    tvm.build(te.create_schedule(sums.op), [A, sums])(X, found)
    np.testing.assert_array_equal(found, X.cumsum(0) - X[0])


# -- statements and functions ----------------------------------------------------------------------

Write = Callable[[Any, Any, Any], None]


def loops(ib: Any, a: Any, b: Any) -> None:
    with ib.for_range(0, 24, name="i") as i, ib.if_scope(i % 2 == 0):
        b[i] = a[i] * 2.0
    with ib.for_range(0, 12, name="j", kind="parallel") as j:
        b[2 * j + 1] = -a[2 * j + 1]


def branches(ib: Any, a: Any, b: Any) -> None:
    with ib.for_range(0, 4, name="i") as i, ib.for_range(0, 6, name="j") as j:
        with ib.if_scope(ib.likely(j % 2 == 0)):
            b[i, j] = a[i, j] * 2.0
        with ib.else_scope():
            b[i, j] = -a[i, j]


def memory(ib: Any, a: Any, b: Any) -> None:
    count = ib.allocate("int32", (1,), name="count", scope="local")
    count[0] = 0
    with ib.while_loop(count[0] < 12):
        place = ib.let("place", count[0] * 2)
        b[place] = a[place] * 2.0
        b[place + 1] = -a[place + 1]
        count[0] += 1


@pytest.mark.parametrize("write", [loops, branches, memory])
def test_statements_are_written_down(write: Write) -> None:
    A = te.placeholder((4, 6), name="A")

    def body(ins: Any, outs: Any) -> Any:
        ib = tvm.tir.ir_builder.create()
        write(ib, ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0]))
        return ib.get()

    B = te.extern((4, 6), [A], body, name="B", dtype="float32")
    found = np.zeros((4, 6), "float32")
    tvm.build(te.create_schedule(B.op), [A, B])(X, found)
    np.testing.assert_array_equal(found, np.where(np.arange(6) % 2 == 0, 2 * X, -X))


def test_an_else_without_an_if() -> None:
    ib = tvm.tir.ir_builder.create()
    with pytest.raises(hj.ArgumentError, match="must follow an if_scope"), ib.else_scope():
        pass


def test_functions_are_called_by_name() -> None:
    def add_one(x: Any, y: Any) -> None:
        tvm.nd.array(x.numpy() + 1).copyto(y)

    tvm.register_func("tests.words.add_one", add_one, override=True)
    A = te.placeholder((4, 6), name="A")

    def body(ins: Any, outs: Any) -> Any:
        return tvm.tir.call_packed("tests.words.add_one", ins[0], outs[0])

    B = te.extern(A.shape, [A], body, name="B")
    found = tvm.nd.empty((4, 6))
    tvm.build(te.create_schedule(B.op), [A, B], "llvm")(tvm.nd.array(X), found)
    np.testing.assert_array_equal(found.numpy(), X + 1)
    with pytest.raises(ValueError, match=r"there is no function 'tests\.words\.none'"):
        tvm.tir.call_packed("tests.words.none", A)


def test_blas_by_name() -> None:
    assert tvm.get_global_func("tvm.contrib.cblas.matmul", allow_missing=True)
    A, B = te.placeholder((4, 6), name="A"), te.placeholder((4, 6), name="B")

    def body(ins: Any, outs: Any) -> Any:
        return tvm.tir.call_packed("tvm.contrib.cblas.matmul", *ins, outs[0], False, True)

    C = te.extern((4, 4), [A, B], body, name="C")
    found = tvm.nd.empty((4, 4))
    tvm.build(te.create_schedule(C.op), [A, B, C])(X, X, found)
    tvm.testing.assert_allclose(found.numpy(), X @ X.T, rtol=1e-5)


# -- topi ------------------------------------------------------------------------------------------


def test_operators_with_their_schedules() -> None:
    a, b = te.placeholder((4, 6, 6), name="a"), te.placeholder((6, 6), name="b")
    total = topi.sum(topi.elemwise_sum([a + b, a * b]) / 2.0)
    with tvm.target.Target("llvm"):
        s = topi.generic.schedule_reduce(total)
    assert "sum" in str(tvm.lower(s, [a, b], simple_mode=True))
    x, y = np.random.default_rng(0).random((4, 6, 6)), np.random.default_rng(1).random((6, 6))
    x, y, found = x.astype("float32"), y.astype("float32"), np.zeros((), "float32")
    tvm.build(s, [a, b, total], "llvm")(x, y, found)
    np.testing.assert_allclose(found, ((x + y) + x * y).sum() / 2, rtol=1e-4)
    assert topi.utils.get_const_tuple(a.shape) == (4, 6, 6)
    tvm.lower(topi.x86.schedule_softmax(topi.nn.softmax(b)), [b])
    with pytest.raises(AttributeError, match=r"topi\.x86 has no 'conv'"):
        topi.x86.conv  # noqa: B018


def test_a_schedule_is_copied() -> None:
    sch = tvm.tir.Schedule(te.create_prim_func(product()))
    i, _, _ = sch.get_loops(sch.get_block("C"))
    outer, _ = sch.split(i, [None, 8])
    other = sch.copy()
    other.parallel(outer)
    assert "parallel" not in str(sch.trace)
    assert "parallel" not in sch.mod.script()
    assert "s.parallel" in str(other.trace)
    run_product(tvm.build(other.mod))


def test_conditions_without_operators() -> None:
    def element(i: Any, j: Any) -> Any:
        return tvm.tir.Select(i.equal(j), 1.0, 0.0)

    C = te.compute((4, 4), element, name="C")
    out = tvm.nd.empty((4, 4))
    tvm.build(te.create_schedule(C.op), [C])(out)
    np.testing.assert_array_equal(out, np.eye(4))


@pytest.mark.parametrize("place", [0, 1])
def test_partial_sums_of_a_program(place: int) -> None:
    sch = tvm.tir.Schedule(te.create_prim_func(product()))
    *_, k = sch.get_loops(sch.get_block("C"))
    loops = sch.split(k, [None, 4])
    partial = sch.rfactor(loops[place], factor_axis=2)
    assert len(sch.get_loops(partial)) == 4
    run_product(tvm.build(sch.mod))


def test_a_sum_runs_in_another_order() -> None:
    sch = tvm.tir.Schedule(te.create_prim_func(product()))
    i, j, k = sch.get_loops(sch.get_block("C"))
    k0, k1 = sch.split(k, [None, 4])
    with pytest.raises(ScheduleError, match="reorder"):
        sch.reorder(k0, k0)
    assert not sch.func.fastmath
    sch.reorder(k1, k0, i, j)
    run_product(tvm.build(sch.mod))


@pytest.mark.parametrize("buffer", [("write", 0), "C"])
def test_a_layout_of_what_is_between(buffer: Any) -> None:
    A, B, C = product()
    D = te.compute(C.shape, halved(C), name="D")
    sch = tvm.tir.Schedule(te.create_prim_func([A, B, D]))
    sch.transform_layout(sch.get_block("C"), buffer, by_fours)
    assert "allocate((8, 32, 4)" in sch.mod.script()
    sch.transform_layout(sch.get_block("D"), ("read", 0), turned)
    assert "allocate((4, 32, 8)" in sch.mod.script()
    run_product(tvm.build(sch.mod))
    with pytest.raises(ArgumentError, match="no padding"):
        sch.transform_layout(sch.get_block("C"), buffer, by_fours, pad_value=0)


def halved(tensor: Any) -> Any:
    def element(i: Any, j: Any) -> Any:
        return (tensor[i, j] + tensor[i, j]) / 2.0

    return element


def by_fours(i: Any, j: Any) -> Any:
    return j // 4, i, j % 4


def turned(i: Any, j: Any, k: Any) -> Any:
    return k, j, i
