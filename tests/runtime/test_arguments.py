"""What a call passes: the type of every argument, or an error that names it."""

import inspect
import itertools
from typing import Annotated, Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

from hybridjit import hybrid
from hybridjit.errors import ArgumentError, ArgumentValueError, HybridError
from hybridjit.hybrid import float32, output_tensor
from hybridjit.ir.dtype import (
    BFLOAT16,
    BOOL,
    DTYPES,
    FLOAT32,
    INT32,
    WEAK_BOOL,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    ScalarType,
)
from hybridjit.runtime.arguments import bind, flatten, overlap, overlaps_itself, spec_of_argument
from hybridjit.scalars.specs import ArraySpec, ConstantSpec, ScalarSpec, TupleSpec
from tests.frontend.from_text import script_from_text
from tests.support.strategies import overlapping_views

Array = Any
Number = Any


@hybrid.script
def first(a: Array) -> Number:
    return a[0]


@hybrid.script
def fill(a: Array, x: Number = 1) -> None:
    for i in range(a.shape[0]):
        a[i] = x


@hybrid.script
def doubled(a: Array) -> Array:
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[i] = a[i] * 2
    return b


@hybrid.script
def split(a: Array) -> Array:
    b = output_tensor(a.shape, a.dtype)
    c = output_tensor(a.shape, "int64")
    for i in range(a.shape[0]):
        b[i] = a[i] * 2
        c[i] = i
    return b, c, a.shape[0]


# Types


@pytest.mark.parametrize(
    ("value", "spec"),
    [
        (True, ScalarSpec(WEAK_BOOL)),
        (1, ScalarSpec(WEAK_INT)),
        (1.5, ScalarSpec(WEAK_FLOAT)),
        (1j, ScalarSpec(WEAK_COMPLEX)),
        (np.float32(1), ScalarSpec(ScalarType(FLOAT32))),
        (np.bool_(True), ScalarSpec(ScalarType(BOOL))),
        (ml_dtypes.bfloat16(1), ScalarSpec(ScalarType(BFLOAT16))),
        (np.zeros((2, 3), np.int32), ArraySpec(INT32, (2, 3))),
        (np.zeros((), np.int32), ArraySpec(INT32, ())),
        (
            [1, (2.0,)],
            TupleSpec((ScalarSpec(WEAK_INT), TupleSpec((ScalarSpec(WEAK_FLOAT),))), is_list=True),
        ),
        ("add", ConstantSpec("add")),
        (None, ConstantSpec(None)),
        (np.float32, ConstantSpec(np.float32)),
    ],
)
def test_the_type_of_an_argument(value: object, spec: object) -> None:
    assert spec_of_argument("x", value) == spec


@pytest.mark.parametrize("name", DTYPES)
def test_arrays_of_every_element_type_are_taken(name: str) -> None:
    array = np.zeros(3, DTYPES[name].numpy)
    assert spec_of_argument("a", array) == ArraySpec(DTYPES[name], (3,))


def test_a_type_may_stand_for_an_argument() -> None:
    assert spec_of_argument("a", float32[8, "n"]) == ArraySpec(FLOAT32, (8, "n"))


def test_types_may_stand_for_the_items_of_a_tuple() -> None:
    vector = ArraySpec(FLOAT32, (8,))
    assert spec_of_argument("a", (float32[8], 1)) == TupleSpec((vector, ScalarSpec(WEAK_INT)))


def test_a_size_may_be_an_integer_of_numpy() -> None:
    assert str(float32[np.int64(8), "n"]) == "float32[8, 'n']"


def test_a_size_in_an_annotation_may_be_a_name() -> None:
    kernel = script_from_text('def f(a: "float32[N]"):\n    return a[0]\n', {"N": 3})
    assert kernel(np.ones(3, np.float32)) == 1
    with pytest.raises(ArgumentError, match=r"'a' must be float32\[3\], got float32\[4\]"):
        kernel(np.ones(4, np.float32))


# Refusals


def read_only() -> NDArray[Any]:
    array = np.zeros(3)
    array.flags.writeable = False
    return array


REFUSED: list[tuple[object, str]] = [
    (np.array([None]), "argument 'a' is an array of dtype object, which is not supported"),
    (np.zeros(2, "U4, U2"), r"argument 'a' is an array of dtype \[.*\], which is not"),
    (np.array(["x"]), "argument 'a' is an array of dtype <U1"),
    (np.array(["2020"], "M8[Y]"), r"argument 'a' is an array of dtype datetime64\[Y\]"),
    (np.zeros(2, np.longdouble), "argument 'a' is an array of dtype (float128|longdouble)"),
    (np.zeros(2, ">f4"), "argument 'a' is an array of byte-swapped float32 data"),
    (np.longdouble(1), "argument 'a' is a scalar of dtype"),
    (np.ma.masked_array([1.0]), "argument 'a' is a masked array"),
    ({1: 2}, "argument 'a' is a dict; expected a NumPy array, a number, or a tuple"),
    ({1, 2}, "argument 'a' is a set"),
    (b"bytes", "argument 'a' is a bytes"),
    (object(), "argument 'a' is an object"),
    (range(3), "argument 'a' is a range"),
    ([1, {}], r"argument 'a\[1\]' is a dict"),
]


@pytest.mark.parametrize(("value", "message"), REFUSED)
def test_arguments_that_are_refused(value: object, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        first.interpret(value)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_matrix_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"argument 'a' is a np\.matrix"):
        first.interpret(np.matrix([[1.0]]))


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1])
def test_a_python_int_past_64_bits_is_refused(value: int) -> None:
    with pytest.raises(ArgumentValueError, match=rf"argument 'a' is {value}, which does not fit"):
        first.interpret(value)


def test_an_object_that_can_be_an_array_is_told_how() -> None:
    class Wrapped:
        def __array__(self) -> NDArray[Any]:
            return np.array([None])

    with pytest.raises(ArgumentError, match=r"(?s)argument 'a'.*np\.asarray\(a, float\)"):
        first.interpret(Wrapped())


def test_errors_of_arguments_are_type_errors_and_value_errors() -> None:
    assert issubclass(ArgumentError, TypeError)
    assert issubclass(ArgumentValueError, ValueError)


def test_writing_to_a_read_only_array_is_refused() -> None:
    with pytest.raises(ArgumentValueError, match="'a' is written, but it is read-only"):
        fill.interpret(read_only())


def test_reading_a_read_only_array_is_fine() -> None:
    assert first.interpret(read_only()) == 0


def test_writing_to_an_array_that_overlaps_itself_is_refused() -> None:
    with pytest.raises(ArgumentValueError, match="some of its elements share memory"):
        fill.interpret(np.lib.stride_tricks.as_strided(np.zeros(1), (3,), (0,)))


def test_reading_an_array_that_overlaps_itself_is_fine() -> None:
    assert first.interpret(np.broadcast_to(np.float64(3), (4,))) == 3


# Binding


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((), {}, "missing a required argument: 'a'"),
        ((1, 2, 3), {}, "too many positional arguments"),
        ((1,), {"y": 2}, "there is no parameter 'y'"),
        ((1,), {"a": 2}, "multiple values for argument 'a'"),
    ],
)
def test_arguments_that_do_not_match_the_parameters(
    args: tuple[int, ...], kwargs: dict[str, int], message: str
) -> None:
    with pytest.raises(ArgumentError, match=message):
        bind(fill.signature, args, kwargs)


def test_defaults_are_filled_in() -> None:
    def f(a: int, b: int = 2, *, c: int = 3) -> None: ...

    assert bind(inspect.signature(f), (1,), {"c": 4}) == [1, 2, 4]


@pytest.mark.parametrize("text", ["def f(**options):\n    pass\n"])
def test_a_script_needs_named_parameters(text: str) -> None:
    with pytest.raises(HybridError, match="a script needs named parameters"):
        script_from_text(text)


def test_only_a_function_can_be_a_script() -> None:
    with pytest.raises(ArgumentError, match="decorates a function, got 3"):
        hybrid.script(3)  # pyright: ignore[reportCallIssue, reportArgumentType]


def test_tuples_are_spread_and_constants_left_out() -> None:
    values = [(1, (2, "x")), None, 3]
    specs = [spec_of_argument("p", value) for value in values]
    assert flatten(specs, values) == [1, 2, 3]


# Declared types


declared = script_from_text(
    "def f(a: float32['n', 2], x: float32 = 0):\n    return a[0, 0] + x\n", {"float32": float32}
)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((3, 2)), r"argument 'a' must be float32\['n', 2\], got float64\[3, 2\]"),
        (np.zeros((3, 3), np.float32), r"got float32\[3, 3\]"),
        (np.zeros(3, np.float32), r"got float32\[3\]"),
        (1.0, "got Python float"),
    ],
)
def test_an_array_that_is_not_what_its_annotation_says(array: object, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        declared.interpret(array)


def test_an_annotation_may_also_speak_to_a_type_checker() -> None:
    text = 'def f(a: Annotated[Array, "any text", float32["n"]]):\n    return a[0]\n'
    names = {"Annotated": Annotated, "Array": NDArray[np.float32], "float32": float32}
    kernel = script_from_text(text, names)
    assert kernel(np.ones(3, np.float32)) == 1
    with pytest.raises(ArgumentError, match=r"'a' must be float32\['n'\], got float64\[3\]"):
        kernel(np.ones(3))


def test_a_named_dimension_takes_any_size() -> None:
    sizes = [declared.prim_func(np.zeros((n, 2), np.float32)) for n in (1, 5)]
    assert sizes[0] is sizes[1]


def test_a_python_number_takes_the_declared_type() -> None:
    result: object = declared.interpret(np.zeros((1, 2), np.float32), 0.1)
    assert result == np.float32(0.1)


def test_a_numpy_scalar_of_another_type_than_declared_is_refused() -> None:
    with pytest.raises(ArgumentError, match="argument 'x' must be float32, got float64"):
        declared.interpret(np.zeros((1, 2), np.float32), np.float64(1))


# Overlap


def elements_overlap(array: NDArray[Any]) -> bool:
    """By brute force: do two indices reach a common byte?"""
    starts = [
        sum(i * stride for i, stride in zip(index, array.strides, strict=True))
        for index in itertools.product(*map(range, array.shape))
    ]
    touched = [start + byte for start in starts for byte in range(array.itemsize)]
    return len(set(touched)) < len(touched)


@given(overlapping_views())
def test_an_array_overlaps_itself_if_two_indices_reach_one_byte(array: NDArray[Any]) -> None:
    assert overlaps_itself(array) == elements_overlap(array)


@pytest.mark.parametrize(
    ("slices", "expected"),
    [
        ((slice(0, 4), slice(4, 8)), False),
        ((slice(0, 5), slice(4, 8)), True),
        ((slice(0, 8, 2), slice(1, 8, 2)), False),
        ((slice(0, 8, 2), slice(0, 8, 3)), True),
    ],
    ids=str,
)
def test_two_arrays_overlap_if_they_share_an_element(
    slices: tuple[slice, slice], expected: bool
) -> None:
    memory = np.zeros(8)
    assert overlap(memory[slices[0]], memory[slices[1]]) is expected


# out=


def test_out_receives_the_result_and_is_returned() -> None:
    out = np.empty(3)
    result = call(doubled, np.arange(3.0), out=out)
    assert result is out
    assert out.tolist() == [0, 2, 4]


def test_out_may_be_the_input() -> None:
    a = np.arange(3.0)
    call(doubled, a, out=a)
    assert a.tolist() == [0, 2, 4]


def test_out_may_overlap_the_input() -> None:
    memory = np.arange(4.0)
    call(doubled, memory[:3], out=memory[1:])
    assert memory.tolist() == [0, 0, 2, 4]


def test_out_may_have_any_strides() -> None:
    memory = np.zeros(6)
    call(doubled, np.arange(3.0), out=memory[::-2])
    assert memory.tolist() == [0, 4, 0, 2, 0, 0]


def test_out_of_several_results_leaves_the_numbers() -> None:
    b, c = np.empty(2), np.empty(2, np.int64)
    result = call(split, np.ones(2), out=(b, c))
    assert [item is want for item, want in zip(result, (b, c), strict=False)] == [True, True]
    assert result[2] == 2


def test_a_parameter_called_out_wins() -> None:
    @hybrid.script
    def f(a: Array, out: Array) -> Number:
        out[0] = a[0]
        return a[0] + 1

    out = np.zeros(1)
    assert (f.interpret(np.ones(1), out=out), out[0]) == (2, 1)


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (np.zeros(4), r"out= must be a float64 array of shape \(3,\), got float64 of shape \(4,\)"),
        (np.zeros(3, np.int64), "out= must be a float64 array"),
        (read_only(), "out= is read-only"),
        (np.lib.stride_tricks.as_strided(np.zeros(1), (3,), (0,)), "elements of out= share memory"),
        (3, "out= must be an array, got an int"),
        ((np.zeros(3), np.zeros(3)), "the kernel returns 1 array, but out= has 2"),
    ],
)
def test_an_out_that_does_not_fit_is_refused(out: Any, message: str) -> None:
    with pytest.raises(HybridError, match=message):
        call(doubled, np.zeros(3), out=out)


def test_arrays_of_out_that_share_memory_are_refused() -> None:
    memory = bytearray(16)
    out = np.frombuffer(memory, np.float64), np.frombuffer(memory, np.int64)
    with pytest.raises(ArgumentValueError, match="two arrays of out= share memory"):
        call(split, np.ones(2), out=out)


def test_a_refused_out_leaves_the_others_unchanged() -> None:
    b = np.zeros(2)
    with pytest.raises(ArgumentValueError, match="out= must be a int64 array"):
        call(split, np.ones(2), out=(b, np.zeros(5, np.int64)))
    assert b.tolist() == [0, 0]


def call(kernel: Any, *args: Any, out: Any) -> Any:
    """`kernel.interpret(*args, out=out)`; type checkers know only the script's parameters."""
    return kernel.interpret(*args, out=out)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (2**63, r"9223372036854775808, which does not fit in 64 bits\n.*pass np.uint64"),
        (-(2**63) - 1, r"-9223372036854775809, which does not fit in 64 bits\n.*pass a float"),
        (2**20000, "an integer of 20001 bits, which does not fit in 64 bits"),
    ],
    ids=["unsigned", "negative", "long"],
)
def test_integers_beyond_64_bits_are_refused(value: int, says: str) -> None:
    with pytest.raises(ArgumentValueError, match=says):
        spec_of_argument("x", value)
