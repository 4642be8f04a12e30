"""Which assignments share a variable, where it lives, and that programs that reuse names agree."""

import ast
import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.errors import ParseError
from hybridjit.frontend.variables import Variables, Web, find_variables
from hybridjit.hybrid import float32, output_tensor
from tests.support.oracle import run_plain_and_interpreted

Array = Any
Number = Any


def analyse(text: str, taken: Mapping[int, bool] | None = None) -> tuple[ast.Module, Variables]:
    """The variables of the function in `text`; `taken` decides its `if`s, counted from 0."""
    tree = ast.parse(textwrap.dedent(text))
    func = tree.body[0]
    assert isinstance(func, ast.FunctionDef)
    branches = [node for node in ast.walk(func) if isinstance(node, ast.If)]
    known = {branches[position]: value for position, value in (taken or {}).items()}
    return tree, find_variables(func, known)


def webs(text: str, taken: Mapping[int, bool] | None = None) -> list[Web]:
    """The webs of a function, in the order of their first assignment."""
    return list(dict.fromkeys(analyse(text, taken)[1].writes.values()))


def kinds(text: str, taken: Mapping[int, bool] | None = None) -> list[str]:
    """Each web as `name` if it is a plain value, `name*` if it is a mutable variable."""
    return [f"{web.name}{'*' * web.is_mutable}" for web in webs(text, taken)]


def depth(web: Web) -> int:
    """How many blocks are around the block where a variable lives."""
    return len(web.home.steps) - 1


# Webs


def test_one_assignment_read_after_it_is_a_plain_value() -> None:
    assert kinds("def f(a):\n    x = a[0]\n    return x") == ["a", "x"]


def test_an_accumulator_is_one_variable() -> None:
    text = """
        def f(n):
            s = 0
            for k in range(n):
                s += k
            return s
    """
    assert kinds(text) == ["n", "s*", "k"]


def test_an_accumulator_of_an_inner_loop_lives_in_the_outer_one() -> None:
    text = """
        def f(n):
            for i in range(n):
                s = 0
                for k in range(i):
                    s += k
                use(s)
    """
    (s,) = (web for web in webs(text) if web.name == "s")
    assert depth(s) == 1


def test_a_value_carried_from_round_to_round_lives_outside_the_loop() -> None:
    text = """
        def f(n):
            x = 0
            for i in range(n):
                use(x)
                x = i
    """
    (x,) = (web for web in webs(text) if web.name == "x")
    assert depth(x) == 0


def test_a_name_used_again_for_something_else_is_another_variable() -> None:
    text = """
        def f(a, n):
            for k in range(n):
                s = a[k]
                use(s)
            for k in range(n):
                s = 2 * a[k]
                use(s)
    """
    assert kinds(text) == ["a", "n", "k", "s", "k", "s"]


def test_assignments_on_two_branches_that_meet_are_one_variable() -> None:
    text = """
        def f(c):
            if c:
                x = 1
            else:
                x = 2
            return x
    """
    assert kinds(text) == ["c", "x*"]


def test_assignments_on_two_branches_that_do_not_meet_are_two_values() -> None:
    text = """
        def f(c):
            if c:
                x = 1
                use(x)
            else:
                x = 2
                use(x)
    """
    assert kinds(text) == ["c", "x", "x"]


def test_a_static_branch_that_is_not_taken_does_not_count() -> None:
    text = """
        def f(c):
            x = 0
            if c:
                x = 1
            return x
    """
    assert kinds(text) == ["c", "x*"]
    assert kinds(text, taken={0: False}) == ["c", "x"]


def test_a_static_branch_that_is_taken_replaces_the_value() -> None:
    text = """
        def f(c):
            x = 0
            if c:
                x = 1
                use(x)
    """
    assert kinds(text, taken={0: True}) == ["c", "x", "x"]


def test_a_parameter_that_is_assigned_again_is_a_variable_where_the_two_meet() -> None:
    text = """
        def f(n):
            if n < 0:
                n = 0
            return n
    """
    assert kinds(text) == ["n*"]


def test_a_parameter_that_is_replaced_before_it_is_read_again_is_another_value() -> None:
    assert kinds("def f(n):\n    n = n + 1\n    return n") == ["n", "n"]


def test_a_declared_name_is_one_variable_that_lives_at_the_declaration() -> None:
    text = """
        def f(n):
            x: float32
            for i in range(n):
                x = i
                use(x)
            x = 2
            use(x)
    """
    (x,) = (web for web in webs(text) if web.name == "x")
    assert (x.is_mutable, depth(x)) == (True, 0)


def test_what_follows_a_return_is_never_looked_at() -> None:
    text = """
        def f(c):
            x = 1
            return x
            x = 2
            return x
    """
    assert kinds(text) == ["c", "x"]


def test_an_endless_loop_is_left_only_by_break() -> None:
    text = """
        def f(n):
            while True:
                x = n
                break
            return x
    """
    (x,) = (web for web in webs(text) if web.name == "x")
    assert not x.may_be_unbound


def test_a_loop_that_may_not_run_may_leave_its_names_unbound() -> None:
    text = """
        def f(n):
            for i in range(n):
                x = i
            return x
    """
    (x,) = (web for web in webs(text) if web.name == "x")
    assert x.may_be_unbound


def test_a_loop_target_read_in_its_body_is_read_directly() -> None:
    tree, found = analyse("def f(n):\n    for i in range(n):\n        use(i)\n")
    (read,) = (
        n for n in ast.walk(tree) if isinstance(n, ast.Name) and n in found.reads and n.id == "i"
    )
    target = found.direct[read]
    assert isinstance(target, ast.Name)
    assert isinstance(target.ctx, ast.Store)


@pytest.mark.parametrize(
    ("body", "is_stored"),
    [
        ("use(i)", False),
        ("if i > 2:\n            break", True),
        ("i = i + 1\n        use(i)", False),
        ("if i > 2:\n            i = 0\n        use(i)", True),
    ],
)
def test_a_loop_target_is_stored_in_each_round_only_if_someone_looks(
    body: str, is_stored: bool
) -> None:
    _, found = analyse(f"def f(n):\n    for i in range(n):\n        {body}\n    return i\n")
    assert bool(found.needs_store) is is_stored


# Programs


@hybrid.script
def two_uses(a: Array) -> Array:
    b = output_tensor(a.shape, "float64")
    s = 0.0
    for k in range(a.shape[0]):
        s += a[k]
    for k in range(a.shape[0]):
        s = a[k] * 2
        b[k] = s
    return b


def test_an_accumulator_and_a_temporary_of_one_name() -> None:
    run_plain_and_interpreted(two_uses, [np.arange(5.0)])


@pytest.mark.parametrize("n", [0, 1, 4])
def test_a_loop_variable_keeps_its_last_value(n: int) -> None:
    @hybrid.script
    def f(n: Number) -> Number:
        i = -7
        s = 0
        for i in range(n):
            s += i
        return i, s

    run_plain_and_interpreted(f, [n])


@pytest.mark.parametrize("n", [0, 2, 9])
def test_a_loop_variable_keeps_the_value_of_the_round_that_broke(n: int) -> None:
    @hybrid.script
    def f(n: Number) -> Number:
        i = -7
        for i in range(n):
            if i * i > 10:
                break
        return i

    run_plain_and_interpreted(f, [n])


def test_continue_carries_what_was_assigned_before_it() -> None:
    @hybrid.script
    def f(n: Number) -> Number:
        last = -1
        count = 0
        for i in range(n):
            last = i
            if i % 3 == 0:
                continue
            count += last
        return last, count

    run_plain_and_interpreted(f, [8])


def test_while_true_with_break_in_a_branch() -> None:
    @hybrid.script
    def f(n: Number) -> Number:
        x = 1
        while True:
            x = x * 2
            if x > n:
                break
        return x

    run_plain_and_interpreted(f, [100])


@pytest.mark.parametrize("n", [-3, 0, 3])
def test_a_parameter_changed_on_one_path(n: int) -> None:
    @hybrid.script
    def f(n: Number) -> Number:
        if n < 0:
            n = -n
        n += 1
        return n

    run_plain_and_interpreted(f, [n])


def test_a_parameter_changed_in_a_loop() -> None:
    @hybrid.script
    def f(n: Number, x: Number) -> Number:
        for _ in range(n):
            x = x * 2 + n
        return x

    run_plain_and_interpreted(f, [4, 1.5])


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_a_static_branch_chooses_the_type_of_a_variable(dtype: str) -> None:
    @hybrid.script
    def f(a: Array) -> Number:
        x = 0
        if a.dtype == "float32":
            x = a[0] * 2
        return x + 1

    run_plain_and_interpreted(f, [np.ones(2, dtype)])


def test_a_declared_type_converts_what_is_stored() -> None:
    @hybrid.script
    def f(n: Number) -> Number:
        x: float32 = 0  # pyright: ignore[reportInvalidTypeForm]
        for i in range(n):
            x = x + i / 3  # pyright: ignore[reportUnknownVariableType]
        return x  # pyright: ignore[reportUnknownVariableType]

    result: object = f.interpret(5)
    assert type(result) is np.float32


def test_a_swap_in_a_loop() -> None:
    @hybrid.script
    def fibonacci(n: Number) -> Number:
        a, b = 0, 1
        for _ in range(n):
            a, b = b, a + b
        return a

    run_plain_and_interpreted(fibonacci, [20])


def test_the_type_of_a_variable_is_the_join_of_all_its_values() -> None:
    @hybrid.script
    def f(a: Array) -> Number:
        s = 0
        for i in range(a.shape[0]):
            s += a[i]
        return s

    result: object = f.interpret(np.ones(3, np.float32))
    assert (type(result), result) == (np.float32, 3)


def test_each_iteration_has_its_own_variable() -> None:
    @hybrid.script
    def f(a: Array) -> Array:
        b = output_tensor(a.shape, a.dtype)
        for i in range(a.shape[0]):
            s = a[i]
            for k in range(i):
                s += a[k]
            b[i] = s
        return b

    run_plain_and_interpreted(f, [np.arange(6)])


def test_a_name_read_before_any_assignment_is_refused() -> None:
    @hybrid.script
    def f(n: Number) -> Number:
        y = x + n  # pyright: ignore[reportUnboundVariable]  # noqa: F821
        x = 1
        return y + x

    with pytest.raises(ParseError, match="'x' is used before it is assigned"):
        f.interpret(1)


def test_a_name_stands_for_the_array_that_it_was_given_last() -> None:
    @hybrid.script
    def f(a: Array, b: Array, c: Number) -> Number:
        x = a
        for _ in range(c):
            x = b
        return x[0]

    found = [f.interpret(np.zeros(2), np.ones(2), count) for count in (0, 1, 2)]
    assert found == [0, 1, 1]


def test_what_stands_behind_a_statement_that_is_refused_and_would_end_the_script() -> None:
    @hybrid.script
    def dead(n: Any) -> Any:
        if n > {}:  # type: ignore[operator]
            return 1
        else:  # noqa: RET505
            return 2
        n = 3
        return n + 1

    with pytest.raises(ParseError, match="dicts are not supported"):
        dead(1)


# Names that nothing gives a value: every assignment fails before.


def smallest_of_the_last(x: Array, n: int) -> Number:
    for _ in range(n):
        smallest = min(x)
    return smallest


def twice_the_largest(x: Array, n: int) -> Number:
    if n > 0:
        largest = x.max()
        twice = largest * 2
    return twice + 1


def sum_of_largest(x: Array, n: int) -> Number:
    k = 0
    while k < n:
        if k == 0:
            total = x.max()
        else:
            total += x.max()
        k += 1
    return total


@pytest.mark.parametrize("function", [smallest_of_the_last, twice_the_largest, sum_of_largest])
def test_an_assignment_that_always_fails_leaves_a_name_without_a_value(function: Any) -> None:
    kernel: Any = hybrid.script(function)
    for way in (kernel, kernel.interpret):
        with pytest.raises(ValueError, match=r"empty|zero-size"):
            way(np.zeros(0), 3)
        with pytest.raises(UnboundLocalError, match="is read before it is assigned"):
            way(np.zeros(0), 0)
        assert way(np.ones(2), 2) == function(np.ones(2), 2)
