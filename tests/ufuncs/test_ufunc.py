"""hybrid.vectorize against NumPy: types, shapes, layouts, broadcasting, out=, where=, overlap."""

from __future__ import annotations

import itertools
import pickle
import random
import warnings
from typing import Any

import ml_dtypes
import pytest

from hybridjit import config, hybrid
from hybridjit.errors import ArgumentError, ArgumentValueError, ParseError, ShapeMismatch
from hybridjit.hybrid import Ufunc
from tests.support.rows import in_each
from tests.support.ufunc_results import assert_equal, np, numbers

DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)


@hybrid.vectorize
def add(x: Any, y: Any) -> Any:
    """The sum."""
    return x + y


@hybrid.vectorize
def axpy(a: Any, x: Any, y: Any = 1) -> Any:
    return a * x + y


def half(x: Any) -> Any:
    return x / 2


@hybrid.vectorize
def parts(x: Any, y: Any) -> Any:
    return x // y, x % y


@hybrid.vectorize
def clamped(x: Any, low: Any, high: Any) -> Any:
    if x < low:
        return low
    return high if x > high else x


def test_it_looks_like_a_ufunc() -> None:
    assert isinstance(add, Ufunc)
    assert (add.nin, add.nout, add.nargs) == (2, 1, 3)
    assert (parts.nin, parts.nout) == (2, 2)
    assert add.__name__ == "add"
    assert add.__doc__ == "The sum."
    assert add.signature is None
    assert add.identity is None
    assert repr(add) == "hybridjit ufunc 'add'"


def test_types_are_those_seen() -> None:
    @hybrid.vectorize
    def twice(x: Any) -> Any:
        return x * 2

    assert twice.types == []
    twice(np.ones(2))
    twice(np.ones(2, "float32"))
    twice(np.ones(3, "float32"))
    assert twice.types == ["d->d", "f->f"]
    assert twice.ntypes == 2


@pytest.mark.sampled(2)
@pytest.mark.parametrize("a", DTYPES)
@in_each("b", DTYPES)
def test_types_meet_as_in_numpy(a: str, b: str) -> None:
    x, y = numbers(5, a), numbers(5, b, 1)
    with config.scope(interpret=True):  # as natively, and quicker for so many types
        assert_equal(add(x, y), np.add(x, y))


@in_each("dtype", DTYPES)
@pytest.mark.parametrize("number", [True, 3, 2.5, 1j])
def test_python_numbers_are_weak(dtype: str, number: Any) -> None:
    x = numbers((2, 3), dtype)
    with config.scope(interpret=True):
        assert_equal(add(x, number), np.add(x, number))
        assert_equal(add(number, x), np.add(number, x))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "float16", "float32", "complex64"])
def test_native_code_agrees(dtype: str) -> None:
    x, y = numbers((3, 4), dtype), numbers(4, dtype, 1)
    for _ in range(3):  # the third call comes from the dispatcher
        assert_equal(axpy(x, y, 2), x * y + 2)


def test_numpy_scalars_are_typed() -> None:
    x = numbers(3, "float32")
    assert_equal(add(x, np.float64(2)), np.add(x, np.float64(2)))
    assert_equal(add(np.float32(1), 2), np.add(np.float32(1), 2))


@pytest.mark.parametrize("args", [(1, 2), (1, 2.5), (True, 2), (True, False), (1j, 2)])
def test_numbers_alone_give_a_numpy_scalar(args: Any) -> None:
    for _ in range(3):
        assert_equal(add(*args), np.add(*args))


def test_arrays_without_dimensions_give_a_scalar() -> None:
    assert_equal(add(np.array(1.5), np.array(2)), np.add(np.array(1.5), np.array(2)))
    assert_equal(add(np.array(1.5), [1, 2]), np.add(np.array(1.5), [1, 2]))


SHAPES = [
    ((3,), (3,)),
    ((3,), (1,)),
    ((1,), (3,)),
    ((2, 3), (3,)),
    ((2, 3), (2, 1)),
    ((2, 1), (1, 3)),
    ((4, 1, 3), (2, 1)),
    ((2, 3, 4, 5), (4, 1)),
    ((0,), (1,)),
    ((0, 3), (1, 3)),
    ((3, 0), (1,)),
    ((1, 1), (1, 1)),
    ((), (2, 2)),
]


@pytest.mark.parametrize(("left", "right"), SHAPES)
def test_shapes_are_broadcast(left: Any, right: Any) -> None:
    x, y = numbers(left, "float64"), numbers(right, "int32", 1)
    for _ in range(3):
        assert_equal(add(x, y), np.add(x, y))


def test_sizes_change_from_call_to_call() -> None:
    for n, m in itertools.product((0, 1, 2, 5, 1), repeat=2):
        x, y = numbers((n, m), "float64"), numbers(m, "float64", 1)
        assert_equal(axpy(x, y), x * y + 1)
        if n == 1 or m == 1 or n == m:
            z = numbers(n, "float64", 2)
            assert_equal(axpy(y, z), y * z + 1)


def layouts(array: Any) -> list[Any]:
    wide = np.zeros((*array.shape, 3), array.dtype)
    wide[..., 1] = array
    return [
        array,
        np.asfortranarray(array),
        wide[..., 1],
        array[::-1][::-1],
        np.ascontiguousarray(array[..., ::-1])[..., ::-1],
        np.array(memoryview(b"\0" + array.tobytes())[1:]).view(array.dtype).reshape(array.shape),
    ]


def test_layouts() -> None:
    x, y = numbers((3, 70), "float64"), numbers((3, 70), "int16", 1)
    for a, b in itertools.product(layouts(x), layouts(y)):
        assert_equal(np.ascontiguousarray(add(a, b)), np.add(x, y))


def test_fortran_order_is_kept() -> None:
    x = np.asfortranarray(numbers((3, 4), "float64"))
    result = add(x, 1)
    assert result.flags.f_contiguous
    assert (result == x + 1).all()


def test_several_results() -> None:
    x = numbers((2, 3), "int32")
    quotient, remainder = parts(x, 3)
    assert_equal(quotient, x // 3)
    assert_equal(remainder, x % 3)
    assert_equal(parts(7, 2)[1], np.int64(1))


def test_defaults_fill_in() -> None:
    x = numbers(3, "float64")
    assert_equal(axpy(x, x), x * x + 1)


def test_control_flow() -> None:
    x = np.linspace(-2, 2, 101)
    assert_equal(clamped(x, -1, 1), np.clip(x, -1, 1))


def test_a_function_that_calls_another() -> None:
    def half(x: Any) -> Any:
        return x / 2

    @hybrid.vectorize
    def centred(x: Any, y: Any) -> Any:
        return half(x) + half(y)

    assert_equal(centred(np.arange(4), 2), np.arange(4) / 2 + 1)


def test_captured_values_are_followed() -> None:
    factor = 2

    @hybrid.vectorize
    def scaled(x: Any) -> Any:
        return x * factor

    x = np.arange(3)
    for _ in range(3):
        assert_equal(scaled(x), x * 2)
    factor = 2.5
    assert_equal(scaled(x), x * 2.5)


# -- out=, where=, dtype= --------------------------------------------------------------------------


def test_out_is_filled_and_returned() -> None:
    x, out = numbers((2, 3), "float64"), np.zeros((2, 3))
    for _ in range(3):
        assert add(x, 1, out=out) is out
        assert_equal(out, x + 1)
        assert add(x, 2, out) is out
        assert_equal(out, x + 2)


def test_out_takes_part_in_broadcasting() -> None:
    x, out = numbers(3, "float64"), np.zeros((2, 3))
    assert_equal(add(x, 1, out=out), np.broadcast_to(x + 1, (2, 3)).copy())


@pytest.mark.parametrize(("kind", "wanted"), [("int64", "int8"), ("float64", "float32")])
def test_out_of_another_type(kind: str, wanted: str) -> None:
    x = numbers(5, kind)
    found, expected = np.zeros(5, wanted), np.zeros(5, wanted)
    assert_equal(add(x, x, out=found), np.add(x, x, out=expected))


def test_out_of_a_worse_type_is_refused() -> None:
    x = numbers(3, "float64")
    with pytest.raises(ArgumentError, match="float64, which 'same_kind' does not cast to int32"):
        add(x, x, out=np.zeros(3, "int32"))
    out = np.zeros(3, "int32")
    assert_equal(add(x, 0.5, out=out, casting="unsafe"), (x + 0.5).astype("int32"))


def test_complex_numbers_lose_a_part_only_if_asked() -> None:
    x, out = np.array([1 + 2j, 3]), np.zeros(2)
    with pytest.raises(ArgumentError, match="does not cast"):
        add(x, 1, out=out)
    assert add(x, 1, out=out, casting="unsafe").tolist() == [2, 4]


def test_several_outputs() -> None:
    x = numbers(4, "int64")
    out = np.zeros(4, "int64"), None
    first, second = parts(x, 3, out=out)
    assert first is out[0]
    assert_equal(first, x // 3)
    assert_equal(second, x % 3)


@pytest.mark.parametrize("shift", range(-4, 5))
@pytest.mark.parametrize("step", [1, -1, 2])
def test_out_may_overlap_the_operands(shift: int, step: int) -> None:
    for _ in range(3):
        memory, other = np.arange(60.0), numbers(10, "float64")
        x, out = memory[20:40:2], memory[20 + shift :: step][:10]
        expected = np.add(x.copy(), other)
        assert add(x, other, out=out) is out
        assert_equal(np.ascontiguousarray(out), expected)


def test_arrays_that_interleave_come_before_those_that_overlap() -> None:
    """The first share no element, but run through Python; what is learned is not for the others."""
    other = numbers(10, "float64")
    for shift in (1, 1, 1, 2, 2):
        memory = np.arange(60.0)
        x, out = memory[20:40:2], memory[20 + shift :: 2][:10]
        expected = np.add(x.copy(), other)
        assert_equal(np.ascontiguousarray(add(x, other, out=out)), expected)


def test_updates_in_place() -> None:
    x = numbers((3, 4), "float64")
    expected = (x * x + x) * 1
    assert axpy(x, x, x, out=x) is x
    assert_equal(x, expected)
    first, second = numbers(4, "int64"), numbers(4, "int64", 1)
    quotient, remainder = first // second, first % second
    parts(first, second, out=(second, first))
    assert_equal(second, quotient)
    assert_equal(first, remainder)


def test_where() -> None:
    x, out = numbers((2, 3), "float64"), np.zeros((2, 3))
    mask = np.array([True, False, True])
    expected = np.add(x, 1, out=np.zeros((2, 3)), where=mask)
    assert_equal(add(x, 1, out=out, where=mask), expected)
    assert_equal(add(1, 2, where=np.ones(3, bool)), np.full(3, 3))
    flags = np.array([True, False, True])
    assert_equal(add(flags, False, out=flags, where=flags), np.array([True, False, True]))


def test_dtype_is_that_of_the_computation() -> None:
    x = numbers(3, "int32")
    assert_equal(add(x, x, dtype="float32"), np.add(x, x, dtype="float32"))
    assert_equal(add(x, 1, dtype=np.int8), np.add(x, 1, dtype=np.int8))
    with pytest.raises(ArgumentError, match="does not cast to int8"):
        add(np.ones(3), 1, dtype="int8")


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float32", "complex64"])
def test_results_of_a_type_that_was_asked_for_say_nothing_of_later_calls(dtype: str) -> None:
    x = numbers(5, "int64")
    halves = hybrid.vectorize(half)
    for _ in range(3):
        assert halves(x, dtype=dtype, casting="unsafe").dtype == dtype
    assert_equal(halves(x), x / 2)


def test_outputs_of_a_worse_type_say_nothing_of_later_calls() -> None:
    x, out = numbers(5, "int64"), np.zeros(5, "int64")
    halves = hybrid.vectorize(half)
    for _ in range(3):
        assert_equal(halves(x, out=out, casting="unsafe"), (x / 2).astype("int64"))
    with pytest.raises(ArgumentError, match="float64, which 'same_kind' does not cast to int64"):
        halves(x, out)


def test_operands_have_no_names_after_calls_without_them() -> None:
    x = numbers(3, "float64")
    sums: Any = hybrid.vectorize(add.__hybrid_function__)
    for _ in range(3):
        with pytest.raises(ArgumentError, match="there is no keyword 'y'"):
            sums(x, y=x)
        assert_equal(sums(x, x), x + x)
        with pytest.raises(ArgumentError, match="there is no keyword 'x'"):
            sums(x=x, y=x, out=np.zeros(3))
        assert_equal(sums(x, x, out=np.zeros(3)), x + x)


def test_results_have_the_type_that_was_asked_for_on_their_way_to_out() -> None:
    x = numbers(5, "int64")
    halves = hybrid.vectorize(half)
    wanted = halves(x, dtype="int64", casting="unsafe")
    found = halves(x, dtype="int64", casting="unsafe", out=np.zeros(5))
    assert_equal(found, wanted.astype("float64"))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "float16", "float64", "complex64"])
@pytest.mark.parametrize("number", [True, 3, -1, 300, 2.5, 1j])
@pytest.mark.parametrize("casting", ["same_kind", "unsafe"])
def test_python_numbers_of_a_type_that_was_asked_for(number: Any, dtype: str, casting: Any) -> None:
    x = np.arange(3, dtype="uint8")

    def outcome(function: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return function(x, number, dtype=dtype, casting=casting).tolist()
            except OverflowError as error:
                return str(error)
            except TypeError:
                return "refused"

    assert outcome(add) == outcome(np.add)


def test_python_numbers_become_bfloat16() -> None:
    x = numbers(3, "float32").astype(ml_dtypes.bfloat16)
    for number in (2, 2.5):
        found = add(x, number, dtype=ml_dtypes.bfloat16)
        assert_equal(found, x + ml_dtypes.bfloat16(number))


def test_numpy_agrees_at_random() -> None:
    choose = random.Random(0)
    for seed in range(150):
        shape = tuple(choose.choice((1, 2, 3)) for _ in range(choose.randint(0, 3)))
        other = tuple(1 if choose.random() < 0.3 else size for size in shape)
        a, b = (choose.choice(("float64", "int32", "float32")) for _ in "ab")
        x = numbers(shape, a, seed)[..., :: choose.choice((1, -1))] if shape else numbers((), a)
        y = numbers(other[choose.randint(0, len(other)) :], b, seed + 1)
        with config.scope(interpret=bool(seed % 4)):
            assert_equal(np.ascontiguousarray(add(x, y)) if shape else add(x, y), np.add(x, y))


# -- refusals --------------------------------------------------------------------------------------


def test_shapes_that_do_not_fit() -> None:
    with pytest.raises(ShapeMismatch, match=r"shapes are \(3,\) and \(4,\)"):
        add(np.ones(3), np.ones(4))
    with pytest.raises(ShapeMismatch, match=r"shape \(1, 3\), and the result \(2, 3\)"):
        add(np.ones((2, 3)), 1, out=np.ones((1, 3)))


def test_wrong_arguments() -> None:
    with pytest.raises(ArgumentError, match=r"takes 2 operands \(x, y\)"):
        add(1)
    with pytest.raises(ArgumentError, match="takes 2 operands"):
        add(1, 2, np.ones(()), np.ones(()))
    with pytest.raises(ArgumentError, match=r"no keyword 'were'.*\n.*did you mean 'where'"):
        add(1, 2, were=True)
    with pytest.raises(ArgumentError, match="out= must be an array, got a list"):
        add(1, 2, out=[1])
    with pytest.raises(ArgumentError, match="tuple of 2 arrays"):
        parts(1, 2, out=np.ones(()))
    with pytest.raises(ArgumentError, match="where= must be an array of bool"):
        add(1, 2, where=np.ones(3))
    with pytest.raises(ArgumentError, match="casting must be one of"):
        add(np.ones(3), 1, dtype="int8", casting="loose")
    with pytest.raises(ArgumentError, match=r"argument 'x' is .* of dtype object"):
        add(np.array([None, 1]), 1)


def test_out_that_cannot_be_written() -> None:
    read_only = np.ones(3)
    read_only.flags.writeable = False
    with pytest.raises(ArgumentValueError, match="out= is read-only"):
        add(1, 2, out=read_only)
    with pytest.raises(ArgumentValueError, match="elements of out= share memory"):
        add(1, 2, out=np.lib.stride_tricks.as_strided(np.ones(3), (3,), (0,)))
    both = np.ones(4, "int64")
    with pytest.raises(ArgumentValueError, match="two arrays of out= share memory"):
        parts(np.arange(3), 2, out=(both[:3], both[1:]))


def test_subclasses_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"argument 'x' is a numpy\.ma\.MaskedArray"):
        add(np.ma.masked_array([1, 2], [False, True]), 1)
    with pytest.raises(ArgumentError, match=r"\n.*pass np\.asarray\(y\)"):
        add(1, np.recarray(1, [("x", float)]))


def test_functions_that_are_none() -> None:
    with pytest.raises(ArgumentError, match=r"hybrid\.vectorize takes a function"):
        hybrid.vectorize(int)
    negated: Any = eval("lambda x: -x")
    with pytest.raises(ParseError, match="a lambda cannot be compiled"):
        hybrid.vectorize(negated)

    def nothing(x: Any) -> None:
        _ = x

    with pytest.raises(ArgumentError, match="'nothing' returns nothing"):
        hybrid.vectorize(nothing)(1)

    def named(x: Any, *, y: Any) -> Any:
        return x + y

    with pytest.raises(ArgumentError, match="takes 'y' by name only"):
        hybrid.vectorize(named)
    with pytest.raises(ArgumentError, match="is a ufunc already"):
        hybrid.vectorize(add)


def test_errors_show_the_function() -> None:
    @hybrid.vectorize
    def wrong(x: Any) -> Any:
        return x.nonsense

    with pytest.raises(Exception, match=r"(?s)test_ufunc\.py.*x\.nonsense"):
        wrong(np.ones(3))


# -- the rest of the world -------------------------------------------------------------------------


class Money:
    """A type with a view of its own about ufuncs."""

    def __init__(self, amount: float) -> None:
        self.amount = amount

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        if method != "__call__":
            return NotImplemented
        plain = [arg.amount if isinstance(arg, Money) else arg for arg in args]
        return Money(float(ufunc(*plain, **kwargs)))


class Refusing:
    """A type that takes part in no ufunc."""

    __array_ufunc__ = None


def test_other_types_have_their_say() -> None:
    result: Any = add(Money(2.5), 1)
    assert isinstance(result, Money)
    assert result.amount == 3.5
    with pytest.raises(ArgumentError, match="does not support ufuncs"):
        add(Refusing(), 1)


def test_options() -> None:
    @hybrid.vectorize(fastmath={"reassoc"}, parallel=True)
    def total(x: Any, y: Any) -> Any:
        return x + y

    x = numbers(1000, "float64")
    assert_equal(total(x, x), x + x)


def test_a_kernel_becomes_a_ufunc() -> None:
    @hybrid.script
    def square(x: Any) -> Any:
        return x * x

    assert_equal(hybrid.vectorize(square)(np.arange(3)), np.arange(3) ** 2)


def test_vectorize_is_still_a_loop() -> None:
    from_import: Any = hybrid.vectorize

    @hybrid.script
    def twice(a: Any) -> None:
        for i in from_import(a.shape[0]):
            a[i] = 2 * a[i]

    x = np.arange(5.0)
    twice(x)
    assert x.tolist() == [0, 2, 4, 6, 8]
    assert "vectorize" in str(twice.prim_func(x))
    assert list(hybrid.vectorize(1, 4)) == [1, 2, 3]


def test_pickles() -> None:
    assert pickle.loads(pickle.dumps(add)) is add

    @hybrid.vectorize(identity=0)
    def local(x: Any, y: Any) -> Any:
        return x + y

    copy: Any = pickle.loads(pickle.dumps(local))
    assert isinstance(copy, Ufunc)
    assert copy.identity == 0
    assert_equal(copy(np.arange(3), 1), np.arange(3) + 1)


def test_clear_starts_afresh() -> None:
    x = numbers(3, "float64")
    add(x, x)
    add.clear()
    assert_equal(add(x, x), x + x)


def test_parameters_with_the_names_of_the_language_and_of_written_loops() -> None:
    @hybrid.vectorize
    def odd(range: Any, out: Any, i0: Any, function: Any) -> Any:
        return range + out * i0 - function

    x = numbers(3, "float64")
    assert_equal(odd(x, x, 2, x), x + x * 2 - x)


# -- in scripts ------------------------------------------------------------------------------------


@hybrid.script
def uses_arrays(a: Any, b: Any) -> Any:
    c = clamped(a, 0, b) * 2
    return c + clamped(b, a[0], 9).sum()


@hybrid.script
def uses_elements(a: Any) -> Any:
    total = 0.0
    for i in range(a.shape[0]):
        total += clamped(a[i], 1, 2)
    return total


def test_scripts_call_ufuncs_on_arrays_and_numbers() -> None:
    a, b = numbers((2, 3), "float64") - 4, numbers((2, 3), "float64", 1)
    expected = uses_arrays.py_func(a, b)
    assert_equal(uses_arrays.interpret(a, b), expected)
    assert_equal(uses_arrays(a, b), expected)
    assert uses_elements(b[0]) == uses_elements.py_func(b[0]) == np.clip(b[0], 1, 2).sum()


def test_several_results_of_arrays_in_a_script_are_refused() -> None:
    @hybrid.script
    def wrong(a: Any) -> Any:
        return parts(a, 2)

    with pytest.raises(Exception, match="the result of 'parts'"):
        wrong(np.arange(3))


@hybrid.vectorize
def function(x: Any) -> Any:
    return x + 2


@hybrid.vectorize
def float64(x: Any, y: Any) -> Any:
    return x * y


def test_names_that_written_scripts_use_themselves() -> None:
    x = numbers(5)
    assert_equal(function(x), x + 2)
    assert_equal(float64(x, 2), x * 2)
    assert_equal(float64.reduce(x), np.multiply.reduce(x))
