"""Results whose size is computed: many calls, and many errors, leave no memory behind."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy
import pytest

from tests.frontend.from_text import script_from_text
from tests.support.memory import growth, needs_proc

np: Any = numpy

# What `r` becomes, of 300 numbers, and what is returned. Each call makes some kilobytes.
KINDS = {
    "a part": "r = a[: len(a) - k]",
    "a selection": "r = a[a > k]",
    "selected rows": "r = np.stack((a, a), axis=1)[a > k]",
    "nonzero": "r = np.nonzero(a > k)",
    "where": "r = np.where(a > k)[0]",
    "flatnonzero": "r = np.flatnonzero(a > k)",
    "argwhere": "r = np.argwhere(a > k)",
    "unique": "r = np.unique(a, return_index=True, return_inverse=True, return_counts=True)",
    "extract": "r = np.extract(a > k, a), np.compress(a > k, a)",
    "sizes": "r = np.empty(int(a[-1]) - k), np.zeros((int(a[-1]), k))",
    "shrinking": "r = a * 2\n    while len(r) > 200:\n        r = r[:-1]",
    "growing": "r = np.zeros(0)\n    for i in range(9):\n        r = np.append(r, a)",
    "a list": "r = [x for x in a if x > k]",
    "a list of pairs": "r = [(i, x) for i, x in enumerate(a) if x > k]",
    "an array of a list": "r = np.array([x * 2 for x in a if x > k])",
    "a sorted list": "r = sorted(-x for x in a)",
    "joined": "r = np.concatenate((a[a > k], a[a < k])), np.union1d(a, a + k)",
}


@needs_proc
@pytest.mark.sampled(9)
@pytest.mark.parametrize("kind", KINDS)
def test_calls_and_errors_leave_nothing_behind(kind: str, many_calls: int, unchecked: None) -> None:
    text = f"def f(a, k, at):\n    {KINDS[kind]}\n    last = a[at]\n    return r, last\n"
    kernel: Any = script_from_text(text, {"np": np})
    a = np.arange(300.0)

    def fails() -> None:
        with suppress(IndexError):
            kernel(a, 5, 300)

    with pytest.raises(IndexError, match="out of bounds"):
        kernel(a, 5, 300)
    assert growth(lambda: kernel(a, 5, 299), many_calls) < 4
    assert growth(fails, many_calls) < 4
