"""C code in the text of a program, as the tutorial on `tensorize` has it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import hybridjit.compat.tvm as package
from hybridjit.compat.tvm import c_code
from hybridjit.errors import ArgumentError, ArgumentValueError, MissingSymbol
from hybridjit.intrinsics.registry import INTRINSICS

np: Any = numpy  # whose types say nothing of arrays that may be any
tvm: Any = package
te: Any = tvm.te
tir: Any = tvm.tir
HAS_COMPILER = any(map(shutil.which, ("clang++", "g++", "c++")))
needs_compiler = pytest.mark.skipif(not HAS_COMPILER, reason="there is no C++ compiler")
N, M, L, PART = 8, 12, 16, 4
UPDATE = """
extern "C" int test_gemv_update(float *cc, float *aa, float *bb, int m, int l, int stride) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < l; ++j)
      cc[i] += aa[j] * bb[i * stride + j];
  return 0;
}
"""
RESET = """
extern "C" int test_gemv_reset(float *cc, int m) {
  for (int i = 0; i < m; ++i) cc[i] = 0.0;
  return 0;
}
"""


@pytest.fixture(autouse=True)
def no_functions() -> Iterator[None]:
    yield
    c_code.clear()
    INTRINSICS.clear()


def gemv(m: int, l: int, *, has_reset: bool) -> Any:  # noqa: E741
    a, b = te.placeholder((l,), name="a"), te.placeholder((m, l), name="b")
    k = te.reduce_axis((0, l), name="k")

    def element(i: Any) -> Any:
        return te.sum(a[k] * b[i, k], axis=k)

    c = te.compute((m,), element, name="c")
    Ab = tir.decl_buffer(a.shape, a.dtype, name="A", offset_factor=1, strides=[1])
    rows = [te.var("s1"), 1]
    Bb = tir.decl_buffer(b.shape, b.dtype, name="B", offset_factor=1, strides=rows)
    Cb = tir.decl_buffer(c.shape, c.dtype, name="C", offset_factor=1, strides=[1])

    def intrin_func(ins: Any, outs: Any) -> Any:
        aa, bb = ins
        cc = outs[0]

        def emitted(name: str, *args: Any) -> Any:
            ib = tir.ir_builder.create()
            ib.emit(tir.call_extern("int32", name, cc.access_ptr("w"), *args))
            return ib.get()

        def update() -> Any:
            parts = aa.access_ptr("r"), bb.access_ptr("r")
            return emitted("test_gemv_update", *parts, m, l, bb.strides[0])

        if not has_reset:
            return update()
        return update(), emitted("test_gemv_reset", m), update()

    return te.decl_tensor_intrin(c.op, intrin_func, binds={a: Ab, b: Bb, c: Cb})


@needs_compiler
@pytest.mark.parametrize("has_reset", [False, True])
@pytest.mark.parametrize("is_partial", [False, True])
def test_code_of_an_intrinsic(has_reset: bool, is_partial: bool) -> None:
    A, B = te.placeholder((N, L), name="A"), te.placeholder((M, L), name="B")
    k = te.reduce_axis((0, L), name="k")

    def element(i: Any, j: Any) -> Any:
        return te.sum(A[i, k] * B[j, k], axis=k)

    C = te.compute((N, M), element, name="C")
    s = te.create_schedule(C.op)
    x, y = C.op.axis
    yo, yi = s[C].split(y, factor=PART)
    zo, zi = s[C].split(k, factor=PART if is_partial else L)
    s[C].reorder(x, yo, zo, yi, zi)
    s[C].tensorize(yi, gemv(PART, PART if is_partial else L, has_reset=has_reset))
    with pytest.raises(MissingSymbol, match="test_gemv_update"):
        tvm.build(s, [A, B, C])
    shown = str(tvm.lower(s, [A, B, C], simple_mode=True))
    assert "test_gemv_update" not in shown
    code = [UPDATE, RESET] if has_reset else UPDATE
    s[C].pragma(x, "import_llvm", tvm.contrib.clang.create_llvm(code))
    assert "test_gemv_update" in str(tvm.lower(s, [A, B, C]))
    a, b = (np.random.default_rng(0).random((size, L), np.float32) for size in (N, M))
    c = tvm.nd.array(np.ones((N, M), "float32"))
    tvm.build(s, [A, B, C], target="llvm", name="gemv")(a, b, c)
    np.testing.assert_allclose(c, a @ b.T, rtol=1e-3)


@needs_compiler
def test_the_last_code_counts(tmp_path: Path) -> None:
    text = 'extern "C" int test_number(int x) {{ return x + {}; }}\n'
    file = tmp_path / "number.cc"
    file.write_text(text.format(2), encoding="utf-8")
    for source, number in ((text.format(1), 1), (str(file), 2)):
        tvm.contrib.clang.create_llvm(source, output=str(tmp_path / "number.ll"))
        assert tir.call_extern("int32", "test_number", np.int32(40)) == 40 + number
    assert "loaded" in (tmp_path / "number.ll").read_text(encoding="utf-8")
    with pytest.raises(ArgumentValueError, match="cannot be compiled"):
        tvm.contrib.clang.create_llvm("int;;;x(")


def test_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    monkeypatch.setenv("CXX", "mycompiler")
    with pytest.raises(ArgumentError, match="no C\\+\\+ compiler: looked for mycompiler, clang"):
        tvm.contrib.clang.create_llvm("int x;")
