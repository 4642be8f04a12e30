"""Python that the language does not have: what to say, and what to write instead.

Every entry's help is something that works when typed in; tests/errors holds them to it.
"""

from __future__ import annotations

import ast
import sys

from hybridjit.errors import ParseError, Span

_LOOP = "write a loop that stores into an array"

REFUSALS: dict[type[ast.AST], tuple[str, str]] = {
    # expressions
    ast.ListComp: ("list comprehensions are not supported", _LOOP),
    ast.SetComp: ("set comprehensions are not supported", _LOOP),
    ast.DictComp: ("dict comprehensions are not supported", _LOOP),
    ast.GeneratorExp: ("generator expressions are not supported", _LOOP),
    ast.Dict: ("dicts are not supported", "use separate variables, a tuple or an array"),
    ast.Set: ("sets are not supported", "use a tuple or an array"),
    ast.JoinedStr: (
        "f-strings are not supported",
        'give the parts separately, as in print("x =", x)',
    ),
    ast.Lambda: ("lambda is not supported", "define a function outside the script and call it"),
    ast.Await: ("await is not supported", "call the script from the coroutine instead"),
    ast.Yield: ("yield is not supported", "store the values in an output array and return it"),
    ast.YieldFrom: ("yield is not supported", "store the values in an output array and return it"),
    ast.NamedExpr: ("':=' is not supported", "assign on a line of its own first"),
    ast.Starred: ("'*' unpacking is not supported", "write the items one by one"),
    ast.Slice: ("a slice cannot stand here", "index elements in a loop"),
    # operators
    ast.MatMult: ("'@' is not supported on numbers", "write the three loops of the product"),
    ast.Is: ("'is' only compares with None", "use '==' for numbers"),
    ast.IsNot: ("'is not' only compares with None", "use '!=' for numbers"),
    ast.In: ("'in' is not supported", "compare with each value: x == 1 or x == 2"),
    ast.NotIn: ("'not in' is not supported", "compare with each value: x != 1 and x != 2"),
    # statements
    ast.FunctionDef: (
        "a function cannot be defined inside a script",
        "define it outside; calls to it are inlined",
    ),
    ast.AsyncFunctionDef: (
        "a function cannot be defined inside a script",
        "define it outside; calls to it are inlined",
    ),
    ast.ClassDef: ("a class cannot be defined inside a script", "use arrays and scalars"),
    ast.Delete: ("del is not supported", "leave it out: variables go away by themselves"),
    ast.Import: ("import inside a script is not supported", "import at the top of the file"),
    ast.ImportFrom: ("import inside a script is not supported", "import at the top of the file"),
    ast.Global: ("global is not supported", "pass an array and write to it, or return the value"),
    ast.Nonlocal: (
        "nonlocal is not supported",
        "pass an array and write to it, or return the value",
    ),
    ast.Try: ("try is not supported: errors leave the script", "catch them around the call"),
    ast.Match: ("match is not supported", "use if and elif"),
    ast.AsyncFor: ("async for is not supported", "use for"),
    ast.AsyncWith: ("async with is not supported", "use with"),
}
if sys.version_info >= (3, 11):
    REFUSALS[ast.TryStar] = REFUSALS[ast.Try]


def refusal(node: ast.AST, span: Span | None) -> ParseError:
    """The error for a construct that the language does not have."""
    kind = type(node.op) if isinstance(node, ast.BinOp) else type(node)
    message, help = REFUSALS.get(kind, (f"{kind.__name__} is not supported", None))
    return ParseError(message, span, help=help)
