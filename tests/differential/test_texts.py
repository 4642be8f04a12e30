"""Texts with values in them: what is printed, and the messages of errors, as Python has them."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit.errors import HybridError
from tests.frontend.from_text import script_from_text

np: Any = numpy

TEXTS = (
    'f"{n} {x}"',
    'f"{n:5d}|{x:8.3f}|{x:<9.2e}|{n:+d}|{n:x}"',
    'f"{{{n}}} {n!s:>6} {x:g}"',
    "f\"{'%4d' % n}\"",
    '"%d of %5.2f" % (n, x)',
    '"%s" % n',
    '"%5s|%-5d|%05d|%+d|% d|%x|%#x|%e|%-8.2f|%%" % (n, n, n, n, n, n, n, x, x)',
    '"%d and %i" % (x, x / -3)',
    '"{} and {}".format(n, x)',
    '"{1:.1f} {0:>4} {name}".format(n, x, name=n + 1)',
    '"n = " + str(n) + ", x = " + str(x)',
    '"n = " + f"{n}"',
    '"a" + "b" + str(n > 2)',
    'f"{a.shape} of {a.dtype}, {(n, (1, n))} and {[n]}"',
    '"%s and %s" % (a.shape, n)',
    '"shapes " + str(a.shape)',
)
NUMBERS = (7, -3, 0, 123456)
ELEMENTS = ("float64", "float32", "float16", "int32", "uint8", "int64")


def outcome(call: Any, capsys: pytest.CaptureFixture[str], *args: Any) -> tuple[str, list[str]]:
    """What a call prints, and the class and arguments of the error that it ends in."""
    try:
        call(*args)
    except Exception as error:
        plain = [kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins"]
        return capsys.readouterr().out, [plain[0], *map(str, error.args)]
    return capsys.readouterr().out, []


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(
    "statement", ["print({})", "raise ValueError({})", "assert n < -100, {}", "print(n, {}, x)"]
)
def test_a_text_is_pythons(text: str, statement: str, capsys: pytest.CaptureFixture[str]) -> None:
    body = f"def f(a, n):\n    x = a[1]\n    {statement.format(text)}\n    a[0] = 1\n"
    kernel = script_from_text(body, {})
    for dtype in ELEMENTS if statement.startswith("raise") else ELEMENTS[:1]:
        for n in NUMBERS:
            a = np.array([3, 2.625]).astype(dtype)
            wanted = outcome(kernel.py_func, capsys, a.copy(), n)
            for way in (kernel, kernel.interpret):
                assert outcome(way, capsys, a.copy(), n) == wanted, (dtype, n)


def test_what_print_writes_between_and_after(capsys: pytest.CaptureFixture[str]) -> None:
    text = 'def f(n):\n    print(n, "a", n, sep="-", end="")\n    print(end="!\\n")\n'
    kernel = script_from_text(text + "    print((n,), [n, 2], sep=None)\n    print()\n", {})
    for way in (kernel, kernel.interpret, kernel.py_func):
        way(5)
        assert capsys.readouterr().out == "5-a-5!\n(5,) [5, 2]\n\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('f"{n:{n}}"', "computed"),
        ('f"{x:d}"', "does not fit"),
        ('"%d %d" % n', "not enough values"),
        ('"%d" % (n, n)', "not all values"),
        ('"%(n)d" % n', "not supported"),
        ('"{} {}".format(n)', "no value"),
        ('"{".format(n)', "is no format"),
        ('f"{a}"', "as a whole"),
        ('f"{x!r}"', "repr"),
        ('"%d" % "n"', "does not fit"),
    ],
)
def test_what_does_not_fit_is_refused(text: str, why: str) -> None:
    kernel = script_from_text(f"def f(a, n):\n    x = a[1]\n    print({text})\n", {})
    with pytest.raises(HybridError, match=why):
        kernel(np.ones(2), 3)


RAISED_AGAIN = """
def f(a, n):
    try:
        try:
            if n > 50:
                raise ValueError(f"n is {n:d} or {a[1]:.2f}")
            a[n] = 6 // (n - 3)
            assert n != 2, ("bad", n)
        except (IndexError, AssertionError):
            a[1] = 3
            raise
    finally:
        a[2] += 4
    return a
"""


LINES = {"n is": 6, "index": 7, "integer": 7, "('bad": 8}


@pytest.mark.parametrize("n", [0, 4, -1])
def test_what_is_not_raised_goes_on(n: int) -> None:
    kernel = script_from_text(RAISED_AGAIN, {})
    wanted = kernel.py_func(np.arange(5.0), n).tolist()
    assert kernel(np.arange(5.0), n).tolist() == wanted
    assert kernel.interpret(np.arange(5.0), n).tolist() == wanted


@pytest.mark.parametrize("n", [2, 3, 7, -9, 77])
def test_an_error_that_is_raised_again_has_its_values_and_its_line(n: int) -> None:
    kernel = script_from_text(RAISED_AGAIN, {})
    found: list[Any] = []
    for way in (kernel, kernel.interpret, kernel.py_func):
        a = np.arange(5.0)
        with pytest.raises((ValueError, IndexError, AssertionError, ArithmeticError)) as caught:
            way(a, n)
        text = str(caught.value).split(" of 'a'")[0].split(" with size")[0]
        found.append((text, a.tolist()))
        line = next(line for start, line in LINES.items() if text.startswith(start))
        notes = getattr(caught.value, "__notes__", ())
        assert way is kernel.py_func or f":{line}:" in "".join(notes), text
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("depth", [0, 5])
@pytest.mark.parametrize(
    ("error", "shown"),
    [
        ("ValueError(f'{each}')", "{n} {x:.1f} "),
        ("ValueError({each})", "n, x, "),
        ("AssertionError(({each}))", "n, z, "),
    ],
)
def test_values_that_find_no_room_are_left_out(error: str, shown: str, depth: int) -> None:
    raised = f"raise {error.replace('{each}', shown * 20)}\n"
    loops = "".join(f"{'    ' * (k + 1)}for i{k} in range(1):\n" for k in range(depth))
    kernel = script_from_text(f"def f(n, x, z):\n{loops}{'    ' * (depth + 1)}{raised}", {})
    found: list[str] = []
    for way in (kernel.py_func, kernel):
        with pytest.raises((ValueError, AssertionError)) as caught:
            way(3, 2.5, 1 + 2j)
        found.append(str(caught.value))
    kept = found[1].partition("...")[0]
    assert kept.count("3") >= 10
    assert found[0].startswith(kept)
    assert set(found[1][len(kept) :]) <= set("., )")
