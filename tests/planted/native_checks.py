"""Kernels and calls whose native code is compared with the interpreter, to notice planted bugs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from hybridjit import Kernel, hybrid
from hybridjit.processor import host_target
from hybridjit.runtime.cache import kernel_key as kernel_cache
from hybridjit.runtime.native import layout_of
from tests.planted.bugs import Check
from tests.support import nasty_kernels as nasty
from tests.support.memory import resident_megabytes
from tests.support.oracle import assert_same_outcome, fresh, run_interpreted, run_once
from tests.support.poisoned import run_poisoned

AnyKernel = Kernel[..., Any]


def compared(kernel: AnyKernel, *calls: Sequence[Any]) -> Check:
    """Native calls of a new kernel agree with the interpreter."""

    def check() -> None:
        made = fresh(kernel)
        for args in calls:
            expected = run_once(run_interpreted, kernel, args)  # `made` is to see only native calls
            for _ in range(2):
                assert_same_outcome(run_once(run_poisoned, made, args), expected)

    check.__name__ = kernel.__name__
    return check


def inner(size: int = 5) -> Any:
    """An array with room around it: going too far is wrong, but harms nobody."""
    return np.arange(100.0)[40 : 40 + size]


@hybrid.script
def divide(a: Any, b: Any, out: Any) -> Any:
    for i in range(a.shape[0]):
        out[0, i] = a[i] // b[i]
        out[1, i] = a[i] % b[i]


@hybrid.script
def shift(a: Any, b: Any, out: Any) -> Any:
    for i in range(a.shape[0]):
        out[0, i] = a[i] << b[i]
        out[1, i] = a[i] >> b[i]


@hybrid.script
def falling(a: Any) -> Any:
    for i in range(9, -1, -3):
        a[i] = i + 100


@hybrid.script
def long_loop(a: Any, n: Any) -> Any:
    for i in range(n):
        a[i] = a[i] + i


@hybrid.script
def maybe_unset(n: Any) -> Any:
    if n > 3:
        x = n * 2
    return x  # pyright: ignore[reportPossiblyUnboundVariable]


@hybrid.script
def shifted(a: Any, b: Any) -> Any:
    for i in range(a.shape[0]):
        b[i] = a[i] * 2


@hybrid.script
def is_large(a: Any, out: Any) -> Any:
    for i in range(a.shape[0]):
        out[i] = a[i] > 2


@hybrid.script
def tripled(a: Any, out: Any) -> Any:
    for i in range(a.shape[0]):
        out[i] = a[i] * 3 + a[i]


@hybrid.script
def to_int(a: Any, out: Any) -> Any:
    for i in range(a.shape[0]):
        out[i] = np.int8(a[i])


@hybrid.script
def widened(a: Any, out: Any) -> Any:
    for i in range(a.shape[0]):
        out[i] = np.int64(a[i])


@hybrid.script
def narrowed(out: Any, n: Any) -> Any:
    out[0] = n


@hybrid.script
def rectangle(a: Any) -> Any:
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = 10 * i + j


@hybrid.packed
def refuse(x: Any) -> None:
    raise LookupError("refused")


@hybrid.script
def calls_back(a: Any) -> Any:
    refuse(a[0])
    return a[0]


@hybrid.script
def scratch(n: Any) -> Any:
    b = hybrid.allocate((500_000,), "float64")
    for i in range(n):
        b[i * 7919 % 500_000] = i
    total = 0.0
    for i in range(500_000):
        total += b[499_999 - i] * i
    return total


@hybrid.script
def other_side(a: Any, n: Any) -> Any:
    if n >= 0:
        if n < a.shape[0]:
            a[0] = 7
        else:
            a[n] = 8


def overlapping() -> tuple[Any, Any]:
    memory = np.arange(40.0)
    return memory[:32], memory[1:33]


def check_aliasing() -> None:
    made = fresh(shifted)
    a, b = overlapping()
    made.interpret(a, b)
    c, d = overlapping()
    run_poisoned(made, c, d)
    assert d.tolist() == b.tolist()


def check_memory() -> None:
    made = fresh(scratch)
    run_poisoned(made, 9)
    before = resident_megabytes()
    for _ in range(60):
        run_poisoned(made, 9)
    assert resident_megabytes() - before < 120


def check_bytes_of_bool() -> None:
    made = fresh(is_large)
    out = np.zeros(5, bool)
    run_poisoned(made, np.arange(5.0), out)
    assert list(out.tobytes()) == [0, 0, 0, 1, 1]


def check_keys() -> None:
    """Whatever the code depends on is in the key."""
    a, b = np.zeros((2, 3)), np.zeros((2, 3))
    keys: list[Any] = []
    for made in (rectangle, nasty.scalar_array):
        for array in (a, np.asfortranarray(a)) if made is rectangle else (np.array(1.0),):
            func = made.prim_func(array)
            for is_disjoint in (False, True):
                layout = layout_of(func.header, [array], is_disjoint=is_disjoint)
                keys.append(kernel_cache.find_key(func, layout, host_target()))
                other = dataclasses.replace(host_target(), features="+other")
                keys.append(kernel_cache.find_key(func, layout, other))
    func = shifted.prim_func(a[0], b[0])
    keys.append(
        kernel_cache.find_key(func, layout_of(func.header, [a, b], is_disjoint=True), host_target())
    )
    assert len(keys) == len(set(keys))


BYTES = np.array([-128, 127, -7, 7, -7, 7, 0, -128], np.int8)
DIVISORS = np.array([-1, -1, 2, -2, -2, 2, -3, 127], np.int8)
UNSIGNED = np.array([0, 1, 127, 128, 200, 255], np.uint8)
