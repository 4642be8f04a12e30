"""The decorator, the kernel it makes, and the plain Python that a script is."""

from typing import Any

import numpy as np
import pytest

from hybridjit import Kernel, hybrid
from hybridjit.errors import ParseError, shown_path
from tests.frontend.from_text import script_from_text
from tests.support.oracle import run_plain_and_interpreted

Array = Any
Number = Any


@hybrid.script
def scale(a: Array, factor: Number = 2) -> None:
    """Multiply in place."""
    for i in range(a.shape[0]):
        a[i] *= factor


# The decorator


def test_a_kernel_looks_like_its_function() -> None:
    assert (scale.__name__, scale.__doc__) == ("scale", "Multiply in place.")


def test_the_repr_of_a_kernel_says_where_it_is() -> None:
    line = scale.__hybrid_function__.__code__.co_firstlineno
    assert repr(scale) == f"hybridjit kernel 'scale' at {shown_path(__file__)}:{line}"


def test_the_decorator_may_be_called() -> None:
    @hybrid.script()
    def f(n: Number) -> Number:
        return n + 1

    assert isinstance(f, Kernel)


def test_a_kernel_decorated_again_is_the_same() -> None:
    again: object = hybrid.script(scale)
    assert again is scale


def test_decorating_runs_and_translates_nothing() -> None:
    @hybrid.script
    def f(n: Number) -> Number:
        return [n for n in n]

    with pytest.raises(ParseError, match="cannot loop over a Python int"):
        f.interpret(1)


# Specialisation


def test_the_ir_is_short_in_a_prompt_and_whole_in_print() -> None:
    func = scale.prim_func(np.ones(3))
    assert repr(func).startswith("PrimFunc scale(")
    assert str(func).startswith("def scale(")


def test_arguments_of_the_same_type_share_a_translation() -> None:
    assert scale.prim_func(np.ones(3)) is scale.prim_func(np.zeros(3))


def test_arguments_of_another_type_have_their_own() -> None:
    assert scale.prim_func(np.ones(3)) is not scale.prim_func(np.ones(3, np.float32))


def test_a_kernel_works_in_place() -> None:
    run_plain_and_interpreted(scale, [np.arange(3.0)], {"factor": 3})


# Plain Python


def test_plain_python_knows_the_names_of_the_language() -> None:
    kernel = script_from_text("def f(n):\n    return [i for i in parallel(n)], exp(0.0)\n")
    assert kernel.py_func(3) == ([0, 1, 2], 1.0)


def test_plain_python_sees_a_closure_value_that_changes() -> None:
    factor = 2

    @hybrid.script
    def f(n: Number) -> Number:
        return n * factor

    before: object = f.py_func(3)
    factor = 5
    assert (before, f.py_func(3)) == (6, 15)


def test_plain_python_sees_a_cell_that_is_filled_later() -> None:
    @hybrid.script
    def f(n: Number) -> Number:
        return n * factor

    plain: Any = f.py_func
    factor = 3
    assert plain(2) == 6


def test_plain_python_sees_a_global_that_changes() -> None:
    kernel = script_from_text("def f(n):\n    return n + K\n", {"K": 1})
    before: object = kernel.py_func(1)
    kernel.__hybrid_function__.__globals__["K"] = 5
    assert (before, kernel.py_func(1)) == (2, 6)


def test_a_script_that_calls_itself_runs_as_plain_python() -> None:
    @hybrid.script
    def factorial(n: Number) -> Number:
        return 1 if n == 0 else n * factorial(n - 1)

    assert factorial.py_func(5) == 120


def test_a_script_called_by_a_script_runs_as_plain_python_too() -> None:
    @hybrid.script
    def inner(n: Number) -> Number:
        return [n, n]

    @hybrid.script
    def outer(n: Number) -> Number:
        return inner(n)

    assert outer.py_func(1) == [1, 1]


def test_a_function_called_by_a_script_knows_the_names_of_the_language_too() -> None:
    names: dict[str, Any] = {}
    exec("def helper(n):\n    return sum(i for i in serial(n))\n", names)
    kernel = script_from_text("def f(n):\n    return helper(n)\n", {"helper": names["helper"]})
    assert kernel.py_func(4) == 6


def test_plain_function_of_a_kernel_is_a_script_again() -> None:
    @hybrid.script
    def rooted(a: Any) -> Any:
        return np.sqrt(a[0]) + len(a)

    again: Any = hybrid.script(rooted.py_func)
    inlined: Any = rooted.py_func

    @hybrid.script
    def caller(a: Any) -> Any:
        return inlined(a) * 2

    a = np.array([4.0, 1.0])
    assert again(a) == again.py_func(a) == rooted(a) == 4
    assert caller(a) == caller.py_func(a) == 8
