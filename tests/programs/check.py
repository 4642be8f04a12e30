"""What must hold of every program: all ways to run it agree, and its text is the program."""

from __future__ import annotations

from typing import Any

from hybridjit import Kernel
from hybridjit.frontend.parse import parse_text
from hybridjit.interp.run import interpret
from hybridjit.ir.equal import structural_equal
from tests.programs.program import Program
from tests.support.oracle import Outcome, assert_same_outcome, run_once, run_plain_and_interpreted


def check_program(program: Program) -> Outcome:
    """Fail unless plain Python, the interpreter and the program read back from its text agree."""
    plain = run_plain_and_interpreted(program.kernel, program.args)
    check_text(program.kernel, program, plain)
    return plain


def check_text(kernel: Kernel[..., Any], program: Program, plain: Outcome) -> None:
    """Fail unless the printed program parses to an equal one, which does the same."""
    func = kernel.prim_func(*program.args)
    again = parse_text(str(func))
    if not structural_equal(func, again):
        raise AssertionError(f"the text reads back as another function:\n{func}\n-->\n{again}")

    def run_again(_: object, *args: Any) -> Any:
        return interpret(again, args)

    try:
        assert_same_outcome(run_once(run_again, kernel, program.args), plain)
    except AssertionError as error:
        raise AssertionError(f"the function read back and plain Python differ: {error}") from None
