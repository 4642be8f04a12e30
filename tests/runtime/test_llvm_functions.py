"""Functions given as LLVM text: a part of the kernels that call them."""

import ctypes
import pickle
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import hybrid, te
from hybridjit.codegen.layout import Layout
from hybridjit.errors import HybridError
from hybridjit.frontend.parse import parse_text
from hybridjit.hybrid import output_tensor
from hybridjit.runtime.cache.kernel_key import find_key
from tests.support.oracle import run_plain_and_interpreted

Array = Any

SCALE = """
define double @scale(double %x, double %factor) {
  %product = fmul double %x, %factor
  ret double %product
}

define void @add_four(ptr %a, ptr %b) {
  %x = load <4 x double>, ptr %a, align 8
  %y = load <4 x double>, ptr %b, align 8
  %z = fadd <4 x double> %x, %y
  store <4 x double> %z, ptr %b, align 8
  ret void
}
"""
scale = hybrid.llvm(SCALE, "float64", ["float64", "float64"], name="scale")
add_four = hybrid.llvm(SCALE, None, ["float64*", "float64*"], name="add_four")


@hybrid.script
def scaled(a: Array) -> Array:
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[i] = scale(a[i], 3.0)
    return b


@hybrid.script
def added(a: Array, b: Array) -> None:
    for i in range(a.shape[0]):
        add_four(a[i], b[i])


def test_it_runs_in_every_way() -> None:
    a = np.arange(5.0)
    assert run_plain_and_interpreted(scaled, [a]).result.tolist() == (a * 3).tolist()
    run_plain_and_interpreted(added, [np.full((3, 4), 2.0), np.ones((3, 4))])


def test_it_is_inlined() -> None:
    text = scaled.inspect("llvm", np.arange(5.0))
    assert "call double @" not in text


def test_its_text_is_a_part_of_the_key_on_disk() -> None:
    """Two scripts print alike, and call different functions."""
    keys = [_key(SCALE), _key(SCALE.replace("fmul", "fadd"))]
    assert None not in keys
    assert keys[0] != keys[1]


def _key(text: str) -> bytes | None:
    function = hybrid.llvm(text, "float64", ["float64", "float64"], name="scale")
    source = "def f(x: float64):\n    return scale(x, 2.0)\n"
    return find_key(parse_text(source, {"scale": function}), Layout(), hj.host_target())


def test_it_can_be_pickled() -> None:
    again = pickle.loads(pickle.dumps(scale))
    assert again(2.0, 4.0) == 8.0


def call_twice(ins: Any, outs: Any) -> Any:
    return [add_four(ins[0], outs[0]), add_four(ins[1], outs[0])]


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_it_is_exported(tmp_path: Path) -> None:
    a, b = te.placeholder((4,), "float64", "a"), te.placeholder((4,), "float64", "b")
    c = te.extern((4,), [a, b], call_twice, name="c")
    path = tmp_path / "libadd.so"
    hj.build([a, b, c], name="add").export_library(path)
    loaded = hj.load_module(path)
    out = np.ones(4)
    loaded(np.arange(4.0), np.ones(4), out)
    assert out.tolist() == [1, 2, 3, 4]
    assert ctypes.CDLL(str(path)).add
    symbols = subprocess.run(["nm", "-D", path], capture_output=True, text=True, check=False)
    assert "hj_llvm" not in symbols.stdout


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "defines none"),
        (SCALE, {}, "defines scale, add_four; give the name"),
        (SCALE, {"name": "other"}, "defines no function 'other', but scale, add_four"),
        ("define void @f() {\n  ret i8 0\n}\n", {}, "is not valid"),
        (SCALE, {"name": "scale", "argtypes": ["float64"]}, "is declared as void"),
        (SCALE, {"name": "add_four", "argtypes": ["float64", "float64"]}, "void.ptr, ptr."),
    ],
)
def test_mistakes_are_explained(text: str, options: Any, message: str) -> None:
    with pytest.raises(HybridError, match=message):
        hybrid.llvm(text, **options)
