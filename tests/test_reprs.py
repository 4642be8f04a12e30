"""What objects look like at a prompt: plain text that says what they are, without our internals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
import hybridjit.stdlib as hs
from hybridjit import hybrid, te
from hybridjit.errors import HybridError
from hybridjit.tuning.result import Tuned

X: Any = np.ones(50_000)
MODULES: dict[str, Any] = {"hj": hj, "hybrid": hybrid, "te": te}


@hybrid.script
def doubled(a: Any) -> Any:
    b = hybrid.output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[i] = a[i] * 2
    return b


@hybrid.vectorize
def halved(a: Any) -> Any:
    return a / 2


@hybrid.script
def gathered(a: Any, k: Any) -> Any:
    return a[k[0]]


@cache
def tensors() -> tuple[Any, Any, Any]:
    a = te.placeholder((8,), "float32", "A")
    b = te.compute((8,), lambda i: a[i] * 2, name="B")
    return a, b, te.create_schedule(b.op)


def explained() -> Any:
    k = np.array([9])
    try:
        gathered(X[:3], k)
    except IndexError as error:
        return gathered.explain(error, X[:3], k)
    raise AssertionError("it did not fail")


MAKE: dict[str, Callable[[], Any]] = {
    "kernel": lambda: doubled,
    "scheduled kernel": lambda: doubled.with_schedule(lambda s: s.vectorize("i")),
    "report": lambda: doubled.report(X),
    "loop report": lambda: doubled.report(X).loops,
    "profile": lambda: doubled.profile(X),
    "safety": lambda: doubled.safety(X),
    "check": lambda: doubled.check(X),
    "explanation": explained,
    "translations": doubled.cache_info,
    "schedule": lambda: doubled.schedule(X),
    "trace": lambda: doubled.auto_schedule(X).trace,
    "kept trace": lambda: hj.Trace.from_json(doubled.auto_schedule(X).trace.to_json()),
    "loops": lambda: doubled.schedule(X).loops(),
    "blocks": lambda: doubled.schedule(X).blocks(),
    "program": lambda: doubled.prim_func(X),
    "statements": lambda: doubled.prim_func(X).body,
    "buffers": lambda: doubled.prim_func(X).buffers,
    "search": lambda: Tuned(None, 1.0, None, None, (), Counter(), 1.0, ""),
    "type of an array": lambda: hj.f32[8, "n"],
    "ufunc": lambda: halved,
    "gufunc": lambda: doubled.as_gufunc("(n)->(n)"),
    "operator": lambda: hs.softmax,
    "tensor": lambda: tensors()[0],
    "part of a tensor": lambda: tensors()[0][0:4],
    "operations": lambda: [tensor.op for tensor in tensors()[:2]],
    "axes": lambda: tensors()[1].op.axis,
    "reduction axis": lambda: te.reduce_axis((0, 4), "k"),
    "expression": lambda: te.var("n") + 1,
    "te schedule": lambda: tensors()[2],
    "stage": lambda: tensors()[2][tensors()[1]],
    "callback": lambda: hybrid.packed(print),
    "module": lambda: hj.build(tensors()[2], [*tensors()[:2]]),
}


@pytest.mark.parametrize("kind", MAKE)
def test_it_is_plain_text(kind: str) -> None:
    text = repr(MAKE[kind]())
    assert text
    assert "<" not in text.replace("a[i] < ", "")
    assert " object at 0x" not in text


@pytest.mark.parametrize("module", MODULES)
def test_public_values_are_plain_text(module: str) -> None:
    values = {name: getattr(MODULES[module], name) for name in MODULES[module].__all__}
    # Functions, classes and modules look as Python has it.
    own = {name: value for name, value in values.items() if not is_pythons(value)}
    assert [name for name, value in own.items() if repr(value).startswith("<")] == []


def is_pythons(value: object) -> bool:
    return hasattr(value, "__qualname__") or isinstance(value, ModuleType)


def test_errors_say_what_they_say() -> None:
    assert "<" not in repr(HybridError("an error"))


def test_a_te_schedule_shows_its_program_and_steps() -> None:
    a = te.placeholder((8,), "float32", "A")
    b = te.compute((8,), lambda i: a[i] * 2, name="B")
    s = te.create_schedule(b.op)
    s[b].split(b.op.axis[0], factor=4)
    page = s._repr_html_()
    assert "schedule of tensors: A, B" in page
    assert "for i_1 in range(4):" in page
    assert "s.split(" in page


def test_a_te_schedule_shows_why_a_step_is_refused() -> None:
    a = te.placeholder((8, 8), "float32", "A")
    k = te.reduce_axis((0, 8), "k")
    b = te.compute((8,), lambda i: te.sum(a[i, k], axis=k), name="B")
    s = te.create_schedule(b.op)
    s[b].parallel(b.op.reduce_axis[0])
    page = s._repr_html_()
    assert "loop 'k' cannot be parallel" in page
    assert "<svg" in page
