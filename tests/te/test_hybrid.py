"""Scripts called on tensors, against NumPy, interpreted and native."""

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import hybrid, te
from hybridjit.errors import HybridError
from hybridjit.hybrid import const_range, output_tensor
from hybridjit.tensors.function import create_program
from tests.conftest import Golden
from tests.support.tensor_programs import assert_computes

Array = Any
RNG = np.random.default_rng(13)
TABLE = np.array([3.0, 5.0, 7.0], np.float32)


def floats(*shape: int) -> Array:
    return RNG.random(shape, dtype=np.float32)


@hybrid.script
def outer(a: Any, b: Any) -> Any:
    c = output_tensor((a.shape[0], b.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            c[i, j] = a[i] * b[j]
    return c


@hybrid.script
def matmul(a: Any, b: Any) -> Any:
    c = output_tensor((a.shape[0], b.shape[1]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


@hybrid.script
def both(a: Any, scale: Any) -> Any:
    c = output_tensor((a.shape[0],), a.dtype)
    d = output_tensor((a.shape[0],), "int64")
    for i in range(a.shape[0]):
        c[i] = a[i] * scale
        d[i] = i + 1
    return c, d


@hybrid.script
def added(parts: Any) -> Any:
    c = output_tensor((parts[0].shape[0],), parts[0].dtype)
    for i in range(parts[0].shape[0]):
        for k in const_range(len(parts)):
            c[i] += parts[k][i]
    return c


@hybrid.script
def total(a: Any) -> Any:
    found = 0.0
    for i in range(a.shape[0]):
        found += a[i]
    return found


@hybrid.script
def from_table(a: Any) -> Any:
    c = output_tensor((3,), a.dtype)
    for i in range(3):
        c[i] = a[i] * TABLE[i]
    return c


@hybrid.script
def unrolled(a: Any, n: Any) -> Any:
    c = output_tensor((n,), a.dtype)
    for i in const_range(n):
        c[i] = a[i] * i
    return c


@hybrid.script
def typed(a: Annotated[Any, hj.f32["n"]]) -> Any:
    c = output_tensor((a.shape[0],), "float32")
    for i in range(a.shape[0]):
        c[i] = a[i] + 1
    return c


@hybrid.script
def early(a: Any) -> Any:
    c = output_tensor((1,), a.dtype)
    if a[0] > 0:
        return c
    c[0] = 1
    return c


@hybrid.script
def nothing(a: Any) -> None:
    x = a[0]
    assert x > 0


OUTER: Any = outer
A, B = te.placeholder((3,), name="A"), te.placeholder((4,), name="B")


def test_between_computes() -> None:
    doubled = te.compute((3,), lambda i: A[i] * 2, name="D")
    made: Any = outer(doubled, B)
    c = te.compute((3, 4), lambda i, j: made[i, j] + 1, name="C")
    a, b = floats(3), floats(4)
    assert_computes([A, B, c], [a, b], np.outer(a * 2, b) + 1)
    assert_computes([A, B, made], [a, b], np.outer(a * 2, b))


@hybrid.script
def inner_half(a: Any) -> Any:
    doubled = a * 2
    return doubled[1:-1]


def test_parts_of_arrays_are_tensors_of_their_own() -> None:
    """On arrays, the script returns a view."""
    a = te.placeholder((6,), "float32", name="a")
    x = floats(6)
    assert_computes([a, inner_half(a)], [x], x[1:-1] * 2)


def test_sizes_of_the_run() -> None:
    n, m = te.var("n"), te.var("m")
    x, y = te.placeholder((n,), name="X"), te.placeholder((m + 1,), name="Y")
    z: Any = outer(x, y)
    a, b = floats(3), floats(5)
    assert_computes([m, x, y, z], [4, a, b, floats(3, 5)], np.outer(a, b))


def test_one_script_twice() -> None:
    c: Any = outer(A, B)
    d: Any = outer(B, A)
    k = te.reduce_axis((0, 4), "k")
    e = te.compute((3, 3), lambda i, j: te.sum(c[i, k] * d[k, j], axis=k), name="E")
    a, b = floats(3), floats(4)
    assert_computes([A, B, e], [a, b], np.outer(a, b) @ np.outer(b, a), rtol=1e-6)


def test_outputs_start_as_zero() -> None:
    x, y = te.placeholder((3, 4), name="X"), te.placeholder((4, 2), name="Y")
    a, b = (
        RNG.integers(0, 9, (3, 4)).astype("float32"),
        RNG.integers(0, 9, (4, 2)).astype("float32"),
    )
    z: Any = matmul(x, y)
    assert_computes([x, y, z], [a, b], a @ b)
    again = te.compute((3, 2), lambda i, j: z[i, j] + 1, name="W")
    assert_computes([x, y, again], [a, b], a @ b + 1)


def test_several_results_and_variables() -> None:
    scale = te.var("scale", "float32")
    c, d = both(A, scale)
    a = floats(3)
    assert_computes([A, scale, c, d], [a, np.float32(2.5)], [a * np.float32(2.5), np.arange(1, 4)])


@pytest.mark.parametrize(
    ("scale", "dtype"), [(2, "float32"), (2.5, "float32"), (np.float64(2.5), "float64")]
)
def test_constants_are_weak_or_typed(scale: Any, dtype: str) -> None:
    c, _ = both(A, scale)
    a = floats(3)
    expected = (a * scale).astype(np.float32)
    assert c.dtype.name == "float32"
    if dtype == "float64":
        expected = (a.astype(np.float64) * scale).astype(np.float32)
    assert_computes([A, c], [a], expected)


def test_a_constant_may_be_a_te_constant() -> None:
    c, _ = both(A, te.const(3, "float32"))
    a = floats(3)
    assert_computes([A, c], [a], a * np.float32(3))


def test_a_list_of_tensors() -> None:
    parts = [te.placeholder((5,), name=f"P{k}") for k in range(3)]
    c: Any = added(parts)
    values = [floats(5) for _ in parts]
    assert_computes([*parts, c], values, values[0] + values[1] + values[2])


def test_a_number_as_a_result() -> None:
    c: Any = total(A)
    d = te.compute((3,), lambda i: A[i] - c, name="D")
    a = floats(3)
    found = np.float32(0)
    for item in a:
        found += item
    assert c.shape == ()
    assert_computes([A, d], [a], a - found)


def test_a_captured_array() -> None:
    c: Any = from_table(A)
    a = floats(3)
    assert_computes([A, c], [a], a * TABLE)


def test_a_constant_size() -> None:
    c: Any = unrolled(B, 4)
    b = floats(4)
    assert_computes([B, c], [b], b * np.arange(4, dtype=np.float32))


def test_an_annotated_script() -> None:
    c: Any = typed(A)
    a = floats(3)
    assert_computes([A, c], [a], a + 1)


def test_arrays_are_still_computed_at_once() -> None:
    a, b = floats(3), floats(4)
    outer(A, B)
    np.testing.assert_array_equal(outer(a, b), np.outer(a, b))


def test_loops_and_blocks() -> None:
    c: Any = matmul(te.placeholder((3, 4), name="X"), te.placeholder((4, 2), name="Y"))
    assert [axis.name for axis in c.op.axis] == ["i", "j", "k"]
    program = create_program([*c.op.input_tensors, c])
    assert program.places.blocks[c.op] == ["c", "c_zero"]
    assert program.places.loop(c.op, c.op.axis[2]).name == "k"


def test_the_function_of_a_script(golden: Golden) -> None:
    doubled = te.compute((3,), lambda i: A[i] * 2, name="D")
    made: Any = outer(doubled, B)
    c = te.compute((3, 4), lambda i, j: made[i, j] + 1, name="C")
    golden.check(str(te.create_prim_func([A, B, c])), "ir")


CALLS: dict[str, Callable[[], object]] = {
    "array_beside_tensors": lambda: outer(A, np.zeros(4, np.float32)),
    "part_of_a_tensor": lambda: outer(te.placeholder((3, 3), name="M")[0], B),
    "returns_early": lambda: early(A),
    "returns_nothing": lambda: nothing(A),
    "missing_argument": lambda: OUTER(A),
    "other_type": lambda: typed(te.placeholder((3,), "float64", "D")),
    "wrong_rank": lambda: matmul(A, B),
}


@pytest.mark.parametrize("case", CALLS)
def test_refusal(case: str, golden: Golden) -> None:
    with pytest.raises(HybridError, match=r"\w") as caught:
        CALLS[case]()
    golden.check(caught.value.render("short"), "txt")
