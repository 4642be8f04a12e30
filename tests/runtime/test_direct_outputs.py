"""`out=` is written to by native code itself, where nobody can tell the difference."""

from __future__ import annotations

import ctypes
import itertools
import math
import sys
import threading
import tracemalloc
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import ml_dtypes
import numpy as np
import pytest

import hybridjit as hj
from hybridjit import config, hybrid
from hybridjit import kernel as kernel_room
from hybridjit import stdlib as hs
from hybridjit.hybrid import output_tensor
from hybridjit.runtime.brought_arrays import as_arrays
from hybridjit.runtime.out_arrays import store_results
from hybridjit.stdlib.running import operator as operator_room
from tests.runtime.native_calls import AnyKernel, flat, hits, misaligned, read_only, through_python
from tests.support.direct_outputs import mirrored, run_on_views
from tests.support.oracle import fresh
from tests.support.own_process import run_program

pytestmark = pytest.mark.usefixtures("unchecked")

NP: Any = np
HS: Any = hs  # type checkers know of no `out`

CALLS = 4
SIZE = 4096
SIZES = (0, 1, 3, 17, 64, 69)


@hybrid.script
def scaled(a: Any, k: Any) -> Any:
    return a * k


@hybrid.script
def on_threads(a: Any) -> Any:
    b = output_tensor(a.shape, a.dtype)
    for i in hybrid.parallel(a.shape[0]):
        b[i] = math.sqrt(a[i]) * 2.0 + 1.0
    return b


@hybrid.script
def two(a: Any) -> Any:
    b = output_tensor(a.shape, a.dtype)
    c = output_tensor(a.shape, "int64")
    for i in range(a.shape[0]):
        b[i] = a[i] + 1.0
        c[i] = i
    return b, 2.5, c


def is_direct(call: Callable[..., Any], *args: Any, out: Any) -> bool:
    """Whether the result of a call was in `out` before anything was copied there.

    Calls through Python copy with `store_results`; others would make a new array.
    """
    seen: list[bool] = []

    def store(result: Any, given: Any) -> Any:
        pairs = zip(flat_arrays(result), flat_arrays(as_arrays(given)), strict=True)
        seen.append(all(np.shares_memory(*pair) for pair in pairs))
        return store_results(result, given)

    rooms = (kernel_room, operator_room)
    with ExitStack() as stack:
        for room in rooms:
            stack.enter_context(patch.object(room, "store_results", store))
        new = new_bytes(lambda: call(*args, out=out))
    return seen[0] if seen else new < min(array.nbytes for array in flat_arrays(out))


def flat_arrays(value: Any) -> list[Any]:
    return [item for item in flat([value]) if isinstance(item, np.ndarray)]


def new_bytes(call: Callable[[], Any]) -> int:
    """How much memory a call has for new arrays at a time, most of all."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        call()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def warmed(kernel: AnyKernel, *args: Any) -> AnyKernel:
    made = fresh(kernel)
    for _ in range(3):
        made(*args)
    assert hits(made) > 0
    return made


# Who does


def test_the_array_of_the_caller_is_written_to() -> None:
    a, out = NP.arange(float(SIZE)), NP.zeros(SIZE)
    kernel = warmed(scaled, a, 2.0)
    before = hits(kernel)
    assert is_direct(kernel, a, 3.0, out=out)
    assert hits(kernel) == before + 1
    assert kernel(a, 3.0, **{"out": out}) is out
    np.testing.assert_array_equal(out, a * 3.0)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "float32", "complex128", ml_dtypes.bfloat16])
def test_sizes_and_types(dtype: Any) -> None:
    @hybrid.script
    def copied(a: Any) -> Any:
        c = output_tensor((a.shape[0], 3), a.dtype)
        for i in range(a.shape[0]):
            for j in range(3):
                c[i, j] = a[i]
        return c

    for size in (*SIZES, *SIZES):
        a = (NP.arange(size) % 2).astype(dtype)
        room: Any = NP.full((size + 2, 3), 7).astype(dtype)
        out = room[1:-1]
        assert copied(a, **{"out": out}) is out
        assert (out == a[:, None]).all()
        assert (room[[0, -1]] == NP.full(3, 7).astype(dtype)).all()


def find_native(kernel: AnyKernel) -> Any:
    (native,) = kernel.specializations[0].natives.values()
    return native


note = hybrid.packed(lambda: None, name="note")
cosine = hybrid.extern("cos", "float64", ["float64"])


@hybrid.script
def checked_first(a: Any, n: Any) -> Any:
    if n < 0:
        raise ValueError("negative")
    return a * 2.0


@hybrid.script
def checked_meanwhile(a: Any, n: Any) -> Any:
    b = output_tensor((a.shape[0],), "float64")
    for i in range(a.shape[0]):
        b[i] = a[n * i]
    return b


@hybrid.script
def checked_last(a: Any, n: Any) -> Any:
    b = a * 2.0
    if n < 0:
        raise ValueError("negative")
    return b


@hybrid.script
def called_back(a: Any, n: Any) -> Any:
    b = a * 2.0
    note()
    return b


@hybrid.script
def calls_c(a: Any, n: Any) -> Any:
    b = output_tensor((a.shape[0],), "float64")
    for i in range(a.shape[0]):
        b[i] = cosine(a[i])
    return b


@hybrid.script
def printed(a: Any, n: Any) -> Any:
    print(n)
    return a * 2.0


@hybrid.script
def added_up(a: Any, n: Any) -> Any:
    b = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        for k in range(n):
            b[i] += a[k]
    return b


KINDS: list[tuple[AnyKernel, tuple[int, ...]]] = [
    (scaled, (0,)),
    (checked_first, (0,)),
    *((kernel, ()) for kernel in (checked_meanwhile, checked_last, called_back, calls_c)),
    *((kernel, ()) for kernel in (printed, added_up)),
]


@pytest.mark.parametrize(
    ("kernel", "direct"), KINDS, ids=lambda item: getattr(item, "__name__", "")
)
def test_only_code_that_cannot_end_halfway_is_direct(
    kernel: AnyKernel, direct: tuple[int, ...]
) -> None:
    made = fresh(kernel)
    made(NP.ones(5), 1)
    assert find_native(made).code.direct_outputs == direct


def test_what_comes_from_the_disk_is_known_to_be_direct(tmp_path: Path) -> None:
    with config.scope(cache_dir=str(tmp_path), cache_enabled=True):
        for _ in range(2):
            made = fresh(scaled)
            made(NP.ones(4), 2.0)
            assert find_native(made).code.direct_outputs == (0,)


# Where it lies


def test_results_in_memory_of_arguments() -> None:
    """The same array, one element further, backwards, between the elements, next to each other."""
    kernel = fresh(mirrored)
    forward = (60, 1), (61, 1), (59, 1), (60, 2), (20, 1), (100, 1)
    steps = (*forward, (99, -1), (100, -1), (150, -2), (0, 0))
    for one, other in itertools.product(steps, steps):
        for start in (60, 61, 150):
            views = (one, other, (start, 1))
            expected = run_on_views(mirrored.interpret, views)
            for way in (through_python(kernel), *[kernel] * 2):
                assert run_on_views(way, views) == expected, views


def test_memory_next_to_an_argument_is_not_shared() -> None:
    memory = NP.zeros(3 * SIZE)
    a = memory[SIZE : 2 * SIZE]
    kernel = warmed(scaled, a, 2.0)
    for way in (kernel, through_python(kernel)):
        assert is_direct(way, a, 2.0, out=memory[:SIZE])
        assert is_direct(way, a, 2.0, out=memory[2 * SIZE :])
        for start in (1, SIZE - 1, SIZE, 2 * SIZE - 1):
            assert not is_direct(way, a, 2.0, out=memory[start : start + SIZE])


def test_arguments_in_tuples_and_defaults() -> None:
    preset = NP.arange(5.0)

    @hybrid.script
    def backwards(pair: Any, more: Any = preset) -> Any:
        c = output_tensor((5,), "float64")
        for i in range(5):
            c[i] = pair[0][4 - i] + pair[1] + more[4 - i]
        return c

    call: Any = backwards
    for _ in range(CALLS):
        a = NP.arange(5.0)
        call((a, 1.0), NP.ones(5), out=a)
        assert a.tolist() == [6, 5, 4, 3, 2]
        preset[...] = NP.arange(5.0)
        call((NP.zeros(5), 1.0), out=preset)
        assert preset.tolist() == [5, 4, 3, 2, 1]
        preset[...] = NP.arange(5.0)


def as_memmap(folder: Path) -> Any:
    return NP.memmap(folder / "out", np.float64, "w+", shape=(SIZE,))


def masked(folder: Path) -> Any:
    made: Any = NP.ma.masked_array(NP.zeros(SIZE), NP.ones(SIZE, bool))
    return made


OUTS: dict[str, tuple[Callable[[Path], Any], bool]] = {
    "memmap": (as_memmap, True),
    "record": (lambda folder: NP.zeros(SIZE).view(NP.recarray), True),
    "memory of others": (lambda folder: (ctypes.c_double * SIZE)(), True),
    "every second": (lambda folder: NP.zeros(2 * SIZE)[::2], False),
    "backwards": (lambda folder: NP.zeros(SIZE)[::-1], False),
    "unaligned": (lambda folder: misaligned(NP.zeros(SIZE)), False),
    "masked": (masked, False),
}


@pytest.mark.parametrize("name", OUTS)
def test_arrays_of_all_kinds(name: str, tmp_path: Path) -> None:
    make, may_be_direct = OUTS[name]
    a = NP.arange(float(SIZE))
    kernel = warmed(scaled, a, 2.0)
    for way in (kernel, through_python(kernel)):
        out = make(tmp_path)
        assert is_direct(way, a, 3.0, out=out) == may_be_direct
        assert way(a, 4.0, out=out) is out
        np.testing.assert_array_equal(np.asarray(out), a * 4.0)
        if name == "masked":
            assert not out.mask.any()


def test_layout_of_several_axes() -> None:
    a = NP.arange(float(SIZE)).reshape(64, -1)
    kernel = warmed(scaled, a, 2.0)
    for out, may_be_direct in ((NP.zeros(a.shape), True), (NP.zeros(a.shape, order="F"), False)):
        for way in (kernel, through_python(kernel)):
            assert is_direct(way, a, 2.0, out=out) == may_be_direct
            np.testing.assert_array_equal(out, a * 2.0)


def test_array_that_warns_when_it_is_written_to() -> None:
    kernel = warmed(scaled, NP.zeros(SIZE), 2.0)
    for way in (kernel, through_python(kernel)):
        column, row = NP.zeros((SIZE, 1)), NP.zeros((SIZE, 3))
        out = NP.broadcast_arrays(column, row)[0][:, 0]
        with pytest.warns((DeprecationWarning, FutureWarning), match="broadcast_array"):
            way(NP.ones(SIZE), 2.0, out=out)
        assert (column == 2.0).all()


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (read_only(NP.zeros(5)), "out= is read-only"),
        (NP.zeros(6), r"out= must be a float64 array of shape \(5,\)"),
        (NP.zeros(5, np.float32), "out= must be a float64 array"),
    ],
)
def test_what_does_not_fit_is_refused(out: Any, message: str) -> None:
    before = out.copy()
    kernel = warmed(scaled, NP.ones(5), 2.0)
    for way in (kernel, through_python(kernel)):
        with pytest.raises(ValueError, match=message):
            way(NP.ones(5), 2.0, out=out)
    np.testing.assert_array_equal(out, before)


@hybrid.script
def counted(a: Any) -> Any:
    for i in range(a.shape[0]):
        a[i] = a[i] + 1.0
    return a * 2.0, a


@pytest.mark.parametrize(
    "out", [NP.zeros(3), (NP.zeros(3), NP.zeros(4)), (read_only(NP.zeros(3)), NP.zeros(3)), 3]
)
def test_nothing_runs_when_it_does_not_fit(out: Any) -> None:
    kernel = warmed(counted, NP.zeros(3))
    for way in (kernel, kernel, through_python(kernel), kernel.interpret):
        a = NP.zeros(3)
        with pytest.raises((ValueError, TypeError), match="out="):
            way(a, **{"out": out})
        assert not a.any()


# Several results


def test_a_tuple_of_arrays() -> None:
    a = NP.arange(float(SIZE))
    kernel = fresh(two)
    for _ in range(CALLS):
        b, c = NP.zeros(SIZE), NP.zeros(SIZE, np.int64)
        found: Any = kernel(a, **{"out": (b, c)})
        assert [*map(id, found[::2])] == [id(b), id(c)]
        assert found[1] == 2.5
        np.testing.assert_array_equal(b, a + 1)
        np.testing.assert_array_equal(c, NP.arange(SIZE))
        assert is_direct(kernel, a, out=(b, c))


def test_of_several_arrays_all_or_none_are_written_to() -> None:
    a, room = NP.arange(float(SIZE)), NP.zeros(2 * SIZE)
    kernel = fresh(two)
    for _ in range(CALLS):
        out: Any = (NP.zeros(SIZE), NP.zeros(2 * SIZE, np.int64)[::2])
        assert not is_direct(kernel, a, out=out)
        np.testing.assert_array_equal(out[1], NP.arange(SIZE))
        for wrong in (NP.zeros(SIZE), room[: SIZE - 1], room.view(np.int64)[1 : SIZE + 1]):
            with pytest.raises(ValueError, match=r"out= must be|two arrays of out= share"):
                kernel(a, **{"out": (room[:SIZE], wrong)})
            assert not room.any()


# Errors and signals


@pytest.mark.parametrize("size", [1, 17, 300])
def test_an_error_leaves_the_array_alone(size: int) -> None:
    @hybrid.script
    def guarded(a: Any, n: Any, m: Any) -> Any:
        if n < 0:
            raise ValueError("negative")
        return a * 2.0 // m

    call: Any = guarded
    a = NP.arange(size)
    out = NP.full(size, 7.0)
    for _ in range(CALLS):
        count = sys.getrefcount(out)
        with pytest.raises(ValueError, match="negative"):
            call(a, -1, 1, out=out)
        assert (out == 7.0).all()
        assert sys.getrefcount(out) == count
        assert call(a, 1, 2, out=NP.zeros(size)).tolist() == a.tolist()


def test_references_are_balanced() -> None:
    a, out = NP.arange(5.0), NP.zeros(5)
    kernel = warmed(scaled, a, 2.0)
    counts = sys.getrefcount(out), sys.getrefcount(a)
    for _ in range(100):
        kernel(a, 2.0, **{"out": out})
        through_python(kernel)(a, 2.0, out=out)
    assert (sys.getrefcount(out), sys.getrefcount(a)) == counts


HEAD = """
import signal, sys, threading, time
import numpy as np
from hybridjit import hybrid

@hybrid.script
def slow(a, rounds):
    b = np.empty(a.shape[0])
    for i in range(a.shape[0]):
        s = 0.0
        for k in range(rounds):
            s = s * 0.5 + a[i]
        b[i] = s
    return b

a = np.ones(10**6)
for _ in range(4):
    slow(a, 1, out=np.zeros(10**6))
(native,) = slow.specializations[0].natives.values()
assert native.code.direct_outputs == (0,)
"""


def test_a_signal_ends_a_call_with_a_part_of_the_result(tmp_path: Path) -> None:
    program = """
class Alarm(Exception): pass

def ring(number, frame):
    raise Alarm

signal.signal(signal.SIGALRM, ring)
out = np.full(10**6, 7.0)
count = sys.getrefcount(out)
signal.setitimer(signal.ITIMER_REAL, 0.3)
try:
    slow(a, 10**6, out=out)
except Alarm:
    print("rang", set(np.unique(out)) <= {2.0, 7.0}, sys.getrefcount(out) - count)
slow(a, 60, out=out)
print(out.min(), out.max())
"""
    assert run_program(tmp_path, HEAD + program) == "rang True 0\n2.0 2.0\n"


def test_nobody_takes_the_memory_away_meanwhile(tmp_path: Path) -> None:
    program = """
items = {"out": np.zeros(10**6)}
thread = threading.Thread(target=lambda: slow(a, 300, **items))
thread.start()
refused = 0
while thread.is_alive():
    try:
        items["out"].resize((1,))
    except ValueError:
        refused += 1
    thread.join(0.001)
print(refused > 0, items["out"].min())
"""
    assert run_program(tmp_path, HEAD + program) == "True 2.0\n"


# Threads


def test_parallel_loops_write_to_it() -> None:
    a = NP.arange(100_000.0)
    with hj.threads(3):
        kernel = warmed(on_threads, a)
        assert find_native(kernel).code.is_parallel
        for size in (a.size, a.size - 1, 17):
            room = NP.full(size + 2, 7.0)
            kernel(a[:size], **{"out": room[1:-1]})
            np.testing.assert_array_equal(room[1:-1], kernel(a[:size]))
            assert room[[0, -1]].tolist() == [7.0, 7.0]
        assert is_direct(kernel, a, out=NP.zeros(a.size))


def test_many_threads_call_at_once() -> None:
    kernel = warmed(scaled, NP.zeros(SIZE), 2.0)
    wrong: list[int] = []

    def work(number: int) -> None:
        a, out = NP.full(SIZE, float(number)), NP.zeros(SIZE)
        for k in range(200):
            kernel(a, float(k), **{"out": out})
            if not (out == number * k).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# Operators


@pytest.mark.sampled(2)
@pytest.mark.parametrize("shape", [(SIZE,), (64, 64), (4, 16, 64), (1 << 20,)])
def test_operators_write_to_it(shape: Sequence[int]) -> None:
    a, b = (NP.random.default_rng(k).random(shape) for k in range(2))
    for _ in range(CALLS):
        for operator, args in ((HS.add, (a, b)), (HS.relu, (a,)), (HS.softmax, (a,))):
            out = NP.zeros(shape)
            assert is_direct(operator, *args, out=out)
            assert operator(*args, out=out) is out
            np.testing.assert_array_equal(out, operator(*args))
            assert out.shape == shape


def test_operators_on_memory_of_their_operands() -> None:
    for _ in range(CALLS):
        memory = NP.arange(2.0 * SIZE)
        a, out = memory[:SIZE].reshape(64, 64), memory[5 : SIZE + 5].reshape(64, 64)
        expected = HS.add(a, a)
        assert not is_direct(HS.add, a, a.copy(), out=out)
        np.testing.assert_array_equal(out, expected)
        expected = HS.transpose(a)
        HS.transpose(a, out=a)
        np.testing.assert_array_equal(a, expected)


def test_operators_with_other_arrays(tmp_path: Path) -> None:
    a = NP.arange(float(SIZE)).reshape(64, 64)
    for make, _ in OUTS.values():
        whole = as_arrays(make(tmp_path))
        for out in (
            whole[:4096].reshape(64, 64),
            NP.zeros((64, 128))[:, ::2],
            NP.zeros((64, 64)).T,
        ):
            for _ in range(CALLS):
                assert HS.relu(a, out=out) is out
                np.testing.assert_array_equal(np.asarray(out), a)


def test_operators_with_several_results() -> None:
    a = NP.arange(2.0 * SIZE).reshape(2, SIZE)
    for _ in range(CALLS):
        out: Any = (NP.zeros((1, SIZE)), NP.zeros((1, SIZE)))
        assert is_direct(HS.split, a, 2, out=out)
        np.testing.assert_array_equal(NP.concatenate(out), a)
