"""The receipt: what the optimiser does, as a schedule to read, replay and edit."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import HybridError, Kernel, ScheduleError, hybrid
from hybridjit.ir.equal import find_difference, structural_equal
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.hints import drop_hints
from hybridjit.ir.stmt import IN_LANES, LANES, ON_THREADS, ORIGIN, SUMS_IN_LANES, For, LoopKind
from hybridjit.ir.visit import walk_stmts
from hybridjit.lowering.choices import lower_numbered
from hybridjit.lowering.pipeline import lower
from hybridjit.optimize.optimize import optimize
from hybridjit.optimize.receipt import without_names
from hybridjit.processor import current_target
from hybridjit.schedule.schedule import Schedule
from hybridjit.schedule.trace import Trace
from tests.arrays.generate import make_program
from tests.arrays.program import defined
from tests.npbench import data, kernels, loops
from tests.support.oracle import fresh_copies

np: Any = numpy
Array = Any
RNG: Any = np.random.default_rng(8)


@hybrid.script
def softmax(x: Array) -> Array:
    largest = np.max(x, axis=-1, keepdims=True)
    exps = np.exp(x - largest)
    return exps / np.sum(exps, axis=-1, keepdims=True)


@hybrid.script
def layer(x: Array, w: Array, b: Array) -> Array:
    return np.maximum((x * 2.0) @ w + b, 0.0)


@hybrid.script
def moments(a: Array, x: Array) -> Any:
    y = a @ x
    a *= 2
    a += 1
    return y + 1, x @ a


@hybrid.script
def two_parts(a: Array, b: Array, x: Array) -> Any:
    t = x * 2
    u = t + 1
    return a @ b, u * u


@hybrid.script
def attention(q: Array, k: Array, v: Array) -> Array:
    s = q @ np.transpose(k, (0, 2, 1)) / 8.0
    exps = np.exp(s - np.max(s, axis=-1, keepdims=True))
    return (exps / np.sum(exps, axis=-1, keepdims=True)) @ v


@hybrid.script
def gram(a: Array) -> Array:
    return a @ a.T


@hybrid.script
def shifted_product(a: Array, b: Array) -> Array:
    return a @ b + 1


def assert_same_program(func: PrimFunc, other: PrimFunc) -> None:
    assert find_difference(without_names(func), without_names(other)) is None


def outcome(kernel: Any, args: Any) -> list[Any]:
    copies = fresh_copies(args)
    result = kernel(*copies)
    results: list[Any] = [*result] if isinstance(result, tuple) else [result]
    return [np.asarray(value).tobytes() for value in (*results, *copies)]


def assert_receipt(kernel: Kernel[..., Any], args: Any) -> Schedule:
    """The schedule makes the program that is compiled, and so does its trace, read back.

    Its hints lead to the same loops in lanes and on threads.
    """
    s = kernel.auto_schedule(*args)
    program = optimize(s.original, current_target()).func
    assert_same_program(drop_hints(s.func), drop_hints(program))
    assert_same_program(lowered(s.func), lowered(program))
    again = Schedule(s.original)
    again.replay(Trace.from_json(s.trace.to_json()))
    assert_same_program(again.func, s.func)
    return s


def lowered(func: PrimFunc) -> PrimFunc:
    return lower(func, current_target(), may_reorder=True, may_vectorize=True)


KERNELS: dict[str, tuple[Any, tuple[tuple[int, ...], ...]]] = {
    "softmax": (softmax, ((300, 80),)),
    "layer": (layer, ((40, 50), (50, 60), (60,))),
    "moments": (moments, ((80, 80), (80,))),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", KERNELS)
def test_the_receipt_makes_what_is_compiled(name: str) -> None:
    kernel, shapes = KERNELS[name]
    args = [RNG.random(shape) for shape in shapes]
    s = assert_receipt(kernel, args)
    assert outcome(kernel.with_schedule(s.trace), args) == outcome(kernel, args)
    assert outcome(kernel.with_schedule(s.trace.to_json()), args) == outcome(kernel, args)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", KERNELS)
def test_the_same_code_is_made(name: str) -> None:
    kernel, shapes = KERNELS[name]
    args = [RNG.random(shape) for shape in shapes]
    again = kernel.with_schedule(kernel.auto_schedule(*args).trace)
    assert again.inspect("asm", *args) == kernel.inspect("asm", *args)


@pytest.mark.parametrize("name", KERNELS)
def test_the_printed_trace_is_python(name: str) -> None:
    kernel, shapes = KERNELS[name]
    s = kernel.auto_schedule(*map(RNG.random, shapes))
    names: dict[str, Any] = {}
    exec(str(s.trace), names)
    again = Schedule(s.original)
    names["schedule"](again)
    assert_same_program(again.func, s.func)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", KERNELS)
def test_the_receipt_replays_on_other_shapes(name: str) -> None:
    kernel, shapes = KERNELS[name]
    trace = kernel.auto_schedule(*map(RNG.random, shapes)).trace
    other = kernel.with_schedule(trace)
    for size in (2, 3, 17, 31):
        args = [RNG.integers(-4, 5, [size] * len(shape)) / 2 for shape in shapes]
        found, wanted = other(*fresh_copies(args)), kernel.interpret(*fresh_copies(args))
        np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-12)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", ["float32", "complex128", "int64", "bool"])
def test_products_of_other_types(dtype: str) -> None:
    args = [RNG.integers(0, 9, (40, 40)).astype(dtype) for _ in range(2)]
    s = assert_receipt(shifted_product, args)
    assert outcome(shifted_product.with_schedule(s), args) == outcome(shifted_product, args)


def test_stacks_of_products() -> None:
    """Loops over a stack are loops over elements, around tiles that are not."""
    args = [RNG.random((2, 48, 64)) for _ in range(3)]
    s = assert_receipt(attention, args)
    assert [step.name for step in s.trace.steps].count("gemm") == 2
    assert structural_equal(hj.parse(str(s.func)), s.func)
    assert outcome(attention.with_schedule(s), args) == outcome(attention, args)


def test_half_of_a_product() -> None:
    args = [RNG.random((200, 20))]
    s = assert_receipt(gram, args)
    assert "symmetric=True" in str(s.trace)


def test_sizes_that_come_at_run_time() -> None:
    s = assert_receipt(shifted_product, [hj.f64["n", "m"], hj.f64["m", "k"]])
    assert "least_terms=128" in str(s.trace)
    assert_receipt(softmax, [hj.f64["n", "m"]])


@pytest.mark.sampled(16)
@pytest.mark.parametrize("form", [kernels, loops], ids=["arrays", "loops"])
@pytest.mark.parametrize("name", data.KERNELS)
def test_npbench(name: str, form: ModuleType) -> None:
    kernel: Any = hybrid.script(getattr(form, name))
    assert_tells_lanes_and_threads(assert_receipt(kernel, data.make(name)))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", ["any", "chain"])
@pytest.mark.parametrize("seed", range(25))
def test_random_scripts(seed: int, kind: str) -> None:
    program = make_program(seed, kind)
    with defined(program) as function:
        kernel: Any = hybrid.script(function)
        try:
            kernel.prim_func(*program.args)
        except HybridError:
            pytest.skip("some scripts are refused")
        assert_receipt(kernel, program.args)


def test_the_receipt_goes_on_after_the_steps_of_the_kernel() -> None:
    def tiled(s: Schedule) -> None:
        i, j, k = s.loops("product")
        i_0, i_1 = s.split(i, factor=8)
        s.reorder(i_0, j, k, i_1)

    args = [RNG.random(shape) for shape in ((40, 50), (50, 60), (60,))]
    kernel = two_parts.with_schedule(tiled)
    s = kernel.auto_schedule(*args)
    names = [step.name for step in s.trace.steps]
    assert names[:3] == ["loops", "split", "reorder"]
    assert "compute_inline" in names
    assert "gemm" not in names
    assert outcome(two_parts.with_schedule(s.trace), args) == outcome(kernel, args)


# -- a user's day ----------------------------------------------------------------------------------


def edited(kernel: Any, args: Any, *changes: tuple[str, str]) -> Any:
    """The kernel with the text of its receipt changed, as in an editor."""
    text = str(kernel.auto_schedule(*args).trace)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    names: dict[str, Any] = {}
    exec(text, names)
    return kernel.with_schedule(names["schedule"])


def test_another_number_of_lanes() -> None:
    x = RNG.random((300, 80))
    kernel = edited(softmax, [x], (f"lanes={_option_of(softmax, [x], 'lanes')}", "lanes=2"))
    assert "partial = allocate((4, 2)" in kernel.inspect("optimized", x)
    np.testing.assert_allclose(kernel(x), softmax(x), rtol=1e-14)


def test_another_tile() -> None:
    args = [RNG.random(shape) for shape in ((40, 50), (50, 60), (60,))]
    rows = f"rows={_option_of(layer, args, 'rows')}"
    kernel = edited(layer, args, (rows, "rows=4"))
    assert "sums = allocate((4," in kernel.inspect("optimized", *args)
    np.testing.assert_allclose(kernel(*args), layer(*args), rtol=1e-13)


def _option_of(kernel: Any, args: Any, name: str) -> int:
    """The number that the compiler has chosen for an option of one of its steps."""
    steps = kernel.auto_schedule(*args).trace.steps
    number: int = next(step.options[name] for step in steps if name in step.options)
    return number


def test_a_number_that_is_wrong_is_refused() -> None:
    x = RNG.random((300, 80))
    with pytest.raises(ScheduleError, match="lanes must be a power of two, got 5"):
        edited(softmax, [x], (f"lanes={_option_of(softmax, [x], 'lanes')}", "lanes=5"))(x)


def test_an_order_that_is_illegal_is_refused() -> None:
    """The array is contracted before the loops that use it are one."""
    x = RNG.random((300, 80))
    lines = str(softmax.auto_schedule(x).trace).splitlines()
    contraction = next(line for line in lines if "contract('exps')" in line)
    lines.remove(contraction)
    lines.insert(1, contraction)
    names: dict[str, Any] = {}
    exec("\n".join(lines), names)
    with pytest.raises(ScheduleError, match="not used by one loop of array statements alone"):
        softmax.with_schedule(names["schedule"])(x)


def test_a_step_more() -> None:
    """What the compiler did, and rows on all threads."""
    x = RNG.random((300, 80))
    s = softmax.auto_schedule(x)
    s.parallel(s.loops("result")[0])
    np.testing.assert_array_equal(softmax.with_schedule(s)(x), softmax(x))


def test_an_edited_receipt_is_verified() -> None:
    """Sums in another order are rounded otherwise, and no more than that."""
    a = RNG.random((12, 30)), RNG.random((30, 9)), RNG.random(9)
    s = layer.schedule(*a)
    s.gemm("product", rows=3, vectors=1, lanes=4, depth=16)
    assert "equal at" in str(s.verify(*a))


def test_a_step_less_is_taken_by_the_compiler() -> None:
    """What no step touches is optimised as ever."""
    args = [RNG.random(shape) for shape in ((40, 50), (50, 60), (60,))]
    kernel = layer.with_schedule(lambda s: s.compute_inline("t"))
    assert outcome(kernel, args)


def test_loops_by_hand_stay_as_they_are() -> None:
    s = running.auto_schedule(hj.f64[8])
    assert str(s.trace) == "def schedule(s):\n    pass"


def test_a_trace_that_was_read_back_is_python() -> None:
    x = RNG.random((20, 30))
    s = softmax.auto_schedule(x)
    names: dict[str, Any] = {}
    exec(str(Trace.from_json(s.trace.to_json())), names)
    again = softmax.schedule(x)
    names["schedule"](again)
    assert_same_program(again.func, s.func)


@pytest.mark.parametrize("shape", [(1, 30), (20, 1), (1, 1)])
def test_an_axis_of_one_element_has_no_loop(shape: tuple[int, int]) -> None:
    kernel = softmax.with_schedule(softmax.auto_schedule(RNG.random((20, 30))).trace)
    with pytest.raises(ScheduleError, match="an axis of one element has no loop"):
        kernel(RNG.random(shape))


def test_sizes_that_a_schedule_does_not_fit_are_left_out_by_verify() -> None:
    @hybrid.script
    def product(a: Array, b: Array) -> Array:
        return a @ b

    args = RNG.random((37, 37)), RNG.random((37, 37))  # one number: few others are tried
    s = product.schedule(*args)
    i, j, _ = s.loops("product")
    s.tile(i, j, 4, 4)
    s.rfactor(s.loops("product")[1])
    outer, _ = s.split(s.loops("product")[0], factor=10)
    s.parallel(outer)
    assert ((1, 1), (1, 1)) not in s.verify(*args).shapes


@pytest.mark.parametrize("size", [5, 9, 15, 16, 33])
def test_short_sums_are_rounded_alike(size: int) -> None:
    @hybrid.script
    def total(x: Array) -> Any:
        return x.sum()

    x = RNG.random(size) * 1e3
    assert total.with_schedule(total.auto_schedule(x))(x) == total(x)


# -- lanes and threads -----------------------------------------------------------------------------


def loops_in(func: PrimFunc) -> list[For]:
    return [stmt for stmt in walk_stmts(func.body) if isinstance(stmt, For)]


def assert_tells_lanes_and_threads(s: Schedule) -> None:
    """The loops that have hints are those that have lanes, or are on threads, in the end.

    Loops that a step made have no lanes: these are chosen again, if it did not give them some.
    Those whose sums are marked have theirs by that.
    """
    written = {loop.var for loop in loops_in(s.original)}
    loops = loops_in(s.func)
    lanes, threads = set[For](), set[For]()
    for made in loops_in(lower_numbered(drop_hints(s.func), current_target(), may_reorder=True)):
        number: int | None = made.hint(ORIGIN)
        if number is None:
            continue
        in_lanes = made.kind is LoopKind.VECTORIZED or (LANES, True) in made.annotations
        has_sums = loops[number].hint(SUMS_IN_LANES) is not None
        is_asked = loops[number].kind is LoopKind.VECTORIZED or has_sums
        if in_lanes and loops[number].var in written and not is_asked:
            lanes.add(loops[number])
        if made.kind is LoopKind.PARALLEL:
            threads.add(loops[number])
    assert lanes == {loop for loop in loops if loop.hint(IN_LANES)}
    assert threads == {loop for loop in loops if loop.hint(ON_THREADS)}


# The loops of np.linalg, of which there are many, are not for threads.
@pytest.mark.sampled(16)
@pytest.mark.parametrize("name", [name for name in data.KERNELS if name != "contour_integral"])
def test_the_receipt_tells_lanes_and_threads(name: str) -> None:
    kernel: Any = hybrid.script(getattr(kernels, name), parallel=True)
    assert_tells_lanes_and_threads(kernel.auto_schedule(*data.make(name)))


@hybrid.script(parallel=True)
def rows_on_threads(a: Array) -> Array:
    c = np.empty_like(a)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            c[i, j] = a[i, j] * 2.0 + 1.0
    return c


def test_the_receipt_of_a_parallel_kernel() -> None:
    a = RNG.random((512, 512))
    s = assert_receipt(rows_on_threads, [a])
    lanes, maybe = current_target().vector_bits // 64, "if_possible=True"
    assert str(s.trace).endswith(f"s.on_threads(i, {maybe})\n    s.in_lanes(j, {lanes}, {maybe})")
    again = rows_on_threads.with_schedule(s.trace)
    assert again.inspect("asm", a) == rows_on_threads.inspect("asm", a)


@hybrid.script
def one_axis_on_threads(a: Array, b: Array) -> None:
    for i in hybrid.parallel(a.shape[0]):
        b[i] = a[i] * 2


def test_the_receipt_of_a_loop_that_says_parallel() -> None:
    """It has lanes, which no step can give to a loop on threads: they are found again."""
    args = [RNG.random(1000), np.zeros(1000)]
    s = assert_receipt(one_axis_on_threads, args)
    again = one_axis_on_threads.with_schedule(s.trace)
    assert again.inspect("asm", *args) == one_axis_on_threads.inspect("asm", *args)


@hybrid.script(parallel=True)
def product_on_threads(a: Array, b: Array) -> Array:
    return a @ b


def test_the_threads_of_a_product() -> None:
    """The loop over its tiles is one that a step has made; there is none for small products."""
    a, b = RNG.random((128, 128)), RNG.random((128, 128))
    s = assert_receipt(product_on_threads, [a, b])
    assert "s.on_threads('i', if_possible=True)" in str(s.trace)
    again = product_on_threads.with_schedule(s.trace)
    assert again.inspect("asm", a, b) == product_on_threads.inspect("asm", a, b)
    for n in (3, 30, 300):
        a, b = RNG.random((n, n)), RNG.random((n, n))
        np.testing.assert_allclose(again(a, b), a @ b, rtol=1e-13)


def test_hints_are_edited() -> None:
    a = RNG.random((512, 512))

    def by_hand(s: Schedule) -> None:
        s.on_threads("i", False)
        s.on_threads("j")
        s.in_lanes("j", 1)

    text = rows_on_threads.with_schedule(by_hand).inspect("lowered", a)
    assert "vectorize" not in text
    assert text.index("in parallel(") < text.index("for i in range") < text.index("for j")
    np.testing.assert_array_equal(rows_on_threads.with_schedule(by_hand)(a), a * 2 + 1)


@pytest.mark.parametrize("lanes", [2, 4, 64])
def test_any_number_of_lanes(lanes: int) -> None:
    a = RNG.random((7, 203))

    def by_hand(s: Schedule) -> None:
        s.in_lanes("j", lanes)

    kernel = rows_on_threads.with_schedule(by_hand)
    text = kernel.inspect("lowered", a)
    assert f", {lanes})" in text or f"+ {4 * lanes})" in text  # a round is of several vectors
    np.testing.assert_array_equal(kernel(a), a * 2 + 1)


@hybrid.script
def running(a: Array) -> None:
    for i in range(1, a.shape[0]):
        a[i] += a[i - 1]


def test_a_hint_that_cannot_be_carried_out() -> None:
    kernel = running.with_schedule(lambda s: s.in_lanes("i", 8))
    reason = "cannot run in 8 lanes: iteration i reads what i - 1 wrote in 'a'"
    with pytest.raises(ScheduleError, match=f"in_lanes: loop 'i' {reason}") as caught:
        kernel(np.ones(40))
    assert "for i in range(1, a.shape[0]):" in str(caught.value)


@pytest.mark.parametrize("size", [0, 1, 2])
def test_a_loop_that_is_too_short_for_a_hint(size: int) -> None:
    """There is nothing to run side by side, and nothing that could be wrong with it."""
    a = RNG.integers(0, 9, size).astype(np.float64)
    expected = np.cumsum(a)
    running.with_schedule(lambda s: s.in_lanes("i", 8))(a)
    np.testing.assert_array_equal(a, expected)


@hybrid.script(parallel=True)
def row_by_row(a: Array) -> None:
    for i in range(1, a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] += a[i - 1, j]


def test_threads_that_cannot_be() -> None:
    """The rows need each other. Along the columns they do not."""
    a = RNG.integers(0, 9, (40, 50)).astype(np.float64)
    reason = "`a.1, .*` written by .* in iteration i=1, .* is read by .* in iteration i=2"
    with pytest.raises(ScheduleError, match=f"loop 'i' cannot run on threads: {reason}"):
        row_by_row.with_schedule(lambda s: s.on_threads("i"))(a.copy())
    expected = np.cumsum(a, axis=0)
    row_by_row.with_schedule(lambda s: s.on_threads("j"))(a)
    np.testing.assert_array_equal(a, expected)


def test_threads_of_a_function_that_runs_on_one() -> None:
    s = running.schedule(hj.f64[40])
    with pytest.raises(ScheduleError, match="on_threads: 'running' runs on one thread"):
        s.on_threads("i")
    s.on_threads("i", if_possible=True)
    s.on_threads("i", False)


def test_threads_in_an_order_that_steps_say() -> None:
    def tiled(s: Schedule) -> None:
        i, _ = s.loops("c")
        outer, _ = s.split(i, factor=8)
        s.on_threads(outer)

    a = RNG.random((64, 64))
    kernel = rows_on_threads.with_schedule(tiled)
    assert kernel.inspect("lowered", a).count("parallel(") == 1
    np.testing.assert_array_equal(kernel(a), a * 2 + 1)


def test_a_hint_that_holds_where_it_can() -> None:
    def by_hand(s: Schedule) -> None:
        s.in_lanes("i", 8, if_possible=True)

    a = RNG.integers(0, 9, 40).astype(np.float64)
    expected = np.cumsum(a)
    running.with_schedule(by_hand)(a)
    np.testing.assert_array_equal(a, expected)


@pytest.mark.parametrize("lanes", [0, 3, 128])
def test_lanes_that_no_vector_has(lanes: int) -> None:
    s = running.schedule(hj.f64[40])
    with pytest.raises(ScheduleError, match=f"a power of two, 64 at most, got {lanes}"):
        s.in_lanes("i", lanes)


def test_hints_for_loops_that_say_how_they_run() -> None:
    s = rows_on_threads.schedule(hj.f64[8, 8])
    s.vectorize("j")
    with pytest.raises(ScheduleError, match="in_lanes: loop 'j' is 'vectorize' already"):
        s.in_lanes("j", 8)


@hybrid.script
def sums_of_rows(a: Array, b: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@pytest.mark.parametrize("loop", ["i", "j"])
def test_lanes_where_the_compiler_would_not_have_them(loop: str) -> None:
    a, b, c = RNG.random((20, 30)), RNG.random((30, 17)), np.zeros((20, 17))
    kernel = sums_of_rows.with_schedule(lambda s: s.in_lanes(loop, 4))
    loops = {each.name: each.lanes for each in kernel.report(a, b, c).loops}
    assert loops == {"i": 1, "j": 1, "k": 1} | {loop: 4}
    kernel(a, b, c)
    expected = np.zeros((20, 17))
    sums_of_rows(a, b, expected)
    np.testing.assert_array_equal(c, expected)


def test_lanes_of_a_sum_in_its_order() -> None:
    args = [RNG.random((20, 20)) for _ in range(3)]
    with pytest.raises(
        ScheduleError, match=r"loop 'k' cannot run in 4 lanes: .* added up in order"
    ):
        sums_of_rows.with_schedule(lambda s: s.in_lanes("k", 4))(*args)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("shape", [(20, 96), (20, 100), (20, 64), (3, 40)])
def test_the_receipt_of_a_tile_of_sums(shape: tuple[int, int]) -> None:
    """Lanes are those of the tile, several vectors of them."""
    rows, columns = shape
    args = RNG.random((rows, 30)), RNG.random((30, columns)), np.zeros(shape)
    s = assert_receipt(sums_of_rows, args)
    again = sums_of_rows.with_schedule(s.trace)
    assert again.inspect("asm", *args) == sums_of_rows.inspect("asm", *args)
