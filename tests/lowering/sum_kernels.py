"""Loops around sums: those that may run side by side, and those that may not, each for one reason.

Every kernel takes arrays `c` (n by m), `a` (n by l) and `b` (l by m).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hybridjit import hybrid
from tests.corpus.case import Array

# -- side by side ----------------------------------------------------------------------------------


@hybrid.script
def terms_outside(c: Array, a: Array, b: Array) -> None:
    for i in range(c.shape[0]):
        for k in range(a.shape[1]):
            for j in range(c.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@hybrid.script
def terms_outermost(c: Array, a: Array, b: Array) -> None:
    for k in range(a.shape[1]):
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                c[i, j] -= a[i, k] / b[k, j]


@hybrid.script
def terms_inside(c: Array, a: Array, b: Array) -> None:
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@hybrid.script
def in_a_variable(c: Array, a: Array, b: Array) -> None:
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            total = 0 * c[i, j]
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total


@hybrid.script
def columns_first(c: Array, a: Array, b: Array) -> None:
    for j in range(c.shape[1]):
        for i in range(c.shape[0]):
            total = c[i, j]
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total


@hybrid.script
def two_variables(c: Array, a: Array, b: Array) -> None:
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            first = c[i, j]
            second = first * 2
            for k in range(a.shape[1]):
                term = a[i, k] * b[k, j]
                first += term
                second = second * term - first
            if second > first:
                first = second
            c[i, j] = first


@hybrid.script
def two_sums_in_a_row(c: Array, a: Array, b: Array) -> None:
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            mean = 0 * c[i, j]
            for k in range(b.shape[0]):
                mean += b[k, j]
            spread = mean
            for k in range(b.shape[0]):
                spread += (b[k, j] - mean) * a[i, k]
            c[i, j] -= spread


@hybrid.script
def one_column(c: Array, a: Array, b: Array) -> None:
    for j in range(c.shape[1]):
        total = c[0, j]
        for k in range(b.shape[0]):
            total = total * 2 + b[k, j]
        c[0, j] = total


@hybrid.script
def some_of_it(c: Array, a: Array, b: Array) -> None:
    for i in range(1, c.shape[0] - 1):
        for k in range(2, a.shape[1]):
            for j in range(1, c.shape[1]):
                c[i, j] += a[i + 1, k - 2] * b[k, j - 1]


@hybrid.script
def fewer_terms_in_the_first_rows(c: Array, a: Array, b: Array) -> None:
    """Of no term in the first row: the element before it is not there."""
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(min(i, a.shape[1])):
                c[i - 1, j] += a[i, k] * b[k, j]


@hybrid.script
def fewer_terms_in_a_variable(c: Array, a: Array, b: Array) -> None:
    """Rows have different numbers of terms: only lanes run side by side."""
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            total = 0 * c[i, j]
            for k in range(min(i, a.shape[1])):
                total += a[i, k] * b[k, j]
            c[i, j] = total


@hybrid.script
def row_above(c: Array, a: Array, b: Array) -> None:
    """Rows would read what the row before is about to write: only lanes are independent."""
    for i in range(1, c.shape[0]):
        for j in range(c.shape[1]):
            total = c[i - 1, j]
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total


@hybrid.script
def scaled_before(c: Array, a: Array, b: Array) -> None:
    """Rows share terms once the loop over them is taken apart."""
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] *= 0.5
        for k in range(a.shape[1]):
            for j in range(c.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@hybrid.script
def rows_apart(c: Array, a: Array, b: Array) -> None:
    """Neighbouring lanes read elements that are far from each other."""
    for i in range(c.shape[0]):
        for k in range(a.shape[1]):
            c[i, 0] += a[i, k] * b[k, 0]


@hybrid.script
def with_the_transposed(c: Array, a: Array, b: Array) -> None:
    for i in range(c.shape[0]):
        for j in range(min(c.shape[0], c.shape[1])):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * a[j, k]


@hybrid.script
def columns_before(c: Array, a: Array, b: Array) -> None:
    """Terms come from columns that no iteration of the inner loops writes to."""
    for j in range(min(c.shape[0], c.shape[1])):
        for k in range(j):
            for i in range(j, c.shape[0]):
                c[i, j] -= c[i, k] * c[j, k]


@hybrid.script
def mirrored(c: Array, a: Array, b: Array) -> None:
    for i in range(min(c.shape[0], c.shape[1])):
        for j in range(i + 1, min(c.shape[0], c.shape[1])):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
            c[j, i] = c[i, j]


@hybrid.script
def some_terms(c: Array, a: Array, b: Array) -> None:
    for j in range(c.shape[1]):
        total = 0 * c[0, j]
        count = 0
        for k in range(b.shape[0]):
            if c[0, j] <= b[k, 0] and b[k, 0] < 2 * c[0, j]:
                total += b[k, 0]
                count += 1
        c[0, j] = total * count


@hybrid.script
def terms_of_two_loops(c: Array, a: Array, b: Array) -> None:
    for k in range(a.shape[1]):
        for i in range(c.shape[0]):
            for l in range(1, b.shape[0]):  # noqa: E741
                for j in range(c.shape[1]):
                    c[i, j] = c[i, j] * a[i, k] + b[l, j]


@hybrid.script
def windows(c: Array, a: Array, b: Array) -> None:
    """Rows have nothing in common that lanes read: tiles follow each other along them."""
    for i in range(a.shape[0] - 2):
        for j in range(min(a.shape[1], c.shape[1]) - 2):
            total = 0.0
            for u in range(3):
                for v in range(3):
                    total += a[i + u, j + v] * (u - 2.5 * v)
            c[i, j] = total


SIDE_BY_SIDE = (
    *(terms_outside, terms_outermost, terms_inside, in_a_variable, columns_first),
    *(two_variables, two_sums_in_a_row, one_column, some_of_it, fewer_terms_in_the_first_rows),
    *(row_above, scaled_before, rows_apart, with_the_transposed, columns_before),
    *(mirrored, some_terms, terms_of_two_loops, fewer_terms_in_a_variable, windows),
)

# -- in order --------------------------------------------------------------------------------------


@hybrid.script
def neighbours(c: Array, a: Array, b: Array) -> None:
    """Lanes would read what the lane before is about to write."""
    for i in range(c.shape[0]):
        for j in range(1, c.shape[1]):
            total = c[i, j - 1]
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total


@hybrid.script
def terms_from_itself(c: Array, a: Array, b: Array) -> None:
    """A term is an element that other iterations update."""
    for i in range(c.shape[0]):
        for k in range(c.shape[1]):
            for j in range(c.shape[1]):
                c[i, j] += c[i, k] * a[i, 0]


@hybrid.script
def diagonals(c: Array, a: Array, b: Array) -> None:
    """Iterations of both outer loops update one element."""
    for i in range(c.shape[0] // 2):
        for k in range(a.shape[1]):
            for j in range(c.shape[1] // 2):
                c[0, i + j] = c[0, i + j] * 0.5 + a[i, k] * b[k, j]


@hybrid.script
def carried_along(c: Array, a: Array, b: Array) -> None:
    """The sum goes on from one element to the next."""
    total = 0 * c[0, 0]
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total


@hybrid.script
def as_many_as_columns(c: Array, a: Array, b: Array) -> None:
    """Lanes would have different numbers of terms."""
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            total = 0 * c[i, j]
            for k in range(min(j, a.shape[1])):
                total += a[i, k] * b[k, j]
            c[i, j] = total


@hybrid.script
def each_term_again(c: Array, a: Array, b: Array) -> None:
    """The bounds of an inner loop are those of a loop that would go inside of it."""
    for k in range(a.shape[1]):
        for i in range(c.shape[0]):
            for j in range(c.shape[1] - k):
                c[i, j] += a[i, k] * b[k, j]


@hybrid.script
def stops_early(c: Array, a: Array, b: Array) -> None:
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            total = 0 * c[i, j]
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
                if total > 2:
                    break
            c[i, j] = total


@hybrid.script
def asserts(c: Array, a: Array, b: Array) -> None:
    """What comes before the failure is stored, and nothing after it."""
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            total = 0 * c[i, j]
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            assert i + j != 5, ("at", i, j)
            c[i, j] = total


@hybrid.script
def divides(c: Array, a: Array, b: Array) -> None:
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            total = 0 * c[i, j]
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j] * (7 // (9 - i - j))
            c[i, j] = total


@hybrid.script
def indirect(c: Array, a: Array, b: Array) -> None:
    """An index that may be outside of the array is checked in order."""
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, int(b[k, j] * 3)]


@hybrid.script
def maybe_unset(c: Array, a: Array, b: Array) -> None:
    """A variable from outside has no value, which counts only where it is read."""
    for i in range(c.shape[0] - 9):
        factor = c[i, 0]
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            total = 0 * c[i, j]
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
                if i > 2:
                    total *= factor  # pyright: ignore[reportPossiblyUnboundVariable]
            c[i, j] = total


@hybrid.script
def scaled_after(c: Array, a: Array, b: Array) -> None:
    """The loop over rows cannot be taken apart: a row is scaled in the iteration after its sums."""
    for i in range(1, c.shape[0]):
        for j in range(c.shape[1]):
            c[i - 1, j] *= 0.5
        for k in range(a.shape[1]):
            for j in range(c.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@hybrid.script
def columns_before_and_this_one(c: Array, a: Array, b: Array) -> None:
    """The last term is the element that is updated, or another one of its column."""
    for j in range(min(c.shape[0], c.shape[1])):
        for k in range(j + 1):
            for i in range(j, c.shape[0]):
                c[i, j] -= c[i, k] * c[j, k]


@hybrid.script
def mirrored_into_the_next(c: Array, a: Array, b: Array) -> None:
    """One lane writes to the element that the next one adds to."""
    for i in range(min(c.shape[0], c.shape[1]) - 1):
        for j in range(i, min(c.shape[0], c.shape[1])):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
            c[j, i + 1] = c[i, j]


@hybrid.script
def two_elements(c: Array, a: Array, b: Array) -> None:
    """What is added to one element is what the other one holds by then."""
    for j in range(c.shape[1] - 1):
        for k in range(b.shape[0]):
            c[0, j] += b[k, j]
            c[0, j + 1] += c[0, j]


IN_ORDER = (
    *(neighbours, terms_from_itself, diagonals, carried_along, as_many_as_columns),
    *(each_term_again, stops_early, asserts, divides, indirect, maybe_unset),
    *(scaled_after, columns_before_and_this_one, mirrored_into_the_next, two_elements),
)


def arrays(n: int, l: int, m: int, dtype: Any = np.float64, seed: int = 0) -> tuple[Any, ...]:  # noqa: E741
    """c, a and b with elements whose sums depend on the order of the terms."""
    generator = np.random.default_rng(seed)

    def make(*shape: int) -> Any:
        values = generator.random(shape) + 0.25
        if np.dtype(dtype).kind in "iu":
            return (values * 5).astype(dtype)
        return values.astype(dtype)

    return make(n, m), make(n, l), make(l, m)
