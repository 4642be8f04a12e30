"""A row of a table fails with all that is wrong in it."""

from __future__ import annotations

import pytest

from tests.support.rows import check_each, in_each


def is_even(number: int) -> None:
    if number == 0:
        pytest.skip("nothing to see")
    assert number % 2 == 0, "odd"


def test_every_failure_is_named() -> None:
    with pytest.raises(AssertionError, match=r"2 of a row failed\nn3: .*odd(.|\n)*\nn5: .*odd"):
        check_each([0, 2, 3, 4, 5], is_even, lambda number: f"n{number}")


def test_a_missing_error_is_a_failure() -> None:
    def raises(text: str) -> None:
        with pytest.raises(ValueError, match="invalid literal"):
            int(text)

    with pytest.raises(AssertionError, match=r"1 of a row failed\n2: Failed: DID NOT RAISE"):
        check_each(["two", "2"], raises)


@pytest.mark.parametrize("row", ["a", "b"])
@in_each("column", [1, 2])
def test_rows_are_tests(row: str, column: int) -> None:
    assert (row + "x")[column - 1] in "abx"
