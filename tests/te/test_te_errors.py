"""What is said about wrong tensor expressions, whole."""

from collections.abc import Callable
from typing import Any

import pytest

from hybridjit import te
from hybridjit.errors import HybridError
from hybridjit.tensors.compute import Body
from tests.conftest import Golden

TE: Any = te  # as a caller without a type checker has it
A = te.placeholder((4, 4), name="A")
K = te.reduce_axis((0, 4), "k")
J = te.reduce_axis((0, 4), "j")
N = te.var("n")
ROW = te.compute((4,), lambda i: A[i, 0], name="ROW")


def compute(body: Body, *shape: Any) -> Any:
    return te.compute(shape or (4,), body, name="B")


def nested_tags() -> None:
    with te.tag_scope("one"), te.tag_scope("two"):
        pass


def tag_given_twice() -> None:
    with te.tag_scope("one"):
        te.compute((4,), lambda i: i, tag="two")


def _first_item(x: Any, y: Any) -> Any:
    return x[0]


def _first(x: Any, y: Any) -> Any:
    return x


def _two_zeros(s: str, t: str) -> Any:
    return 0, 0


def _one_zero(s: str, t: str) -> Any:
    return (0,)


def _at_least_two(i: Any, j: Any, *rest: Any) -> Any: ...
def _any_number(*i: Any) -> Any: ...
def _keyword(i: Any, *, scale: Any) -> Any: ...
def _default(i: Any, scale: Any = 2) -> Any: ...
def _keywords(**indices: Any) -> Any: ...


CALLS: dict[str, Callable[[], object]] = {
    "too_few_indices": lambda: compute(lambda i: i, 4, 4),
    "too_many_indices": lambda: compute(lambda i, j: i),
    "too_many_before_varargs": lambda: TE.compute((4,), _at_least_two),
    "varargs_names": lambda: TE.compute((4, 4), _any_number, varargs_names=["x"]),
    "keyword_index": lambda: TE.compute((4,), _keyword),
    "default_index": lambda: TE.compute((4,), _default),
    "keywords": lambda: TE.compute((4,), _keywords),
    "nested_tags": nested_tags,
    "tag_given_twice": tag_given_twice,
    "reduction_inside": lambda: compute(lambda i: te.sum(A[i, K], axis=K) + 1),
    "reduction_on_the_right": lambda: compute(lambda i: 1 - te.sum(A[i, K], axis=K)),
    "reduction_in_a_function": lambda: compute(lambda i: te.exp(te.max(A[i, K], axis=K))),
    "reductions_in_a_tuple": lambda: compute(
        lambda i: (te.sum(A[i, K], axis=K), te.max(A[i, K], axis=K))
    ),
    "reduction_over_a_data_axis": lambda: compute(lambda i: te.sum(A[i, i], axis=i)),
    "reduction_over_a_number": lambda: compute(lambda i: te.sum(A[i, 0], axis=0)),
    "reduction_over_no_axis": lambda: compute(lambda i: te.sum(A[i, 0], axis=())),
    "reduction_twice_over_an_axis": lambda: compute(lambda i: te.sum(A[i, K], axis=[K, K])),
    "reduction_of_two_values": lambda: compute(lambda i: te.sum(A[i, K], 1, axis=K)),
    "inner_range_first": lambda: compute(
        lambda i: te.sum(A[i, J], axis=[te.reduce_axis((0, J), "x"), J])
    ),
    "start_over_a_reduced_axis": lambda: compute(lambda i: te.sum(A[i, K], axis=K, init=A[i, K])),
    "combine_of_the_wrong_size": lambda: compute(
        lambda i: te.comm_reducer(_first_item, _two_zeros, "first")((A[i, K], K), axis=K)
    ),
    "identity_of_the_wrong_size": lambda: compute(
        lambda i: te.comm_reducer(_first, _one_zero, "first")((A[i, K], K), axis=K)
    ),
    "reduce_axis_without_a_range": lambda: TE.reduce_axis(4),
    "thread_axis_without_a_tag": lambda: te.thread_axis((0, 8)),
    "no_values": lambda: te.all(),
    "too_many_indices_of_a_tensor": lambda: A[0, 1, 2],
    "too_few_indices_of_a_tensor": lambda: compute(lambda i: A[i] + 1),
    "whole_tensor_in_an_expression": lambda: compute(lambda i: A * 2),
    "whole_tensor_as_a_body": lambda: compute(lambda i: A),
    "text_in_an_expression": lambda: compute(lambda i: A[i, i] + "x"),
    "float_as_an_index": lambda: compute(lambda i: A[A[i, 0], 0]),
    "float_as_a_size": lambda: TE.placeholder((2.5,)),
    "negative_size": lambda: te.placeholder((-1,)),
    "empty_tuple": lambda: compute(lambda i: ()),
    "truth_of_an_expression": lambda: compute(lambda i: 1 if i > 2 else 0),
    "unknown_type": lambda: te.placeholder((4,), "float33"),
    "rank_0_equality": lambda: te.placeholder((), name="X") == te.placeholder((), name="Y"),
    "placeholder_not_passed": lambda: te.create_prim_func([ROW]),
    "variable_not_passed": lambda: te.create_prim_func([compute(lambda i: i + N)]),
    "size_not_passed": lambda: te.create_prim_func([te.placeholder((N * 2,), name="X")]),
    "axis_not_reduced": lambda: te.create_prim_func([A, compute(lambda i: A[i, K])]),
    "argument_of_another_kind": lambda: te.create_prim_func([A, 3]),
    "argument_twice": lambda: te.create_prim_func([A, A]),
}


@pytest.mark.parametrize("case", CALLS)
def test_message(case: str, golden: Golden) -> None:
    with pytest.raises(HybridError, match=r"\w") as caught:
        CALLS[case]()
    golden.check(caught.value.render("short"), "txt")
