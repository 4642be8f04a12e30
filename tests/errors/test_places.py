"""Where scripts come from, and how their errors arrive: place, caret, class, traceback."""

from __future__ import annotations

import doctest
import linecache
import pickle
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hybridjit import config, hybrid
from hybridjit.errors import HybridError, ParseError
from tests.conftest import Golden
from tests.errors.case import Case, load, report
from tests.support.own_process import PATIENCE
from tests.support.rows import check_each

A: Any = np.arange(8.0)
THEMES = (
    *("statements", "expressions", "calls", "names", "types", "loops", "blocks", "returns"),
    *("functions", "captures", "runtime", "several", "arrays", "allocations", "numpy_functions"),
)
SCRIPT: Any = hybrid.script  # of functions that no checker knows


def fail(script: Any) -> HybridError:
    with pytest.raises(HybridError, match=": error: ") as caught:
        SCRIPT(script).interpret(A.copy())
    return caught.value


# Every diagnostic.


@pytest.mark.parametrize("theme", THEMES)
def test_an_error_pickles_and_hides_our_frames(theme: str) -> None:
    check_each(load(theme), assert_pickles_and_hides_our_frames, name_of)


def name_of(case: Case) -> str:
    return case.name


def assert_pickles_and_hides_our_frames(case: Case) -> None:
    error = case.fail()
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert again.diagnostics == error.diagnostics
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/hybridjit/" in frame.filename]
    assert len(ours) <= (0 if sys.version_info >= (3, 11) else 1)
    assert error.__suppress_context__


@pytest.mark.parametrize("theme", THEMES)
def test_a_message_has_the_grammar_of_all(theme: str) -> None:
    check_each(load(theme), assert_has_the_grammar_of_all, name_of)


def assert_has_the_grammar_of_all(case: Case) -> None:
    for diagnostic in case.fail().diagnostics:
        assert diagnostic.span is not None
        for text in (diagnostic.message, diagnostic.help or "help"):
            assert not text.removesuffix("...").endswith((".", "!"))
            assert text[0] in "'`" or not text[0].isupper() or text.startswith(("NumPy", "Python"))


def test_a_full_traceback_can_be_had() -> None:
    with config.scope(traceback="full"):
        error = load("statements")[0].fail()
    assert any("/hybridjit/" in f.filename for f in traceback.extract_tb(error.__traceback__))


# Where the text is.


def in_cell(name: str, text: str) -> dict[str, Any]:
    """Run `text` as a notebook does: compiled under a made-up name that linecache knows."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {}
    exec(compile(text, name, "exec"), namespace)
    return namespace


def test_in_a_notebook_cell(golden: Golden) -> None:
    cell = in_cell("<ipython-input-1-c0ffee>", "def f(a):\n    return {1: a[0]}\n")
    golden.check(fail(cell["f"]).render(), "txt")


def test_in_a_cell_of_a_kernel_with_a_file(golden: Golden, tmp_path: Path) -> None:
    name = str(tmp_path / "ipykernel_1" / "123.py")
    cell = in_cell(name, "import math\n\n\ndef f(a):\n    return math.sqroot(a[0])\n")
    golden.check(fail(cell["f"]).render(paths="short"), "txt")


def test_in_a_doctest(golden: Golden) -> None:
    text = """
    >>> from hybridjit import hybrid
    >>> import numpy as np
    >>> @hybrid.script
    ... def f(a):
    ...     return {x for x in a}
    >>> try:
    ...     f.interpret(np.zeros(3))
    ... except SyntaxError as error:
    ...     found.append(error.render())
    """
    found: list[str] = []
    test = doctest.DocTestParser().get_doctest(text, {"found": found}, "sample", None, None)
    result = doctest.DocTestRunner(verbose=False).run(test)
    assert result.failed == 0
    golden.check(found[0], "txt")


def test_without_source() -> None:
    namespace: dict[str, Any] = {}
    exec("def f(a):\n    return a[0]\n", namespace)
    with pytest.raises(ParseError, match="source of 'f' is not available") as caught:
        SCRIPT(namespace["f"]).interpret(A)
    assert "save it in a file or a notebook cell" in str(caught.value)


@pytest.mark.parametrize("how", ["-c", "prompt"])
def test_on_the_command_line(how: str) -> None:
    """Before Python 3.13, `python -c` and the prompt keep no text; after, it is there."""
    lines = [
        "import numpy as np",
        "from hybridjit import hybrid",
        "@hybrid.script",
        "def f(a):",
        "    return {1: a[0]}",
        "",
        "f.interpret(np.zeros(3))",
        "",
    ]
    args = ["-c", "\n".join(lines)] if how == "-c" else ["-i", "-q"]
    given = None if how == "-c" else "\n".join(lines)
    command = [sys.executable, *args]
    done = subprocess.run(
        command, input=given, capture_output=True, text=True, timeout=PATIENCE, cwd=Path.cwd()
    )
    assert "source of 'f' is not available" in done.stderr or "dicts are not" in done.stderr
    assert "/hybridjit/" not in done.stderr or sys.version_info < (3, 11)


# Odd forms of source.


def test_a_method(golden: Golden) -> None:
    class Holder:
        @staticmethod
        @hybrid.script
        def method(a: Any) -> Any:
            return a.tolist()

    holder: Any = Holder
    with pytest.raises(ParseError, match="'tolist' of an array") as caught:
        holder.method.interpret(A)
    golden.check(report(caught.value, Path(__file__)), "txt")


def test_several_decorators(golden: Golden) -> None:
    def named(function: Any) -> Any:
        return function

    @named
    @named
    def decorated(
        a: Any,
        unused: int = 3,
    ) -> Any:
        return {unused: a}

    golden.check(report(fail(decorated), Path(__file__)), "txt")


CONTINUED = """\
def f(a):
    x = a[0] + \\
        a[1]
    y = (
        x
        + undefined_name
    )
    return max(
        x,
        {1: 2},
    )
"""


def test_continued_lines(golden: Golden) -> None:
    cell = in_cell("<cell 2>", CONTINUED)
    golden.check(fail(cell["f"]).render(), "txt")


def test_text_that_is_not_ascii(golden: Golden) -> None:
    text = (
        'def f(größe):\n    print("Größe 数量", größe[0]); x = größe["β"]\n    return größe.länge\n'
    )
    golden.check(fail(in_cell("<cell 3>", text)["f"]).render(), "txt")


def test_tabs(golden: Golden) -> None:
    golden.check(fail(in_cell("<cell 4>", "def f(a):\n\treturn\t{1: 2}\n")["f"]).render(), "txt")


def test_two_statements_on_a_line(golden: Golden) -> None:
    text = "def f(a): x = a[0]; y = x & 1; return y\n"
    golden.check(fail(in_cell("<cell 5>", text)["f"]).render(), "txt")
