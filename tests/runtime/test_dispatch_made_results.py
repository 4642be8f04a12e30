"""Native calls whose results Python puts together: lists, tuples in tuples, records and views."""

from __future__ import annotations

import gc
import sys
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy
import pytest

from hybridjit import hybrid
from hybridjit.runtime.dispatch.objects import native_class
from tests.runtime.native_calls import agrees, hits, warm

np: Any = numpy
Array = Any
pytestmark = [
    pytest.mark.usefixtures("unchecked"),
    pytest.mark.skipif(
        native_class() is None, reason="native calls are not possible on this interpreter"
    ),
]


class Point(NamedTuple):
    x: float
    y: float


@dataclass
class Box:
    low: float
    high: Array


@hybrid.script
def numbers(a: Array) -> Any:
    found: Any = []
    for i in range(a.shape[0]):
        if a[i] > 0:
            found.append(i)
    return found


@hybrid.script
def pairs(a: Array) -> Any:
    found = [(0, 0.5)]
    for i in range(a.shape[0]):
        found.append((i, a[i]))
    return found, a.shape[0]


@hybrid.script
def nested(a: Array) -> Any:
    return a[0], (a + 1, (a.sum(), 7))


@hybrid.script
def point(a: Array) -> Any:
    return Point(a[0], 2.0)


@hybrid.script
def box(a: Array) -> Any:
    return Box(a[0], a * 2)


@hybrid.script
def tail(a: Array) -> Any:
    return a[1:]


@hybrid.script
def backwards(a: Array) -> Any:
    return a[::-2], a


KERNELS = (numbers, pairs, nested, point, box, tail, backwards)
IDS = [kernel.__name__ for kernel in KERNELS]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
@pytest.mark.parametrize("size", [1, 5, 20_000])
def test_natively_and_through_python(kernel: Any, size: int) -> None:
    kernel = hybrid.script(kernel.py_func)
    a = numpy.random.default_rng(0).standard_normal(size)
    warm(kernel, a)
    assert agrees(kernel, a)


@pytest.mark.parametrize("kernel", [tail, backwards])
def test_views_are_views(kernel: Any) -> None:
    kernel = hybrid.script(kernel.py_func)
    a = numpy.arange(9.0)
    warm(kernel, a)
    before = hits(kernel)
    view = kernel(a)[0] if kernel.__name__ == "backwards" else kernel(a)
    assert hits(kernel) == before + 1
    expected = a[::-2] if kernel.__name__ == "backwards" else a[1:]
    assert (view.ctypes.data, view.strides) == (expected.ctypes.data, expected.strides)
    view[0] = 77
    assert 77 in a


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
def test_nothing_is_left_behind(kernel: Any) -> None:
    kernel = hybrid.script(kernel.py_func)
    a = numpy.arange(20.0)
    warm(kernel, a)
    gc.collect()
    counts = sys.getrefcount(a), sys.getrefcount(Point), sys.getallocatedblocks()
    for _ in range(1000):
        kernel(a)
    gc.collect()
    assert (sys.getrefcount(a), sys.getrefcount(Point)) == counts[:2]
    assert sys.getallocatedblocks() - counts[2] < 500


@hybrid.script
def added(p: Any, a: Array) -> Any:
    return p.x + p.y * a[0]


class Other(NamedTuple):
    y: float
    x: float


def test_named_tuples_as_arguments() -> None:
    kernel = hybrid.script(added.py_func)
    a = numpy.full(3, 4.0)
    warm(kernel, Point(1.0, 2.0), a)
    assert agrees(kernel, Point(3.0, 0.5), a)
    # The same items under other names, in the same places.
    assert (kernel(Other(1.0, 2.0), a), kernel(Point(1.0, 2.0), a)) == (6.0, 9.0)
    warmed = hybrid.script(added.py_func)
    warm(warmed, Other(1.0, 2.0), a)
    assert warmed(Point(1.0, 2.0), a) == 9.0
    assert warmed(Other(1.0, 2.0), a) == 6.0


def test_fields_that_a_class_computes() -> None:
    """What lies in the tuple is not what its field gives: such calls go through Python."""
    computed: Any = type("Computed", (Point,), {"x": property(lambda _: 100.0)})
    kernel = hybrid.script(added.py_func)
    a = numpy.full(3, 4.0)
    assert [kernel(computed(1.0, 2.0), a) for _ in range(5)] == [108.0] * 5
