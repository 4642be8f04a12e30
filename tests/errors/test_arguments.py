"""What is said about a call with the wrong arguments, whole."""

from collections.abc import Callable
from enum import Enum
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.errors import HybridError
from tests.conftest import Golden


class Unit(Enum):
    METRE = 1


class Frame:
    """What a data frame of names and numbers is to NumPy: an array of objects."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(["sun", 1.0], object)


A: Any = np.arange(4.0)
ROWS: Any = np.zeros((3, 4), np.float32)
ROW: Any = np.zeros(3, np.float32)
READ_ONLY: Any = np.arange(4.0)
READ_ONLY.flags.writeable = False

# As a caller without a type checker has them.
SCRIPT: Any = hybrid.script
NP: Any = np
F32: Any = hybrid.float32
KERNELS: Any = import_module("tests.errors.cases.arguments")
SCALE, CLEAR, TYPED = KERNELS.scale, KERNELS.clear, KERNELS.typed

CALLS: dict[str, Callable[[], object]] = {
    "too_few": lambda: SCALE(A),
    "too_many": lambda: SCALE(A, 2.0, 3.0),
    "unknown_keyword": lambda: SCALE(A, fctor=2.0),
    "given_twice": lambda: SCALE(A, 2.0, factor=3.0),
    "dict": lambda: SCALE({"a": A}, 2.0),
    "set": lambda: SCALE({1, 2}, 2.0),
    "generator": lambda: SCALE((x for x in A), 2.0),
    "function": lambda: SCALE(A, SCALE.py_func),
    "data_frame": lambda: SCALE(Frame(), 2.0),
    "object_array": lambda: SCALE(NP.array([None, 1]), 2.0),
    "string_array": lambda: SCALE(NP.array(["a"]), 2.0),
    "date_array": lambda: SCALE(NP.array(["2024-01-01"], "datetime64[D]"), 2.0),
    "structured_array": lambda: SCALE(NP.zeros(2, [("x", "U3")]), 2.0),
    "byte_swapped": lambda: SCALE(NP.arange(3, dtype=NP.dtype(NP.int32).newbyteorder()), 2.0),
    "masked": lambda: SCALE(NP.ma.masked_array([1.0], mask=[True]), 2.0),
    "huge_integer": lambda: SCALE(A, 2**70),
    "item_of_a_list": lambda: SCALE([A, {"b": 1}], 2.0),
    "read_only": lambda: CLEAR(READ_ONLY),
    "overlapping_itself": lambda: CLEAR(NP.lib.stride_tricks.as_strided(A, (4,), (0,))),
    "fastmath_misspelt": lambda: SCRIPT(fastmath={"reasoc"}),
    "fastmath_unknown": lambda: SCRIPT(fastmath={"quick"}),
    "fastmath_as_a_string": lambda: SCRIPT(fastmath="contract"),
    "out_of_other_shape": lambda: SCALE(A, 2.0, out=NP.zeros(3)),
    "out_of_other_dtype": lambda: SCALE(A, 2.0, out=NP.zeros(4, NP.float32)),
    "out_not_an_array": lambda: SCALE(A, 2.0, out=[0.0] * 4),
    "out_read_only": lambda: SCALE(A, 2.0, out=READ_ONLY),
    "two_outs": lambda: SCALE(A, 2.0, out=(NP.zeros(4), NP.zeros(4))),
    "out_of_nothing": lambda: CLEAR(A.copy(), out=NP.zeros(4)),
    "declared_dtype": lambda: TYPED(ROWS.astype(NP.float64), ROW, 1),
    "declared_rank": lambda: TYPED(ROW, ROW, 1),
    "declared_size": lambda: TYPED(NP.zeros((3, 5), NP.float32), ROW, 1),
    "declared_same_size": lambda: TYPED(ROWS, NP.zeros(5, NP.float32), 1),
    "declared_scalar": lambda: TYPED(ROWS, ROW, NP.float64(1.5)),
    "declared_scalar_from_array": lambda: TYPED(ROWS, ROW, A),
    "declared_integer_from_float": lambda: TYPED(ROWS, ROW, 1.5),
    "declared_scalar_from_complex": lambda: TYPED(ROWS, ROW, 1j),
    "declared_scalar_too_large": lambda: TYPED(ROWS, ROW, 2**40),
    "decorated_number": lambda: SCRIPT(3),
    "decorated_builtin": lambda: SCRIPT(len),
    "decorated_class": lambda: SCRIPT(Frame),
    "decorated_star_arguments": lambda: SCRIPT(KERNELS.starred),
    "decorated_anonymous": lambda: SCRIPT(KERNELS.anonymous)(A),
    "enum": lambda: SCALE(A, Unit.METRE),
    "list": lambda: SCALE([1.0, 2.0], 2.0),
    "string": lambda: SCALE("abc", 2.0),
    "type_for_a_value": lambda: SCALE(F32[4], 2.0),
    "negative_size": lambda: F32[-4],
    "fractional_size": lambda: F32[4.5],
    "slices_for_sizes": lambda: F32[:, :],
    "annotation_with_a_sum": lambda: SCRIPT(KERNELS.annotated)(A),
    "method": lambda: KERNELS.Filter().run(A),
}


@pytest.mark.parametrize("name", CALLS)
def test_refused(name: str, golden: Golden) -> None:
    with pytest.raises((TypeError, ValueError, SyntaxError), match=r".") as caught:
        CALLS[name]()
    assert isinstance(caught.value, HybridError)
    golden.check(caught.value.render(paths="short"), "txt")
