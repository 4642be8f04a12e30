"""Bytes that repeat the first ones of a computed vector: LLVM's back end never finishes these."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy
import pytest

from hybridjit.codegen.engine import emit_object, link
from hybridjit.codegen.llvm_text import parse_llvm
from hybridjit.codegen.repeated_bytes import repeat_words
from hybridjit.processor import host_target
from tests.support.own_process import run_program

np: Any = numpy

VECTOR = "<64 x i8>"
COMPUTED = {
    "read": f"%r = or {VECTOR} %a, zeroinitializer",
    "xor": f"%r = xor {VECTOR} %a, splat (i8 -128)",
    "more": f"%s = add nsw {VECTOR} %a, splat (i8 3)\n  %r = mul {VECTOR} %s, splat (i8 5)",
    "square": f"%s = add {VECTOR} %a, splat (i8 3)\n  %r = mul {VECTOR} %s, %s",
    "two": f"%r = sub {VECTOR} %a, %b",
    "places": f"%r = and {VECTOR} %a, <{', '.join(f'i8 {k}' for k in range(64))}>",
}


def module(computed: str, group: int) -> str:
    places = ", ".join("i32 poison" if at == 9 else f"i32 {at % group}" for at in range(64))
    return f"""
define void @f(ptr %p, ptr %q, ptr %o) {{
  %a = load {VECTOR}, ptr %p, align 1
  %b = load {VECTOR}, ptr %q, align 1
  {computed}
  %all = shufflevector {VECTOR} %r, {VECTOR} poison, <64 x i32> <{places}>
  store {VECTOR} %all, ptr %o, align 1
  ret void
}}
"""


@pytest.mark.parametrize("group", [2, 4])
@pytest.mark.parametrize("name", COMPUTED)
def test_the_same_bytes_are_repeated(name: str, group: int) -> None:
    text = repeat_words(module(COMPUTED[name], group))
    assert f"shufflevector {VECTOR}" not in text
    a = np.arange(64, dtype=np.uint8) * 5
    b = a[::-1].copy()
    expected = {
        "read": a,
        "xor": a ^ 128,
        "more": (a + 3) * 5,
        "square": (a + 3) ** 2,
        "two": a - b,
        "places": a & np.arange(64, dtype=np.uint8),
    }[name]

    library = link(emit_object(parse_llvm(text), host_target()), ("f",), {})
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(library.addresses["f"])
    out = np.zeros(64, np.uint8)
    function(a.ctypes.data, b.ctypes.data, out.ctypes.data)

    found = np.delete(out, 9)
    np.testing.assert_array_equal(found, np.delete(np.resize(expected[:group], 64), 9))


@pytest.mark.parametrize("group", [1, 8, 16])
def test_what_llvm_finishes_stays(group: int) -> None:
    text = module(COMPUTED["xor"], group)
    assert repeat_words(text) is text


def test_products_of_bytes_whose_rows_run_backwards_are_compiled(tmp_path: Path) -> None:
    """Once compiling them took for ever, where the processor has AVX-512."""
    found = run_program(
        tmp_path,
        """
        import numpy as np
        from hybridjit import hybrid
        from hybridjit.hybrid import dot_bytes

        @hybrid.script
        def f(a, b, c):
            for i in range(c.shape[0]):
                for j in range(c.shape[1]):
                    c[i, j] = 0
            for i in range(c.shape[0]):
                for j in range(c.shape[1]):
                    for k in range(b.shape[0]):
                        c[i, j] += dot_bytes(a[i, k], b[k, j])

        rng = np.random.default_rng(0)
        for size in (3, 17, 40):
            a, b = (rng.integers(-(2**31), 2**31, (size, size), np.int32) for _ in range(2))
            for factor in (b, b[:, ::-1], b[::-1]):
                c = np.empty((size, size), np.int32)
                f(a, factor, c)
                parts = a.view(np.int8).reshape(size, 1, size, 4).astype(np.int32)
                others = factor.T.copy().view(np.int8).reshape(1, size, size, 4)
                assert (c == (parts * others).sum((2, 3))).all()
        print("done")
        """,
    )

    assert found == "done\n"
