"""Python that the language does not have: what to say, and what to write instead.

Every entry's help is something that works when typed in; tests/errors holds them to it.
"""

from __future__ import annotations

import ast
import sys

from hybridjit.errors import ParseError, Span
from hybridjit.frontend.numpy_refusals import RANDOM, numpy_help

_LOOP = "make an array with output_tensor(shape, dtype) and fill it in a loop"
_DICT = (
    "use a variable for each item, a tuple or NamedTuple to return several, or two arrays, of keys "
    "and of values; what needs a dict can be called with hybrid.packed"
)
_SET = "use a tuple; of many numbers, an array of flags, or a sorted one with np.searchsorted"
_TEXT = 'texts are for print, assert and raise, as in print(f"x = {x}")'

REFUSALS: dict[type[ast.AST], tuple[str, str]] = {
    # expressions
    ast.ListComp: (
        "a list comprehension cannot stand behind a call in the same expression",
        "make the list on a line of its own, before this one",
    ),
    ast.SetComp: ("set comprehensions are not supported", _SET),
    ast.DictComp: ("dict comprehensions are not supported", _DICT),
    ast.GeneratorExp: ("generator expressions are not supported", _LOOP),
    ast.Dict: ("dicts are not supported", _DICT),
    ast.Set: ("sets are not supported", _SET),
    ast.JoinedStr: (
        "an f-string can only be printed, or be the message of an error",
        'write it as in print(f"x = {x}") or raise ValueError(f"x = {x}")',
    ),
    ast.Lambda: ("lambda cannot stand here", "give it a name on a line before this one"),
    ast.Await: ("await is not supported", "call the script from the coroutine instead"),
    ast.Yield: (
        "yield is not supported: a script is not a generator",
        "store the values in an output_tensor(shape, dtype) and return it",
    ),
    ast.YieldFrom: (
        "yield is not supported: a script is not a generator",
        "store the values in an output_tensor(shape, dtype) and return it",
    ),
    ast.NamedExpr: ("':=' is not supported", "assign with '=' on a line before this one"),
    ast.Starred: ("'*' unpacking is not supported here", "write the items one by one"),
    ast.Slice: ("a slice cannot stand here", "index elements in a loop"),
    # operators
    ast.MatMult: ("'@=' is not supported", "write a[:] = a @ b"),
    ast.Is: ("'is' only compares with None", "compare numbers with =="),
    ast.IsNot: ("'is not' only compares with None", "compare numbers with !="),
    ast.In: (
        "'in' is only supported of a list, a tuple or a row, and alone",
        "compare with each value, as in x == 1 or x == 2",
    ),
    ast.NotIn: (
        "'not in' is only supported of a list, a tuple or a row, and alone",
        "compare with each value, as in x != 1 and x != 2",
    ),
    # statements
    ast.FunctionDef: (
        "a function inside a script cannot be decorated",
        "leave out the decorator, or define it outside the script; calls of it are inlined",
    ),
    ast.AsyncFunctionDef: (
        "a function cannot be defined inside a script",
        "define it outside the script, without async; calls of it are inlined",
    ),
    ast.ClassDef: (
        "a class cannot be defined inside a script",
        "use a variable for each attribute, or define the class outside the script",
    ),
    ast.Delete: (
        "an element of an array cannot be deleted",
        "an array keeps its size: copy what is left, as in b = b[1:].copy()",
    ),
    ast.Import: ("import inside a script is not supported", "import at the top of the file"),
    ast.ImportFrom: ("import inside a script is not supported", "import at the top of the file"),
    ast.Global: (
        "global is not supported: a script cannot assign to names outside it",
        "return the value, or pass an array and write to its elements",
    ),
    ast.Nonlocal: (
        "nonlocal is not supported: a script cannot assign to names outside it",
        "return the value, or pass an array and write to its elements",
    ),
    ast.Match: (
        "a pattern of this match is not supported",
        "match a number, or several as in `match x, y:`, with numbers, names and | ; otherwise "
        "use if, elif and else",
    ),
    ast.AsyncFor: ("async for is not supported", "use for"),
    ast.AsyncWith: ("async with is not supported", "use with"),
}
if sys.version_info >= (3, 11):
    REFUSALS[ast.TryStar] = ("except* is not supported", "use except")


def refusal(node: ast.AST, span: Span | None) -> ParseError:
    """The error for a construct that the language does not have."""
    if isinstance(node, ast.Constant):
        what = "'...'" if node.value is ... else f"a {type(node.value).__name__} literal"
        return ParseError(f"{what} is not supported here", span)
    kind = type(node.op) if isinstance(node, ast.BinOp) else type(node)
    message, help = REFUSALS.get(kind, (f"{kind.__name__} is not supported", None))
    return ParseError(message, span, help=help)


def refuse_text_arithmetic(text: str, span: Span | None) -> ParseError:
    """The error for `"a" + "b"`, `"%f" % x` and `"a".upper()`."""
    return ParseError(
        f"the string {text!r} can only be printed or compared inside a script", span, help=_TEXT
    )


# Functions of Python and its library, with what to write instead. `{}` is the first argument.
FUNCTIONS: dict[str, str] = {
    "sum": "write {}.sum(), or add up in a loop",
    "any": "write {}.any()",
    "all": "write {}.all()",
    "sorted": "write np.sort({})",
    "map": "write a loop",
    "filter": "write a loop with an if",
    "list": "make the list on a line of its own, before this one",
    "dict": _DICT,
    "set": _SET,
    "tuple": "write the items in parentheses: (x, y)",
    **dict.fromkeys(("str", "repr", "format"), _TEXT),
    "type": "compare dtypes: a.dtype == float32",
    "divmod": "use // and %",
    "input": "read the value outside the script and pass it as an argument",
    "open": "read the file outside the script and pass its data as an argument",
    "eval": "compute the value outside the script",
    "exec": "call the function outside the script",
    **dict.fromkeys(("enumerate", "zip", "reversed"), "it can only stand after `for ... in`"),
}
# Objects of NumPy that are indexed to make something.
_INDEXED: dict[str, str] = {
    "RClass": "write np.concatenate((a, b))",
    "CClass": "write np.column_stack((a, b))",
    "IndexExpression": "write the slice where it is used",
}


def index_help(value: object) -> str | None:
    """What to write instead of indexing an object of NumPy."""
    return _INDEXED.get(type(value).__name__)


# Names that Numba and TVM have, with what does their work here.
OTHER_NAMES: dict[str, str] = {
    "pndindex": "write grid(...)",
}


def function_help(name: str, module: str, first: str | None) -> str | None:
    """What to write instead of calling a function of Python, NumPy or another module."""
    if module.startswith("numpy"):
        help = numpy_help(name, module)
    else:
        help = RANDOM if "random" in module else FUNCTIONS.get(name)
    return None if help is None else help.replace("{}", first or "a")
