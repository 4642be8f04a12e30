"""Code as it was written for TVM runs, and gives what NumPy gives."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
import hybridjit.compat.tvm as tvm
from hybridjit.hybrid import output_tensor

te: Any = tvm.te
topi: Any = tvm.topi
ROOT = Path(__file__).parents[2]


def test_a_product_in_blocks() -> None:
    size, block = 40, 16
    k = te.reduce_axis((0, size), "k")
    A, B = (te.placeholder((size, size), name=name) for name in "AB")

    def element(x: Any, y: Any) -> Any:
        return te.sum(A[x, k] * B[k, y], axis=k)

    C = te.compute((size, size), element, name="C")
    s = te.create_schedule(C.op)
    xo, yo, xi, yi = s[C].tile(C.op.axis[0], C.op.axis[1], block, block)
    ko, ki = s[C].split(k, factor=4)
    s[C].reorder(xo, yo, ko, xi, ki, yi)
    s[C].vectorize(yi)
    func = tvm.build(s, [A, B, C], target=tvm.target.Target("llvm -mcpu=core-avx2"), name="mmult")
    assert func.entry_name == "mmult"
    dev = tvm.device("llvm", 0)
    a, b = (tvm.nd.array(np.random.rand(size, size).astype("float32"), dev) for _ in "ab")
    c = tvm.nd.array(np.zeros((size, size), dtype="float32"), dev)
    func(a, b, c)
    tvm.testing.assert_allclose(c.numpy(), np.dot(a.numpy(), b.numpy()), rtol=1e-5)
    evaluator = func.time_evaluator(func.entry_name, dev, number=1)
    assert evaluator(a, b, c).mean > 0
    assert "for" in str(tvm.lower(s, [A, B, C], simple_mode=True))


def test_hybrid_on_tensors_and_arrays() -> None:
    @te.hybrid.script
    def outer_product(a: Any, b: Any) -> Any:
        c = output_tensor((a.shape[0], b.shape[0]), "float32")
        for i in range(a.shape[0]):
            for j in range(b.shape[0]):
                c[i, j] = a[i] * b[j]
        return c

    A, B = te.placeholder((7,), name="A"), te.placeholder((5,), name="B")
    C = outer_product(A, B)
    func = tvm.build(te.create_schedule(C.op), [A, B, C])
    a, b = np.arange(7, dtype="float32"), np.arange(5, dtype="float32")
    c = tvm.nd.empty((7, 5))
    func(a, b, c)
    np.testing.assert_array_equal(c.numpy(), np.outer(a, b))


def test_topi_on_arrays_and_tensors() -> None:
    a = np.array([[-1.0, 2.0]], np.float32)
    np.testing.assert_array_equal(topi.abs(a), np.abs(a))
    np.testing.assert_array_equal(topi.nn.relu(a), np.maximum(a, 0))
    A = te.placeholder((3, 4), name="A")
    B = topi.sum(A, axis=1)
    func = tvm.build(te.create_schedule(B.op), [A, B])
    out = tvm.nd.empty((3,))
    func(np.ones((3, 4), np.float32), out)
    assert out.numpy().tolist() == [4, 4, 4]


def test_a_product_by_blas() -> None:
    A, B = te.placeholder((6, 4), name="A"), te.placeholder((6, 5), name="B")
    C = tvm.contrib.cblas.matmul(A, B, transa=True)
    func = tvm.build(te.create_schedule(C.op), [A, B, C])
    a: Any = np.random.rand(6, 4).astype("float32")
    b: Any = np.random.rand(6, 5).astype("float32")
    c = tvm.nd.empty((4, 5))
    func(a, b, c)
    np.testing.assert_allclose(c.numpy(), a.T @ b, rtol=1e-5)


def test_functions_by_name() -> None:
    @tvm.register_func("tests.twice")
    def twice(x: int) -> int:
        return 2 * x

    assert tvm.get_global_func("tests.twice") is twice
    assert tvm.get_global_func("tests.gone", allow_missing=True) is None
    with pytest.raises(ValueError, match=r"there is no function 'tests\.gone'"):
        tvm.get_global_func("tests.gone")
    with pytest.raises(ValueError, match=r"there is a function 'tests\.twice' already"):
        tvm.register_func("tests.twice", twice)


def test_arrays_are_numpys() -> None:
    a = tvm.nd.array([1, 2, 3], tvm.cpu(0))
    assert isinstance(a, np.ndarray)
    b = tvm.nd.empty((3,), "int64").copyfrom(a)
    assert b.asnumpy().tolist() == [1, 2, 3]
    assert a.copyto(tvm.nd.empty((3,), "int64")).tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("auto_scheduler", "hj.tune"),
        ("relay", "tensor expressions"),
        ("nothing", "has no 'nothing'"),
    ],
)
def test_what_is_not_here_says_so(name: str, message: str) -> None:
    with pytest.raises(AttributeError, match=message):
        getattr(tvm, name)
    with pytest.raises(AttributeError, match="topi has no 'sparse_reshape' here"):
        topi.sparse_reshape  # noqa: B018


def test_other_targets_are_refused() -> None:
    A = te.placeholder((4,), name="A")

    def more(i: Any) -> Any:
        return A[i] + 1

    B = te.compute((4,), more)
    with pytest.raises(hj.ArgumentError, match="target 'cuda' is not there"):
        tvm.build(te.create_schedule(B.op), [A, B], "cuda")
    with pytest.raises(hj.ArgumentError, match="there is no device 'cuda'"):
        tvm.device("cuda")


UNEDITED = """
import sys
import numpy as np
import tvm
import tvm.testing
from tvm import te, topi
from tvm.contrib import cblas

n = te.var("n")
A = te.placeholder((n,), name="A")
B = te.compute(A.shape, lambda i: tvm.tir.exp(A[i]) + tvm.tir.const(1, "float32"), name="B")
s = te.create_schedule(B.op)
f = tvm.build(s, [A, B], "llvm", name="f")
dev = tvm.cpu(0)
a = tvm.nd.array(np.arange(9, dtype="float32"), dev)
b = tvm.nd.array(np.zeros(9, dtype="float32"), dev)
f(a, b)
tvm.testing.assert_allclose(b.numpy(), np.exp(a.numpy()) + 1, rtol=1e-5)
from tvm.autotvm.tuner import GridSearchTuner
from tvm.ir.transform import PassContext
from tvm.te.schedule import AutoInlineInjective, Split
from tvm.te.tensor import ComputeOp
from tvm.topi.tag import is_broadcast

assert isinstance(B.op, ComputeOp) and issubclass(tvm.TVMError, Exception)
print("right", sys.argv[1:])
"""


def test_a_script_that_is_not_edited(tmp_path: Path) -> None:
    path = tmp_path / "old.py"
    path.write_text(UNEDITED, encoding="utf-8")
    command = [sys.executable, "-m", "hybridjit.compat.tvm", str(path), "an argument"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.stdout == "right ['an argument']\n", done.stderr


@pytest.mark.parametrize("shape", [(), (0,), (3,), (7, 5), (2, 0, 4)])
@pytest.mark.parametrize("dtype", ["int8", "float32", "float64"])
def test_arrays_begin_where_a_line_of_the_cache_does(shape: tuple[int, ...], dtype: str) -> None:
    source: Any = np.ones(shape, dtype).cumsum().astype(dtype)
    source = source.reshape(shape)
    for made in (tvm.nd.empty(shape, dtype), tvm.nd.array(source)):
        assert made.ctypes.data % 64 == 0 or made.size == 0
        assert made.shape == shape
        assert made.dtype == dtype
        assert made.flags.c_contiguous
        assert made.flags.writeable
    np.testing.assert_array_equal(tvm.nd.array(source).numpy(), source)
    np.testing.assert_array_equal(tvm.nd.array(source.T).numpy(), source.T)
