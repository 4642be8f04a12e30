"""The oracle itself: what it takes for the same, and what it tells apart."""

from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from tests.corpus.case import LAYOUTS, Array, Number, arrange, numbers
from tests.support import oracle
from tests.support.oracle import assert_same, fresh_copies, run_plain_and_interpreted

NAN = np.float32(np.nan)
NEXT = np.nextafter(np.float32(1), np.float32(2))


@pytest.mark.parametrize(
    "value",
    [1, True, 2.5, 1j, np.int8(3), NAN, np.array([np.nan, -0.0]), None, "text", (1, [2.0])],
    ids=repr,
)
def test_a_value_is_the_same_as_itself(value: Any) -> None:
    assert_same(value, value)


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (1, 1.0),
        (True, 1),
        (0.0, -0.0),
        (np.float32(1), np.float64(1)),
        (np.float32(1), 1.0),
        (NEXT, np.float32(1)),
        (complex(0.0, -0.0), 0j),
        (np.zeros(2), np.zeros((2, 1))),
        (np.zeros(2), np.zeros(2, np.float32)),
        (np.array([1, 2]), np.array([1, 3])),
        (np.array([np.nan]), np.array([1.0])),
        ((1, 2), [1, 2]),
        ((1, 2), (1, 2, 3)),
        ((1, 2), (1, 2.0)),
        (None, 0),
    ],
    ids=repr,
)
def test_different_values_are_told_apart(actual: Any, expected: Any) -> None:
    with pytest.raises(AssertionError, match="expected"):
        assert_same(actual, expected)


def test_nan_payload_and_sign_are_ignored() -> None:
    assert_same(np.array([np.nan]), -np.array([np.nan]))


def test_ulp_counts_representable_values() -> None:
    assert_same(NEXT, np.float32(1), ulp=1)
    assert_same(np.float64(0.0), np.float64(-5e-324), ulp=2)
    with pytest.raises(AssertionError, match="expected"):
        assert_same(np.float64(0.0), np.float64(5e-324) * 2, ulp=1)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_copies_keep_values_strides_and_flags(layout: str) -> None:
    array = arrange(numbers((3, 4), "float64", -9, 9, seed=1), layout)

    (copy,) = fresh_copies([array])

    assert_same(copy, array)
    assert copy.strides == array.strides
    assert copy.flags.writeable == array.flags.writeable
    assert not np.shares_memory(copy, array)


def test_copies_of_overlapping_views_overlap() -> None:
    whole = np.arange(5.0)

    left, right = fresh_copies([whole[:4], whole[1:]])
    left[1] = 9

    assert right[0] == 9
    assert whole[1] == 1


@hybrid.script
def halve(a: Array, n: Number) -> Number:
    for i in range(a.shape[0]):
        a[i] //= n
    return a.shape[0]


def disagree(kernel: Any, *args: Any) -> Any:
    result = kernel.interpret(*args)
    args[0][-1] += 1
    return result


def return_nothing(*args: Any) -> None:
    pass


def test_effects_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracle, "run_interpreted", disagree)

    with pytest.raises(AssertionError, match=r"interpreter and plain Python differ: argument 0"):
        run_plain_and_interpreted(halve, [np.arange(4.0), 2])


def test_results_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracle, "run_interpreted", return_nothing)

    with pytest.raises(AssertionError, match=r"interpreter and plain Python differ: got None"):
        run_plain_and_interpreted(halve, [np.zeros(0), 2])


@hybrid.script
def complain(n: Number) -> Number:
    if n > 0:
        raise ValueError("too large:", n)
    return 10 // n


def raise_other_message(kernel: Any, n: Number) -> None:
    raise ValueError("too large:", n + 1)


def test_messages_of_the_script_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracle, "run_interpreted", raise_other_message)

    with pytest.raises(AssertionError, match=r"interpreter and plain Python differ: raised"):
        run_plain_and_interpreted(complain, [1])


def test_errors_of_operations_are_compared_by_type() -> None:
    outcome = run_plain_and_interpreted(complain, [0])

    assert isinstance(outcome.error, ZeroDivisionError)
