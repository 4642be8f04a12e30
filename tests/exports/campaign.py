"""Random loops, programs and graphs in libraries for C, called as their headers say.

They are held against plain Python, and graphs against the interpreter and NumPy. See
tests/campaigns.
"""

from __future__ import annotations

import ctypes
import linecache
import random
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
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
from tests.graphs.check import Subject as GraphSubject
from tests.graphs.check import fresh
from tests.graphs.generate import make_graph
from tests.loops.run import cases, compare, hold_against_plain
from tests.nests.check import run
from tests.programs.campaign import draw_program, has_inexact_calls
from tests.programs.program import forget_sources, load_function
from tests.support.choices import Choices
from tests.support.guarded import SIDES
from tests.support.oracle import Outcome, run_once, run_plain

_ARRAY: type[Any] = numpy.ndarray
_TUPLE: type[Any] = tuple
# Functions of one library: linking takes longer than compiling them.
LOOPS, PROGRAMS, GRAPHS = 4, 3, 1
# Names of functions that are not easy to have in C.
NAMES = ("free", "double", "static_cast", "_Exit", "int8_t", "schön", "memset")
COMPILERS = (("cc", "-std=c99", "-x", "c"), ("c++", "-x", "c++"))


@dataclass(frozen=True, slots=True)
class Subject:
    """A function of a library, the arguments of some calls, and what is expected of them."""

    text: str
    file: str  # that the text is said to be in
    calls: Sequence[Sequence[Any]]
    make_func: Callable[[], PrimFunc]
    expected: Callable[[Sequence[Any]], Outcome]
    hold: Callable[[Sequence[Any], Outcome, Outcome], None]


def try_number(seed: int, number: int) -> Drawn:
    """One library, with some functions."""
    drawn = Drawn()
    rng = random.Random(f"{seed}/{number}")
    try:
        with config.scope(cache_enabled=False, verify=False):
            subjects = list(_subjects(drawn, rng, seed, number))
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "library.so"
                for name, subject, _ in _export(drawn, subjects, path):
                    _try_subject(drawn, name, subject, path)
                _check_header(path.with_suffix(".h"), COMPILERS[number % len(COMPILERS)])
    finally:
        forget_sources()
        for file in [file for file in linecache.cache if file.startswith("<loop program")]:
            del linecache.cache[file]
    return drawn


# -- what is drawn ---------------------------------------------------------------------------------


def _subjects(
    drawn: Drawn, rng: random.Random, seed: int, number: int
) -> Iterator[tuple[str, Subject, PrimFunc]]:
    """The functions of a library, by name; those that the language does not have are left out."""
    makers = (*(_loops,) * LOOPS, *(_program,) * PROGRAMS, *(_graph,) * GRAPHS)
    names = [f"k{place}" for place in range(len(makers))]
    for place in rng.sample(range(len(names)), 2):
        names[place] = rng.choice([name for name in NAMES if name not in names])
    for place, (name, make) in enumerate(zip(names, makers, strict=True)):
        subject = make(rng, seed, number * len(names) + place)
        drawn.counts["programs"] += 1
        func = _parsed(drawn, subject)
        if func is not None:
            drawn.count("kinds", [make.__name__.strip("_")])
            yield name, subject, func


def _loops(rng: random.Random, seed: int, number: int) -> Subject:
    """Loops over run-time sizes."""
    program = make_library_program(Choices(rng.randrange))
    found = list(cases(program.loops, rng, f"{seed}/{number}"))
    calls = [(*_apart(case.args), *program.numbers) for case in found]
    return _script(program.loops.text, Kernel(found[0].function), calls)


def _program(rng: random.Random, seed: int, number: int) -> Subject:
    """A program of any statements and types, whose parameters have other names."""
    program = draw_program(seed, number)
    head = next(line for line in program.source.splitlines() if line.startswith("def program("))
    params = re.findall(r"[(,] ?(\w+)(?=[:,)])", head)
    text = substituted(program.source, renamed(Choices(rng.randrange), params))
    return _script(text, Kernel(load_function(text, "program")), [_apart(program.args)])


def _script(text: str, kernel: Kernel[..., Any], calls: Sequence[Sequence[Any]]) -> Subject:
    return Subject(
        text,
        kernel.py_func.__code__.co_filename,
        calls,
        partial(kernel.prim_func, *calls[0]),
        partial(run_once, run_plain, kernel),
        partial(hold_against_plain, kernel),
    )


def _graph(rng: random.Random, seed: int, number: int) -> Subject:
    """A graph of tensors, all of which are parameters in C."""
    del seed, number
    graph = GraphSubject(rng, make_graph(rng))
    graph.check_against_numpy()

    def expected(args: Sequence[Any]) -> Outcome:
        return Outcome(None, None, run(graph.plain, fresh(args)), "")

    def hold(args: Sequence[Any], found: Outcome, wanted: Outcome) -> None:
        del args
        compare(found, wanted)

    calls = [arrays for arrays, _ in graph.runs]
    return Subject(str(graph.plain), "", calls, lambda: graph.plain, expected, hold)


def _apart(args: Sequence[Any]) -> tuple[Any, ...]:
    """Arguments in C order, none of which is another."""
    return tuple(arg.copy(order="C") if isinstance(arg, _ARRAY) else arg for arg in args)


def _parsed(drawn: Drawn, subject: Subject) -> PrimFunc | None:
    """The IR of a program, if there is one that can be held against plain Python."""
    try:
        func = subject.make_func()
    except RefutedIndex as error:
        _check_refuted(drawn, error, subject)
    except (ParseError, TypeMismatch) as error:
        drawn.count("refused", [re.sub(r"'.*?'|`.*?`|\d+", "_", str(error.message))])
    else:
        if is_exact(func) and not has_inexact_calls(subject.text):
            return func
        drawn.count("refused", ["what may differ in its last bits"])
    return None


def _check_refuted(drawn: Drawn, error: RefutedIndex, subject: Subject) -> None:
    """What the compiler saw coming must come."""
    drawn.count("refused", ["an index"])
    plain = subject.expected(subject.calls[0])
    if not isinstance(plain.error, IndexError):
        drawn.failures.append(f"refuted {error}, expected {plain.error!r}\n{subject.text}")


# -- what is held against plain Python -------------------------------------------------------------


Named = tuple[str, Subject, PrimFunc]


def _export(drawn: Drawn, subjects: Sequence[Named], path: Path) -> list[Named]:
    """Write a library of the functions that can be in one; those that are."""
    left = list(subjects)
    while left:
        try:
            hj.build({name: func for name, _, func in left}).export_library(path)
        except (ArgumentValueError, RefutedIndex) as error:
            refused = next((item for item in left if _is_about(error, item)), None)
            if refused is None:
                raise
            left.remove(refused)
            if isinstance(error, RefutedIndex):
                _check_refuted(drawn, error, refused[1])
            else:
                drawn.count("refused", [re.sub(r"'.*?'", "_", str(error.message))])
        else:
            break
    return left


def _is_about(error: HybridError, item: Named) -> bool:
    name, subject, _ = item
    is_there = error.span is not None and error.span.file == subject.file
    return is_there or f"'{name}'" in str(error)


def _try_subject(drawn: Drawn, name: str, subject: Subject, path: Path) -> None:
    library = ctypes.CDLL(str(path))
    function = read_header(library, path.with_suffix(".h").read_text())[name]
    loaded = hj.load_module(path)[name]
    for place, args in enumerate(subject.calls):
        try:
            ended = _check_call(subject, function, loaded, args, place)
        except Exception as error:
            shown = [arg.shape if isinstance(arg, _ARRAY) else arg for arg in args]
            said = f"{type(error).__name__}: {error}"
            drawn.failures.append(f"{said}\n{subject.text}# called with {shown}")
            return
        drawn.counts["native calls"] += 1
        drawn.count("ends", [ended])
        drawn.count_arrays(args)
    drawn.counts["native"] += 1


def _check_call(
    subject: Subject, function: LibraryFunction, loaded: Any, args: Sequence[Any], place: int
) -> str:
    """Fail unless a call gives what is expected, by the header and by Python; how it ends."""
    expected = subject.expected(args)
    results = _flat(expected.result)
    numbers = [result for result in results if not isinstance(result, _ARRAY)]
    found = function.run(args, None if expected.error else numbers, SIDES[place % len(SIDES)])
    as_c = replace(expected, result=list(map(_as_c, results)))
    subject.hold(args, found, as_c)

    def call(_: object, *given: Any) -> Any:
        return loaded(*given)

    subject.hold(args, run_once(call, loaded, args), expected)
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
