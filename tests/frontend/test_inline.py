"""Calls of other functions: their body takes the place of the call, their meaning stays."""

from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.errors import ParseError
from hybridjit.hybrid import allocate, output_tensor
from tests.frontend.from_text import script_from_text
from tests.support.array_results import assert_agree
from tests.support.oracle import run_plain_and_interpreted

Array = Any
Number = Any


def clamp(x: Number, low: Number = 0, high: Number = 10) -> Number:
    if x < low:
        return low
    if x > high:
        return high
    return x


def find(a: Array, wanted: Number) -> Number:
    for i in range(a.shape[0]):
        if a[i] == wanted:
            return i
    return -1


def find_pair(a: Array, total: Number) -> Number:
    for i in range(a.shape[0]):
        for j in range(i):
            if a[i] + a[j] == total:
                return i, j
    return -1, -1


def bump(a: Array) -> Number:
    a[0] += 1
    return a[0]


def halve(n: Number) -> Number:
    while True:
        if n % 2 == 1:
            return n
        n = n // 2


# Returns


@pytest.mark.parametrize("x", [-5, 5, 50])
def test_a_return_in_each_branch(x: int) -> None:
    @hybrid.script
    def f(x: Number) -> Number:
        return clamp(x)

    run_plain_and_interpreted(f, [x])


@pytest.mark.parametrize("wanted", [3, 0, 99])
def test_a_return_in_a_loop(wanted: int) -> None:
    @hybrid.script
    def f(a: Array, wanted: Number) -> Number:
        return find(a, wanted)

    run_plain_and_interpreted(f, [np.array([1, 3, 3, 0]), wanted])


@pytest.mark.parametrize("total", [5, 2, 99])
def test_a_return_in_nested_loops(total: int) -> None:
    @hybrid.script
    def f(a: Array, total: Number) -> Number:
        i, j = find_pair(a, total)
        return i, j

    run_plain_and_interpreted(f, [np.array([1, 3, 2, 0]), total])


def test_a_return_in_an_endless_loop() -> None:
    @hybrid.script
    def f(n: Number) -> Number:
        return halve(n)

    run_plain_and_interpreted(f, [48])


def test_a_return_in_a_loop_of_the_caller_leaves_only_the_callee() -> None:
    @hybrid.script
    def f(a: Array, b: Array) -> Array:
        c = output_tensor(b.shape, "int64")
        for i in range(b.shape[0]):
            c[i] = find(a, b[i])
        return c

    run_plain_and_interpreted(f, [np.array([4, 5, 6]), np.array([6, 4, 9])])


def test_statements_after_a_return_in_a_branch_are_skipped() -> None:
    def g(a: Array, c: Number) -> Number:
        if c > 0:
            a[0] = 1
            return 1
        a[1] = 1
        if c < -5:
            return 2
        a[2] = 1
        return 3

    @hybrid.script
    def f(a: Array, c: Number) -> Number:
        return g(a, c)

    for c in (1, 0, -6):
        run_plain_and_interpreted(f, [np.zeros(3), c])


def test_returns_of_different_types_meet() -> None:
    def g(x: Number) -> Number:
        if x > 0:
            return 1
        return x

    @hybrid.script
    def f(a: Array) -> Number:
        return g(a[0])

    result: object = f.interpret(np.ones(1, np.float32))
    assert type(result) is np.float32


def test_a_tuple_is_returned_item_by_item() -> None:
    def divmod_of(x: Number, y: Number) -> Number:
        return x // y, x % y

    @hybrid.script
    def f(x: Number, y: Number) -> Number:
        q, r = divmod_of(x, y)
        return q * 100 + r

    run_plain_and_interpreted(f, [17, 5])


def test_an_array_made_by_the_callee_is_returned() -> None:
    def squares(a: Array) -> Array:
        t = allocate(a.shape, a.dtype)
        for i in range(a.shape[0]):
            t[i] = a[i] * a[i]
        return t

    @hybrid.script
    def f(a: Array) -> Number:
        t = squares(a)
        return t[0] + t[1]

    run_plain_and_interpreted(f, [np.array([2.0, 3.0])])


def test_a_function_without_a_return_is_called_for_its_effect() -> None:
    def fill(a: Array, x: Number) -> None:
        for i in range(a.shape[0]):
            a[i] = x

    @hybrid.script
    def f(a: Array) -> None:
        fill(a, 3)

    run_plain_and_interpreted(f, [np.zeros(3)])


def test_a_bare_return_leaves_early() -> None:
    def fill(a: Array, n: Number) -> None:
        for i in range(a.shape[0]):
            if i == n:
                return
            a[i] = 1

    @hybrid.script
    def f(a: Array, n: Number) -> None:
        fill(a, n)
        a[3] = 7

    run_plain_and_interpreted(f, [np.zeros(4), 2])


# Arguments


def test_defaults_and_keywords() -> None:
    @hybrid.script
    def f(x: Number) -> Number:
        return clamp(x), clamp(x, 3), clamp(x, high=4), clamp(high=2, low=1, x=x)

    run_plain_and_interpreted(f, [7])


def test_keyword_only_and_positional_only_parameters() -> None:
    def g(x: Number, /, y: Number, *, z: Number = 3) -> Number:
        return x * 100 + y * 10 + z

    @hybrid.script
    def f(x: Number) -> Number:
        return g(x, y=2), g(x, 2, z=4)

    run_plain_and_interpreted(f, [1])


def test_an_argument_is_evaluated_once() -> None:
    def twice(x: Number) -> Number:
        return x + x

    @hybrid.script
    def f(a: Array) -> Number:
        return twice(bump(a))

    run_plain_and_interpreted(f, [np.zeros(1)])


def test_an_argument_is_the_value_from_before_the_call() -> None:
    def g(a: Array, x: Number) -> Number:
        a[0] = 10
        return x

    @hybrid.script
    def f(a: Array) -> Number:
        return g(a, a[0])

    run_plain_and_interpreted(f, [np.ones(1)])


def test_an_argument_that_the_callee_assigns_stays_the_callers() -> None:
    def g(n: Number) -> Number:
        n += 1
        return n

    @hybrid.script
    def f(n: Number) -> Number:
        m = g(n)
        return n, m

    run_plain_and_interpreted(f, [1])


def test_names_of_the_callee_are_its_own() -> None:
    def g(x: Number) -> Number:
        t = x * 2
        t += 1
        return t

    @hybrid.script
    def f(x: Number) -> Number:
        t = 5
        u = g(x)
        return t, u

    run_plain_and_interpreted(f, [1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("clamp()", "clamp needs an argument 'x'"),
        ("clamp(1, 2, 3, 4)", "takes at most 3 arguments, found 4"),
        ("clamp(1, lwo=2)", "no argument 'lwo'"),
        ("clamp(1, x=2)", "got 'x' twice"),
        ("clamp(*n)", "unpacking is not supported"),
        ("clamp(**{})", r"'\*\*' arguments are not supported"),
    ],
)
def test_arguments_that_do_not_match_are_refused(call: str, message: str) -> None:
    names: dict[str, Any] = {"clamp": clamp}
    kernel = script_from_text(f"def f(n):\n    return {call}\n", names)
    with pytest.raises(ParseError, match=message):
        kernel.interpret(1)


# Evaluation order


def test_an_operand_is_read_before_a_later_call_changes_it() -> None:
    @hybrid.script
    def f(a: Array) -> Number:
        return a[0] * 100 + bump(a)

    run_plain_and_interpreted(f, [np.ones(1)])


def test_a_call_changes_what_a_later_operand_reads() -> None:
    @hybrid.script
    def f(a: Array) -> Number:
        return bump(a) * 100 + a[0]

    run_plain_and_interpreted(f, [np.ones(1)])


def test_the_right_side_runs_before_the_target_is_found() -> None:
    @hybrid.script
    def f(a: Array, b: Array) -> None:
        b[int(a[0])] = bump(a)

    run_plain_and_interpreted(f, [np.ones(1), np.zeros(4)])


def test_an_updated_element_is_read_before_the_right_side_runs() -> None:
    @hybrid.script
    def f(a: Array) -> None:
        a[0] += bump(a) * 10

    run_plain_and_interpreted(f, [np.ones(1)])


def test_a_call_that_is_not_reached_has_no_effect() -> None:
    @hybrid.script
    def f(a: Array, n: Number) -> Number:
        x = n > 0 and bump(a) > 0
        y = bump(a) if n > 0 else 0
        return x, y

    for n in (0, 1):
        run_plain_and_interpreted(f, [np.ones(1), n], joined=True)


def test_a_call_in_a_while_condition_runs_in_each_round() -> None:
    @hybrid.script
    def f(a: Array) -> Number:
        rounds = 0
        while bump(a) < 5:
            rounds += 1
        return rounds

    run_plain_and_interpreted(f, [np.zeros(1)])


def test_arguments_are_evaluated_from_left_to_right() -> None:
    def pair(x: Number, y: Number) -> Number:
        return x * 10 + y

    @hybrid.script
    def f(a: Array) -> Number:
        return pair(bump(a), bump(a)), pair(y=bump(a), x=bump(a))

    run_plain_and_interpreted(f, [np.zeros(1)])


# What cannot be inlined


def test_mutual_recursion_is_refused() -> None:
    def even(n: Number) -> Number:
        return n == 0 or odd(n - 1)

    def odd(n: Number) -> Number:
        return n != 0 and even(n - 1)

    @hybrid.script
    def f(n: Number) -> Number:
        return even(n)

    with pytest.raises(ParseError, match="'even' calls itself"):
        f.interpret(3)


def test_a_script_that_calls_itself_is_refused() -> None:
    @hybrid.script
    def f(n: Number) -> Number:
        return f(n - 1)

    with pytest.raises(ParseError, match="'f' calls itself"):
        f.interpret(3)


def test_a_value_on_some_paths_only_is_refused() -> None:
    def g(n: Number) -> Number:  # noqa: RET503
        if n > 0:
            return 1

    @hybrid.script
    def f(n: Number) -> Number:
        return g(n)

    with pytest.raises(ParseError, match="returns a value on some paths and none on others"):
        f.interpret(3)


def test_returns_that_do_not_agree_are_refused() -> None:
    def g(n: Number) -> Number:
        if n > 0:
            return 1, 2
        return 1

    @hybrid.script
    def f(n: Number) -> Number:
        return g(n)

    with pytest.raises(ParseError, match="the returns of 'g' do not agree"):
        f.interpret(3)


def test_a_function_without_source_is_refused() -> None:
    names: dict[str, Any] = {}
    exec("def g(n): return n", names)
    g = names["g"]

    @hybrid.script
    def f(n: Number) -> Number:
        return g(n)

    with pytest.raises(ParseError, match="cannot inline 'g'"):
        f.interpret(3)


def test_an_error_in_the_callee_says_where_the_call_is() -> None:
    def g(n: Number) -> Number:
        return {n for _ in range(3)}

    @hybrid.script
    def f(n: Number) -> Number:
        return g(n)

    with pytest.raises(ParseError, match=r"(?s)set comprehensions.*in 'g', called at .*:\d+"):
        f.interpret(3)


@pytest.mark.parametrize("name", ["parallel", "vectorize"])
def test_a_return_from_iterations_without_an_order_is_refused(name: str) -> None:
    text = f"""def g(n):
    for i in {name}(n):
        if i > 1:
            return i
    return 0
def f(n):
    return g(n)
"""
    with pytest.raises(ParseError, match=f"return in a {name} loop: its iterations have no order"):
        script_from_text(text).interpret(3)


def test_a_positional_parameter_cannot_be_given_by_name() -> None:
    def g(x: Number, /) -> Number:
        return x + 1

    @hybrid.script
    def f(n: Number) -> Number:
        return g(x=n)  # type: ignore[call-arg]

    with pytest.raises(ParseError, match="g takes 'x' by position only"):
        f.interpret(3)


def until_large(a: Any, n: int) -> Any:
    while True:
        n += 1
        scaled = a * n
        if scaled[0] > 10:
            return scaled


def with_its_number(a: Any, n: int) -> Any:
    for k in range(n, n + 50):
        scaled = a * k
        for j in range(len(a)):
            if scaled[j] > 10:
                return scaled, k, (j, scaled + 1)
    raise ValueError("nothing is large")


def if_positive(a: Any, n: int) -> Any:
    if n > 0:
        scaled = a * n
        scaled[0] = 3
        return scaled
    raise ValueError("nothing is positive")


def after_itself(a: Any, n: int) -> Any:
    if n > 3:
        return after_itself(a, n - 1)
    numbers = np.empty(a.shape, np.int64)
    for i in range(len(a)):
        numbers[i] = i + n
    return numbers


MAKERS = (until_large, with_its_number, if_positive, after_itself)


@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__)
def test_an_array_that_is_made_in_a_loop_is_returned_in_it(maker: Any) -> None:
    def called(a: Any, n: int) -> Any:
        return maker(a, n)

    kernel: Any = hybrid.script(called)
    for size, n in ((4, 2), (7, 5), (33, 1)):
        assert_agree(kernel, [np.arange(1.0, 1.0 + size), n])


def test_a_list_that_is_made_in_a_loop_is_refused() -> None:
    def grow(a: Any, n: int) -> Any:
        while True:
            n += 1
            found = [a[0]]
            found.append(a[1] * n)
            if n > 3:
                return found

    @hybrid.script
    def called(a: Any, n: int) -> Any:
        return np.array(grow(a, n))

    with pytest.raises(ParseError, match="that it makes in a loop or a branch, where it ends"):
        called(np.ones(3), 1)
