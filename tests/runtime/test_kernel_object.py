"""Kernels are objects like functions: named, documented, bound, weakly referenced."""

from __future__ import annotations

import copy
import inspect
import pickle
import weakref
from typing import Any

import numpy as np
import pytest

from hybridjit import Kernel, hybrid
from hybridjit.errors import ArgumentError
from hybridjit.runtime.dispatch.objects import native_class
from tests.runtime.native_calls import (
    scaled_sum,
    warm,
)

pytestmark = [
    pytest.mark.usefixtures("unchecked"),
    pytest.mark.skipif(
        native_class() is None, reason="native calls are not possible on this interpreter"
    ),
]


# The kernel as an object


@hybrid.script
def documented(a: Any, k: float = 2.0) -> Any:
    """What it does."""
    return a[0] * k


def test_kernel_looks_like_its_function() -> None:
    warm(documented, np.ones(3))
    assert documented.__doc__ == "What it does."
    assert documented.__name__ == "documented"
    assert str(inspect.signature(documented)).startswith("(a")
    assert callable(documented)
    assert pickle.loads(pickle.dumps(documented)) is documented
    assert copy.copy(documented) is documented
    assert copy.deepcopy(documented) is documented
    assert weakref.ref(documented)() is documented
    assert "documented" in repr(documented)
    assert list(map(documented, [np.ones(3)] * 2)) == [2.0, 2.0]
    assert documented.py_func(np.ones(3)) == 2.0
    vars(documented)["note"] = 1
    assert getattr(documented, "note", 0) == 1


class Filter:
    """Kernels as attributes of a class."""

    documented = documented
    static = staticmethod(documented)

    @hybrid.script
    def method(self: Any, a: Any = 1.0) -> Any:
        return a

    @staticmethod
    @hybrid.script
    def decorated(a: Any) -> Any:
        return a[0] + 1


def test_kernel_of_a_class_is_called_as_a_function_of_it() -> None:
    assert Filter.documented is documented
    assert Filter.documented(np.ones(3)) == 2.0


def test_static_kernel_is_called_on_classes_and_instances() -> None:
    for owner in (Filter, Filter()):
        assert owner.static is documented
        for _ in range(4):
            assert owner.static(np.ones(3)) == 2.0
            assert owner.decorated(np.ones(3)) == 2.0


def test_kernel_is_bound_to_instances_as_functions_are() -> None:
    """`self.method(x)` must not give x the place of self."""
    for _ in range(4):
        assert Filter().method(2.0) == 2.0
        with pytest.raises(ArgumentError, match=r"documented\(\): .*") as caught:
            Filter().documented(np.ones(3), 3.0)
        assert "decorate it with @staticmethod" in str(caught.value)


def test_subclass_with_a_call_of_its_own() -> None:
    class Loud(Kernel[..., Any]):
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            return "loud", super().__call__(*args, **kwargs)

    loud = Loud(scaled_sum.__hybrid_function__)
    for _ in range(5):
        assert loud(np.ones(2), 3.0) == ("loud", 6.0)
