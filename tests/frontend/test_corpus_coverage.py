"""The corpus uses every name, operator, statement, type and node of the language."""

import ast
import inspect
from collections import Counter
from collections.abc import Iterator
from functools import cache

from hybridjit import PrimFunc
from hybridjit.errors import HybridError
from hybridjit.ir import expr as ir
from hybridjit.ir import stmt as ir_stmt
from hybridjit.ir.dtype import DTYPES
from hybridjit.ir.expr import Expr, Node
from hybridjit.ir.intrinsics import INTRINSICS
from hybridjit.ir.stmt import IterKind, LoopKind, Stmt
from hybridjit.ir.visit import walk
from hybridjit.scalars.builtins import BUILTINS, PYTHON_NAMES
from tests.corpus import CORPUS, THEMES

# A block with init() has no meaning in plain Python; tests/ir/ and tests/interp/ have it. A script
# writes a slice where the printed form has part(); tests/runtime/test_extern_parts.py has it.
NOT_IN_SCRIPTS = {"init", "part"}
CALLS = 4
# Made by later stages, never by the front end.
LATER_NODES = {"Bounded"}
STATEMENTS = {
    *(ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Assert, ast.Raise, ast.Pass),
    *(ast.If, ast.For, ast.While, ast.With, ast.Break, ast.Continue, ast.Return),
}
EXPRESSIONS = {
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Call, ast.Subscript),
    *(ast.Attribute, ast.Name, ast.Constant, ast.Tuple, ast.List, ast.Slice, ast.keyword),
}
OPERATORS = {
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.BitAnd),
    *(ast.BitOr, ast.BitXor, ast.LShift, ast.RShift, ast.And, ast.Or, ast.Not, ast.Invert),
    *(ast.USub, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Is, ast.IsNot),
}


@cache
def sources() -> tuple[ast.AST, ...]:
    """The functions of the corpus as syntax trees, those that kernels call included."""
    trees = [ast.parse(inspect.getsource(theme)) for theme in THEMES]
    return tuple(stmt for tree in trees for stmt in tree.body if isinstance(stmt, ast.FunctionDef))


def source_nodes() -> Iterator[ast.AST]:
    return (node for function in sources() for node in ast.walk(function))


@cache
def functions() -> tuple[PrimFunc, ...]:
    """The IR of every kernel for its first calls, which differ in dtype."""
    found: dict[PrimFunc, None] = {}
    for case in CORPUS:
        for arguments in case.arguments[:CALLS]:
            try:
                found[case.kernel.prim_func(*arguments.args, **arguments.kwargs)] = None
            except HybridError:
                continue  # refused when it is compiled
    return tuple(found)


def ir_nodes() -> Iterator[Node]:
    return (node for func in functions() for node in walk(func.body))


def concrete(base: type[Node], module: object) -> set[str]:
    """The node classes of a module that no other node class refines."""
    classes = [cls for cls in vars(module).values() if isinstance(cls, type)]
    nodes = [cls for cls in classes if issubclass(cls, base)]
    return {cls.__name__ for cls in nodes if not any(cls in other.__bases__ for other in nodes)}


def test_names_of_kernels_are_unique() -> None:
    repeated = [name for name, count in Counter(c.name for c in CORPUS).items() if count > 1]

    assert repeated == []


def test_corpus_is_large() -> None:
    assert len(CORPUS) >= 200


def test_every_name_of_the_language_is_used() -> None:
    used = {node.id for node in source_nodes() if isinstance(node, ast.Name)}

    assert {*BUILTINS, *PYTHON_NAMES} - used == NOT_IN_SCRIPTS


def test_every_construct_is_used() -> None:
    used = {type(node) for node in source_nodes()}

    assert {
        node.__name__ for node in STATEMENTS | EXPRESSIONS | OPERATORS if node not in used
    } == set()


def test_every_intrinsic_is_called() -> None:
    called = {node.name for node in ir_nodes() if isinstance(node, ir.Call)}

    assert set(INTRINSICS) - called == set()


def test_every_node_is_made() -> None:
    made = {type(node).__name__ for node in ir_nodes()}
    nodes = concrete(Expr, ir) | concrete(Stmt, ir_stmt)

    assert nodes - made == LATER_NODES


def test_every_kind_of_loop_and_iteration_is_made() -> None:
    loops = {node.kind for node in ir_nodes() if isinstance(node, ir_stmt.For)}
    iterations = {node.kind for node in ir_nodes() if isinstance(node, ir_stmt.Iter)}

    assert loops == set(LoopKind)
    assert iterations == set(IterKind)


def test_every_type_is_computed_with() -> None:
    types = {node.dtype.name for node in ir_nodes() if isinstance(node, ir.Binary)}

    assert set(DTYPES) - types == set()
