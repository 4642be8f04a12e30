"""Products and quotients by a size that is not a constant, as far as affine text can tell of them.

    i_0 * m + i_1        what a split into a given number of parts makes of i
    f // m, f % m        what a fused loop makes of the loops it stands for

isl has no product of two unknowns. But m is the same throughout the part of a program that is
looked at, so much of what a product is for can be said. A product gets a dimension t of its own,
which stands for q * m. A division of x by m gets two, q and t, and x % m is x - t. Then

    a division by m > 0:                   0 <= x - t < m
    two products q * m and q' * m, m > 0:  q < q'  ==>  t + m <= t'
                                           q = q'  ==>  t = t'
    (one of them may be c * m for a number c)

The first is what division means. The others hold since t' - t = (q' - q) * m, which is 0 if q and
q' are equal and at least m if q' is larger. They tie two instances of statements to each other,
and that is what a conflict is: two iterations f and f' of a fused loop that agree on f // m and on
f % m agree on q and on x - t, so on t, so on f. The same goes for all splits of f, and for a sum
q * m + r with 0 <= r < m, which is larger wherever (q, r) is, compared from the left.

A set with these dimensions holds more points than there are iterations, and the facts above do not
say all: what is found with it is a superset, good enough to find all conflicts, no more.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product

from hybridjit.record import record

# Factors that an example of a conflict is looked for with.
_SMALL = (0, 1, 2, 3, 4)


@record
class Product:
    """The dimension `text` stands for `scale * factor`; all are text, the factor never varies.

    If `scale` is a dimension made for it, too, then it is the quotient `dividend // factor`.
    `is_positive` says that the dimensions are never negative. A product that is not exact may wrap
    around 2^64: it is a number, and no more is known.
    """

    text: str
    scale: str
    factor: str
    dividend: str | None = None
    is_positive: bool = False
    is_exact: bool = True

    @property
    def dims(self) -> tuple[str, ...]:
        """The dimensions that stand for it."""
        return (self.text,) if self.dividend is None else (self.scale, self.text)

    @property
    def remainder(self) -> str:
        """What is left of the dividend."""
        return f"({self.dividend} - {self.text})"

    @property
    def division(self) -> str:
        """What holds wherever the division is done: it is an error to divide by 0."""
        m, rest = self.factor, self.remainder
        return f"((0 <= {rest} and {rest} < {m}) or ({m} < {rest} and {rest} <= 0))"

    def compared(self, other: Product) -> str:
        """What holds of two products with the same factor, unless that is negative."""
        (t, q, m), (t2, q2) = (self.text, self.scale, self.factor), (other.text, other.scale)
        larger = f"({q} > {q2} and {t} >= {t2} + {m})"
        smaller = f"({q} < {q2} and {t} + {m} <= {t2})"
        same = f"(({q} = {q2} or {m} = 0) and {t} = {t2})"
        return f"({m} < 0 or {same} or ({m} > 0 and ({larger} or {smaller})))"

    @property
    def small(self) -> str:
        """That the factor is a small number, and the product what it stands for."""
        cases = (f"({self.factor} = {m} and {self.text} = {m} * {self.scale})" for m in _SMALL)
        return f"({' or '.join(cases)})"

    @property
    def bounds(self) -> list[str]:
        """What is known about each dimension by itself."""
        return [f"{dim} >= 0" for dim in self.dims if self.is_positive]

    @property
    def known(self) -> list[str]:
        """What is known without another product, be the division done or not."""
        if not self.is_exact:
            return []
        facts = [*self.bounds, self.compared(Product("0", "0", self.factor))]
        return (
            facts if self.dividend is None else [*facts, f"({self.factor} = 0 or {self.division})"]
        )

    @property
    def elsewhere(self) -> Product:
        """The product in another instance: with a stroke behind the name of each dimension."""
        return Product(primed(self.text), primed(self.scale), self.factor)


def facts_about(
    here: Sequence[Product],
    there: Sequence[Product],
    constants: Sequence[Product],
    multiples: Mapping[str, Collection[int]],
) -> Iterator[str]:
    """What holds of two instances with the products `here` and `there`, the most telling first.

    `multiples` are the numbers that each factor is multiplied by: x < 4 * m says q < 4.
    """
    others = [product.elsewhere for product in there]
    for pairs in (product(here, others), product((*here, *others), constants)):
        for one, other in pairs:
            if one.factor == other.factor and other.is_exact:
                yield one.compared(other)
    for one in (*here, *others):
        for scale in multiples.get(one.factor, ()):
            for number in (scale - 1, scale):
                yield one.compared(Product(f"({number} * {one.factor})", f"{number}", one.factor))
    for one in (*here, *others):
        yield one.compared(Product("0", "0", one.factor))


def primed(text: str) -> str:
    """`text` about another instance: the names of dimensions have a stroke behind them."""
    return re.sub(r"\b([vw]\d+)\b", r"\1'", text)


def dims_in(text: str | None) -> list[str]:
    """The names of dimensions in `text`."""
    return [] if text is None else re.findall(r"\b[vw]\d+\b", text)


def varies(text: str) -> bool:
    """Whether `text` speaks of a dimension, not of parameters only."""
    return bool(dims_in(text))
