"""Indices that are sure to lie outside: the report of the compiler."""

from typing import Any

import pytest

from hybridjit.errors import RefutedIndex
from tests.conftest import Golden
from tests.lowering.failing_kernels import SURE

CASES = [pytest.param(kernel, args, id=kernel.__name__) for kernel, args, *_ in SURE]


@pytest.mark.parametrize(("kernel", "args"), CASES)
def test_refuted(kernel: Any, args: Any, golden: Golden) -> None:
    with pytest.raises(RefutedIndex, match="out of bounds") as caught:
        kernel.compile(*args)
    golden.check(caught.value.render(paths="short"), "txt")
