"""te.compute: tensors element by element, against NumPy, interpreted and native."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hybridjit import te
from hybridjit.errors import ArgumentValueError
from hybridjit.tensors.tensor import AxisKind
from tests.conftest import Golden
from tests.support.tensor_programs import assert_computes, run_tensors

Array = Any
RNG = np.random.default_rng(5)


def floats(*shape: int) -> Array:
    return RNG.random(shape, dtype=np.float32)


def test_sizes_that_are_known_at_run_time() -> None:
    n, m = te.var("n"), te.size_var("m")
    a = te.placeholder((n, m), name="A")
    b = te.compute((m, n), lambda i, j: a[j, i] * 2, name="B")
    value = floats(3, 5)
    assert_computes([a, b], [value, floats(5, 3)], (value * 2).T.copy())


@pytest.mark.parametrize("size", [0, 1, 7])
def test_sizes_that_are_computed(size: int) -> None:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    b = te.compute((n * 2 + 1,), lambda i: te.if_then_else(i < n * 2, a[i // 2], -1.0), name="B")
    value = floats(size)
    expected = np.append(np.repeat(value, 2), np.float32(-1))
    assert_computes([a, b], [value, floats(2 * size + 1)], expected)


def test_a_size_that_is_passed_as_a_number() -> None:
    n = te.var("n")
    a = te.placeholder((n * 2,), name="A")
    b = te.compute((n * 2,), lambda i: a[i] + n, name="B")
    value = floats(8)
    assert_computes([n, a, b], [4, value, floats(8)], value + np.float32(4))


def test_a_size_that_is_passed_twice_has_to_agree() -> None:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] + 1, name="B")
    value = floats(4)
    assert_computes([n, a, b], [4, value, floats(4)], value + 1)
    with pytest.raises(AssertionError, match="argument 'n' differs from the size of an array"):
        run_tensors([n, a, b], [5, value, floats(4)])


def test_a_narrow_variable_as_a_size() -> None:
    n = te.var("n", "int32")
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] + 1, name="B")
    value = floats(4)
    assert_computes([n, a, b], [np.int32(4), value, floats(4)], value + 1)


def test_sizes_written_as_floats() -> None:
    assert te.placeholder((5.0, 2), name="A").shape == (5, 2)


def test_tensors_without_dimensions() -> None:
    a = te.placeholder((), name="A")
    b = te.compute((), lambda: a[()] * 2, name="B")
    c = te.compute((3,), lambda i: a() + b + a * i, name="C")
    expected = np.array([6, 8, 10], np.float32)
    assert_computes([a, c], [np.array(2, np.float32)], expected)


def test_tensors_without_elements() -> None:
    a = te.placeholder((0, 3), name="A")
    b = te.compute((0, 3), lambda i, j: a[i, j] + 1, name="B")
    assert_computes([a, b], [floats(0, 3)], floats(0, 3))


def test_any_number_of_indices() -> None:
    a = te.placeholder((2, 3, 4), name="A")

    def doubled(*i: Any) -> Any:
        return a[i] * 2

    def shifted(i: Any, *rest: Any) -> Any:
        return b[(i, *rest)] + i

    b = te.compute(a.shape, doubled, name="B")
    c = te.compute(a.shape, shifted, name="C", varargs_names=["y", "x"])
    value = floats(2, 3, 4)
    expected = value * 2 + np.arange(2, dtype=np.float32)[:, None, None]
    assert_computes([a, c], [value], expected)
    assert [axis.name for axis in b.op.axis] == ["i0", "i1", "i2"]
    assert [axis.name for axis in c.op.axis] == ["i", "y", "x"]


def test_several_tensors_at_once() -> None:
    a = te.placeholder((5,), name="A")
    b, c = te.compute((5,), lambda i: (a[i] + 1, a[i] * 2.5 > 1), name="B")
    d = te.compute((5,), lambda i: te.if_then_else(c[i], b[i], 0.0), name="D")
    value = floats(5)
    is_large = value * np.float32(2.5) > 1
    expected = np.where(is_large, value + 1, np.float32(0))
    assert_computes([a, c, d], [value], [is_large, expected])
    assert [tensor.name for tensor in (b, c)] == ["B_v0", "B_v1"]
    assert (b.value_index, c.value_index, b.op.num_outputs) == (0, 1, 2)
    assert b.op.output(1) is c


def test_a_tuple_of_one() -> None:
    (b,) = te.compute((3,), lambda i: (i * 2,), name="B")
    assert_computes([b], [], np.arange(3) * 2)


def test_padding_reads_nothing_outside() -> None:
    a = te.placeholder((5,), name="A")
    b = te.compute((9,), lambda i: te.if_then_else(te.all(i >= 2, i < 7), a[i - 2], 0.0), name="B")
    value = floats(5)
    assert_computes([a, b], [value], np.pad(value, 2))


def test_indices_from_a_tensor() -> None:
    places = te.placeholder((4,), "int32", "P")
    a = te.placeholder((6,), name="A")
    b = te.compute((4,), lambda i: a[places[i]] + a[-1], name="B")
    value, where = floats(6), np.array([5, 0, -2, 3], np.int32)
    assert_computes([places, a, b], [where, value], value[where] + value[-1])


def test_one_index_after_the_other() -> None:
    a = te.placeholder((2, 3), name="A")
    b = te.compute((3, 2), lambda i, j: a[j][i], name="B")
    value = floats(2, 3)
    assert_computes([a, b], [value], value.T.copy())


def test_tensors_of_one_name_and_of_names_of_the_language() -> None:
    a = te.placeholder((3,), name="A")
    b = te.compute((3,), lambda i: a[i] + 1, name="A")
    c = te.compute((3,), lambda i: b[i] + 1, name="exp")
    value = floats(3)
    assert_computes([a, c], [value], value + 1 + 1)


def test_names_that_are_no_identifiers() -> None:
    a = te.placeholder((3,), name="A.shared")
    b = te.compute((3,), lambda i: a[i] + 1, name="2 b-c")
    c = te.compute((3,), lambda i: b[i] + 1, name="for")
    value = floats(3)
    assert_computes([a, c], [value], value + 1 + 1)


def test_numbers_as_arguments() -> None:
    a = te.placeholder((3,), name="A")
    x, k = te.var("x", "float32"), te.var("k")
    b = te.compute((3,), lambda i: a[i] * x + k, name="B")
    value = floats(3)
    expected = value * np.float32(2.5) + np.float32(3)
    assert_computes([x, a, k, b], [np.float32(2.5), value, 3], expected)


TYPES: dict[str, tuple[Callable[[Any], Any], Callable[[Array], Array]]] = {
    "int and float": (lambda x: x * 2.5, lambda x: x * 2.5),
    "true division": (lambda x: x / 2, lambda x: x / 2),
    "floor": (lambda x: x // -3, lambda x: x // -3),
    "mod": (lambda x: x % -3, lambda x: x % -3),
    "truncdiv": (lambda x: te.truncdiv(x, 3), lambda x: np.int32(np.trunc(x / 3))),
    "truncdiv, negative": (lambda x: te.truncdiv(x, -3), lambda x: np.int32(np.trunc(x / -3))),
    "truncmod": (lambda x: te.truncmod(x, 3), lambda x: np.fmod(x, np.int32(3))),
    "bits": (lambda x: 6 & (x ^ 3) | ~x, lambda x: 6 & (x ^ 3) | ~x),
    "shifts": (lambda x: (1 << (x & 3)) >> 1, lambda x: (1 << (x & 3)) >> 1),
    "comparison": (lambda x: x >= 2, lambda x: x >= 2),
    "power": (lambda x: (x % 5) ** 2, lambda x: (x % 5) ** 2),
    "abs and sign": (lambda x: abs(-x) + +x, lambda x: abs(-x) + +x),
    "astype": (lambda x: x.astype("int8"), lambda x: x.astype(np.int8)),
    "div": (lambda x: te.div(x, 4), lambda x: x / 4),
}


@pytest.mark.parametrize("case", TYPES)
def test_operators_on_integers(case: str) -> None:
    ours, numpy = TYPES[case]
    value = np.array([-700, -7, -3, -1, 0, 1, 2, 5, 700, -(2**31)], np.int32)
    a = te.placeholder(value.shape, "int32", "A")
    b = te.compute(value.shape, lambda i: ours(a[i]), name="B")
    assert_computes([a, b], [value], np.asarray(numpy(value)))


FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    **{"exp": np.exp, "log": np.log, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos},
    **{"tanh": np.tanh, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc},
    **{"round": np.round, "nearbyint": np.rint, "abs": np.abs, "log1p": np.log1p},
    **{"sigmoid": lambda x: 1 / (1 + np.exp(-x)), "rsqrt": lambda x: 1 / np.sqrt(x)},
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    value = np.array([0.25, 0.5, 1.5, 2.5, 3.75], np.float64)
    a = te.placeholder((5,), "float64", "A")
    function: Callable[..., Any] = getattr(te, name)
    b = te.compute((5,), lambda i: function(a[i]), name="B")
    assert_computes([a, b], [value], FUNCTIONS[name](value), rtol=1e-14)


def test_truncated_division_of_floats() -> None:
    value = np.array([-7.5, -0.5, 7.5], np.float64)
    a = te.placeholder((3,), "float64", "A")
    b = te.compute((3,), lambda i: (te.truncdiv(a[i], 2), te.truncmod(a[i], 2)), name="B")
    assert_computes([a, *b], [value], [np.trunc(value / 2), np.fmod(value, 2)])


def test_the_same_tensor() -> None:
    a, b = te.placeholder((3,), name="A"), te.placeholder((3,), name="A")
    assert a == a
    assert a != b
    assert len({a, b, a}) == 2
    z, y = te.placeholder((), name="Z"), te.placeholder((), name="Y")
    assert z == z
    with pytest.raises(ArgumentValueError, match="may mean the tensors or their elements"):
        assert z == y


def test_axes() -> None:
    b = te.compute((3, te.var("n")), lambda y, x: y + x, name="B")
    assert [(axis.name, axis.kind) for axis in b.op.axis] == [
        ("y", AxisKind.DATA),
        ("x", AxisKind.DATA),
    ]
    assert repr(b) == "tensor B: int64[3, n]"
    assert repr(b.op) == "te compute B"


def test_tensors_are_not_iterated() -> None:
    a: Any = te.placeholder((2, 3), name="A")
    with pytest.raises(TypeError, match="'Tensor' object is not iterable"):
        list(a)
    with pytest.raises(TypeError, match="'TensorPart' object is not iterable"):
        list(a[0])
    with pytest.raises(TypeError, match="iterable"):
        assert 1 in a


def test_tags() -> None:
    with te.tag_scope("elemwise"):
        b = te.compute((3,), lambda i: i, name="B")
    c = te.compute((3,), lambda i: i, name="C", tag="mine", attrs={"level": 2})
    assert (b.op.tag, c.op.tag, c.op.attrs) == ("elemwise", "mine", {"level": 2})


def test_the_function_of_a_chain(golden: Golden) -> None:
    n = te.var("n")
    a = te.placeholder((n, 8), name="A")
    b = te.compute((n, 8), lambda i, j: a[i, j] * 2, name="B")
    k = te.reduce_axis((0, 8), "k")
    c = te.compute((n,), lambda i: te.sum(b[i, k], axis=k), name="C")
    golden.check(str(te.create_prim_func([a, c])), "ir")
