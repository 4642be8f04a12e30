"""Native calls give exactly what calls through Python give, and are taken only where they may."""

from __future__ import annotations

import copy
import functools
import gc
import inspect
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
import tracemalloc
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from hybridjit import Kernel, config, hybrid
from hybridjit.codegen.stub_layout import Offsets
from hybridjit.errors import ArgumentError
from hybridjit.frontend.kinds import is_array, is_numpy_scalar, is_sequence
from hybridjit.hybrid import output_tensor
from hybridjit.ir.dtype import DTYPES
from hybridjit.runtime import dispatch_facts
from hybridjit.runtime.dispatch_object import native_class

AnyKernel = Kernel[..., Any]

pytestmark = pytest.mark.skipif(
    native_class() is None, reason="native calls are not possible on this interpreter"
)


def hits(kernel: AnyKernel) -> int:
    """How many calls of `kernel` ran natively."""
    return sum(table.hits for table in kernel.native_calls.tables)


def warm(kernel: AnyKernel, *args: Any, **kwargs: Any) -> None:
    """Call until calls like this one run natively."""
    for _ in range(3):
        kernel(*args, **kwargs)
    assert hits(kernel) == 1


def through_python(kernel: AnyKernel) -> Callable[..., Any]:
    """The way that a call takes when no table fits."""
    return functools.partial(vars(Kernel)["__call__"], kernel)


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns, or the error that it raises, as something to compare."""
    try:
        return shown(call())
    except Exception as error:
        return type(error), str(error)


def shown(value: Any) -> Any:
    kind = type(value).__name__
    if is_sequence(value):
        return kind, *map(shown, value)
    if is_array(value) or is_numpy_scalar(value):
        array: Any = value
        return kind, array.dtype, array.shape, array.tobytes()
    return kind, repr(value)


def agrees(kernel: AnyKernel, *args: Any, **kwargs: Any) -> bool:
    """Compare a call with the same call through Python; True if it ran natively."""
    given = [value for value in flat((*args, *kwargs.values())) if is_array(value)]
    contents = [np.array(array) for array in given]
    slow = through_python(kernel)
    expected = outcome(lambda: slow(*args, **kwargs)), list(map(shown, given))
    for array, content in zip(given, contents, strict=True):
        if array.flags.writeable:
            array[...] = content
    before = hits(kernel)
    found = outcome(lambda: kernel(*args, **kwargs)), list(map(shown, given))
    assert found == expected
    return hits(kernel) > before


def flat(values: Any) -> list[Any]:
    found: list[Any] = []
    for value in values:
        found += flat(value) if is_sequence(value) else [value]
    return found


@hybrid.script
def _add(a: Any, b: Any, c: Any) -> Any:
    for i in range(a.shape[0]):
        c[i] = a[i] + b[i]


def fresh(kernel: AnyKernel) -> AnyKernel:
    """A kernel of the same function, which has not been called."""
    return Kernel(kernel.__hybrid_function__)


def make_add() -> AnyKernel:
    return fresh(_add)


def arrays(count: int = 3, size: int = 8, dtype: Any = np.float64) -> list[Any]:
    return [np.arange(size).astype(dtype) + i for i in range(count)]


# Which calls run natively


def test_second_call_makes_a_table_and_the_third_uses_it() -> None:
    add = make_add()
    found: list[tuple[int, int]] = []
    for _ in range(4):
        add(*arrays())
        found.append((len(add.native_calls.tables), hits(add)))
    assert found == [(0, 0), (1, 0), (1, 1), (1, 2)]


def test_native_call_writes_what_it_should() -> None:
    add = make_add()
    warm(add, *arrays())
    a, b, c = arrays()
    assert add(a, b, c) is None
    np.testing.assert_array_equal(c, a + b)
    assert hits(add) == 2


CHANGES: list[tuple[int, Callable[[Any], Any]]] = [
    (0, lambda a: a.astype(np.float32)),
    (0, lambda a: a.astype(np.int64)),
    (0, lambda a: a.astype(">f8")),
    (0, lambda a: a.reshape(2, 4)),
    (0, lambda a: a[0]),
    (0, lambda a: a[:4]),
    (0, lambda a: a[:0]),
    (0, lambda a: np.repeat(a, 2)),
    (0, lambda a: np.repeat(a, 2)[::2]),
    (0, lambda a: a[::-1]),
    (0, lambda a: np.broadcast_to(a[:1], (8,))),
    (0, lambda a: list(a)),
    (0, lambda a: None),
    (0, lambda a: "text"),
    (0, lambda a: 3),
    (0, lambda a: a.view(np.recarray)),
    (0, lambda a: np.ma.masked_array(a)),
    (0, lambda a: a.astype(object)),
    (0, lambda a: a.astype([("x", "f8")])),
    (0, lambda a: misaligned(a)),
    (2, lambda c: read_only(c)),
    (2, lambda c: misaligned(c)),
    (2, lambda c: np.lib.stride_tricks.as_strided(c, (8,), (0,))),
    (2, lambda c: c.astype(np.float32)),
]


@pytest.mark.parametrize(("position", "change"), CHANGES)
def test_other_arguments_do_not_use_the_table(position: int, change: Any) -> None:
    add = make_add()
    warm(add, *arrays())
    table = add.native_calls.tables[0]
    args = arrays()
    args[position] = change(args[position])
    before = table.hits
    agrees(add, *args)
    assert table.hits == before


def misaligned(array: Any) -> Any:
    memory: Any = np.zeros(array.nbytes + 1, np.uint8)
    view = memory[1:].view(array.dtype)
    view[...] = array
    return view


def read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array


def test_read_only_input_is_fine() -> None:
    add = make_add()
    warm(add, *arrays())
    a, b, c = arrays()
    assert agrees(add, read_only(a), b, c)


def test_dtype_object_does_not_have_to_be_the_usual_one() -> None:
    """Unpickled arrays have a dtype object of their own; long and long long are one type."""
    add = make_add()
    warm(add, *arrays())
    a, b, c = arrays()
    again = pickle.loads(pickle.dumps(a))
    assert agrees(add, again, b, c)

    integers = make_add()
    warm(integers, *arrays(dtype=np.int64))
    a, b, c = arrays(dtype=np.int64)
    assert agrees(integers, a.view(np.longlong), b.view(np.int_), c)


@pytest.mark.parametrize("name", DTYPES)
def test_every_element_type(name: str) -> None:
    dtype = ml_dtypes.bfloat16 if name == "bfloat16" else np.dtype(name)

    @hybrid.script
    def pick(a: Any, x: Any, b: Any) -> Any:
        for i in range(a.shape[0]):
            b[i] = a[i] if i > 2 else x
        return a[1], x

    a = np.arange(5).astype(dtype)
    x, b = a[3], np.zeros(5, dtype)
    for _ in range(3):
        assert agrees(pick, a, x, b) in (True, False)
    assert agrees(pick, a, x, b)


def test_strided_arguments_have_tables_of_their_own() -> None:
    add = make_add()
    base = np.arange(64.0)
    views = [base[:16:2], base[16:32:2], base[40:32:-1]]
    for _ in range(4):
        agrees(add, *views)
    assert agrees(add, *views)


def test_stride_of_an_axis_with_one_element_means_nothing() -> None:
    @hybrid.script
    def copy_rows(a: Any, b: Any) -> Any:
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                b[i, j] = a[i, j]

    wide: Any = np.ones((4, 8))
    a, b = wide[:1, ::2], np.zeros((1, 4))
    for _ in range(3):
        copy_rows(a, b)
    odd = np.lib.stride_tricks.as_strided(a, a.shape, (12345, a.strides[1]))
    before = hits(copy_rows)
    copy_rows(odd, b)
    assert hits(copy_rows) == before + 1
    np.testing.assert_array_equal(a, b)


# Run-time sizes


def test_promoted_sizes_run_natively() -> None:
    add = make_add()
    for size in (3, 4, 5):
        for _ in range(3):
            add(*arrays(size=size))
    for size in (0, 1, 2, 17, 1000, 5000):
        assert agrees(add, *arrays(size=size))
    args = [*arrays(2, 6), np.zeros(7)]
    assert not agrees(add, *args)


def test_promoted_sizes_of_written_views() -> None:
    @hybrid.script
    def fill(c: Any) -> Any:
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                c[i, j] = i * 10 + j

    for size in (3, 5, 6):
        for _ in range(2):
            fill(np.zeros((size, 4 * size))[:, ::2])
    before = hits(fill)
    c = np.zeros((7, 20))[:, ::2]
    fill(c)
    assert hits(fill) > before
    np.testing.assert_array_equal(c, np.arange(7.0)[:, None] * 10 + np.arange(10))
    overlapping = np.lib.stride_tricks.as_strided(np.zeros(100), (7, 10), (16, 16))
    with pytest.raises(ValueError, match="share memory"):
        fill(overlapping)


# Aliasing


def test_aliased_arrays_run_code_made_for_that() -> None:
    @hybrid.script
    def shift(a: Any, b: Any) -> Any:
        for i in range(a.shape[0]):
            b[i] = a[i] + 1

    a, b = np.zeros(6), np.zeros(6)
    warm(shift, a, b)
    base = np.zeros(8)
    for _ in range(4):
        base[...] = 0
        shift(base[:6], base[1:7])
        np.testing.assert_array_equal(base, [0, 1, 2, 3, 4, 5, 6, 0])
    disjoint, shared = sorted(table.hits for table in shift.native_calls.tables)
    assert (disjoint, shared) == (1, 2)
    assert agrees(shift, a, b)
    assert agrees(shift, base[:6], base[1:7]) in (True, False)
    assert agrees(shift, base[2:8], base[2:8]) in (True, False)


# Numbers


@hybrid.script
def _scaled(a: Any, k: Any) -> Any:
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] * k
    return s


SCALARS: list[Any] = [
    2,
    -(2**63),
    2**63 - 1,
    True,
    False,
    2.5,
    -0.0,
    float("nan"),
    float("inf"),
    1 + 2j,
    np.float64(2.5),
    np.float32(2.5),
    np.float16(2.5),
    ml_dtypes.bfloat16(2.5),
    np.int8(-3),
    np.uint8(200),
    np.int32(-5),
    np.uint64(2**64 - 1),
    np.longlong(7),
    np.complex64(1 + 2j),
    np.complex128(1 - 2j),
    np.True_,
]


@pytest.mark.parametrize("k", SCALARS, ids=repr)
def test_every_kind_of_number(k: Any) -> None:
    scaled = fresh(_scaled)
    a = np.arange(4.0)
    for _ in range(3):
        agrees(scaled, a, k)
    assert agrees(scaled, a, k)


def test_numbers_of_all_kinds_keep_apart() -> None:
    scaled = fresh(_scaled)
    a = np.arange(4.0)
    for _ in range(3):
        for k in SCALARS:
            agrees(scaled, a, k)
    assert all([agrees(scaled, a, k) for k in SCALARS])


@pytest.mark.parametrize("k", [2**63, -(2**63) - 1, 10**30])
def test_int_beyond_64_bits_is_refused(k: int) -> None:
    scaled = fresh(_scaled)
    a = np.arange(4.0)
    warm(scaled, a, 3)
    with pytest.raises(ValueError, match="does not fit in 64 bits"):
        scaled(a, k)


class _Half(float):
    pass


class _Flag(int):
    pass


@pytest.mark.parametrize("k", [_Half(2.5), _Flag(1), "2", None, [2.0], object()], ids=type)
def test_subclass_of_a_number_is_no_number(k: Any) -> None:
    scaled = fresh(_scaled)
    a = np.arange(4.0)
    warm(scaled, a, 2.5)
    assert not agrees(scaled, a, k)


def test_declared_scalars() -> None:
    def function(x: np.float32, n: np.int8, b: np.float64) -> Any:
        return x, n, b

    declared: AnyKernel = hybrid.script(function)
    for args in [(2.1, 3, 0.5), (np.float32(2.1), np.int8(3), np.float64(0.5)), (1e300, 127, 1.0)]:
        for _ in range(4):
            agrees(declared, *args)
    assert agrees(declared, 0.1, -128, 2.5)
    assert agrees(declared, np.float32(7), np.int8(1), np.float64(0.5))
    assert not agrees(declared, 0.1, 128, 2.5)
    assert not agrees(declared, 0.1, 2**70, 2.5)


# How arguments are passed


@hybrid.script
def _options(a: Any, /, k: Any = 2.0, *, shift: Any = 1, mode: Any = "up") -> Any:
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        if mode == "up":
            b[i] = a[i] * k + shift
        else:
            b[i] = a[i] * k - shift
    return b


GOOD_CALLS: list[Callable[[Any, Any], Any]] = [
    lambda f, a: f(a),
    lambda f, a: f(a, 3.0),
    lambda f, a: f(a, k=3.0),
    lambda f, a: f(a, 3.0, shift=2),
    lambda f, a: f(a, shift=2, k=3.0),
    lambda f, a: f(a, mode="down"),
    lambda f, a: f(a, mode="".join(["do", "wn"])),
    lambda f, a: f(a, mode="up", shift=5, k=1.5),
    lambda f, a: f(*[a], **{"k": 2.5}),
]


@pytest.mark.parametrize("call", GOOD_CALLS)
def test_keywords_and_defaults(call: Any) -> None:
    options = fresh(_options)
    a = np.arange(5.0)
    for _ in range(3):
        call(options, a)
    before = hits(options)
    result = call(options, a)
    assert hits(options) == before + 1
    assert shown(result) == shown(call(options.interpret, a))


BAD_CALLS: list[Callable[[Any, Any], Any]] = [
    lambda f, a: f(),
    lambda f, a: f(a, 1.0, 2),
    lambda f, a: f(a=a),
    lambda f, a: f(a, k=1.0, **{"other": 2}),
    lambda f, a: f(a, 2.0, k=1.0),
    lambda f, a: f(a, 1.0, 2, 3, 4),
    lambda f, a: f(*[a] * 200),
    lambda f, a: f(a, **{f"x{i}": i for i in range(200)}),
]


@pytest.mark.parametrize("call", BAD_CALLS)
def test_wrong_arguments_raise_what_python_raises(call: Any) -> None:
    options = fresh(_options)
    a = np.arange(5.0)
    warm(options, a)
    expected = outcome(lambda: call(through_python(options), a))
    assert outcome(lambda: call(options, a)) == expected
    assert expected[0] is ArgumentError


def test_tuples() -> None:
    @hybrid.script
    def total(pair: Any, n: Any) -> Any:
        x, k = pair
        s = 0.0
        for i in range(x.shape[0]):
            s += x[i] * k
        return s + n

    x = np.arange(4.0)
    for _ in range(3):
        total((x, 2.0), 1)
    assert agrees(total, (x, 3.0), 2)
    assert not agrees(total, [x, 3.0], 2)
    assert not agrees(total, (x, 3), 2)
    assert not agrees(total, (x, 3.0, 1), 2)
    assert not agrees(total, (x,), 2)
    assert not agrees(total, x, 2)


@hybrid.script
def _double(a: Any) -> Any:
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[i] = 2 * a[i]
    return b


def test_out_is_filled_natively() -> None:
    double = fresh(_double)
    a, out = np.arange(4.0), np.zeros(4)
    warm(double, a)
    before = hits(double)
    assert double(a, out=out) is out
    names: dict[str, Any] = {"out": out, "a": a}
    assert double(**names) is out
    np.testing.assert_array_equal(out, 2 * a)
    assert double(a, **{"out": a}) is a
    assert hits(double) == before + 3
    np.testing.assert_array_equal(a, [0, 2, 4, 6])


OUTS: list[Callable[[], Any]] = [
    lambda: None,
    lambda: 3,
    lambda: [1.0],
    lambda: np.zeros(5),
    lambda: np.zeros((4, 1)),
    lambda: np.zeros(4, np.float32),
    lambda: read_only(np.zeros(4)),
    lambda: np.zeros(8)[::2],
    lambda: np.lib.stride_tricks.as_strided(np.zeros(1), (4,), (0,)),
    lambda: np.zeros(4, ">f8"),
    lambda: np.recarray(4, np.float64),
]


@pytest.mark.parametrize("make", OUTS)
def test_out_that_does_not_fit_goes_through_python(make: Callable[[], Any]) -> None:
    double = fresh(_double)
    a = np.arange(4.0)
    warm(double, a)
    counts = sys.getrefcount(a), sys.getrefcount(None)
    assert not agrees(double, a, out=make())
    assert sys.getrefcount(a) == counts[0]


def test_out_of_a_kernel_that_fails_is_left_alone() -> None:
    @hybrid.script
    def gather(a: Any, i: Any) -> Any:
        b = output_tensor((2,), a.dtype)
        b[0] = a[0]
        b[1] = a[i]
        return b

    a, out = np.arange(4.0) + 1, np.zeros(2)
    warm(gather, a, 3)
    count = sys.getrefcount(out)
    with pytest.raises(IndexError, match="out of bounds"):
        gather(a, 9, **{"out": out})
    assert not out.any()
    assert sys.getrefcount(out) == count


# Results


def test_results_of_every_kind() -> None:
    @hybrid.script
    def mixed(a: Any, n: Any, x: Any) -> Any:
        b = output_tensor((n, a.shape[0]), "int32")
        c = output_tensor((2,), "complex64")
        for i in range(n):
            for j in range(a.shape[0]):
                b[i, j] = i + j
        c[1] = 1 + 2j
        return a, b, n, a[0], x > 1.0, c, x * 1j, a[1] > a[0]

    args = np.arange(3.0), 2, 1.5
    for _ in range(3):
        mixed(*args)
    assert agrees(mixed, *args)
    assert mixed(*args)[0] is args[0]
    assert agrees(mixed, args[0], 0, 0.5)
    assert agrees(mixed, args[0], 50, 0.5)
    with pytest.raises(ValueError, match="negative dimensions"):
        mixed(args[0], -1, 1.5)
    with pytest.raises(MemoryError, match=r"Unable to allocate|too big"):
        mixed(args[0], 2**58, 1.5)


def test_sizes_of_outputs_are_computed() -> None:
    @hybrid.script
    def shapes(a: Any, n: Any) -> Any:
        b = output_tensor((a.shape[0] - 2, 2 * a.shape[1] + n), a.dtype)
        c = output_tensor((a.shape[0] * a.shape[1] // 3,), "int8")
        d = output_tensor((max(n, a.shape[0]), min(n, 3)), "int8")
        return b, c, d

    for size in (4, 5, 6):
        for _ in range(3):
            shapes(np.zeros((size, size + 1)), 2)
    for rows, columns, n in ((7, 8, 3), (2, 3, 0), (3, 10, 100), (9, 1, 5)):
        assert agrees(shapes, np.zeros((rows, columns)), n)
    for rows, n in ((1, 1), (5, -7)):
        with pytest.raises(ValueError, match="negative dimensions"):
            shapes(np.zeros((rows, 3)), n)


def test_one_result_and_tuples_of_none_or_one() -> None:
    @hybrid.script
    def one(a: Any) -> Any:
        return (a[0],)

    @hybrid.script
    def two(a: Any) -> Any:
        return a

    a = np.arange(3)
    for kernel in (one, two):
        for _ in range(3):
            kernel(a)
        assert agrees(kernel, a)
    assert two(a) is a


def test_new_arrays_are_zero_and_separate() -> None:
    @hybrid.script
    def first(a: Any) -> Any:
        b = output_tensor((100,), "float64")
        b[0] = a[0]
        return b

    a = np.ones(1)
    for _ in range(3):
        first(a)
    results = [first(a) for _ in range(50)]
    for result in results:
        assert result[0] == 1
        assert not result[1:].any()
        assert result.flags.owndata
        assert result.flags.writeable
        result[...] = 7
    assert len({result.ctypes.data for result in results}) == 50


# Errors


def test_errors_of_the_kernel() -> None:
    @hybrid.script
    def element(a: Any, i: Any) -> Any:
        b = output_tensor((3,), "float64")
        b[0] = a[i]
        return b, 10 // i

    a = np.arange(5.0)
    warm(element, a, 3)
    for i in (7, -6, 2**62, 0):
        agrees(element, a, i)
        before = hits(element)
        with pytest.raises((IndexError, ZeroDivisionError), match=r"out of bounds|by zero"):
            element(a, i)
        assert hits(element) == before + 1
    assert agrees(element, a, 2)


def test_traceback_of_a_native_error_starts_at_the_caller() -> None:
    @hybrid.script
    def element(a: Any, i: Any) -> Any:
        return a[i]

    a = np.arange(5.0)
    warm(element, a, 3)
    with pytest.raises(IndexError, match="out of bounds") as caught:
        element(a, 9)
    frames = [entry.frame.f_globals["__name__"] for entry in caught.traceback]
    ours = [name for name in frames if name.startswith("hybridjit")]
    assert len(ours) <= (1 if sys.version_info < (3, 11) else 0)


def test_exception_of_a_callback() -> None:
    @hybrid.packed
    def refuse(x: Any) -> None:
        if x > 2:
            raise LookupError("refused")

    @hybrid.script
    def visit(a: Any) -> Any:
        for i in range(a.shape[0]):
            refuse(a[i])

    small, large = np.zeros(4), np.full(4, 5.0)
    warm(visit, small)
    before = hits(visit)
    with pytest.raises(LookupError, match="refused"):
        visit(large)
    assert hits(visit) == before + 1
    visit(small)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX timers")
def test_signal_interrupts_a_native_call() -> None:
    @hybrid.script
    def spin(a: Any, n: Any) -> Any:
        s = 0.0
        for _ in range(n):
            for i in range(a.shape[0]):
                s = s * 0.5 + a[i]
        return s

    class Alarm(Exception):
        pass

    def ring(number: int, frame: object) -> None:
        raise Alarm("rang")

    a = np.arange(1000.0)
    warm(spin, a, 2)
    previous = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(Alarm, match="rang"):
            spin(a, 10**10)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert hits(spin) == 2


# Captured values

SCALE = 2.0
TABLE = np.array([1.0, 2.0, 3.0])
PAIR = (1, 2.5)
ITEMS = [1.0, 2.0]


def helper(x: Any) -> Any:
    return x + 1


def other_helper(x: Any) -> Any:
    return x - 1


def difference(x: Any, y: Any) -> Any:
    return x - y


def test_changed_global_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    @hybrid.script
    def scaled(a: Any) -> Any:
        return a[0] * SCALE + PAIR[1]

    a = np.array([3.0])
    warm(scaled, a)
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    assert scaled(a) == 17.5
    for _ in range(3):
        scaled(a)
    assert agrees(scaled, a)
    monkeypatch.setitem(globals(), "PAIR", (1, 3.5))
    assert scaled(a) == 18.5
    for _ in range(3):
        scaled(a)
    assert agrees(scaled, a)


def test_equal_value_in_another_object_is_accepted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    @hybrid.script
    def scaled(a: Any) -> Any:
        return a[0] * SCALE

    a = np.array([3.0])
    warm(scaled, a)
    for count in range(20):
        monkeypatch.setitem(globals(), "SCALE", float(f"2.{0}"))
        assert scaled(a) == 6.0, count
    for _ in range(40):
        scaled(a)
    assert agrees(scaled, a)


def test_changed_function_and_closure_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    factor = 2.0

    @hybrid.script
    def scaled(a: Any) -> Any:
        return helper(a[0]) * factor

    a = np.array([3.0])
    warm(scaled, a)
    factor = 10.0
    assert scaled(a) == 40.0
    monkeypatch.setitem(globals(), "helper", other_helper)
    assert scaled(a) == 20.0


def test_array_changed_in_place_is_seen() -> None:
    @hybrid.script
    def looked_up(a: Any) -> Any:
        return a[0] * TABLE[1]

    a = np.array([3.0])
    warm(looked_up, a)
    TABLE[1] = 10.0
    try:
        assert looked_up(a) == 30.0
        for _ in range(3):
            looked_up(a)
        assert agrees(looked_up, a)
    finally:
        TABLE[1] = 2.0
    assert looked_up(a) == 6.0


def test_list_changed_in_place_is_seen() -> None:
    @hybrid.script
    def looked_up(a: Any) -> Any:
        return a[0] * ITEMS[1]

    a = np.array([3.0])
    for _ in range(3):
        assert looked_up(a) == 6.0
    ITEMS[1] = 10.0
    try:
        assert looked_up(a) == 30.0
    finally:
        ITEMS[1] = 2.0


def test_name_that_hides_one_of_the_language_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    @hybrid.script
    def rounded(a: Any) -> Any:
        return ceil_div(a[0], 2)  # type: ignore[name-defined]  # noqa: F821

    a = np.array([3])
    warm(rounded, a)
    monkeypatch.setitem(globals(), "unrelated", 1)
    assert agrees(rounded, a)
    monkeypatch.setitem(globals(), "ceil_div", difference)
    assert rounded(a) == 1


def test_function_of_a_module_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    @hybrid.script
    def root(a: Any) -> Any:
        return np.sqrt(a[0])

    a = np.array([4.0])
    warm(root, a)
    monkeypatch.setattr(np, "sqrt", np.square)
    assert root(a) == 16.0


def test_attribute_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    class Settings:
        step = 3

    @hybrid.script
    def stepped(a: Any) -> Any:
        return a[0] + Settings.step

    a = np.array([1.0])
    warm(stepped, a)
    monkeypatch.setattr(Settings, "step", 4)
    assert stepped(a) == 5.0


# Settings


def test_interpret_setting_is_obeyed() -> None:
    add = make_add()
    warm(add, *arrays())
    before = hits(add)
    with config.scope(interpret=True):
        add(*arrays())
        assert hits(add) == before
        with config.scope(interpret=False):
            add(*arrays())
        assert hits(add) == before + 1
    add(*arrays())
    assert hits(add) == before + 2


# Memory


def test_references_stay_balanced() -> None:
    @hybrid.script
    def everything(a: Any, pair: Any, k: Any = 1.0) -> Any:
        b = output_tensor(a.shape, a.dtype)
        for i in range(a.shape[0]):
            b[i] = a[i] * k + pair[0][i]
        return a, b, a[0], k

    a, x, k = np.arange(300.0), np.arange(300.0), 12345.678
    pair = (x, 3)
    for _ in range(5):
        everything(a, pair, k=k)
    watched = [a, x, pair, k, None, a.dtype, np.ndarray, everything]
    counts = [sys.getrefcount(item) for item in watched]
    for _ in range(10_000):
        everything(a, pair, k=k)
    assert [sys.getrefcount(item) for item in watched] == counts


def test_errors_leak_nothing() -> None:
    @hybrid.script
    def element(a: Any, i: Any) -> Any:
        b = output_tensor((1000,), "float64")
        b[0] = a[i]
        return b

    a = np.arange(5.0)
    warm(element, a, 3)

    def fail() -> None:
        for _ in range(2000):
            with pytest.raises(IndexError, match="out of bounds"):
                element(a, 99)

    fail()
    gc.collect()
    counts = [sys.getrefcount(item) for item in (a, None, a.dtype)]
    tracemalloc.start()
    start = tracemalloc.get_traced_memory()[0]
    fail()
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - start
    tracemalloc.stop()
    assert grown < 200_000
    after = [sys.getrefcount(item) for item in (a, None, a.dtype)]
    assert all(abs(x - y) < 500 for x, y in zip(counts, after, strict=True))


def test_many_calls_use_no_more_memory() -> None:
    @hybrid.script
    def double(a: Any) -> Any:
        b = output_tensor(a.shape, a.dtype)
        for i in range(a.shape[0]):
            b[i] = 2 * a[i]
        return b, a[0]

    a = np.arange(1000.0)
    for _ in range(10):
        double(a)
    gc.collect()
    tracemalloc.start()
    start = tracemalloc.get_traced_memory()[0]
    for _ in range(100_000):
        double(a)
    grown = tracemalloc.get_traced_memory()[0] - start
    tracemalloc.stop()
    assert grown < 50_000


def test_dropped_kernel_is_freed_and_others_live_on() -> None:
    kernels = [make_add() for _ in range(5)]
    while any(hits(kernel) == 0 for kernel in kernels):
        list(map(lambda kernel: kernel(*arrays()), kernels))
    seen = [weakref.ref(kernel) for kernel in kernels]
    tables = [weakref.ref(kernel.native_calls) for kernel in kernels]
    kept = kernels[2]
    del kernels
    gc.collect()
    assert [ref() is not None for ref in seen] == [False, False, True, False, False]
    assert [ref() is not None for ref in tables] == [False, False, True, False, False]
    assert agrees(kept, *arrays())


def test_kernel_in_a_cycle_is_collected() -> None:
    names: dict[str, Any] = {"hybrid": hybrid, "np": np}
    add = make_add()
    names["add"] = add
    vars(add)["cycle"] = names
    warm(add, *arrays())
    gone = weakref.ref(add)
    del add, names
    gc.collect()
    assert gone() is None


def test_clear_during_a_call_is_safe() -> None:
    kernels: list[AnyKernel] = []

    @hybrid.packed
    def clear(x: Any) -> None:
        kernels[0].native_calls.clear()
        gc.collect()

    @hybrid.script
    def visit(a: Any) -> Any:
        b = output_tensor((4,), "float64")
        for i in range(a.shape[0]):
            clear(a[i])
            b[i] = a[i]
        return b, a[1]

    kernels.append(visit)
    a = np.arange(4.0)
    for _ in range(10):
        b, x = visit(a)
        np.testing.assert_array_equal(a, b)
        assert x == 1.0


# Threads


def test_gil_is_released_in_long_kernels() -> None:
    @hybrid.script
    def long(a: Any, n: Any) -> Any:
        s = 0.0
        for _ in range(n):
            for i in range(a.shape[0]):
                s = s * 0.5 + a[i]
        return s

    a = np.arange(1000.0)
    for _ in range(3):
        long(a, 2)
    ticks: list[float] = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    before = hits(long)
    start = time.perf_counter()
    long(a, 200_000)
    end = time.perf_counter()
    done.set()
    thread.join()
    assert hits(long) == before + 1
    assert sum(start < at < end for at in ticks) > 5


def test_many_threads_share_a_kernel() -> None:
    add = make_add()
    failures: list[BaseException] = []
    barrier = threading.Barrier(16)

    def work(seed: int) -> None:
        try:
            barrier.wait()
            for i in range(1000):
                size = 1 + (seed + i) % 3
                a, b = np.full(size, float(seed)), np.full(size, float(i))
                c = np.zeros(size)
                add(a, b, c)
                assert (c == seed + i).all()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_one_compilation_whoever_asks() -> None:
    add = make_add()
    barrier = threading.Barrier(16)

    def work() -> None:
        barrier.wait()
        add(*arrays())

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (specialization,) = add.specializations
    assert len(specialization.natives) == 1


# The kernel as an object


@hybrid.script
def documented(a: Any, k: float = 2.0) -> Any:
    """What it does."""
    return a[0] * k


def test_kernel_looks_like_its_function() -> None:
    warm(documented, np.ones(3))
    assert documented.__doc__ == "What it does."
    assert documented.__name__ == "documented"
    assert str(inspect.signature(documented)).startswith("(a")
    assert callable(documented)
    assert pickle.loads(pickle.dumps(documented)) is documented
    assert copy.copy(documented) is documented
    assert copy.deepcopy(documented) is documented
    assert weakref.ref(documented)() is documented
    assert "documented" in repr(documented)
    assert list(map(documented, [np.ones(3)] * 2)) == [2.0, 2.0]
    assert documented.py_func(np.ones(3)) == 2.0
    vars(documented)["note"] = 1
    assert getattr(documented, "note", 0) == 1


def test_kernel_in_a_class_is_not_bound() -> None:
    class Holder:
        run = documented

    assert Holder().run is documented


def test_subclass_with_a_call_of_its_own() -> None:
    class Loud(Kernel[..., Any]):
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            return "loud", super().__call__(*args, **kwargs)

    loud = Loud(_scaled.__hybrid_function__)
    for _ in range(5):
        assert loud(np.ones(2), 3.0) == ("loud", 6.0)


# Facts about the interpreter


def test_interpreter_is_known() -> None:
    assert dispatch_facts.is_known_interpreter()
    assert dispatch_facts.find_functions() is not None


@pytest.mark.parametrize("field", ["ARRAY_DATA", "ARRAY_FLAGS", "TUPLE_ITEMS", "FLOAT_VALUE"])
def test_wrong_guess_about_an_object_is_noticed(
    field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Wrong:
        def __getattr__(self, name: str) -> int:
            return getattr(Offsets, name) - (8 if name == field else 0)

    monkeypatch.setattr(dispatch_facts, "Offsets", Wrong())
    assert not dispatch_facts.is_known_interpreter.__wrapped__()


def test_kernels_work_where_native_calls_do_not(tmp_path: Path) -> None:
    program = """
        import sys, sysconfig
        real = sysconfig.get_config_var
        sysconfig.get_config_var = lambda name: 1 if name == "Py_GIL_DISABLED" else real(name)
        import numpy as np
        from hybridjit import hybrid
        from hybridjit.runtime.dispatch_object import native_class
        sys.path.insert(0, {path!r})
        import slow_kernel
        assert native_class() is None
        for _ in range(4):
            assert slow_kernel.first(np.ones(3)) == 1.0
        assert slow_kernel.first.native_calls.tables == ()
    """
    module = "from hybridjit import hybrid\n@hybrid.script\ndef first(a):\n    return a[0]\n"
    (tmp_path / "slow_kernel.py").write_text(module)
    text = textwrap.dedent(program).format(path=str(tmp_path))
    subprocess.run([sys.executable, "-c", text], check=True)
