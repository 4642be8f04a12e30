"""Modules: building, calling, measuring, exporting and loading functions of the IR."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import hybrid, te
from hybridjit.runtime.modules import export
from hybridjit.schedule.schedule import Schedule
from tests.support.oracle import assert_same

needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


def make_add(name: str = "add") -> Any:
    n = te.var("n")
    A, B = te.placeholder((n,), name="A"), te.placeholder((n,), name="B")
    C = te.compute((n,), lambda i: A[i] + B[i], name="C")
    return hj.build([A, B, C], name=name)


def make_arrays(size: int = 5) -> tuple[Any, Any, Any]:
    a = np.arange(size, dtype="float32")
    return a, a * 2, np.zeros(size, "float32")


# -- calls -----------------------------------------------------------------------------------------


def test_a_module_is_called_on_arrays() -> None:
    add = make_add()
    for size in (0, 1, 7, 100):
        a, b, c = make_arrays(size)
        for _ in range(3):  # the dispatcher runs calls from the second on
            assert add(a, b, c) is None
        np.testing.assert_array_equal(c, a + b)
        add(a, b, C=c)


@pytest.mark.usefixtures("unchecked")
def test_calls_run_natively() -> None:
    add = make_add()
    a, b, c = make_arrays()
    for _ in range(5):
        add(a, b, c)
    assert sum(table.hits for table in add.native_calls.tables) == 3


def test_strided_arrays() -> None:
    add = make_add()
    a, b, c = make_arrays(10)
    add(a[::2], b[::-2], c[5:])
    np.testing.assert_array_equal(c[5:], a[::2] + b[::-2])


def test_arrays_that_overlap_are_read_first() -> None:
    """A tensor has one value, as in NumPy, whatever memory it is passed in."""
    n = te.var("n")
    A = te.placeholder((n,), "int64", "A")
    B = te.compute((n,), lambda i: A[n - 1 - i] + 1, name="B")
    s = te.create_schedule(B.op)
    s[B].vectorize(B.op.axis[0])
    for module in (hj.build(s, [A, B]), hj.build([A, B])):
        for run in (module, module.interpret):
            data: Any = np.arange(6)
            expected = data[:-1][::-1] + 1
            run(data[:-1], data[1:])
            np.testing.assert_array_equal(data[1:], expected)


def test_the_memory_of_an_input_may_be_that_of_the_output() -> None:
    a, b, _ = make_arrays(10)
    expected = a + b
    make_add()(a, b, a)
    np.testing.assert_array_equal(a, expected)


def test_foreign_code_reads_first_too() -> None:
    def reverse_into(a: Any, b: Any) -> None:
        for i in range(len(a)):
            b[i] = a[len(a) - 1 - i]

    A = te.placeholder((6,), "int64", "A")
    B = te.extern((6,), [A], hybrid.packed(reverse_into), name="B")
    data = np.arange(6)
    hj.build([A, B])(data, data)
    np.testing.assert_array_equal(data, np.arange(6)[::-1])


def test_functions_of_the_ir_and_of_the_engine() -> None:
    func = hj.parse(
        'def double(a: float32["n"]):\n    for i in range(a.shape[0]):\n        a[i] *= 2'
    )
    s = Schedule(func)
    s.split("i", 4)
    for built in (hj.build(func), hj.build(s), hj.build({"double": func})):
        a = np.ones(5, "float32")
        built(a)
        assert built.names == ("double",)
        np.testing.assert_array_equal(a, np.full(5, 2, "float32"))


def test_functions_that_return_results() -> None:
    func = hj.parse(
        'def double(a: float32["n"]) -> float32["n"]:\n'
        '    b = output_tensor((a.shape[0],), "float32")\n'
        "    for i in range(a.shape[0]):\n        b[i] = a[i] * 2\n    return b"
    )
    double = hj.build(func)
    for _ in range(3):
        np.testing.assert_array_equal(double(np.ones(3, "float32")), np.full(3, 2, "float32"))


def test_variables_as_arguments() -> None:
    n, x = te.var("n"), te.var("x", "float64")
    A = te.placeholder((n,), "float64", "A")
    B = te.compute((n,), lambda i: A[i] * x, name="B")
    scale = hj.build([n, x, A, B], name="scale")
    a, b = np.arange(4.0), np.zeros(4)
    for _ in range(3):
        scale(4, 2.5, a, b)
    np.testing.assert_array_equal(b, a * 2.5)
    with pytest.raises(AssertionError, match="argument 'n' differs from the size of an array"):
        scale(3, 2.5, a, b)


def test_sizes_that_are_computed() -> None:
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.compute((n - 1,), lambda i: A[i + 1] - A[i], name="B")
    differences = hj.build([A, B])
    a, b = np.arange(5, dtype="float32") ** 2, np.zeros(4, "float32")
    differences(a, b)
    np.testing.assert_array_equal(b, np.diff(a))
    with pytest.raises(ValueError, match=r"argument 'B' must have shape \(4,\), not \(5,\)"):
        differences(a, np.zeros(5, "float32"))


def test_several_functions_in_one_module() -> None:
    A = te.placeholder((4,), name="A")
    B = te.compute((4,), lambda i: A[i] * 2, name="B")
    C = te.compute((4,), lambda i: A[i] + 1, name="C")
    s = te.create_schedule(C.op)
    s[C].unroll(C.op.axis[0])
    both = hj.build({"double": [A, B], "next": hj.lower(s, [A, C])})
    assert both.names == ("double", "next")
    a, b = np.arange(4, dtype="float32"), np.zeros(4, "float32")
    both["next"](a, b)
    np.testing.assert_array_equal(b, a + 1)
    both(a, b)
    np.testing.assert_array_equal(b, a * 2)
    with pytest.raises(ValueError, match="there is no function 'nxt' in the module"):
        both["nxt"]


def test_code_is_found_on_disk() -> None:
    make_add("kept")(*make_arrays())
    before = hj.cache.info().counters.hits
    make_add("kept")(*make_arrays())
    assert hj.cache.info().counters.hits == before + 1


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        (("a", "b"), TypeError, r"add\(\): missing a required argument: 'C'"),
        (("a", "b", "short"), ValueError, r"add\(\): argument 'C' must have shape \(5,\)"),
        (("a", "b", "double"), TypeError, r"argument 'C' must be float32\['n'\], got float64"),
        (("a", "b", "number"), TypeError, "argument 'C' must be float32.*, got Python int"),
        (("a", "b", "read_only"), ValueError, "argument 'C' is written, but it is read-only"),
        (("a", "b", "text"), TypeError, "argument 'C' must be float32"),
    ],
)
def test_wrong_arguments(args: tuple[str, ...], error: type[Exception], message: str) -> None:
    a, b, c = make_arrays()
    read_only = c.copy()
    read_only.flags.writeable = False
    known = {
        "a": a,
        "b": b,
        "short": c[:3],
        "double": c.astype("float64"),
        "number": 3,
        "read_only": read_only,
        "text": "c",
    }
    with pytest.raises(error, match=message):
        make_add()(*(known[name] for name in args))


# -- tools -----------------------------------------------------------------------------------------


def test_a_module_shows_what_it_is() -> None:
    add = make_add()
    assert add.inspect("tir") == str(hj.lower(add.prim_func()))
    assert "hj_kernel" in add.inspect("llvm")
    a, b, c = make_arrays()
    assert add.inspect("llvm", a[::-1], b, c) != add.inspect("llvm")
    assert str(add.safety()) == "3 of 3 indices are proved to be inside their arrays"
    assert repr(add) == "hybridjit module: add"


def test_times_are_measured() -> None:
    timing = make_add().time_evaluator("add", number=2, repeat=4)(*make_arrays())
    assert len(timing.results) == 4
    assert 0 < timing.min <= timing.median <= timing.max
    assert timing.min <= timing.mean <= timing.max
    assert timing.std >= 0
    with pytest.raises(ValueError, match="number and repeat must be at least 1, got 0 and 3"):
        make_add().time_evaluator(number=0)


@pytest.mark.parametrize("simple_mode", [False, True])
def test_lowered_text_parses_back(simple_mode: bool) -> None:
    A = te.placeholder((te.var("n"), 4), name="A")
    B = te.compute(A.shape, lambda i, j: te.exp(A[i, j]), name="B")
    s = te.create_schedule(B.op)
    s[B].vectorize(B.op.axis[1])
    func = hj.lower(s, [A, B], name="raised", simple_mode=simple_mode)
    assert hj.structural_equal(hj.parse(str(func)), func)


def test_what_cannot_be_built() -> None:
    A = te.placeholder((4,), name="A")
    B = te.compute((4,), lambda i: A[i] * 2, name="B")
    with pytest.raises(TypeError, match="expected a schedule, a function of the IR or tensors"):
        hj.build(3)
    with pytest.raises(TypeError, match="the schedule needs the parameters of the function"):
        hj.build(te.create_schedule(B.op))
    with pytest.raises(hj.ScheduleError, match="'B' is an output of the schedule, and is not"):
        hj.build(te.create_schedule(B.op), [A])
    with pytest.raises(ValueError, match="a module needs at least one function"):
        hj.build({})
    with pytest.raises(TypeError, match="args are for tensors"):
        hj.build(te.create_prim_func([A, B]), [A, B])


# -- libraries -------------------------------------------------------------------------------------


def make_library_module() -> hj.Module:
    n, m = te.var("n"), te.var("m")
    A, B = te.placeholder((n, m), name="A"), te.placeholder((m,), name="B")
    x = te.var("x", "float32")
    k = te.reduce_axis((0, m), "k")
    C = te.compute((n,), lambda i: te.sum(A[i, k] * B[k] * x, axis=k), name="C")
    s = te.create_schedule(C.op)
    s[C].parallel(C.op.axis[0])
    P = te.placeholder((n,), "int64", "P")
    Q = te.compute((n,), lambda i: B[P[i]] * 2, name="Q")
    return hj.build({"product": hj.lower(s, [A, B, x, C]), "pick": [P, B, Q]})


@needs_cc
def test_a_library_is_loaded_again(tmp_path: Path) -> None:
    path = tmp_path / "libproduct.so"
    module = make_library_module()
    module.export_library(path)
    loaded = hj.load_module(path)
    assert loaded.names == ("product", "pick")
    numbers: Any = np.arange(12, dtype="float32")
    a, b = numbers.reshape(3, 4), np.ones(4, "float32")
    c, expected = np.zeros(3, "float32"), np.zeros(3, "float32")
    module(a, b, 2.0, expected)
    for _ in range(3):
        loaded(a, b, 2.0, c)
        np.testing.assert_array_equal(c, expected)
    with pytest.raises(ValueError, match="argument 'A' is not in C order"):
        loaded(a[:, ::2], b[:2], 2.0, c)
    with pytest.raises(ValueError, match="arrays share memory"):
        loaded(a, b, 2.0, b[:3])
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 of 'B' with size 4"):
        loaded["pick"](np.array([9]), b, np.zeros(1, "float32"))
    with pytest.raises(ValueError, match="which holds code and no IR"):
        loaded.inspect("tir")


PROGRAM = r"""
#include <stdio.h>
#include "libproduct.h"

int main(void) {
    float a[6] = {1, 2, 3, 4, 5, 6}, b[3] = {1, 10, 100}, c[2], q[2];
    int64_t good[2] = {2, 0}, bad[2] = {2, 7};
    if (product(a, b, 2.0f, c, 2, 3) != 0) return 1;
    if (pick(good, b, q, 2, 3) != 0) return 2;
    int32_t status = pick(bad, b, q, 2, 3);
    if (status == 0) return 3;
    printf("%g %g %g %g\n%s\n", c[0], c[1], q[0], q[1], pick_message(status));
    return 0;
}
"""


@needs_cc
def test_a_c_program_calls_a_library(tmp_path: Path) -> None:
    make_library_module().export_library(tmp_path / "libproduct.so")
    (tmp_path / "main.c").write_text(PROGRAM)
    command = ["cc", "-Wall", "-Werror", "main.c", "libproduct.so", "-Wl,-rpath,.", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run(["./main"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "642 1308 200 2",
        "index out of bounds for axis 0 of 'B'",
    ]


@needs_cc
def test_the_header_of_a_library(tmp_path: Path, golden: Any) -> None:
    make_library_module().export_library(tmp_path / "libproduct.so")
    golden.check((tmp_path / "libproduct.h").read_text(), "txt")


EVERY_TYPE = """
def double(const: float32["n"], h: float16["n"], z: complex64["n"], b: bool["n"], s: complex128, \
           record: bool_):
    r = output_tensor((const.shape[0] * 2,), "float32")
    for i in range(const.shape[0]):
        r[i] = const[i] * 2
        z[i] = z[i] * s
        if record:
            h[i] = h[i] + 1.0
            b[i] = not b[i]
    return r
"""


@needs_cc
def test_a_library_with_every_type_and_words_of_c(tmp_path: Path) -> None:
    module = hj.build(hj.parse(EVERY_TYPE))
    module.export_library(tmp_path / "double.so")
    loaded = hj.load_module(tmp_path / "double.so")
    arguments = [
        (np.ones(3, "f4"), np.ones(3, "f2"), np.ones(3, "c8"), np.zeros(3, bool), 2 + 1j, True)
        for _ in range(2)
    ]
    assert_same(loaded(*arguments[0]), module(*arguments[1]))
    assert_same(arguments[0], arguments[1])


def test_a_library_needs_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "COMPILERS", ("no-such-compiler",))
    with pytest.raises(hj.HybridError, match="needs a C compiler to link with, and there is none"):
        make_add().export_library(tmp_path / "add.so")
    assert list(tmp_path.iterdir()) == []


@needs_cc
def test_other_files_are_no_modules(tmp_path: Path) -> None:
    (tmp_path / "text.so").write_text("hello")
    with pytest.raises(TypeError, match="cannot load"):
        hj.load_module(tmp_path / "text.so")
    (tmp_path / "empty.c").write_text("int nothing;")
    command = ["cc", "-shared", "-fPIC", "empty.c", "-o", "empty.so"]
    subprocess.run(command, cwd=tmp_path, check=True)
    with pytest.raises(ValueError, match="was not written by export_library"):
        hj.load_module(tmp_path / "empty.so")


def test_what_is_shown_of_a_module_is_what_is_compiled() -> None:
    n = 64
    a, b = (te.placeholder((n, n), "float32", name) for name in "AB")
    k = te.reduce_axis((0, n), "k")
    c = te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    module = hj.build(te.create_schedule(c.op), [a, b, c])
    assert any(loop.lanes > 1 for loop in module.report().loops)
    assert "vectorize" in module.inspect("lowered")
    assert "vectorize" not in module.inspect("tir")
    arrays = [np.zeros((n, n), np.float32) for _ in range(3)]
    assert module.report(*arrays).loops == module.report().loops
    assert module.report(arrays[0], arrays[1], arrays[0]).note.startswith("as written")
