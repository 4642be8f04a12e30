"""Every node class and every intrinsic of the IR has a meaning."""

import pytest

from hybridjit.errors import InternalError
from hybridjit.interp.expressions import COMPILED_EXPRS, compile_expr
from hybridjit.interp.scalars import FUNCTIONS, OPERATORS
from hybridjit.interp.scope import Scope
from hybridjit.interp.statements import COMPILED_STMTS, compile_stmt
from hybridjit.ir.expr import Binary, Compare, Expr, Node, Unary
from hybridjit.ir.intrinsics import INTRINSICS
from hybridjit.ir.stmt import Iter, Stmt
from hybridjit.ir.visit import NODE_CLASSES
from hybridjit.record import record

ABSTRACT = {Node, Expr, Stmt, Unary, Binary, Compare}
INSIDE_ANOTHER_NODE = {Iter}  # compiled with the block that it belongs to


def test_every_node_class_is_compiled() -> None:
    concrete = set(NODE_CLASSES.values()) - ABSTRACT - INSIDE_ANOTHER_NODE
    assert concrete == {*COMPILED_EXPRS, *COMPILED_STMTS}


def test_every_operator_of_the_table_is_a_node_class() -> None:
    assert all(issubclass(cls, Unary | Binary) for cls in OPERATORS)
    assert OPERATORS.keys() <= set(NODE_CLASSES.values())


def test_every_intrinsic_has_a_function() -> None:
    assert FUNCTIONS.keys() == INTRINSICS.keys()


@record
class NewExpr(Expr):
    """An expression that the interpreter was not told about."""


@record(eq=False)
class NewStmt(Stmt):
    """A statement that the interpreter was not told about."""


def test_unknown_nodes_are_refused() -> None:
    with pytest.raises(InternalError, match="the interpreter cannot evaluate NewExpr"):
        compile_expr(NewExpr(), Scope())
    with pytest.raises(InternalError, match="the interpreter cannot run NewStmt"):
        compile_stmt(NewStmt(), Scope())
