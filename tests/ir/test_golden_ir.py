"""The IR of representative kernels, as text that is reviewed when it changes."""

import pytest

from tests.conftest import Golden
from tests.corpus import CORPUS

KERNELS = {case.name: case for case in CORPUS}
REPRESENTATIVE = (
    "matmul",
    "matmul_tiled",
    "conv2d",
    "cholesky",
    "sparse_matvec",
    "softmax",
    "bubble_sort",
    "fft",
    "mandelbrot",
    "game_of_life",
    "call_several_returns",
    "call_return_in_loop",
    "capture_array",
    "every_kind",
    "last_value",
    "bound_block",
    "scan_rows",
    "call_python",
    "cast_integers",
    "return_mixed",
    "sum_of_arrays",
)


@pytest.mark.parametrize("name", REPRESENTATIVE)
def test_ir_of_kernel(name: str, golden: Golden) -> None:
    case = KERNELS[name]
    arguments = case.arguments[0]

    golden.check(str(case.kernel.prim_func(*arguments.args, **arguments.kwargs)), "ir")
