"""Named tuples, dataclasses and `self` as arguments: what they hold is known by its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.errors import ArgumentError, ParseError, TypeMismatch
from tests.support.array_results import assert_agree


class Point(NamedTuple):
    x: Any
    y: Any


class Turned(NamedTuple):
    y: Any
    x: Any


@dataclass(frozen=True)
class Grid:
    values: Any
    step: float
    origin: Point
    name: str = "grid"


@dataclass
class Labelled:
    labels: dict[str, int]


ORIGIN = Point(1.0, 2.0)


def weighed(p: Any) -> Any:
    q = p
    return q.x + 10.0 * q.y


def through_a_helper(p: Any) -> Any:
    x, y = p
    return weighed(p) + x * y + p[1] + len(p)


def captured(a: Any) -> Any:
    return a[0] * ORIGIN.x + ORIGIN.y


def scaled(grid: Any) -> Any:
    for i in range(len(grid.values)):
        grid.values[i] *= grid.step
    if grid.name == "grid":
        return grid.values + grid.origin.x
    return grid.values * grid.origin.y


@pytest.mark.parametrize("script", [weighed, through_a_helper])
def test_fields_of_a_named_tuple(script: Any) -> None:
    kernel: Any = hybrid.script(script)
    for x, y in ((1.5, 2.0), (np.float32(3), 4)):
        assert_agree(kernel, [Point(x, y)])
        assert_agree(kernel, [Turned(x, y)])


def test_arrays_in_a_named_tuple() -> None:
    kernel = hybrid.script(weighed)
    for size in (3, 5, 7):
        assert_agree(kernel, [Point(np.arange(float(size)), np.ones(size))])


def test_a_named_tuple_from_around() -> None:
    assert_agree(hybrid.script(captured), [np.array([3.0])])


def test_a_dataclass_is_read_and_its_arrays_are_written() -> None:
    kernel = hybrid.script(scaled)
    for name in ("grid", "other"):
        values = [np.arange(4.0) for _ in range(3)]
        ways: Any = [scaled, kernel, kernel.interpret]
        results = [way(Grid(x, 2.0, ORIGIN, name)) for way, x in zip(ways, values, strict=True)]
        for found, written in zip(results, values, strict=True):
            assert found.tolist() == results[0].tolist()
            assert written.tolist() == [0.0, 2.0, 4.0, 6.0]
    kernel.check(Grid(np.arange(4.0), 3.0, ORIGIN))


class Filter:
    def __init__(self, weights: Any, gain: float) -> None:
        self.weights, self.gain = weights, gain
        self.registry = {"not": "a number"}

    @hybrid.script
    def run(self, x: Any) -> Any:
        return (self.weights * x).sum() * self.gain

    @hybrid.script
    def first(self, x: Any) -> Any:
        return x[0]

    @hybrid.script
    def bad(self, x: Any) -> Any:
        return x[0] + self.registry

    @hybrid.script
    def assigning(self, x: Any) -> None:
        self.gain = x[0]


def test_a_kernel_as_a_method() -> None:
    x = np.arange(3.0)
    for gain in (2.0, 3.0):
        assert Filter(np.ones(3), gain).run(x) == 3.0 * gain
    assert Filter(np.ones(3), 1.0).first(x) == 0.0


def test_an_attribute_that_is_no_number() -> None:
    with pytest.raises(ParseError, match="'self' holds no array or number 'registry'"):
        Filter(np.ones(3), 1.0).bad(np.ones(3))


def test_an_attribute_is_not_assigned_to() -> None:
    with pytest.raises(ParseError, match="cannot assign to the attribute 'gain'"):
        Filter(np.ones(3), 1.0).assigning(np.ones(3))


def test_a_field_that_is_not_there() -> None:
    with pytest.raises(ParseError, match="'p' holds no array or number 'z'"):
        hybrid.script(missing_field)(Point(1.0, 2.0))


def missing_field(p: Any) -> Any:
    return p.z


def test_a_field_that_no_script_can_take() -> None:
    with pytest.raises(ArgumentError, match=r"argument 'p.labels' is a dict"):
        hybrid.script(missing_field)(Labelled({}))


class Body(NamedTuple):
    position: Any
    mass: Any


@dataclass
class Changeable:
    values: Any
    step: float


def test_arguments_that_are_returned() -> None:
    """What nobody can tell from the argument itself: its arrays are those that were passed."""

    @hybrid.script
    def same(p: Any, grid: Any) -> Any:
        p.position[0] += 1
        return p, (grid.origin, grid.step), Body(p.position, 2.0)

    for mass in (3, np.float32(1.5)):
        given, grid = Body(np.zeros(3), mass), Grid(np.ones(2), 0.5, ORIGIN)
        for way in (same.interpret, same, same):
            found, (origin, step), made = way(given, grid)
            assert type(found) is type(made) is Body
            assert found.position is made.position is given.position
            assert (found.mass, type(found.mass)) == (mass, type(mass))
            assert (origin, type(origin), step) == (ORIGIN, Point, 0.5)


def test_classes_of_the_same_fields_are_told_apart() -> None:
    class Other(NamedTuple):
        x: Any
        y: Any

    @hybrid.script
    def same(p: Any) -> Any:
        return p

    @hybrid.script
    def is_point(p: Any) -> Any:
        return isinstance(p, Point), isinstance(p, (Grid, tuple)), isinstance(p, list)

    for maker in (Point, Other, Point):
        for run in (same, same.interpret, same.py_func):
            assert type(run(maker(1.0, 2))) is maker
        for run in (is_point, is_point.interpret, is_point.py_func):
            assert run(maker(1.0, 2)) == (maker is Point, True, False)


def test_what_may_be_changed_is_not_returned() -> None:
    """The caller would be given another object."""

    @hybrid.script
    def same(p: Any) -> Any:
        return p

    with pytest.raises(TypeMismatch, match="may be changed"):
        same(Changeable(np.ones(2), 1.0))


class Segment(NamedTuple):
    at: Any
    size: Any = 1.0

    def total(self, by: Any = 1) -> Any:
        return self.at.sum() * self.size * by

    def moved(self, by: Any) -> Any:
        self.at[...] = self.at + by
        return self._replace(size=self.size + by)

    @property
    def end(self) -> Any:
        return self.at[-1] + self.size


@dataclass
class Spring:
    length: Any
    stiffness: float

    def force(self, x: Any) -> Any:
        return self.stiffness * (x - self.length)

    @hybrid.script
    def energy(self, x: Any) -> Any:
        return (self.force(x) * x).sum()


def through_methods(segment: Any, by: Any) -> Any:
    moved = segment.moved(by)
    again = moved._replace(at=moved.at * 2, size=3)
    return moved.total() + again.total(by=2), moved.end, again, segment.size


def through_made_objects(a: Any) -> Any:
    spring = Spring(a, 2.0)
    return spring.force(a + 1) + Segment(a).end, Segment(at=a, size=spring.energy(a)).total()


@pytest.mark.parametrize("size", [1, 4, 9])
def test_methods_and_properties(size: int) -> None:
    array = np.arange(float(size))
    assert_agree(hybrid.script(through_methods), [Segment(array, 2.0), 3])
    assert_agree(hybrid.script(through_made_objects), [array])
    spring = Spring(array, 0.5)
    for run in (spring.energy, Spring.energy.interpret):
        args = (array + 2,) if run == spring.energy else (spring, array + 2)
        assert run(*args) == Spring.energy.py_func(spring, array + 2)


def test_a_class_that_is_given_another_method() -> None:
    class Changing(NamedTuple):
        x: Any

        def value(self) -> Any:
            return self.x + 1

    @hybrid.script
    def called(p: Any) -> Any:
        return p.value()

    def ten_times(self: Any) -> Any:
        return self.x * 10

    assert called(Changing(1)) == 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Changing, "value", ten_times)
        assert called(Changing(1)) == 10
    assert called(Changing(1)) == 2


def test_classes_with_methods_of_one_name() -> None:
    """Each has its own, in memory and on disk."""

    def made(by: int) -> Any:
        class Point(NamedTuple):
            x: Any

            def scaled(self) -> Any:
                return self.x * by

        return Point

    for by in (2, 3):
        maker = made(by)

        @hybrid.script
        def scaled(p: Any, Point: Any = maker) -> Any:
            return p.scaled()

        assert scaled(maker(5.0)) == 5.0 * by


def test_fields_that_are_not_there_are_not_replaced() -> None:
    @hybrid.script
    def replaced(p: Any) -> Any:
        return p._replace(z=1)

    with pytest.raises(ParseError, match="_replace takes fields of Point by their names"):
        replaced(Point(1.0, 2.0))
