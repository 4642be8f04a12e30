"""Bad input: too deep, too long, too many copies. Each is refused clearly, or simply works."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hybridjit.errors import HybridError, ParseError
from hybridjit.kernel import Kernel
from tests.conftest import Golden

A: Any = np.arange(8.0)


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Kernel[..., Any]]:
    """A kernel of the function `f(a)` with this body, in a file of its own."""

    def make(body: str) -> Kernel[..., Any]:
        path = tmp_path / "limits.py"
        lines = "".join(f"    {line}\n" for line in body.splitlines())
        head = "from hybridjit import hybrid\n\n\n@hybrid.script\ndef f(a):\n"
        path.write_text(head + lines)
        spec = importlib.util.spec_from_file_location("limits", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "limits", module)
        spec.loader.exec_module(module)
        return module.f

    return make


Make = Callable[[str], Kernel[..., Any]]


def refused(kernel: Kernel[..., Any], match: str) -> HybridError:
    with pytest.raises(ParseError, match=match) as caught:
        kernel.interpret(A.copy())
    return caught.value


def test_an_expression_that_is_nested_too_deeply(make: Make, golden: Golden) -> None:
    error = refused(make("x = 0\nreturn " + "-" * 210 + "x"), "nested too deeply")
    text = error.render(paths="short")
    golden.check("\n".join(line[:100] for line in text.splitlines()), "txt")


def test_a_function_that_is_too_large(make: Make, golden: Golden) -> None:
    error = refused(make("a[0] = a[1]\n" * 4000), "too large")
    golden.check(error.render(paths="short"), "txt")


def test_loops_expanded_in_loops_that_do_nothing(make: Make, golden: Golden) -> None:
    body = "for i in const_range(1000):\n    for j in const_range(1000):\n        pass"
    golden.check(refused(make(body), "20000 statements").render(paths="short"), "txt")


def test_calls_that_double_at_every_level(golden: Golden, make: Make) -> None:
    kernel = make("a[0] = g0(a[1])")
    functions = [f"def g{i}(x):\n    return g{i + 1}(x) + g{i + 1}(x)\n" for i in range(20)]
    path = Path(kernel.__hybrid_function__.__code__.co_filename)
    text = path.read_text() + "\n\n" + "\n\n".join(functions) + "\n\ndef g20(x):\n    return x\n"
    path.write_text(text)
    exec(compile(text, str(path), "exec"), kernel.__hybrid_function__.__globals__)
    error = refused(kernel.__hybrid_function__.__globals__["f"], "20000 statements")
    golden.check(error.render(paths="short"), "txt")


@pytest.mark.parametrize("count", [50, 190])
@pytest.mark.parametrize("depth", [0, 700])
def test_a_long_sum_works_from_a_deep_stack_too(make: Make, count: int, depth: int) -> None:
    kernel = make("return " + " + ".join(["a[1]"] * count))

    def translate(depth: int) -> object:
        return kernel.prim_func(A) if depth == 0 else translate(depth - 1)

    translate(depth)
    assert kernel.interpret(A) == count


def test_two_thousand_assignments(make: Make) -> None:
    lines = ["x0 = a[1]", *(f"x{i} = x{i - 1} + 1.0" for i in range(1, 2000)), "return x1999"]
    assert make("\n".join(lines)).interpret(A) == 2000.0


def test_two_thousand_items(make: Make) -> None:
    assert make(f"t = ({', '.join(['1.0'] * 2000)})\nreturn len(t)").interpret(A) == 2000


def test_a_thousand_copies(make: Make) -> None:
    a = A.copy()
    make("for i in const_range(1000):\n    a[0] += i\n    a[1] = a[0]").interpret(a)
    assert a[1] == sum(range(1000))


def test_sixty_branches_in_each_other_and_in_a_row(make: Make) -> None:
    nested = "\n".join("    " * i + f"if a[1] > -{i + 1}:" for i in range(60))
    assert make(nested + "\n" + "    " * 60 + "return 1\nreturn 2").interpret(A) == 1
    chain = "if a[1] == -1:\n    return 0\n" + "".join(
        f"elif a[1] == {i + 1}.5:\n    return {i}\n" for i in range(60)
    )
    assert make(chain + "return 60").interpret(A) == 60


@pytest.mark.parametrize("body", ["pass", "...", '"only a docstring"', "return", "return None"])
def test_a_body_that_does_nothing(make: Make, body: str) -> None:
    assert make(body).interpret(A) is None


def test_an_expansion_is_counted_before_it_is_made(make: Make) -> None:
    refused(make("for i in const_range(10**15):\n    a[0] = i"), "expanded 1000000000000000 times")
    refused(
        make("for i in const_range(2**62, 0, -1):\n    a[0] = i"), "expanded 4611686018427387904"
    )


def test_a_tuple_that_is_too_long(make: Make) -> None:
    refused(make("t = (0,) * 10**15\na[0] = t[0]"), "would have 1000000000000000 items")


def test_the_largest_of_one_number_means_nothing(make: Make) -> None:
    refused(make("a[0] = max(a[1])"), "max needs at least two numbers")


@pytest.mark.parametrize("op", ["and", "or"])
def test_a_long_chain_of_numbers_stays_short(make: Make, op: str) -> None:
    kernel = make("return " + f" {op} ".join(f"a[{i % 8}]" for i in range(50)))
    assert len(str(kernel.prim_func(A))) < 10_000
    assert kernel.interpret(A) == kernel.py_func(A)
