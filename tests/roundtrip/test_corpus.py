"""The printed form of every kernel is hybrid script: it parses back to an equal function."""

import ast
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import astunparse
import pytest

from hybridjit import HybridError, PrimFunc, parse
from hybridjit.interp.run import interpret
from hybridjit.ir.equal import find_difference
from hybridjit.ir.printer import print_func
from hybridjit.runtime.arguments import bind, flatten, spec_of_argument
from tests.corpus import CORPUS
from tests.corpus.case import Arguments, Case
from tests.support.oracle import assert_same_outcome, run_interpreted, run_once


@dataclass(frozen=True)
class Program:
    """A function that a kernel becomes, with the first arguments that give it."""

    arguments: Arguments
    func: PrimFunc
    text: str
    parsed: PrimFunc


@lru_cache(maxsize=1)
def programs(case: Case) -> tuple[Program, ...]:
    """Every function that a kernel of the corpus becomes, read back from its text."""
    found: dict[PrimFunc, Program] = {}
    for arguments in case.arguments:
        try:
            func = case.kernel.prim_func(*arguments.args, **arguments.kwargs)
        except HybridError:
            continue  # refused when it is compiled: test_corpus.py in differential/ looks at that
        if func not in found:
            text = str(func)
            found[func] = Program(arguments, func, text, parse(text, case.names))
    return tuple(found.values())


@pytest.mark.sampled(24)
@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CORPUS])
def test_round_trip(case: Case) -> None:
    """In one test: the kernel is translated for all of its arguments, which takes the time."""
    printed_function_parses_back(case)
    printing_twice_gives_the_same_text(case)
    other_unparsers_keep_the_printed_text(case)
    parsed_function_computes_the_same(case)


def printed_function_parses_back(case: Case) -> None:
    assert programs(case), "every call of this kernel is refused"
    for program in programs(case):
        difference = find_difference(program.func, program.parsed)

        assert difference is None, f"{difference}\n{program.text}\n{program.parsed}"
        assert str(program.parsed) == program.text


def printing_twice_gives_the_same_text(case: Case) -> None:
    for program in programs(case):
        assert print_func(program.func) == program.text


def other_unparsers_keep_the_printed_text(case: Case) -> None:
    for program in programs(case):
        tree = ast.parse(program.text)

        assert ast.dump(ast.parse(ast.unparse(tree))) == ast.dump(tree)
        assert ast.dump(ast.parse(unparse(tree))) == ast.dump(tree)


def unparse(tree: ast.AST) -> str:
    """The text that astunparse makes of a tree."""
    untyped: Any = astunparse
    return untyped.unparse(tree)


def parsed_function_computes_the_same(case: Case) -> None:
    program = programs(case)[0]

    def run_parsed(kernel: Any, *args: Any, **kwargs: Any) -> Any:
        values = bind(kernel.signature, args, kwargs)
        names = kernel.signature.parameters
        specs = [spec_of_argument(*pair) for pair in zip(names, values, strict=True)]
        return interpret(program.parsed, flatten(specs, values))

    arguments = program.arguments
    expected = run_once(run_interpreted, case.kernel, arguments.args, arguments.kwargs)
    found = run_once(run_parsed, case.kernel, arguments.args, arguments.kwargs)

    assert_same_outcome(found, expected)
