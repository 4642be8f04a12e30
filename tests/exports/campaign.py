"""Random loop programs in libraries for C, called as their headers say, against plain Python.

See tests/campaigns.
"""

from __future__ import annotations

import ctypes
import linecache
import random
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy

import hybridjit as hj
from hybridjit import Kernel, config
from hybridjit.errors import ArgumentValueError, HybridError, ParseError, RefutedIndex, TypeMismatch
from hybridjit.ir.func import PrimFunc
from tests.campaigns.drawn import Drawn
from tests.differential.test_native import is_exact
from tests.exports.generate import make_library_program, renamed, substituted
from tests.exports.library import LibraryFunction, read_header, type_of
from tests.loops.run import cases, hold_against_plain
from tests.programs.campaign import draw_program, has_inexact_calls
from tests.programs.program import forget_sources, load_function
from tests.support.choices import Choices
from tests.support.guarded import SIDES
from tests.support.oracle import Outcome, run_once, run_plain

_ARRAY: type[Any] = numpy.ndarray
_TUPLE: type[Any] = tuple
# Functions of one library: linking takes longer than compiling them.
LOOPS, PROGRAMS = 4, 3
# Names of functions that are not easy to have in C.
NAMES = ("free", "double", "static_cast", "_Exit", "int8_t", "schön", "memset")
COMPILERS = (("cc", "-std=c99", "-x", "c"), ("c++", "-x", "c++"))


@dataclass(frozen=True, slots=True)
class Subject:
    """A function of a library: the kernel, its IR, and the arguments of some calls."""

    name: str
    kernel: Kernel[..., Any]
    func: PrimFunc
    calls: tuple[tuple[Any, ...], ...]
    text: str


def try_number(seed: int, number: int) -> Drawn:
    """One library, with some functions."""
    drawn = Drawn()
    rng = random.Random(f"{seed}/{number}")
    try:
        with config.scope(cache_enabled=False, verify=False):
            subjects = list(_subjects(drawn, rng, seed, number))
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "library.so"
                for subject in _export(drawn, subjects, path):
                    _try_subject(drawn, subject, path)
                _check_header(path.with_suffix(".h"), COMPILERS[number % len(COMPILERS)])
    finally:
        forget_sources()
        linecache.clearcache()
    return drawn


# -- what is drawn ---------------------------------------------------------------------------------


def _subjects(drawn: Drawn, rng: random.Random, seed: int, number: int) -> Iterator[Subject]:
    """The functions of a library; those that the language does not have are left out."""
    names = [f"k{place}" for place in range(LOOPS + PROGRAMS)]
    for place in rng.sample(range(len(names)), 2):
        names[place] = rng.choice([name for name in NAMES if name not in names])
    for place, name in enumerate(names):
        make = _loops if place < LOOPS else _program
        label = (number * len(names)) + place
        text, kernel, calls = make(rng, seed, label)
        drawn.counts["programs"] += 1
        func = _parsed(drawn, kernel, calls[0], text)
        if func is not None:
            yield Subject(name, kernel, func, calls, text)


Made = tuple[str, Kernel[..., Any], tuple[tuple[Any, ...], ...]]


def _loops(rng: random.Random, seed: int, number: int) -> Made:
    """Loops over run-time sizes."""
    program = make_library_program(Choices(rng.randrange))
    found = list(cases(program.loops, rng, f"{seed}/{number}"))
    calls = tuple((*_apart(case.args), *program.numbers) for case in found)
    return program.loops.text, Kernel(found[0].function), calls


def _program(rng: random.Random, seed: int, number: int) -> Made:
    """A program of any statements and types, whose parameters have other names."""
    program = draw_program(seed, number)
    head = next(line for line in program.source.splitlines() if line.startswith("def program("))
    params = re.findall(r"[(,] ?(\w+)(?=[:,)])", head)
    text = substituted(program.source, renamed(Choices(rng.randrange), params))
    return text, Kernel(load_function(text, "program")), (_apart(program.args),)


def _apart(args: Sequence[Any]) -> tuple[Any, ...]:
    """Arguments in C order, none of which is another."""
    return tuple(arg.copy(order="C") if isinstance(arg, _ARRAY) else arg for arg in args)


def _parsed(
    drawn: Drawn, kernel: Kernel[..., Any], args: Sequence[Any], text: str
) -> PrimFunc | None:
    """The IR of a program, if there is one that can be held against plain Python."""
    try:
        func = kernel.prim_func(*args)
    except RefutedIndex as error:
        _check_refuted(drawn, error, kernel, args, text)
    except (ParseError, TypeMismatch) as error:
        drawn.count("refused", [re.sub(r"'.*?'|`.*?`|\d+", "_", str(error.message))])
    else:
        if is_exact(func) and not has_inexact_calls(text):
            return func
        drawn.count("refused", ["what may differ in its last bits"])
    return None


def _check_refuted(
    drawn: Drawn, error: RefutedIndex, kernel: Kernel[..., Any], args: Sequence[Any], text: str
) -> None:
    """What the compiler saw coming must come."""
    drawn.count("refused", ["an index"])
    plain = run_once(run_plain, kernel, args)
    if not isinstance(plain.error, IndexError):
        drawn.failures.append(f"refuted {error}, expected {plain.error!r}\n{text}")


# -- what is held against plain Python -------------------------------------------------------------


def _export(drawn: Drawn, subjects: Sequence[Subject], path: Path) -> list[Subject]:
    """Write a library of the functions that can be in one; those that are."""
    left = list(subjects)
    while left:
        try:
            hj.build({subject.name: subject.func for subject in left}).export_library(path)
        except (ArgumentValueError, RefutedIndex) as error:
            refused = next((subject for subject in left if _is_about(error, subject)), None)
            if refused is None:
                raise
            left.remove(refused)
            if isinstance(error, RefutedIndex):
                _check_refuted(drawn, error, refused.kernel, refused.calls[0], refused.text)
            else:
                drawn.count("refused", [re.sub(r"'.*?'", "_", str(error.message))])
        else:
            break
    return left


def _is_about(error: HybridError, subject: Subject) -> bool:
    file = subject.kernel.py_func.__code__.co_filename
    return f"'{subject.name}'" in str(error) or (error.span is not None and error.span.file == file)


def _try_subject(drawn: Drawn, subject: Subject, path: Path) -> None:
    library = ctypes.CDLL(str(path))
    function = read_header(library, path.with_suffix(".h").read_text())[subject.name]
    loaded = hj.load_module(path)[subject.name]
    for place, args in enumerate(subject.calls):
        try:
            failed = _check_call(subject.kernel, function, loaded, args, place)
        except Exception as error:
            shown = [arg.shape if isinstance(arg, _ARRAY) else arg for arg in args]
            said = f"{type(error).__name__}: {error}"
            drawn.failures.append(f"{said}\n{subject.text}# called with {shown}")
            return
        drawn.counts["native calls"] += 1
        drawn.count("ends", [failed])
        drawn.count_arrays(args)
    drawn.counts["native"] += 1


def _check_call(
    kernel: Kernel[..., Any],
    function: LibraryFunction,
    loaded: Any,
    args: Sequence[Any],
    place: int,
) -> str:
    """Fail unless a call gives what plain Python does, by the header and by Python; how it ends."""
    expected = run_once(run_plain, kernel, args)
    results = _flat(expected.result)
    numbers = [result for result in results if not isinstance(result, _ARRAY)]
    found = function.run(args, None if expected.error else numbers, SIDES[place % len(SIDES)])
    as_c = Outcome(list(map(_as_c, results)), expected.error, expected.arguments, "")
    hold_against_plain(kernel, args, found, as_c)

    def call(_: object, *given: Any) -> Any:
        return loaded(*given)

    again = run_once(call, kernel, args)
    hold_against_plain(kernel, args, again, expected)
    return "a result" if expected.error is None else type(expected.error).__name__


def _flat(result: Any) -> list[Any]:
    if result is None:
        return []
    return [*result] if isinstance(result, _TUPLE) else [result]


def _as_c(result: Any) -> Any:
    return result if isinstance(result, _ARRAY) else numpy.asarray(result, type_of(result))[()]


def _check_header(header: Path, compiler: Sequence[str]) -> None:
    command = [*compiler, "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", str(header)]
    if header.exists():
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{done.stderr}\n{header.read_text()}"
