"""Promotion is NumPy's, over all pairs; the exceptions are named here."""

import itertools

import numpy as np
import pytest

from hybridjit.ir.dtype import (
    BFLOAT16,
    BOOL,
    COMPLEX64,
    COMPLEX128,
    DTYPES,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT32,
    INT64,
    UINT8,
    UINT64,
    WEAK_BOOL,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    WEAK_TYPES,
    DType,
    ScalarType,
    dtype_named,
    find_dtype,
    join,
    promote,
)
from tests.support.rows import in_each

ALL = tuple(DTYPES.values())
PYTHON_VALUES = {"bool": True, "int": 1, "float": 1.0, "complex": 1j}

each_dtype = pytest.mark.parametrize("dtype", ALL, ids=str)
each_pair = pytest.mark.parametrize(("a", "b"), list(itertools.product(ALL, repeat=2)), ids=str)
NUMPYS_OWN = tuple(dtype for dtype in ALL if dtype is not BFLOAT16)


@each_dtype
def test_dtype_is_found_by_name_and_by_numpy_dtype(dtype: DType) -> None:
    assert dtype_named(dtype.name) is dtype
    assert find_dtype(dtype.numpy) is dtype
    assert dtype.numpy.itemsize * 8 == dtype.bits
    assert str(dtype.numpy) == dtype.name


@each_dtype
def test_numpy_takes_a_dtype(dtype: DType) -> None:
    assert np.zeros(2, dtype).dtype == np.ones(2).astype(dtype).dtype == dtype.numpy


@each_dtype
def test_a_dtype_equals_its_name(dtype: DType) -> None:
    assert dtype == dtype.name
    assert dtype.name == dtype
    assert dtype == dtype.numpy
    assert [other for other in ALL if dtype in (other, other.name)] == [dtype]
    assert hash(dtype) == hash(dtype.name)


@pytest.mark.parametrize("foreign", [">f4", "O", "M8[s]", "U3", "f4,i4", "g"])
def test_foreign_dtypes_are_not_found(foreign: str) -> None:
    assert find_dtype(np.dtype(foreign)) is None


@pytest.mark.parametrize("dtype", [d for d in ALL if d.is_integer], ids=str)
def test_integer_bounds_are_numpys(dtype: DType) -> None:
    info = np.iinfo(dtype.numpy)
    assert dtype.bounds == (info.min, info.max)


def test_float_has_no_bounds() -> None:
    with pytest.raises(ValueError, match="float32 has no integer bounds"):
        _ = FLOAT32.bounds


@each_dtype
def test_component_is_the_type_of_real(dtype: DType) -> None:
    assert dtype.component.numpy == np.real(np.zeros(1, dtype.numpy)).dtype


def numpy_promotion(a: DType, b: DType) -> DType | None:
    try:
        return find_dtype(np.promote_types(a.numpy, b.numpy))
    except TypeError:
        return None


@each_pair
def test_typed_values_promote_as_in_numpy(a: DType, b: DType) -> None:
    expected = numpy_promotion(a, b)
    if {a, b} == {FLOAT16, BFLOAT16}:  # NumPy knows no common type; the scalars use float32
        assert expected is None
        expected = FLOAT32
    assert promote(a, b) is expected
    assert join(ScalarType(a), ScalarType(b)) == (expected and ScalarType(expected))


@pytest.mark.parametrize("a", NUMPYS_OWN, ids=str)
@in_each("b", NUMPYS_OWN)
def test_promotion_is_the_type_of_a_sum(a: DType, b: DType) -> None:
    total = np.zeros(1, a.numpy) + np.zeros(1, b.numpy)
    assert promote(a, b) is find_dtype(total.dtype)


@pytest.mark.parametrize("weak", WEAK_TYPES)
@in_each("dtype", NUMPYS_OWN)
def test_python_scalar_gives_way_as_in_numpy(dtype: DType, weak: str) -> None:
    total = np.zeros(1, dtype.numpy) + PYTHON_VALUES[weak]
    expected = find_dtype(total.dtype)
    assert expected is not None
    assert join(WEAK_TYPES[weak], ScalarType(dtype)) == ScalarType(expected)
    assert join(ScalarType(dtype), WEAK_TYPES[weak]) == ScalarType(expected)


@pytest.mark.parametrize(
    ("weak", "expected"),
    [
        (WEAK_BOOL, BFLOAT16),
        (WEAK_INT, BFLOAT16),
        (WEAK_FLOAT, BFLOAT16),
        (WEAK_COMPLEX, COMPLEX64),
    ],
)
def test_python_scalar_beside_bfloat16(weak: ScalarType, expected: DType) -> None:
    """As beside float16. NumPy, to which bfloat16 is no float, says float64 or float32."""
    assert join(weak, ScalarType(BFLOAT16)) == ScalarType(expected)


@pytest.mark.parametrize(("a", "b"), list(itertools.product(WEAK_TYPES, repeat=2)))
def test_python_scalars_stay_python_scalars(a: str, b: str) -> None:
    total = type(PYTHON_VALUES[a] + PYTHON_VALUES[b]).__name__
    expected = "bool" if a == b == "bool" else total  # the join of two bools is for `and`, `or`
    assert join(WEAK_TYPES[a], WEAK_TYPES[b]) == WEAK_TYPES[expected]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (ScalarType(INT64), ScalarType(UINT64), FLOAT64),
        (ScalarType(INT8), ScalarType(UINT8), dtype_named("int16")),
        (ScalarType(INT32), ScalarType(FLOAT32), FLOAT64),
        (ScalarType(INT8), ScalarType(FLOAT16), FLOAT16),
        (ScalarType(FLOAT64), ScalarType(COMPLEX64), COMPLEX128),
        (WEAK_INT, ScalarType(INT8), INT8),
        (WEAK_INT, ScalarType(FLOAT32), FLOAT32),
        (WEAK_FLOAT, ScalarType(INT32), FLOAT64),
        (WEAK_COMPLEX, ScalarType(FLOAT32), COMPLEX64),
        (WEAK_INT, ScalarType(BOOL), INT64),
    ],
)
def test_known_joins(a: ScalarType, b: ScalarType, expected: DType) -> None:
    assert join(a, b) == ScalarType(expected)


def test_scalar_type_says_whether_it_is_pythons() -> None:
    assert [str(WEAK_INT), str(ScalarType(INT64))] == ["Python int", "int64"]
