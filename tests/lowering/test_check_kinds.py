"""Loops that a script calls parallel or vectorize are legal, or refused at their line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.errors import ScheduleError
from hybridjit.scalars.builtins import parallel, vectorize
from tests.conftest import Golden
from tests.corpus.case import Array, Number


@hybrid.script
def cumulate(a: Array) -> None:
    for i in parallel(1, a.shape[0]):
        a[i] = a[i] + a[i - 1]


@hybrid.script
def total(a: Array) -> Number:
    result = 0.0
    for i in vectorize(a.shape[0]):
        result += a[i]
    return result


@pytest.mark.parametrize("kernel", [cumulate, total], ids=lambda kernel: kernel.__name__)
def test_refused_at_the_line_of_the_script(kernel: hybrid.Kernel[..., Any], golden: Golden) -> None:
    with pytest.raises(ScheduleError, match="loop 'i' cannot be") as caught:
        kernel(np.ones(8))

    golden.check(caught.value.render(paths="short"), "txt")
