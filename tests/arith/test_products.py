"""What is said of products and quotients is true of all of them, and tells enough apart."""

from itertools import product

import pytest

from hybridjit.arith.polyhedra import load_isl
from hybridjit.arith.products import Product, facts_about, primed, varies

NUMBERS = range(-4, 5)


def holds(fact: str, *free: str, **values: int) -> bool:
    """Whether `fact` is true of the values; dimensions of the other instance end in `_there`.

    Of what is `free`, some value from `NUMBERS` is enough.
    """
    given = [f"{name.replace('_there', chr(39))} = {value}" for name, value in values.items()]
    given += [f"{NUMBERS[0]} <= {name} <= {NUMBERS[-1]}" for name in free]
    names = ", ".join(name.replace("_there", "'") for name in (*values, *free))
    return not load_isl().Set(f"{{ [{names}] : {' and '.join(given)} and {fact} }}").is_empty()


def times(scale: str, text: str = "w0") -> Product:
    return Product(text, scale, "p0")


def test_facts_about_two_products_are_true() -> None:
    facts = [*facts_about([times("v0")], [times("v0")], [], {"p0": {1, 4}})]
    for m, q, other in product(NUMBERS, NUMBERS, NUMBERS):
        values = {"p0": m, "v0": q, "w0": q * m, "v0_there": other, "w0_there": other * m}
        assert holds(" and ".join(f"({fact})" for fact in facts), **values), values


def test_facts_about_a_division_are_true() -> None:
    division = Product("w0", "w1", "p0", "v0")
    for m, x in product(NUMBERS, NUMBERS):
        if m != 0:
            values = {"p0": m, "v0": x, "w0": x // m * m, "w1": x // m}
            assert holds(division.division, **values), values
            assert all(holds(fact, **values) for fact in division.known), values


@pytest.mark.parametrize("m", range(1, 5))
def test_a_division_has_one_result(m: int) -> None:
    division = Product("w0", "w1", "p0", "v0")
    facts = f"{division.division} and {times('w1').compared(Product('0', '0', 'p0'))}"
    for x in range(m):
        found = [
            (q, t) for q, t in product(NUMBERS, NUMBERS) if holds(facts, p0=m, v0=x, w0=t, w1=q)
        ]
        assert found == [(0, 0)]


def test_different_products_stay_apart() -> None:
    [fact, *_] = facts_about([times("v0")], [times("v0")], [], {"p0": {1, 4}})
    assert not holds(fact, p0=3, v0=1, w0=3, v0_there=2, w0_there=5)  # closer than 3
    assert not holds(fact, p0=3, v0=1, w0=3, v0_there=1, w0_there=6)  # of equal numbers
    assert not holds(fact, p0=3, v0=2, w0=3, v0_there=1, w0_there=6)  # the wrong way round


@pytest.mark.parametrize("m", [1, 3, 7])
def test_a_dividend_below_a_multiple_has_a_quotient_below_the_number(m: int) -> None:
    division = Product("w0", "w1", "p0", "v0")
    facts = " and ".join([division.division, *facts_about([division], [], [], {"p0": {4}})])
    for x in range(-2 * m, 8 * m):
        wrong = "w1 < 4" if x >= 4 * m else "w1 >= 4"
        assert not holds(f"{facts} and {wrong}", "w0", "w1", p0=m, v0=x)


def test_products_with_other_factors_are_not_compared() -> None:
    facts = facts_about([Product("w0", "v0", "p0")], [Product("w0", "v0", "p1")], [], {})
    assert len(list(facts)) == 2  # each of them with 0 only


def test_a_constant_that_may_wrap_around_tells_nothing() -> None:
    wrapped = Product("c0", "p0", "p1", is_exact=False)
    assert wrapped.known == []
    assert list(facts_about([], [], [wrapped], {})) == []


def test_names_of_dimensions() -> None:
    assert primed("(3 * v1 + w20 - p3)") == "(3 * v1' + w20' - p3)"
    assert varies("floor(v1/3)")
    assert not varies("max(p1, c2)")
