"""Kernels found on disk by their source: everything that changes their meaning changes the key.

A module is written, imported and called twice, as two processes would: the functions, globals and
kernels are other objects the second time. Whether the script was parsed is counted.
"""

from __future__ import annotations

import importlib.util
import linecache
import operator
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hybridjit import config
from hybridjit.errors import BoundsError
from hybridjit.frontend.captures import SUPPORTED
from hybridjit.runtime import compiler
from hybridjit.runtime.cache import versions
from hybridjit.runtime.cache.value_identity import Identifier, Unidentified
from hybridjit.source import read_function

pytestmark = pytest.mark.usefixtures("unchecked")

HEAD = """
import math
import numpy as np
from enum import Enum
from types import SimpleNamespace
from dataclasses import dataclass
import hybridjit as hj
from hybridjit import hybrid
from hybridjit.hybrid import *

"""
SCRIPT = """
@hybrid.script
def f(a):
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[i] = {value}
    return b
"""


class Processes:
    """Runs modules one after the other, with one disk cache."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.translations = 0

    def load(self, text: str, name: str = "measured") -> Any:
        """A module with this text, at the same place as the one before."""
        path = self.folder / f"{name}.py"
        path.write_text(HEAD + text, encoding="utf-8")
        linecache.checkcache(str(path))
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
        try:
            spec.loader.exec_module(module)
        finally:
            sys.dont_write_bytecode = before
        return module

    def call(self, module: Any, *args: Any) -> tuple[Any, bool]:
        """What the kernel `f` of a module returns, and whether it had to be parsed."""
        before = self.translations
        arguments = args or (np.arange(3.0),)
        result = module.f(*arguments)
        np.testing.assert_array_equal(result, module.f.interpret(*arguments))
        parsed = self.translations > before
        return result, parsed

    def run(self, text: str, *args: Any) -> tuple[Any, bool]:
        """What the kernel `f` of a new module returns, and whether it had to be parsed."""
        before = self.translations
        result = self.load(text).f(*(args or (np.arange(3.0),)))
        return result, self.translations > before


@pytest.fixture
def processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Processes]:
    made = Processes(tmp_path)
    translate: Callable[..., Any] = compiler.translate

    def count(request: Any) -> Any:
        made.translations += 1
        return translate(request)

    monkeypatch.setattr(compiler, "translate", count)
    with config.scope(cache_dir=str(tmp_path / "cache"), cache_strict=True):
        yield made


def test_a_second_process_does_not_parse(processes: Processes) -> None:
    text = SCRIPT.format(value="a[i] * 2")
    assert processes.run(text)[1]
    result, parsed = processes.run(text)
    assert not parsed
    np.testing.assert_array_equal(result, [0.0, 2.0, 4.0])


def test_numbers_that_a_script_has_to_know_are_part_of_the_key(processes: Processes) -> None:
    text = """
@hybrid.script
def f(a, n):
    s = 0.0
    for k in const_range(n):
        s += a[k]
    return s
"""
    assert processes.run(text, np.arange(3.0), 3) == (3.0, True)
    assert processes.run(text, np.arange(3.0), 3) == (3.0, False)
    assert processes.run(text, np.arange(3.0), 2) == (1.0, True)
    assert processes.run(text, np.arange(3.0), np.int8(2)) == (1.0, True)


# Each changes what the script means: (around the script, its value) before and after.
CHANGES: dict[str, tuple[tuple[str, str], tuple[str, str]]] = {
    "text": (("", "a[i] * 2"), ("", "a[i] * 3")),
    "global": (("N = 2", "a[i] * N"), ("N = 3", "a[i] * N")),
    "type of a global": (("N = 1", "a[i] / N + 7 // 2 * N"), ("N = 1.5", "a[i] / N + 7 // 2 * N")),
    "sign of a zero": (("N = 0.0", "math.copysign(1.0, N)"), ("N = -0.0", "math.copysign(1.0, N)")),
    "numpy scalar": (("N = np.int8(100)", "N + N"), ("N = np.int16(100)", "N + N")),
    "string": (('N = "float32"', "1.0"), ('N = "float64"', "1.0")),
    "item of a tuple": (("T = (1, 2)", "a[i] + T[1]"), ("T = (1, 3)", "a[i] + T[1]")),
    "length of a tuple": (("T = (1, 2)", "len(T)"), ("T = (1, 2, 3)", "len(T)")),
    "item of a list": (("T = [1, [2]]", "a[i] + T[1][0]"), ("T = [1, [3]]", "a[i] + T[1][0]")),
    "array": (("T = np.array([1., 2, 3])", "T[i]"), ("T = np.array([1., 2, 4])", "T[i]")),
    "dtype of an array": (("T = np.arange(3)", "T[i] / 2"), ("T = np.arange(3.0)", "T[i] / 2")),
    "type of the same bits": (
        ("T = np.ones(3, np.int64)", "T[i] / 2"),
        ("T = np.ones(3, np.int64).view(np.float64)", "T[i] / 2"),
    ),
    "shape of an array": (
        ("T = np.arange(6.0).reshape(2, 3)", "T[1, 0]"),
        ("T = np.arange(6.0).reshape(3, 2)", "T[1, 0]"),
    ),
    "helper": (("def h(x): return x + 1", "h(a[i])"), ("def h(x): return x + 2", "h(a[i])")),
    "helper's global": (
        ("N = 1\ndef h(x): return x + N", "h(a[i])"),
        ("N = 2\ndef h(x): return x + N", "h(a[i])"),
    ),
    "helper's helper": (
        ("def g(x): return x + 1\ndef h(x): return g(x)", "h(a[i])"),
        ("def g(x): return x + 2\ndef h(x): return g(x)", "h(a[i])"),
    ),
    "helper's default": (
        ("def h(x, y=1): return x + y", "h(a[i])"),
        ("D = 2\ndef h(x, y=D): return x + y", "h(a[i])"),
    ),
    "value of a default": (
        ("D = 1\ndef h(x, y=D): return x + y\nD = 0", "h(a[i])"),
        ("D = 2\ndef h(x, y=D): return x + y\nD = 0", "h(a[i])"),
    ),
    "value of a keyword default": (
        ("D = 1\ndef h(x, *, y=D): return x + y\nD = 0", "h(a[i])"),
        ("D = 2\ndef h(x, *, y=D): return x + y\nD = 0", "h(a[i])"),
    ),
    "another script": (
        ("@hybrid.script\ndef h(x): return x + 1", "h(a[i])"),
        ("@hybrid.script\ndef h(x): return x + 2", "h(a[i])"),
    ),
    "which of two helpers": (
        ("def g(x): return x + 1\ndef k(x): return x + 2\nh = g", "h(a[i])"),
        ("def g(x): return x + 1\ndef k(x): return x + 2\nh = k", "h(a[i])"),
    ),
    "helper in a tuple": (
        ("def g(x): return x + 1\ndef k(x): return x + 2\nT = (g, k)", "T[0](a[i])"),
        ("def g(x): return x + 1\ndef k(x): return x + 2\nT = (k, g)", "T[0](a[i])"),
    ),
    "closure of a helper in a tuple": (
        (
            "def make(n):\n    def h(x): return x + n\n    return h\nT = make(1), make(2)",
            "T[1](a[i])",
        ),
        (
            "def make(n):\n    def h(x): return x + n\n    return h\nT = make(1), make(3)",
            "T[1](a[i])",
        ),
    ),
    "attribute": (
        ("C = SimpleNamespace(n=1)", "a[i] + C.n"),
        ("C = SimpleNamespace(n=2)", "a[i] + C.n"),
    ),
    "attribute of an attribute": (
        ("C = SimpleNamespace(d=SimpleNamespace(n=1))", "a[i] + C.d.n"),
        ("C = SimpleNamespace(d=SimpleNamespace(n=2))", "a[i] + C.d.n"),
    ),
    "class attribute": (
        ("class C:\n    n = 1", "a[i] + C.n"),
        ("class C:\n    n = 2", "a[i] + C.n"),
    ),
    "enum": (
        ("class C(Enum):\n    N = 1", "a[i] + C.N.value"),
        ("class C(Enum):\n    N = 2", "a[i] + C.N.value"),
    ),
    "a name hides a builtin": (("", "abs(a[i] - 2)"), ("def abs(x): return x", "abs(a[i] - 2)")),
    "a name hides the language": (("", "floor(1.5)"), ("def floor(x): return x", "floor(1.5)")),
    "numpy for math": (("k = np.sin", "k(a[i])"), ("k = np.cos", "k(a[i])")),
    "a branch on a global": (
        ("N = True\nK = 1", "a[i] + (K if N else 0)"),
        ("N = False\nK = 1", "a[i] + (K if N else 0)"),
    ),
    "a type in an annotation": (
        ("T = hj.float32\ndef h(x):\n    y: T = x / 3\n    return y", "h(1.0)"),
        ("T = hj.float64\ndef h(x):\n    y: T = x / 3\n    return y", "h(1.0)"),
    ),
    "a type that is defined later": (
        ("def h(x):\n    y: LATER = x / 3\n    return y", "h(1.0)"),
        ("LATER = hj.float32\ndef h(x):\n    y: LATER = x / 3\n    return y", "h(1.0)"),
    ),
}


def _module(change: tuple[str, str]) -> str:
    around, value = change
    return f"{around}\n{SCRIPT.format(value=value)}"


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_noticed(processes: Processes, what: str) -> None:
    """The kernel computes what the interpreter does, after the change and back again."""
    for change in (*CHANGES[what], CHANGES[what][0], CHANGES[what][1]):
        processes.call(processes.load(_module(change)))


@pytest.mark.parametrize("what", CHANGES)
def test_what_was_once_translated_is_found(processes: Processes, what: str) -> None:
    """Translations with other values do not get in each other's way."""
    before, after = CHANGES[what]
    for change in (before, after, before):
        processes.run(_module(change))
    for change in (after, before):
        _, parsed = processes.run(_module(change))
        assert not parsed


@pytest.mark.parametrize(
    ("script", "args"),
    [
        ("", (np.arange(3.0),)),
        ("", (np.arange(3, dtype=np.float32),)),
        ("", (np.arange(4.0),)),
        ("", (np.arange(6.0)[::2],)),
        ("", (np.arange(3.0)[::-1],)),
    ],
)
def test_other_arguments_have_other_code(processes: Processes, script: str, args: Any) -> None:
    text = SCRIPT.format(value="a[i] + 1")
    processes.run(text)
    result, _ = processes.call(processes.load(text), *args)
    np.testing.assert_array_equal(result, args[0] + 1)


def test_options_are_part_of_the_key(processes: Processes) -> None:
    text = SCRIPT.format(value="a[i] + 1")
    fast = text.replace("@hybrid.script", "f = None\n@decorate")
    for options in ("fastmath=True", "", 'fastmath={"contract"}', "parallel=True"):
        _, parsed = processes.run(f"decorate = hybrid.script({options})\n{fast}")
        assert parsed


def test_a_changed_closure_is_noticed(processes: Processes) -> None:
    text = "def make(n):" + SCRIPT.format(value="a[i] + n").replace("\n", "\n    ")
    text += "\n    return f\n"
    for n in (1, 2, 1, 2):
        result, parsed = processes.run(f"{text}\nf = make({n})")
        np.testing.assert_array_equal(result, np.arange(3.0) + n)
    assert not parsed


def test_an_array_changed_in_place_is_noticed(processes: Processes) -> None:
    module = processes.load("T = np.array([1.0, 2.0, 3.0])" + SCRIPT.format(value="T[i]"))
    processes.call(module)
    other = processes.load("T = np.array([1.0, 2.0, 3.0])" + SCRIPT.format(value="T[i]"))
    assert not processes.run("T = np.array([1.0, 2.0, 3.0])" + SCRIPT.format(value="T[i]"))[1]
    other.T[0] = 9.0
    result, _ = processes.call(other)
    np.testing.assert_array_equal(result, [9.0, 2.0, 3.0])
    other.T[0] = 5.0
    result, _ = processes.call(other)
    np.testing.assert_array_equal(result, [5.0, 2.0, 3.0])


def test_a_global_changed_after_a_warm_start_is_noticed(processes: Processes) -> None:
    text = "N = 2" + SCRIPT.format(value="a[i] * N")
    processes.run(text)
    module = processes.load(text)
    for _ in range(3):  # the third call is native
        np.testing.assert_array_equal(module.f(np.arange(3.0)), np.arange(3.0) * 2)
    assert processes.translations == 1
    module.N = 5
    np.testing.assert_array_equal(module.f(np.arange(3.0)), np.arange(3.0) * 5)


def test_a_value_that_changes_for_a_moment_while_a_script_is_parsed(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by another thread: the code made of it is neither used again nor kept."""
    text = "N = 2" + SCRIPT.format(value="a[i] * N")
    processes.run(text)
    module, strided = processes.load(text), np.arange(6.0)[::2]
    module.f(np.arange(3.0))
    translate = compiler.translate

    def meanwhile(request: Any) -> Any:
        module.N = 5
        try:
            return translate(request)
        finally:
            module.N = 2

    with monkeypatch.context() as context:
        context.setattr(compiler, "translate", meanwhile)
        module.f(strided)
    for later in (module, processes.load(text)):
        np.testing.assert_array_equal(later.f(strided), strided * 2)


def test_the_same_source_in_another_module_reads_that_module(processes: Processes) -> None:
    script = SCRIPT.format(value="a[i] * N")
    first = processes.load("N = 2" + script, "first")
    second = processes.load("N = 3" + script, "second")
    np.testing.assert_array_equal(processes.call(first)[0], np.arange(3.0) * 2)
    np.testing.assert_array_equal(processes.call(second)[0], np.arange(3.0) * 3)


def test_a_helper_in_another_module_is_noticed(processes: Processes) -> None:
    for n in (1, 2, 1):
        helper = processes.load(f"def h(x):\n    return x + {n}", "helper")
        module = processes.load("helper = None" + SCRIPT.format(value="helper.h(a[i])"))
        module.helper = helper
        np.testing.assert_array_equal(processes.call(module)[0], np.arange(3.0) + n)


def test_errors_show_where_the_script_is_now(processes: Processes) -> None:
    script = SCRIPT.format(value="a[int(a[i])]")
    for lines in (0, 3, 0):
        text = "\n" * lines + script
        module = processes.load(text)
        with pytest.raises(BoundsError, match="index 7 is out of bounds") as caught:
            module.f(np.array([0.0, 1.0, 7.0]))
        assert caught.value.span is not None
        line = (HEAD + text).splitlines().index("        b[i] = a[int(a[i])]")
        assert caught.value.span.line == line + 1
        assert caught.value.diagnostics[0].notes == ("in iteration i=2",)
    assert processes.translations == 1


def test_errors_in_a_helper_show_where_it_is_now(processes: Processes) -> None:
    """The helper moves in the file, the script does not change."""
    for lines in (0, 3, 0):
        text = "\n" * lines + "def h(a, x):\n    return a[int(x)]\n" + "\n" * (3 - lines)
        module = processes.load(text + SCRIPT.format(value="h(a, a[i])"))
        with pytest.raises(BoundsError, match="index 7 is out of bounds") as caught:
            module.f(np.array([0.0, 1.0, 7.0]))
        assert caught.value.span is not None
        assert (
            caught.value.span.line == (HEAD + text).splitlines().index("    return a[int(x)]") + 1
        )


def test_outputs_and_results_of_every_kind_come_back(processes: Processes) -> None:
    text = """
@hybrid.script
def f(a, n, x=2, *, k=np.float32(3)):
    b = output_tensor((a.shape[0] + n, 2 * a.shape[1] // 2), "float32")
    for i, j in grid(a.shape[0], a.shape[1]):
        b[i, j] = a[i, j] * x + k
    return b, a, n * 2, k, a[0, 0] > 0
"""
    found: list[Any] = []
    for _ in range(2):
        module = processes.load(text)
        for rows in (2, 3, 4):  # the number of rows becomes a run-time size
            found.append(module.f(np.ones((rows, 3)), 1))
    for cold, warm in zip(found[:3], found[3:], strict=True):
        assert [type(item) for item in cold] == [type(item) for item in warm]
        for one, other in zip(cold, warm, strict=True):
            np.testing.assert_array_equal(one, other)
            assert np.asarray(one).dtype == np.asarray(other).dtype
    assert processes.translations == 2


def test_arguments_that_are_written_are_checked(processes: Processes) -> None:
    text = """
T = np.arange(3.0)
@hybrid.script
def f(a, b):
    for i in range(3):
        a[i] = b[i] + T[i]
"""
    for _ in range(2):
        module = processes.load(text)
        frozen = np.zeros(3)
        frozen.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            module.f(frozen, np.zeros(3))
        with pytest.raises(ValueError, match="shares memory with 'T'"):
            module.f(module.T, np.zeros(3))
        line = np.zeros(4)
        module.f(line[1:], line[:3])
        np.testing.assert_array_equal(line, [0.0, 0.0, 1.0, 3.0])
    assert processes.translations == 1


def test_arrays_that_share_memory_do_not_get_the_code_of_others(processes: Processes) -> None:
    text = """
@hybrid.script
def f(a, b):
    for i in range(64):
        a[i] = b[i] + 1
"""
    for _ in range(2):
        module = processes.load(text)
        module.f(np.zeros(64), np.zeros(64))
        line = np.zeros(65)
        module.f(line[1:], line[:64])
        np.testing.assert_array_equal(line, np.arange(65.0))


def test_the_ir_is_there_when_it_is_asked_for(processes: Processes) -> None:
    text = SCRIPT.format(value="a[i] * 2")
    processes.run(text)
    module = processes.load(text)
    module.f(np.arange(3.0))
    assert processes.translations == 1
    assert "a[i] * 2" in module.f.inspect("tir", np.arange(3.0))
    module.f(np.arange(6.0)[::2])  # a new layout, from a translation that was not parsed
    np.testing.assert_array_equal(module.f(np.arange(6.0)[::2]), [0.0, 4.0, 8.0])


def test_an_edited_compiler_keeps_nothing(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts of it may have been loaded before the edit, others after."""

    def is_as_measured(_: object) -> bool:
        return False

    monkeypatch.setattr(versions, "_is_as_measured", is_as_measured)
    monkeypatch.setattr(versions, "_looked_at", set[str]())
    text = SCRIPT.format(value="a[i] * 2")
    assert processes.run(text)[1]
    assert processes.run(text)[1]


ARRAYS = """
def larger(a, b):
    return np.maximum(a, b)

@hybrid.script
def f(a):
    b = np.zeros_like(a) + np.linalg.norm(a) + np.polyval(a, 2.0)
    return np.sum(larger(np.sort(a), b)), np.fft.rfft(a), b.mean(), np.median(b)
"""


def test_functions_of_numpy_are_the_same_in_every_process(processes: Processes) -> None:
    first, second = (processes.load(ARRAYS).f(np.arange(5.0)) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)
    assert processes.translations == 1


def test_a_function_that_takes_the_place_of_one_of_numpy(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "\n@hybrid.script\ndef f(a):\n    return np.ptp(a)\n"
    assert processes.load(text).f(np.arange(5.0)) == 4.0
    module = processes.load("\ndef ptp(a):\n    return a[0] - 1.0\n" + text)
    monkeypatch.setattr(np, "ptp", module.ptp)
    assert module.f(np.arange(5.0)) == -1.0


def test_every_function_of_numpy_that_a_script_has_is_identified() -> None:
    identifier = Identifier(read_function(test_a_function_that_takes_the_place_of_one_of_numpy), {})
    unknown: list[str] = []
    for name in SUPPORTED["numpy"]:
        try:
            identifier.of(operator.attrgetter(name)(np))
        except Unidentified:
            unknown.append(name)
        except AttributeError:  # of another NumPy
            continue
    assert unknown == []
