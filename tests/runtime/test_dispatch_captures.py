"""Native calls see when what a script captures has changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.runtime.dispatch import captures as dispatch_captures
from hybridjit.runtime.dispatch.objects import native_class
from tests.runtime.native_calls import (
    agrees,
    warm,
)

pytestmark = [
    pytest.mark.usefixtures("unchecked"),
    pytest.mark.skipif(
        native_class() is None, reason="native calls are not possible on this interpreter"
    ),
]


# Captured values

SCALE = 2.0
TABLE = np.array([1.0, 2.0, 3.0])
PAIR = (1, 2.5)
ITEMS = [1.0, 2.0]


def helper(x: Any) -> Any:
    return x + 1


def other_helper(x: Any) -> Any:
    return x - 1


def difference(x: Any, y: Any) -> Any:
    return x - y


def test_changed_global_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    @hybrid.script
    def scaled(a: Any) -> Any:
        return a[0] * SCALE + PAIR[1]

    a = np.array([3.0])
    warm(scaled, a)
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    assert scaled(a) == 17.5
    for _ in range(3):
        scaled(a)
    assert agrees(scaled, a)
    monkeypatch.setitem(globals(), "PAIR", (1, 3.5))
    assert scaled(a) == 18.5
    for _ in range(3):
        scaled(a)
    assert agrees(scaled, a)


def test_equal_value_in_another_object_is_accepted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    @hybrid.script
    def scaled(a: Any) -> Any:
        return a[0] * SCALE

    a = np.array([3.0])
    warm(scaled, a)
    for count in range(20):
        monkeypatch.setitem(globals(), "SCALE", float(f"2.{0}"))
        assert scaled(a) == 6.0, count
    for _ in range(40):
        scaled(a)
    assert agrees(scaled, a)


def test_changed_function_and_closure_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    factor = 2.0

    @hybrid.script
    def scaled(a: Any) -> Any:
        return helper(a[0]) * factor

    a = np.array([3.0])
    warm(scaled, a)
    factor = 10.0
    assert scaled(a) == 40.0
    monkeypatch.setitem(globals(), "helper", other_helper)
    assert scaled(a) == 20.0


def test_array_changed_in_place_is_seen() -> None:
    @hybrid.script
    def looked_up(a: Any) -> Any:
        return a[0] * TABLE[1]

    a = np.array([3.0])
    warm(looked_up, a)
    TABLE[1] = 10.0
    try:
        assert looked_up(a) == 30.0
        for _ in range(3):
            looked_up(a)
        assert agrees(looked_up, a)
    finally:
        TABLE[1] = 2.0
    assert looked_up(a) == 6.0


def test_list_changed_in_place_is_seen() -> None:
    @hybrid.script
    def looked_up(a: Any) -> Any:
        return a[0] * ITEMS[1]

    a = np.array([3.0])
    for _ in range(3):
        assert looked_up(a) == 6.0
    ITEMS[1] = 10.0
    try:
        assert looked_up(a) == 30.0
    finally:
        ITEMS[1] = 2.0


def test_name_that_hides_one_of_the_language_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    @hybrid.script
    def rounded(a: Any) -> Any:
        return ceil_div(a[0], 2)  # type: ignore[name-defined]  # noqa: F821

    a = np.array([3])
    warm(rounded, a)
    monkeypatch.setitem(globals(), "unrelated", 1)
    assert agrees(rounded, a)
    monkeypatch.setitem(globals(), "ceil_div", difference)
    assert rounded(a) == 1


def test_function_of_a_module_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    @hybrid.script
    def root(a: Any) -> Any:
        return np.sqrt(a[0])

    a = np.array([4.0])
    warm(root, a)
    monkeypatch.setattr(np, "sqrt", np.square)
    assert root(a) == 16.0


def test_attribute_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    class Settings:
        step = 3

    @hybrid.script
    def stepped(a: Any) -> Any:
        return a[0] + Settings.step

    a = np.array([1.0])
    warm(stepped, a)
    monkeypatch.setattr(Settings, "step", 4)
    assert stepped(a) == 5.0


# Names that are not there yet


def ten_times(x: Any) -> Any:
    return x * 10


@pytest.mark.parametrize("has_versions", [True, False])
def test_builtin_that_is_hidden_while_another_name_goes(
    has_versions: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of names stays the same. Dicts have versions until Python 3.12."""
    if not has_versions:
        monkeypatch.setattr(dispatch_captures, "dict_version_offset", lambda: 0)
    monkeypatch.setitem(globals(), "unused", 1)

    @hybrid.script
    def magnitude(a: Any) -> Any:
        return abs(a[0])

    a = np.array([-3.0])
    warm(magnitude, a)
    with monkeypatch.context() as patch:
        patch.delitem(globals(), "unused")
        patch.setitem(globals(), "abs", ten_times)
        assert magnitude(a) == -30
    assert magnitude(a) == 3


class Colliding:
    """A key that Python has to compare with the name it looks for; that fails."""

    def __hash__(self) -> int:
        return hash("abs")

    def __eq__(self, other: object) -> bool:
        raise LookupError("compared")


def test_lookup_that_fails_ends_the_call_with_its_error() -> None:
    @hybrid.script
    def magnitude(a: Any) -> Any:
        return abs(a[0])

    a = np.array([-3.0])
    warm(magnitude, a)
    names: Any = globals()
    key = Colliding()
    names[key] = 1
    try:
        with pytest.raises(LookupError, match="compared"):
            magnitude(a)
    finally:
        kept = {name: value for name, value in names.items() if type(name) is str}
        names.clear()
        names.update(kept)
    assert magnitude(a) == 3
