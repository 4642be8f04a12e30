"""Records are dataclasses: frozen, with slots, equal by their fields."""

import copy
import dataclasses
import pickle
from collections.abc import Generator
from dataclasses import field

import pytest

from hybridjit import record as record_module
from hybridjit.record import record


# In this order: what was written once stays.
@pytest.fixture(scope="module", autouse=True, params=["shared methods", "written methods"])
def methods(request: pytest.FixtureRequest) -> Generator[None]:
    """Everything holds for the methods that all records share and for those that are written."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record_module, "_OFTEN", 0 if request.param == "written methods" else 1 << 30)
        yield


@record(eq=False)
class Base:
    """With an argument that is given by name only, and does not count."""

    origin: str | None = field(default=None, compare=False, repr=False, kw_only=True)


@record
class Pair(Base):
    """With a default, and one that is made anew."""

    first: int
    second: int = 2
    rest: list[int] = field(default_factory=list[int], compare=False)


class Kind(Pair):
    """That adds no fields."""

    __slots__ = ()


@record
class Sum:
    """With a field that is computed."""

    terms: tuple[int, ...]
    total: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", sum(self.terms))


@record
class Empty:
    """Without fields."""


@record(eq=False, repr=False)
class Own:
    """With methods of its own."""

    value: int

    def __init__(self, value: int) -> None:
        object.__setattr__(self, "value", 2 * value)

    def __repr__(self) -> str:
        return "own"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Own)

    def __hash__(self) -> int:
        return 7


@record
class OwnEquality:
    """Which Python takes for a reason to have no hash."""

    value: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OwnEquality) and abs(self.value) == abs(other.value)


def test_own_equality_leaves_the_hash() -> None:
    assert OwnEquality(1) == OwnEquality(-1)
    assert hash(OwnEquality(1)) == hash((1,))


def test_arguments_and_defaults() -> None:
    pair = Pair(1)
    assert (pair.first, pair.second, pair.rest, pair.origin) == (1, 2, [], None)
    assert Pair(1).rest is not pair.rest
    assert Pair(second=4, first=3, rest=[5], origin="here").origin == "here"


@pytest.mark.parametrize(
    ("args", "named", "message"),
    [
        ((), {"second": 3}, "missing 1 required positional argument: 'first'"),
        ((1, 2, None, 4), {"origin": ""}, "takes from 2 to 4 positional arguments but 5"),
        ((1,), {"third": 3}, "got an unexpected keyword argument 'third'"),
        ((1,), {"first": 3}, "got multiple values for argument 'first'"),
    ],
)
def test_wrong_arguments_name_the_class(
    args: tuple[object, ...], named: dict[str, object], message: str
) -> None:
    make: type = Pair
    with pytest.raises(TypeError, match=rf"Pair\.__init__\(\) {message}"):
        make(*args, **named)


def test_fields_that_are_not_arguments() -> None:
    assert Sum((1, 2)).total == 3


@pytest.mark.parametrize("pair", [Pair(1), Kind(1)])
def test_records_are_frozen(pair: Pair) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'first'"):
        pair.first = 3  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'first'"):
        del pair.first  # pyright: ignore[reportAttributeAccessIssue]
    assert not hasattr(pair, "__dict__")


def test_equality_is_that_of_the_fields_that_count() -> None:
    assert Pair(1, rest=[3], origin="here") == Pair(1)
    assert hash(Pair(1, rest=[3])) == hash(Pair(1)) == hash((1, 2))
    assert Pair(1) != Pair(2)
    assert Pair(1) != Kind(1)
    assert Sum((1,)) != (1,)
    assert Empty() == Empty()
    assert Base() != Base()


def test_text() -> None:
    assert repr(Kind(1, origin="here")) == "Kind(first=1, second=2, rest=[])"
    assert repr(Empty()) == "Empty()"


def test_own_methods_stay() -> None:
    own = Own(2)
    assert (own.value, repr(own), own == Own(3), hash(own)) == (4, "own", True, 7)


def test_records_are_matched_by_position() -> None:
    match Pair(1, 5):
        case Pair(first, second):
            assert (first, second) == (1, 5)
    assert Pair.__match_args__ == ("first", "second", "rest")


def test_dataclasses_know_records() -> None:
    assert [each.name for each in dataclasses.fields(Pair)] == ["origin", "first", "second", "rest"]
    assert dataclasses.replace(Kind(1, 5, origin="here"), first=3) == Kind(3, 5)


@pytest.mark.parametrize("made", [Pair(1, 5, [6], origin="here"), Kind(1), Sum((1, 2)), Empty()])
def test_copies(made: object) -> None:
    for other in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert (type(other), repr(other)) == (type(made), repr(made))


@record(frozen=False)
class Counter:
    """That changes."""

    name: str
    count: int = 0
    seen: list[int] = field(default_factory=list[int])


def test_records_that_may_change() -> None:
    counter = Counter("a")
    counter.count += 1
    counter.seen.append(2)
    assert counter == Counter("a", 1, [2])
    assert repr(counter) == "Counter(name='a', count=1, seen=[2])"
    assert not hasattr(counter, "__dict__")
    assert copy.copy(counter).seen is counter.seen
    with pytest.raises(TypeError, match="unhashable type: 'Counter'"):
        hash(counter)


def test_classes_of_one_shape_have_names_of_their_own() -> None:
    assert Counter(name="a").name == "a"

    @record(frozen=False)
    class Other:
        label: str
        total: int = 7
        parts: list[int] = field(default_factory=list[int])

    assert (Other(label="b").total, Counter("c").count) == (7, 0)
    assert Other("b") == Other("b")
    assert Other("b") != Other("c")
    with pytest.raises(TypeError, match=r"Other\.__init__\(\) got an unexpected keyword .*'name'"):
        Other(name="b")  # pyright: ignore[reportCallIssue]


def test_methods_that_are_called_often_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    @record
    class Often:
        value: int

    monkeypatch.setattr(record_module, "_OFTEN", 3)
    made = [Often(n) for n in range(5)]
    assert [each.value for each in made] == [0, 1, 2, 3, 4]
    assert Often.__init__.__code__.co_filename == "<record>"
    assert hash(made[0]) == hash((0,))
    assert Often.__hash__.__code__.co_filename != "<record>"
