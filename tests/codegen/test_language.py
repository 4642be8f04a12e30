"""Every node class that lowering leaves has code."""

from hybridjit.codegen.emit.language import LANGUAGE
from hybridjit.ir.expr import Binary, BufferRef, Compare, Expr, Node, Unary
from hybridjit.ir.stmt import Block, Iter, Seq, Stmt
from hybridjit.ir.visit import NODE_CLASSES

ABSTRACT = {Node, Expr, Stmt, Unary, Binary, Compare}
LOWERED = {Block, Iter}
INSIDE_ANOTHER_NODE = {Seq, BufferRef}


def test_every_node_class_has_code() -> None:
    concrete = set(NODE_CLASSES.values()) - ABSTRACT - LOWERED - INSIDE_ANOTHER_NODE
    assert concrete == {*LANGUAGE.expressions, *LANGUAGE.statements}
