"""Calls: functions of the language, casts, numpy and math, C functions and Python callbacks."""

from __future__ import annotations

import ast
import math
import sys
from dataclasses import replace
from types import FunctionType
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

import numpy as np

from hybridjit.arith.ranges import ZERO, constant
from hybridjit.frontend.arrays.memory import (
    as_it_was,
    check_writable,
    elements_of,
    in_order,
    materialize,
    store_array,
    view_of,
)
from hybridjit.frontend.arrays.refusals import FUNCTION_METHODS
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.builtin_calls import call_builtin, call_function, extreme_of
from hybridjit.frontend.call_arguments import (
    arguments,
    dtype_argument,
    number_arguments,
    text_argument,
)
from hybridjit.frontend.captures import is_language_name
from hybridjit.frontend.casts import as_python, cast_to, converted, python_cast
from hybridjit.frontend.classes import is_instance
from hybridjit.frontend.extern_calls import call_extern
from hybridjit.frontend.library.table import WITH_WHERE, with_where
from hybridjit.frontend.lift import lift
from hybridjit.frontend.list_methods import call_list_method
from hybridjit.frontend.nested_results import is_made_of_fields, make_named
from hybridjit.frontend.object_methods import call_method
from hybridjit.frontend.random_state import global_draw, random_state
from hybridjit.frontend.refusals import function_help
from hybridjit.frontend.values import (
    Array,
    ArrayExpr,
    ArrayFunction,
    Builtin,
    Callee,
    ElementType,
    ExternValue,
    Foreign,
    GrowingList,
    InnerFunction,
    Items,
    Method,
    Module,
    Nothing,
    NumpyFunction,
    PythonType,
    RandomGenerator,
    SliceValue,
    Value,
    View,
    describe,
    type_name,
)
from hybridjit.ir.dtype import BFLOAT16, ScalarType
from hybridjit.lazy import lazy_module
from hybridjit.scalars.builtins import rng
from hybridjit.scalars.conversion import as_number
from hybridjit.scalars.functions import apply
from hybridjit.scalars.scalar import Scalar
from hybridjit.scalars.style import Style

if TYPE_CHECKING:
    from hybridjit.frontend.arrays import functions as array_functions
    from hybridjit.frontend.arrays import ufuncs
    from hybridjit.frontend.library import random as library_random
    from hybridjit.frontend.library import selection
else:
    array_functions = lazy_module("hybridjit.frontend.arrays.functions")
    ufuncs = lazy_module("hybridjit.frontend.arrays.ufuncs")
    library_random = lazy_module("hybridjit.frontend.library.random")
    selection = lazy_module("hybridjit.frontend.library.selection")


def evaluate_call(build: Builder, node: ast.Call) -> Value:
    """The value of a call."""
    callee = build.evaluate(node.func)
    mark = len(build.body)
    with in_order(build, [*node.args, *(keyword.value for keyword in node.keywords)]):
        if isinstance(callee, Method):
            callee = replace(callee, owner=as_it_was(build, callee.owner, mark))
        return _call(build, callee, node)


def _call(build: Builder, callee: Value, node: ast.Call) -> Value:
    match callee:
        case Builtin(name):
            return call_builtin(build, name, node)
        case ElementType(dtype):
            return cast_to(build, dtype, node)
        case PythonType(type):
            return python_cast(build, type, node)
        case NumpyFunction("select") if len(node.args) == 1 and not node.keywords:
            return build.language.inline(build, Callee(selection.nonzero), node)
        case NumpyFunction(name, module):
            return call_function(build, name, Style(module), node)
        case ArrayFunction(name) if name in WITH_WHERE and _has_keyword(node, "where"):
            return build.language.inline(build, Callee(with_where(name)), node)
        case ArrayFunction(name):
            return array_functions.call_array_function(build, name, node)
        case Method(RandomGenerator(state), name):
            callee = Callee(library_random.METHODS[name])
            return build.language.inline(build, callee, _as_function(build, state, node))
        case Method(owner, name):
            return _method(build, owner, name, node)
        case _:
            return _call_other(build, callee, node)


def _default_rng() -> object:
    """`np.random.default_rng`, if somebody has loaded it."""
    return getattr(sys.modules.get("numpy.random"), "default_rng", None)


def _call_other(build: Builder, callee: Value, node: ast.Call) -> Value:
    match callee:
        case Callee(pyfunc) if pyfunc is rng:
            return _generator_of(build, library_random.stream, node)
        case Callee() | InnerFunction():
            return build.language.inline(build, callee, node)
        case ExternValue(extern):
            return call_extern(build, extern, node)
        case Foreign(value) if value is _default_rng():
            return _make_generator(build, node)
        case Foreign(value) if (draw := global_draw(value)) is not None:
            return build.language.inline(build, draw, _with_state(build, node))
        case Foreign(type() as maker) if is_made_of_fields(maker):
            return make_named(build, maker, node)
        case Foreign(value):
            return _call_foreign(build, value, node)
        case Scalar() if isinstance(node.func, ast.Name) and node.func.id == "inf":
            return extreme_of(build, node, least=False)
        case _:
            raise _refuse_value(build, callee, node)


def _call_foreign(build: Builder, value: object, node: ast.Call) -> Value:
    """A call of one of the few objects of Python that mean something to the language."""
    if value is slice:
        return _make_slice(build, node)
    if value is tuple and len(node.args) == 1 and not node.keywords:
        return _make_tuple(build, node)
    if value is isinstance:
        return is_instance(build, node)
    if value is __import__:
        return _imported(build, node)
    if value is np.iinfo or value is np.finfo:
        return _limits(build, value, node)
    raise _refuse_callee(build, value, node)


def _make_tuple(build: Builder, node: ast.Call) -> Value:
    """`tuple(items)` of what has a known number of items."""
    items = build.evaluate(node.args[0])
    if not isinstance(items, Items):
        raise _refuse_callee(build, tuple, node)
    return Items(items.items)


def _make_slice(build: Builder, node: ast.Call) -> Value:
    """`slice(stop)` and `slice(start, stop, step)`, as the numbers are now."""
    if node.keywords or not 1 <= len(node.args) <= 3:
        raise build.refuse("slice takes one, two or three numbers", node)
    given: list[Value] = [build.evaluate(arg) for arg in node.args]
    kept = [
        build.let(value, "bound", build.span(node)) if isinstance(value, Scalar) else value
        for value in given
    ]
    if len(kept) == 1:
        return SliceValue(Nothing(), kept[0], Nothing())
    return SliceValue(kept[0], kept[1], kept[2] if len(kept) > 2 else Nothing())


def _with_state(build: Builder, node: ast.Call) -> ast.Call:
    """`np.random.rand(3)` with the state that it draws from, as its first argument."""
    if not isinstance(node.func, ast.Attribute):
        raise build.refuse(
            f"'{ast.unparse(node.func)}' is called by a name of its own",
            node.func,
            help="call it through its module, as in np.random.rand()",
        )
    return _as_function(build, random_state(build, node), node)


def _imported(build: Builder, node: ast.Call) -> Value:
    """A module that the script imports (frontend/plain_syntax.py); loading one runs its code."""
    name = text_argument(build, node.args[0], "the name of a module")
    if name not in _MODULES:
        raise build.refuse(
            f"'{name}' cannot be imported inside a script",
            node,
            help="import it at the top of the file",
        )
    return Module(_MODULES[name])


_MODULES = {"math": math, "numpy": np, "numpy.linalg": np.linalg}


def _make_generator(build: Builder, node: ast.Call) -> Value:
    """`np.random.default_rng(seed)`: its state is an array of the script."""
    if not node.args and not node.keywords:
        raise build.refuse(
            "a generator without a seed cannot be made inside a script",
            node,
            help="give it a seed, or make it outside and pass it as an argument",
        )
    seed = build.evaluate(node.args[0]) if node.args else None
    if isinstance(seed, RandomGenerator):
        return seed
    match node.args:
        case [ast.List([_, _] as parts) | ast.Tuple([_, _] as parts)] if not node.keywords:
            node = ast.copy_location(ast.Call(node.func, parts, []), node)
            return _generator_of(build, library_random.stream, node)
        case _:
            return _generator_of(build, library_random.seeded, node)


def _generator_of(build: Builder, seeded: FunctionType, node: ast.Call) -> Value:
    state = build.language.inline(build, Callee(seeded), node)
    assert isinstance(state, (Array, ArrayExpr))
    return RandomGenerator(materialize(build, elements_of(build, state), "rng", build.span(node)))


def _limits(
    build: Builder, limits: type[np.iinfo[Any]] | type[np.finfo[Any]], node: ast.Call
) -> Value:
    """`np.iinfo(dtype)` and `np.finfo(dtype)`: their attributes are constants."""
    argument = arguments(build, node, "dtype", required=1)["dtype"]
    dtype = dtype_argument(build, argument)
    try:
        return Foreign(limits(cast("Any", dtype.numpy)))
    except ValueError:
        other = "use np.iinfo" if dtype.is_integer else "use np.finfo"
        raise build.mismatch(
            f"{ast.unparse(node.func)} does not know {dtype}",
            argument,
            help=other if dtype is not BFLOAT16 else "pass the number in",
        ) from None


def _refuse_callee(build: Builder, value: object, node: ast.Call) -> Exception:
    label, name = ast.unparse(node.func), getattr(value, "__name__", "")
    module = _module_of(value)
    first = ast.unparse(node.args[0]) if node.args and _is_place(node.args[0]) else None
    help = function_help(name, module, first)
    if module.partition(".")[0] in ("builtins", "numpy", "math"):
        return build.refuse(
            f"'{label}' is not supported inside a script",
            node.func,
            help=help or "write it as a loop over elements, or call it outside the script",
        )
    if isinstance(value, type):
        return build.refuse(
            f"cannot make a '{label}' inside a script",
            node.func,
            help=function_help("dict", "builtins", None)
            if issubclass(value, dict)
            else "make it outside, and pass its numbers and arrays as arguments",
        )
    return build.refuse(
        f"cannot call '{label}', a Python {type_name(value)}",
        node.func,
        help=help
        or "call it outside the script, or back into Python with "
        f'hybrid.packed({label}, "float64")',
    )


def _refuse_value(build: Builder, value: Value, node: ast.Call) -> Exception:
    message, help = f"{describe(value)} cannot be called", None
    if isinstance(node.func, ast.Name) and node.func.id == "nan":
        help = "it is a number: write nan"
    elif isinstance(node.func, ast.Name) and is_language_name(node.func.id):
        name = node.func.id
        help = f"'{name}' is a variable here and hides the function {name}: rename the variable"
    elif isinstance(node.func, ast.Attribute):
        help = f"leave out the parentheses: {ast.unparse(node.func)}"
    elif isinstance(value, Array):
        help = f"index it with brackets: {ast.unparse(node.func)}[...]"
    return build.mismatch(message, node, help=help)


def _method(build: Builder, owner: Value, name: str, node: ast.Call) -> Value:
    match owner, name:
        case Scalar(), _:
            return _number_method(build, owner, name, node)
        case ((Array() | View() | ArrayExpr()), _) if name in FUNCTION_METHODS or (
            name in WITH_WHERE and _has_keyword(node, "where")
        ):
            return _call(build, lift(getattr(np, name)), _as_function(build, owner, node))
        case ((Array() | View()), "sort" | "partition"):
            return _in_place(build, owner, name, node)
        case ((Array() | View() | ArrayExpr()), "item"):
            return _only_item(build, owner, node)
        case ((Array() | View() | ArrayExpr()), _):
            return array_functions.array_method(build, owner, name, node)
        case Items(fields=tuple()), _:
            return call_method(build, owner, name, _as_function(build, owner, node))
        case ((GrowingList() | Items()), _):
            return call_list_method(build, owner, name, node)
        case NumpyFunction(), _:
            return ufuncs.call_ufunc_method(build, owner, name, node)
        case _:
            raise build.refuse(f"{describe(owner)} has no method '{name}'", node.func)


def _number_method(build: Builder, owner: Scalar, name: str, node: ast.Call) -> Value:
    match name:
        case "conjugate" | "conj":
            number_arguments(build, node, 0)
            return apply("conj", Style.LANGUAGE, [as_number(owner)], build.span(node))
        case "item":
            number_arguments(build, node, 0)
            return as_python(build, owner, node)
        case "astype":
            args = arguments(build, node, "dtype", required=1)
            dtype = dtype_argument(build, args["dtype"])
            return Scalar(converted(build, owner, dtype, node), ScalarType(dtype))
        case _:
            alone = ArrayExpr((), owner.type.dtype, lambda _: owner)
            return array_functions.array_method(build, alone, name, node)


def _in_place(build: Builder, owner: Array | View, name: str, node: ast.Call) -> Value:
    """`a.sort()`: the array gets what the function of that name gives."""
    check_writable(build, owner.buffer, node)
    result = _call(build, lift(getattr(np, name)), _as_function(build, owner, node))
    assert isinstance(result, (Array, View, ArrayExpr))
    store_array(build, view_of(build, owner), elements_of(build, result), build.span(node))
    return Nothing()


def _only_item(build: Builder, owner: Array | View | ArrayExpr, node: ast.Call) -> Value:
    """`a.item(i)`: an element as a number of Python."""
    array = elements_of(build, owner)
    places = [build.index(arg, "an index") for arg in node.args]
    if not places and all(constant(size) == 1 for size in array.shape):
        places = [ZERO] * len(array.shape)
    if len(places) != len(array.shape):
        raise build.refuse(
            "item takes an index for every dimension", node, help="index it, as in a[i, j]"
        )
    return as_python(build, array.element(places), node)


def _as_function(build: Builder, owner: Value, node: ast.Call) -> ast.Call:
    """`a.repeat(2)` as a call of np.repeat: the array is its first argument."""
    assert isinstance(node.func, ast.Attribute)
    call = _FUNCTION_CALLS.get(node)
    if call is None:
        first = ast.Name(ast.unparse(node.func.value), ast.Load())
        call = ast.Call(node.func, [first, *node.args], node.keywords)
        _FUNCTION_CALLS[node] = ast.copy_location(call, node)
        ast.copy_location(first, node.func.value)
    build.frame.fixed[call.args[0]] = owner
    return call


# The calls of methods, as calls of functions. A node names variables, so each is made once.
_FUNCTION_CALLS: WeakKeyDictionary[ast.Call, ast.Call] = WeakKeyDictionary()


def _module_of(value: object) -> str:
    """The module of a function; a ufunc does not name its own."""
    if isinstance(value, np.ufunc):
        return "numpy"
    module: object = getattr(value, "__module__", None)
    owner: object = getattr(value, "__self__", None)  # of a method: np.random's generator
    return str(module or type(owner).__module__)


def _has_keyword(node: ast.Call, name: str) -> bool:
    return any(keyword.arg == name for keyword in node.keywords)


def _is_place(node: ast.expr) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute))
