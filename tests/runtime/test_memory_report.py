"""`kernel.report(...)`: which arrays were fused away, which remain, why, and how much they take."""

from __future__ import annotations

from typing import Any

import numpy

from hybridjit import hybrid
from tests.conftest import Golden
from tests.support.processors import needs_wide_vectors

np: Any = numpy
Array = Any


@hybrid.script
def chain(a: Array, b: Array):
    t = a * 2
    u = t + b
    return u.sum()


@hybrid.script
def softmax(x: Array):
    largest = np.max(x, axis=-1, keepdims=True)
    exps = np.exp(x - largest)
    total = np.sum(exps, axis=-1, keepdims=True)
    return exps / total


@hybrid.script
def steps(a: Array, n: int):
    for _ in range(n):
        x = np.sin(a) + a[::-1]
        y = np.cos(x)[::-1] + x
        a[:] = y[::-1] * 0.5
        z = np.exp(-a) + np.exp(a[::-1])
        a += z[::-1] * 0.25 + z


@hybrid.script
def overlapping(a: Array):
    a[1:] = a[:-1] * 2
    t = a[::2] + 1
    for k in range(2):
        a[k] = t[k]


def test_a_chain_needs_no_memory():
    found = chain.report(numpy.ones(6), numpy.ones(6))
    assert [item.name for item in found.fused] == ["t", "u"]
    assert (found.temporaries, found.peak_bytes) == ((), 0)


def test_what_shares_memory(golden: Golden):
    found = steps.report(numpy.ones(300), 3)
    assert found.peak_bytes == sum(t.bytes or 0 for t in found.temporaries if t.shares is None)
    assert any(t.shares is not None for t in found.temporaries)
    golden.check(str(found.memory), "txt")


def test_reasons(golden: Golden):
    golden.check(str(overlapping.report(numpy.ones(9)).memory), "txt")


@needs_wide_vectors
def test_smaller_arrays(golden: Golden):
    golden.check(str(softmax.report(numpy.ones((300, 80))).memory), "txt")


def test_sizes_known_at_run_time():
    @hybrid.script
    def kernel(n: int):
        t = np.arange(n) * 2.5
        return np.sin(t[1:] * t[:-1])[::-1] * t[0]

    (found,) = kernel.report(numpy.int64(7)).temporaries
    assert (found.bytes, found.shape) == (None, "float64[max(n, 0)]")
    assert "size known at run time" in str(found)


def test_a_large_array_is_on_the_heap():
    (found,) = overlapping.report(numpy.ones(100_001)).temporaries[:1]
    assert found.bytes == 800_000
    assert not found.is_on_stack


def test_an_array_that_grows_has_no_size() -> None:
    @hybrid.script
    def f(n: Any) -> Any:
        out: Any = []
        for i in range(n):
            out.append(i)
        return len(out)

    assert "'out', int64[...], size known at run time on the heap" in str(f.report(3))


@hybrid.script
def returned(a: Array, n: int):
    y = a[a > 0]
    z = y * 2
    if n > 3:
        return z
    return y


@hybrid.script
def grown(a: Array):
    out = [a[0]]
    for i in range(a.shape[0]):
        if a[i] > 0:
            out.append(a[i])
    return np.array(out) * 2


@hybrid.script
def sorted_rows(a: Array):
    return np.sort(a, axis=1)


@hybrid.script
def product(a: Array):
    return a @ a


def test_what_is_done_with_an_array_as_a_whole():
    reasons = {found.name: found.reason for found in returned.report(numpy.ones(9), 7).temporaries}
    assert reasons["z"].startswith("it is returned in line")
    reasons = {found.reason for found in grown.report(numpy.ones(9)).temporaries}
    assert any(reason.startswith("it grows in line") for reason in reasons)
    assert any(reason.startswith("it is returned in line") for reason in reasons)


def test_arrays_of_other_files_say_so():
    found = sorted_rows.report(numpy.ones((3, 40))).temporaries
    assert found
    assert all("sorting.py:" in str(each) for each in found)


def test_arrays_of_the_compiler_are_called_so():
    found = product.report(numpy.ones((200, 200))).temporaries
    assert found
    assert {each.reason for each in found} == {"made to compute in vectors or tiles"}
