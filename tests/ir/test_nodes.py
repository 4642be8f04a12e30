"""Every node class is known to everything that must handle it."""

import dataclasses

import pytest

from hybridjit.ir.equal import field_roles
from hybridjit.ir.expr import Binary, Compare, Const, Expr, Node, Unary
from hybridjit.ir.printer_exprs import EXPR_FORMATTERS
from hybridjit.ir.printer_stmts import StmtPrinter
from hybridjit.ir.stmt import Iter, Seq, Stmt
from hybridjit.ir.verify import STAGE_NODES, FuncVerifier
from hybridjit.ir.verify_exprs import ExprVerifier
from hybridjit.ir.visit import NODE_CLASSES

ABSTRACT = {Node, Expr, Stmt, Unary, Binary, Compare}
CONCRETE = [cls for cls in NODE_CLASSES.values() if cls not in ABSTRACT]

# Handled where they stand: sequences and iters inside of what holds them.
PART_OF_ANOTHER = {Seq, Iter}

each_class = pytest.mark.parametrize("cls", CONCRETE, ids=lambda cls: cls.__name__)


def test_abstract_classes_are_those_with_subclasses() -> None:
    for cls in CONCRETE:
        assert not any(issubclass(other, cls) for other in CONCRETE if other is not cls)


@each_class
def test_printer_knows(cls: type[Node]) -> None:
    known = {*EXPR_FORMATTERS, *StmtPrinter.PRINTERS, *PART_OF_ANOTHER, Const}
    assert cls in known


@each_class
def test_equal_knows_every_field(cls: type[Node]) -> None:
    """TypeError where a field has a type that equality does not know."""
    fields = [field.name for field in dataclasses.fields(cls) if field.name != "span"]
    assert [name for name, _ in field_roles(cls)] == fields


@each_class
def test_verifier_knows(cls: type[Node]) -> None:
    assert cls in {*ExprVerifier.CHECKS, *FuncVerifier.CHECKS, *PART_OF_ANOTHER}


@each_class
def test_some_stage_allows(cls: type[Node]) -> None:
    assert any(cls in allowed for allowed in STAGE_NODES.values())
