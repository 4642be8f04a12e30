"""Numbers that are known before a program runs, and operators that ask for them."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import hybridjit.compat.tvm as package
from hybridjit.errors import ArgumentValueError, ScheduleError

np: Any = numpy  # whose types say nothing of arrays that may be any
tvm: Any = package
te: Any = tvm.te
tir: Any = tvm.tir
topi: Any = tvm.topi
utils: Any = topi.utils
X: Any = np.arange(24, dtype="float32").reshape(4, 6)


@pytest.mark.parametrize(
    "value", [3, np.int32(3), tir.const(3), tir.IntImm("int64", 3), te.const(1, "int32") + 2]
)
def test_integers_that_are_known(value: Any) -> None:
    assert utils.get_const_int(value) == utils.simplify(value) == 3
    assert isinstance(utils.get_const_int(value), int)
    assert utils.get_const_tuple([value, 4]) == (3, 4)


def test_floats_that_are_known() -> None:
    for value in (0.5, tir.const(0.5, "float32"), tir.FloatImm("float32", 0.5)):
        assert utils.get_const_float(value) == 0.5


def test_what_is_known_when_the_program_runs() -> None:
    n = te.var("n")
    with pytest.raises(ArgumentValueError, match="is not known before the program runs"):
        utils.get_const_int(n)
    with pytest.raises(ArgumentValueError, match="is not known before the program runs"):
        utils.get_const_float(n + 1)
    assert utils.get_const_tuple((n, 3))[0] is n


def test_values_of_constants() -> None:
    made = [tir.const(3, "int8"), tir.IntImm("int32", 3), te.const(3), tir.FloatImm("float32", 3.0)]
    assert [constant.value for constant in made] == [3, 3, 3, 3.0]
    assert isinstance(made[0], tir.IntImm)
    assert tir.const(3, "int8").dtype == "int8"


def test_a_matrix_of_numbers() -> None:
    matrix = np.array([[1, 2, 3], [4, 5, 6]], "float32")
    made = utils.const_matrix(matrix)
    assert (made.shape, made.dtype) == ((2, 3), "float32")
    A = te.placeholder((4, 2), name="A")
    B = topi.matmul(A, made)
    out = tvm.nd.empty((4, 3))
    tvm.build(te.create_schedule(B.op), [A, B])(X[:, :2].copy(), out)
    np.testing.assert_array_equal(out, X[:, :2] @ matrix)


def products() -> Any:
    """Rows that are scaled, added up and scaled again."""
    A = te.placeholder((4, 6), name="A")
    k = te.reduce_axis((0, 6), "k")

    def element(i: Any, j: Any) -> Any:
        return A[i, j] * 2

    P = te.compute((4, 6), element, name="P")

    def row(i: Any) -> Any:
        return te.sum(P[i, k], axis=k)

    S = te.compute((4,), row, name="S", tag="rows")

    def half(i: Any) -> Any:
        return S[i] / 2.0

    H = te.compute((4,), half, name="H")
    return A, P, S, H, topi.nn.relu(H)


def test_operations_are_inlined_up_to_the_one_that_matters() -> None:
    A, P, S, H, R = products()
    s = te.create_schedule(R.op)
    called: list[Any] = []
    utils.traverse_inline(s, R.op, called.append)
    assert called == [S.op, H.op, R.op]
    assert [stage.op for stage in s.stages if stage.attached is None] == [A.op, P.op, S.op, R.op]
    out = tvm.nd.empty((4,))
    tvm.build(s, [A, R])(X, out)
    np.testing.assert_array_equal(out, X.sum(1))


def test_sums_in_any_order_are_asked_for() -> None:
    A, _, S, _, R = products()
    s = te.create_schedule(R.op, fastmath={"reassoc"})
    assert s.fastmath == ("reassoc",)
    s[S].vectorize(S.op.reduce_axis[0])
    plain = te.create_schedule(R.op)
    plain[S].vectorize(S.op.reduce_axis[0])
    with pytest.raises(ScheduleError, match=r"fastmath=\{\"reassoc\"\}"):
        tvm.build(plain, [A, R])
    out = tvm.nd.empty((4,))
    tvm.build(s, [A, R])(X, out)
    np.testing.assert_array_equal(out, X.sum(1))
