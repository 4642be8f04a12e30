"""Scripts on tensors that write to their arguments: in place, and in copies where others read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import hybrid, te
from hybridjit.errors import ArgumentValueError, ScheduleError
from hybridjit.hybrid import output_tensor

N = 6
VALUES: Any = np.arange(1, N + 1, dtype="float32")


@hybrid.script
def doubled_sums(a: Any) -> Any:
    """Writes to `a`, and reads what it wrote."""
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        a[i] = a[i] * 2
        b[i] = a[i] + a[0]
    return b


@hybrid.script
def shifted(a: Any) -> Any:
    """Gives back what it writes to, some elements as they were."""
    for i in range(a.shape[0] - 1):
        a[i] = a[i + 1]
    return a


@hybrid.script
def filled(a: Any) -> Any:
    """Gives back what it overwrites."""
    for i in range(a.shape[0]):
        a[i] = i
    return a


@hybrid.script
def moved(a: Any, b: Any) -> Any:
    c = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[i] = a[i]
        c[i] = b[i] + 1
    return c


@hybrid.script
def both(a: Any) -> Any:
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[i] = a[i]
        a[i] = -b[i]
    return b, a


def plain(kernel: Any, *arrays: Any) -> Any:
    copies = [array.copy() for array in arrays]
    return kernel.py_func(*copies), copies


def run(args: list[Any], arrays: list[Any], s: Any = None) -> list[Any]:
    """The arrays after a call, natively, which the interpreter has to agree with."""
    func = hj.build(s, args) if s is not None else hj.build(te.create_prim_func(args))
    found = [array.copy() for array in arrays]
    func(*found)
    wanted = [array.copy() for array in arrays]
    hj.build(te.create_prim_func(args)).interpret(*wanted)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)
    return found


def placeholder(name: str = "A") -> Any:
    return te.placeholder((N,), name=name)


def empty() -> Any:
    return np.full(N, 99, np.float32)


def test_an_argument_is_written_in_place() -> None:
    a = placeholder()
    b: Any = doubled_sums(a)
    given, found = run([a, b], [VALUES, empty()])
    result, (changed,) = plain(doubled_sums, VALUES)
    np.testing.assert_array_equal(given, changed)
    np.testing.assert_array_equal(found, result)
    assert "allocate" not in str(te.create_prim_func([a, b]))


@pytest.mark.parametrize("first", [True, False])
def test_others_read_an_argument_as_it_was_passed(first: bool) -> None:
    a = placeholder()
    if first:
        c = te.compute((N,), lambda i: a[i] + 1, name="C")
        b: Any = doubled_sums(a)
        d = te.compute((N,), lambda i: a[i] + b[i] + c[i], name="D")
    else:
        b = doubled_sums(a)
        c = te.compute((N,), lambda i: a[i] + 1, name="C")
        d = te.compute((N,), lambda i: b[i] + c[i] + a[i], name="D")
    result, (changed,) = plain(doubled_sums, VALUES)
    given, found = run([a, d], [VALUES, empty()])
    np.testing.assert_array_equal(found, result + VALUES + VALUES + 1)
    np.testing.assert_array_equal(given, changed)


def test_a_tensor_that_nobody_else_reads_is_written_in_place() -> None:
    a = placeholder()
    t = te.compute((N,), lambda i: a[i] + 3, name="T")
    b: Any = doubled_sums(t)
    given, found = run([a, b], [VALUES, empty()])
    np.testing.assert_array_equal(given, VALUES)
    np.testing.assert_array_equal(found, plain(doubled_sums, VALUES + 3)[0])
    assert str(te.create_prim_func([a, b])).count("allocate") == 1


@pytest.mark.parametrize("passed", [True, False])
def test_a_tensor_that_others_read_is_copied(passed: bool) -> None:
    a = placeholder()
    t = te.compute((N,), lambda i: a[i] + 3, name="T")
    b: Any = doubled_sums(t)
    e: Any = doubled_sums(t)
    d = te.compute((N,), lambda i: t[i] + b[i] + e[i], name="D")
    wanted = VALUES + 3 + 2 * plain(doubled_sums, VALUES + 3)[0]
    if passed:
        _, made, found = run([a, t, d], [VALUES, empty(), empty()])
        np.testing.assert_array_equal(made, VALUES + 3)
    else:
        _, found = run([a, d], [VALUES, empty()])
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("kernel", [shifted, filled], ids=["shifted", "filled"])
def test_a_script_that_returns_its_argument_makes_a_tensor(kernel: Any) -> None:
    a = placeholder()
    b: Any = kernel(a)
    c = te.compute((N,), lambda i: a[i] + b[i], name="C")
    result, _ = plain(kernel, VALUES)
    given, found = run([a, c], [VALUES, empty()])
    np.testing.assert_array_equal(given, VALUES)
    np.testing.assert_array_equal(found, VALUES + result)
    assert ("A" in [tensor.name for tensor in b.op.input_tensors]) is (kernel is shifted)


def test_a_result_and_the_argument() -> None:
    a = placeholder()
    b, c = both(a)
    given, first, second = run([a, b, c], [VALUES, empty(), empty()])
    np.testing.assert_array_equal(given, VALUES)
    np.testing.assert_array_equal(first, VALUES)
    np.testing.assert_array_equal(second, -VALUES)


def test_an_argument_that_is_only_written() -> None:
    a, b = placeholder(), placeholder("B")
    c: Any = moved(a, b)
    _, second, found = run([a, b, c], [VALUES, empty(), empty()])
    np.testing.assert_array_equal(second, VALUES)
    np.testing.assert_array_equal(found, VALUES + 1)


def test_sizes_of_the_run() -> None:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    b: Any = doubled_sums(a)
    d = te.compute((n,), lambda i: a[i] + b[i], name="D")
    given, found = run([a, d], [VALUES, empty()])
    result, (changed,) = plain(doubled_sums, VALUES)
    np.testing.assert_array_equal(found, VALUES + result)
    np.testing.assert_array_equal(given, changed)


def test_arrays_that_cannot_be_written_are_refused() -> None:
    a = placeholder()
    b: Any = doubled_sums(a)
    func = hj.build(te.create_schedule(b.op), [a, b])
    fixed = VALUES.copy()
    fixed.flags.writeable = False
    with pytest.raises(ArgumentValueError, match="'A' is written, but it is read-only"):
        func(fixed, empty())


def test_schedules_keep_it() -> None:
    a = placeholder()
    t = te.compute((N,), lambda i: a[i] + 3, name="T")
    b: Any = doubled_sums(t)
    c = te.compute((N,), lambda i: b[i] * t[i], name="C")
    s = te.create_schedule(c.op)
    s[b].split(b.op.axis[0], 4)
    s[c].vectorize(s[c].split(c.op.axis[0], 4)[1])
    _, found = run([a, c], [VALUES, empty()], s)
    np.testing.assert_array_equal(found, plain(doubled_sums, VALUES + 3)[0] * (VALUES + 3))


def test_what_is_written_cannot_be_inlined() -> None:
    a = placeholder()
    t = te.compute((N,), lambda i: a[i] + 3, name="T")
    b: Any = doubled_sums(t)
    s = te.create_schedule(b.op)
    s[t].compute_inline()
    with pytest.raises(ScheduleError, match="compute_inline"):
        hj.lower(s, [a, b])


def test_copies_of_what_is_written_are_refused() -> None:
    a = placeholder()
    b: Any = doubled_sums(a)
    s = te.create_schedule(b.op)
    with pytest.raises(ScheduleError, match="cache_read: 'doubled_sums' writes to 'A'"):
        s.cache_read(a, "local", [b])


def test_two_that_write_to_one_argument_are_refused() -> None:
    a = placeholder()
    b, c = doubled_sums(a), doubled_sums(a)
    with pytest.raises(ArgumentValueError, match="both write to the argument 'A'"):
        te.create_prim_func([a, b, c])


def test_an_argument_twice_is_refused() -> None:
    a = placeholder()
    with pytest.raises(ArgumentValueError, match="both are 'A'"):
        moved(a, a)
