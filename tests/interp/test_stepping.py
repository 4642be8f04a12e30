"""A debugger of Python follows a script that is interpreted."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.errors import HybridError
from tests.corpus import THEMES
from tests.corpus.case import Case
from tests.support.oracle import assert_same_outcome, fresh, run_interpreted, run_once
from tests.support.rows import check_each
from tests.support.warm_python import run_warm

SCRIPT = """\
import numpy as np
from hybridjit import hybrid

@hybrid.script
def counted(a):
    total = 0.0
    for i in range(a.shape[0]):
        half = a[i] * 0.5
        total += half
    return total

print("result", counted.interpret(np.arange(4.0)))
"""


LONGER = """\
import numpy as np
from hybridjit import hybrid

def doubled(x):
    total = x * 2
    return total + 1

@hybrid.packed
def told(x):
    x[0] += 1

@hybrid.script
def walked(a, n):
    t = (1, 2.5)
    total = 0.0
    for i in range(n):
        t = (i, t[1] + a[i])
        total += doubled(a[i])
        k = total * 3
        total += k
    q = a[1:] * 2
    x, y = q[0], k
    told(a)
    while total > 0:
        total -= 100 * x + y
    return a[n + 4] + q[n - 3] + t[1]

def main(n):
    r = walked.interpret(np.arange(6.0), n)
    return r

main(1)
main(2)
"""


# As `python -m pdb`, but for what every script imports: tracing makes that take twice the time.
PDB = "import numpy, hybridjit.interp.run, pdb; pdb.main()"


def debug(tmp_path: Path, *commands: str, script: str = SCRIPT) -> str:
    debugger, path = tmp_path / "debugger.py", tmp_path / "script.py"
    debugger.write_text(PDB, encoding="utf-8")
    path.write_text(script, encoding="utf-8")
    given = "\n".join([*commands, "q", ""])
    return run_warm(debugger, str(path), given=given, folder=tmp_path).stdout


def test_a_breakpoint_stops_in_every_iteration(tmp_path: Path) -> None:
    text = debug(tmp_path, "b 9", "c", "p i, half, total", "c", "c", "p (i, half, total)")
    assert text.count("script.py(9)counted()") == 3
    assert "-> total += half" in text
    assert "(0, 0.0, 0.0)" in text.replace("np.int64(0)", "0").replace("np.float64(0.0)", "0.0")
    assert "(2, 1.0, 0.5)" in (
        text.replace("np.int64(2)", "2")
        .replace("np.float64(1.0)", "1.0")
        .replace("np.float64(0.5)", "0.5")
    )


def test_arrays_are_seen(tmp_path: Path) -> None:
    text = debug(tmp_path, "b 8, i == 2", "c", "p a.tolist()")
    assert "[0.0, 1.0, 2.0, 3.0]" in text
    assert text.count("script.py(8)counted()") == 1


def test_names_around_the_script_are_seen(tmp_path: Path) -> None:
    text = debug(tmp_path, "b 8", "c", "p np.sum(a), __name__")
    assert "(np.float64(6.0), '__main__')" in text


def test_the_result_is_the_same(tmp_path: Path) -> None:
    assert "result 3.0" in debug(tmp_path, "b 6", "c", "c")


def lines_of(text: str) -> list[str]:
    """Where a session stopped, in functions."""
    return re.findall(r"^(?:\(Pdb\) )?> .*script\.py\((\d+\)\w+)", text, re.MULTILINE)


def test_next_goes_through_the_script_and_back_to_its_caller(tmp_path: Path) -> None:
    text = debug(tmp_path, "b 14", "c", *["n"] * 14, script=LONGER)
    script = [14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26]
    assert lines_of(text) == [*(f"{line})walked" for line in script), "30)main", "30)main"]


def test_step_stays_in_the_script_and_goes_into_what_it_calls(tmp_path: Path) -> None:
    text = debug(tmp_path, "b 18", "c", "s", "s", "s", "b 23", "c", "s", "s", script=LONGER)
    assert lines_of(text) == [
        *("18)walked", "4)doubled", "5)doubled", "6)doubled", "23)walked"),
        *("8)told", "10)told"),
    ]


def test_next_steps_out_of_a_function_that_is_called(tmp_path: Path) -> None:
    text = debug(tmp_path, "b 5", "c", "n", "n", script=LONGER)
    assert lines_of(text) == ["5)doubled", "6)doubled", "19)walked"]


def test_return_goes_to_the_caller(tmp_path: Path) -> None:
    assert lines_of(debug(tmp_path, "b 15", "c", "r", script=LONGER)) == ["15)walked", "30)main"]


def test_breakpoints_in_callbacks_stop(tmp_path: Path) -> None:
    text = debug(tmp_path, "b 10", "c", "p x.tolist()", "n", "n", "n", script=LONGER)
    assert lines_of(text)[0] == "10)told"
    assert "[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]" in text


def test_variables_are_those_of_the_script(tmp_path: Path) -> None:
    """Other variables of the program, which go by the same names, are not seen."""
    shown = "p [float(v) for v in (i, k, total, *t)]"
    text = debug(tmp_path, "b 24", "c", shown, "n", "n", "p float(total)", script=LONGER)
    assert "[0.0, 3.0, 4.0, 0.0, 2.5]" in text  # plain Python says the same
    assert "-199.0" in text
    text = debug(tmp_path, "b 25", "c", "p [float(v) for v in (x, y)]", script=LONGER)
    assert "[2.0, 3.0]" in text


def test_an_error_comes_out_at_the_caller(tmp_path: Path) -> None:
    text = debug(tmp_path, "b 26", "c", "c", "n", script=LONGER)
    assert lines_of(text) == ["26)walked", "26)walked", "29)main"]
    assert "index 6 is out of bounds" in text


def test_where_knows_the_script(tmp_path: Path) -> None:
    text = debug(tmp_path, "b 15", "c", "w", "ll", script=LONGER)
    assert "script.py(15)walked()" in text
    assert "script.py(29)main()" in text


HELPED = """\
import numpy as np
from hybridjit import hybrid

def area(w, h):
    half = w / 2
    return half * h

@hybrid.script
def cube(x, a):
    x = x * a[1]
    return x ** 3

def deep(v, a):
    inner = area(v, 3.0)
    return cube(inner, a)

@hybrid.script
def total(a):
    pair = (1.0, (2, 3.0))
    s = 0.0
    for i in range(a.shape[0]):
        b = area(a[i], 2.0)
        c = deep(b, a)
        x, (y, z) = c, (b, i)
        s += x + y + pair[1][1]
        pair = (pair[0] + x, (z, y))
    k = lambda q: q + s
    return k(2.0)

total.interpret(np.arange(4.0))
"""


def numbers_of(text: str) -> list[str]:
    """What was printed, as plain numbers."""
    plain = re.sub(r"np\.\w+\(([^()]*)\)", r"\1", text)
    return re.findall(r"^\(Pdb\) (\(.*\))$", plain, re.MULTILINE)


def test_functions_have_frames_of_their_own(tmp_path: Path) -> None:
    """With their names, variables and callers, as in plain Python."""
    shown = ["p (w, h)", "up", "p (float(v), a.tolist())", "up", "p (i, b)", "up"]
    text = debug(tmp_path, "b area", "c", "c", *shown, "w", script=HELPED)
    assert lines_of(text)[:2] == ["5)area", "5)area"]
    assert numbers_of(text) == ["(0.0, 3.0)", "(0.0, [0.0, 1.0, 2.0, 3.0])", "(0, 0.0)"]
    assert lines_of(text)[2:4] == ["14)deep", "23)total"]


def test_step_goes_in_and_out_as_python_does(tmp_path: Path) -> None:
    text = debug(tmp_path, "b 22", "c", *["s"] * 14, script=HELPED)
    assert lines_of(text) == [
        *("22)total", "4)area", "5)area", "6)area", "23)total", "13)deep", "14)deep"),
        *("4)area", "5)area", "6)area", "15)deep", "9)cube", "10)cube", "11)cube", "24)total"),
    ]


def test_next_goes_over_functions(tmp_path: Path) -> None:
    text = debug(tmp_path, "b 22", "c", *["n"] * 5, script=HELPED)
    assert lines_of(text) == [f"{line})total" for line in (22, 23, 24, 25, 26, 22)]


def test_return_goes_to_the_function_around(tmp_path: Path) -> None:
    text = debug(tmp_path, "b 10", "c", "r", "b 5", "c", "r", script=HELPED)
    assert lines_of(text) == ["10)cube", "24)total", "5)area", "23)total"]


def test_variables_of_an_earlier_call_are_gone(tmp_path: Path) -> None:
    text = debug(tmp_path, "b 5", "c", "c", "c", "p half", "p (w,)", script=HELPED)
    assert "NameError: name 'half' is not defined" in text
    assert numbers_of(text) == ["(1.0,)"]


def test_names_for_what_has_a_name_are_seen(tmp_path: Path) -> None:
    text = debug(tmp_path, "b 25, i == 2", "c", "p (b, x, y, z)", script=HELPED)
    assert numbers_of(text) == ["(2.0, 27.0, 2.0, 2)"]


def test_tuples_in_tuples_stay_so(tmp_path: Path) -> None:
    text = debug(tmp_path, "b 26", "c", "p pair", "c", "p pair", script=HELPED)
    assert numbers_of(text) == ["(1.0, (2, 3.0))", "(1.0, (0, 0.0))"]


def flat(a: Any) -> Any:
    values = np.ravel(np.asarray(a))
    total = 0.0
    for i in range(values.size):
        total += values[i]
    return total


@hybrid.script
def flat_sum(m: Any, out: Any, k: int) -> None:
    out[k] = flat(m)


def test_what_only_shared_memory_forbids_is_followed() -> None:
    """With arguments that share memory, a view that is a copy would miss what is written."""
    m, out = np.ones((3, 4)), np.zeros(2)
    looked_at(flat_sum, m, out, 1)
    assert out[1] == 12
    with pytest.raises(HybridError, match="another view of the elements"):
        looked_at(flat_sum, m, m[0], 1)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.__name__.rpartition(".")[2])
def test_who_looks_changes_nothing(theme: ModuleType) -> None:
    """Programs with all names and lines, that a debugger follows, give what they give without."""
    check_each(theme.CASES, check_looked_at, lambda case: case.name)


def check_looked_at(case: Case) -> None:
    for call in case.arguments:
        expected = run_once(run_interpreted, fresh(case.kernel), call.args, call.kwargs)
        found = run_once(looked_at, fresh(case.kernel), call.args, call.kwargs)
        assert_same_outcome(found, expected)


def looked_at(kernel: Any, *args: Any, **kwargs: Any) -> Any:
    def see(frame: Any, event: str, arg: Any) -> Any:
        return see

    before = sys.gettrace()
    sys.settrace(see)
    try:
        return run_interpreted(kernel, *args, **kwargs)
    finally:
        sys.settrace(before)
