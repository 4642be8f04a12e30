"""hybrid.evaluate: values as in NumPy, and texts that must do nothing at all."""

from __future__ import annotations

import linecache
import random
import subprocess
import sys
import textwrap
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from hybridjit import config, hybrid
from hybridjit.errors import ArgumentError, HybridError, ParseError, ShapeMismatch
from hybridjit.ufuncs import evaluate as module
from hybridjit.ufuncs.expression import MAX_LENGTH, read_expression
from tests.support.ufunc_results import assert_equal, np, numbers

ROOT = Path(__file__).parents[2]
x = np.arange(4.0)  # seen by expressions in this file
powers = np.array([0, 1, 1, 2], np.uint8)  # whose powers are quick to compile


def test_variables_come_from_the_caller() -> None:
    a, b = numbers(5), numbers(5, seed=1)
    assert_equal(hybrid.evaluate("2*a + b*b"), 2 * a + b * b)
    assert_equal(hybrid.evaluate("x + 1"), x + 1)
    assert_equal(hybrid.evaluate("x + 1", x=a), a + 1)
    assert_equal(hybrid.evaluate("a + b", local_dict={"a": 1, "b": x}), x + 1)
    assert_equal(hybrid.evaluate("a + b", local_dict={"a": 1, "b": x}, b=b), b + 1)
    with pytest.raises(ArgumentError, match="variable 'b' of the expression has no value"):
        hybrid.evaluate("a + b", local_dict={"a": 1})


def test_constants() -> None:
    assert_equal(hybrid.evaluate("x * pi + e"), x * np.pi + np.e)
    assert_equal(hybrid.evaluate("x < inf"), x < np.inf)
    pi = 3
    assert_equal(hybrid.evaluate("x * pi"), x * pi)
    assert_equal(hybrid.evaluate("1 + 2"), np.int64(3))


EXPRESSIONS = [
    "a + b * c",
    "(a - b) / (c + 1)",
    "a ** 2 + b ** 0.5",
    "a // 2 % 3",
    "-a + +b",
    "where(a > b, a, -b)",
    "minimum(a, b) + maximum(b, c)",
    "sqrt(a * a + b * b)",
    "abs(a - b)",
    "float32(a) + 1",
    "int64(a) & 3 | 4 ^ 1",
    "(a > b) & ~(b > c)",
    "floor(a) + ceil(b) - trunc(c)",
    "a * 2.5 + True",
    "square(a) + negative(b)",
    "hypot(a, b)",
]


def _to_float32(array: Any) -> Any:
    return array.astype("float32")


def _to_int64(array: Any) -> Any:
    return array.astype("int64")


@pytest.mark.parametrize("text", EXPRESSIONS)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
def test_values_are_those_of_numpy(text: str, dtype: str) -> None:
    a, b, c = numbers((3, 4), dtype), numbers(4, dtype, 1), numbers((3, 1), dtype, 2)
    names = {"a": a, "b": b, "c": c}
    functions = {name: getattr(np, name) for name in dir(np) if not name.startswith("_")}
    casts = {"float32": _to_float32, "int64": _to_int64}
    with config.scope(interpret=True):
        found = hybrid.evaluate(text, local_dict=names)
    expected = eval(text, {**functions, **casts, "abs": np.abs}, names)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    if "sqrt" not in text and "**" not in text and "hypot" not in text:
        assert_equal(found, np.ascontiguousarray(expected))


def test_python_s_own_operators_work_on_elements() -> None:
    assert_equal(hybrid.evaluate("x if x > 1 else -1"), np.where(x > 1, x, -1))
    assert_equal(hybrid.evaluate("1 <= x < 3"), (x >= 1) & (x < 3))
    assert_equal(hybrid.evaluate("not (x > 1)"), ~(x > 1))


def test_out() -> None:
    a, out = numbers(4), np.zeros(4)
    assert hybrid.evaluate("a * 2", out=out) is out
    assert_equal(out, a * 2)
    assert hybrid.evaluate("a * 2", out=a) is a
    assert_equal(a, out)
    with pytest.raises(ArgumentError, match="does not cast to int32"):
        hybrid.evaluate("a * 2", out=np.zeros(4, "int32"))
    small = np.zeros(4, "int32")
    assert_equal(hybrid.evaluate("a + 0.5", out=small, casting="unsafe"), (a + 0.5).astype("int32"))


def test_shapes_that_do_not_fit() -> None:
    with pytest.raises(ShapeMismatch, match=r"\(4,\) and \(3,\)"):
        hybrid.evaluate("x + y", y=np.ones(3))


def test_fastmath_is_another_function() -> None:
    assert_equal(hybrid.evaluate("x + 1", fastmath=True), x + 1)


def test_errors_have_a_caret() -> None:
    with pytest.raises(ParseError, match="an attribute has no place") as caught:
        hybrid.evaluate("  1 + x.shape * 2")
    assert "1 | 1 + x.shape * 2\n      |     ^^^^^^^\n" in str(caught.value)
    with pytest.raises(HybridError, match="'<<' needs integers") as later:
        hybrid.evaluate("1 + (x << 2)")
    assert "return 1 + (x << 2)\n      |                 ^^^^^^" in str(later.value)


MARKER = "HYBRIDJIT_WAS_EXECUTED"
HOSTILE = [
    f"__import__('os').environ.update({MARKER}='1')",
    f"exec('import os; os.environ[{MARKER!r}]=1')",
    f"eval('__import__(\"os\").putenv({MARKER!r}, 1)')",
    "().__class__.__bases__[0].__subclasses__()",
    "x.__class__.__mro__",
    "x.tofile('/tmp/hostile')",
    "x.dtype",
    "(lambda: x)()",
    "(lambda x: x)(1)",
    "[y for y in (1, 2)]",
    "{y for y in (1, 2)}",
    "{y: 1 for y in (1, 2)}",
    "(y for y in (1, 2))",
    "(x := 3)",
    "x[0]",
    "x[...]",
    "x[::2]",
    "f'{x}'",
    "f'{__import__(\"os\")}'",
    "'%s' % x",
    "'a' * 1000000000",
    "b'a'",
    "(1, 2)",
    "[1] * 1000000000",
    "{}",
    "{1}",
    "*x",
    "x; x",
    "x = 1",
    "import os",
    "del x",
    "yield x",
    "await x",
    "(yield x)",
    "(await x)",
    "print(x)",
    "open('/etc/passwd')",
    "globals()",
    "type(x)",
    "getattr(x, 'tofile')",
    "abs.__call__(x)",
    "sin(x, out=x)",
    "sin(*x)",
    "sin(**x)",
    "sin(x)(x)",
    "x @ x",
    "x is x",
    "x in x",
    "None",
    "...",
    "__builtins__",
    "__name__",
    "_x.__dict__",
    "breakpoint()",
    "exit()",
    "help()",
    "\uff45\uff56\uff41\uff4c('1')",  # eval, in full width
    "output_tensor((3,), 'float64')",
    "allocate(3)",
    "range(3)",
    "assert x",
    "x\nimport os",
    "x\rimport os",
    "x # \n + 1",
    "x\x00",
    "x\\\n+1",
    "",
    "   ",
    "(",
    "x +",
    "1" * (MAX_LENGTH + 1),
    "9" * 1000,
    "-" * 3000 + "x",
    "not " * 900 + "x",
    "(" * 500 + "x" + ")" * 500,
    "(" * 190 + "x+1" + ")" * 190 + "+(" * 5,
    "x" + "+x" * 1500,
    "x" + "**x" * 1000,
    "abs(" * 180 + "x" + ")" * 180,
    "x if x else " * 200 + "x",
    "99999999999999999999999",
    "0x" + "f" * 400,
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_refused_before_anything_is_made(text: str) -> None:
    with pytest.raises(ParseError, match=r"."):
        read_expression(text)
    with pytest.raises(ParseError, match=r"."):
        hybrid.evaluate(text, local_dict={"x": x, "_x": x})


COSTLY = ["9**9**9**9", "2**100000", "10**400 + x", "1 << 10**9", "2**2**2**2**2**2", "7**-1**9999"]


@pytest.mark.parametrize("text", COSTLY)
def test_huge_numbers_are_never_computed(text: str) -> None:
    """At least not for long: a number past 64 bits is an error, whatever it is part of."""
    with pytest.raises((HybridError, ArithmeticError, ValueError), match=r"."):
        hybrid.evaluate(text)


def test_nothing_is_executed() -> None:
    """In a process that would tell of any import, file or command that a text brings about."""
    program = f"""
        import sys
        import numpy as np
        from hybridjit import hybrid
        from hybridjit.errors import HybridError
        x = np.arange(4.0)
        for name in ("x + 1", "x.y", "((((", "__import__('os')", "9**9**9**9"):
            try:
                hybrid.evaluate(name)
            except HybridError:
                pass
        watched = ("exec", "os.", "subprocess.", "shutil.", "socket.", "ctypes.dlopen")
        seen = []
        sys.addaudithook(lambda event, args: seen.append(event) if event.startswith(watched) else 0)
        for text in {HOSTILE + COSTLY!r}:
            try:
                hybrid.evaluate(text, local_dict={{"x": x}})
            except (HybridError, ArithmeticError, ValueError):
                pass
            else:
                print("accepted", text[:80])
        print(sorted(set(seen)))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(ROOT), "HYBRIDJIT_CACHE": "0"},
        cwd=ROOT,
    )
    assert done.stdout == "[]\n"
    assert MARKER not in done.stderr


def test_random_texts_are_computed_or_refused() -> None:
    """No text makes anything happen but a result or one of our errors."""
    choose = random.Random(0)
    pieces = ["x", "1", "+", "*", "(", ")", ",", "sin", "where", ".", "[", "]", "if", "else", "**"]
    pieces += ["lambda", ":", "'", "~", "not", "and", "<", "=", "2.5", "__class__", "@", "{", "}"]
    accepted = 0
    for _ in range(2000):
        text = " ".join(choose.choice(pieces) for _ in range(choose.randint(1, 7)))
        try:
            read_expression(text)
        except ParseError:
            continue
        accepted += 1
        refused = suppress(HybridError, ArithmeticError, ValueError)
        with config.scope(interpret=True), refused:
            hybrid.evaluate(text, local_dict={"x": 1.5})
    assert accepted > 20


# Calls in which an argument is used more than once, and what else nests.
NESTED = [
    *("square({})", "imag({})", "conjugate({})", "real({})", "abs({})"),
    *("equal({}, x)", "complex128({}, x)", "power({}, 1)", "(x if {} else 2)"),
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("kind", NESTED)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_nested_calls_are_computed_once(kind: str, dtype: str) -> None:
    """148 calls that each doubled what is in them would never end."""
    text = "x"
    for _ in range(148):
        text = kind.format(text)
    values = {"x": np.array([0.5, -1.0, 1.0, 0.0]).astype(dtype)}
    with config.scope(interpret=True):
        found = hybrid.evaluate(text, local_dict=values)
    assert_equal(hybrid.evaluate(text, local_dict=values), found)


CHAINS = {
    "comparison": "x" + " < x" * 900,
    "conjunction": "x" + " and x" * 600,
    "sum": "x" + "+x" * 1900,
    "signs": "-" * 3000 + "x",
    "chain in parentheses": "(x" + " < x" * 140 + ")" + "+1" * 20,
}


@pytest.mark.parametrize("kind", CHAINS)
def test_long_chains_are_nested_too(kind: str) -> None:
    with pytest.raises(ParseError, match=r"nested (more than 150 deep|too deeply)"):
        hybrid.evaluate(CHAINS[kind])


@pytest.mark.parametrize("link", [" < x", " and x", "+x", "**powers", " if x else x"])
def test_the_deepest_that_is_allowed(link: str) -> None:
    text = "x" + link * 148
    with config.scope(interpret=True):
        found = hybrid.evaluate(text)
    assert_equal(hybrid.evaluate(text), found)


def test_random_nests_have_the_values_of_numpy() -> None:
    choose = random.Random(1)
    forms = ["square({})", "abs({})", "-({})", "({} + x)", "({} * 0.5)", "sin({})", "real({})"]
    forms += ["where({} > x, x, 2.0)", "minimum({}, x)", "sign({})", "imag({})"]
    with config.scope(interpret=True):
        for _ in range(60):
            text = "x"
            for _ in range(choose.randint(1, 60)):
                text = choose.choice(forms).format(text)
            expected = eval(text, {**vars(np)}, {"x": x})
            np.testing.assert_allclose(hybrid.evaluate(text), expected, rtol=1e-9)


def test_made_up_expressions_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    module.clear()
    monkeypatch.setattr(module, "_MAX_KNOWN", 16)
    before = len(linecache.cache)
    with config.scope(interpret=True):
        for number in range(60):
            hybrid.evaluate(f"x + {number}")
    assert len(linecache.cache) < before + 2 * 16 + 20
    module.clear()
    assert_equal(hybrid.evaluate("x + 1"), x + 1)
