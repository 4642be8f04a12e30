"""Which expressions can be dropped: those that give a value, and do nothing else, every time."""

from __future__ import annotations

from hybridjit.ir.expr import (
    Bounded,
    Call,
    Cast,
    Const,
    Expr,
    ExternCall,
    FloorDiv,
    Load,
    Mod,
    Node,
    Pow,
    Var,
)
from hybridjit.ir.intrinsics import CUSTOM_INTRINSICS, Expansion, Rule
from hybridjit.ir.visit import walk


def is_total(expr: Expr) -> bool:
    """Whether evaluating `expr` cannot fail and has no effect, so that it need not happen."""
    return not any(may_fail(node) for node in walk(expr))


def may_fail(node: Node) -> bool:
    """Whether the operator of `node`, its operands aside, can fail or has an effect."""
    match node:
        case Load() | Bounded() | ExternCall():
            return True
        case Call(name="fmod"):
            return node.dtype.is_integer
        case Call(name) if name in CUSTOM_INTRINSICS:
            return _rule_may_fail(CUSTOM_INTRINSICS[name].rule, node)
        case FloorDiv(_, Const(divisor)) | Mod(_, Const(divisor)):
            return divisor == 0 and not node.dtype.is_float
        case Pow(_, Const(exponent)) if node.dtype.is_integer:
            return exponent.real < 0
        case FloorDiv() | Mod() | Pow():
            return node.dtype.is_integer
        case Cast():
            return node.checked
        case _:
            return False


def _rule_may_fail(rule: Rule, call: Call) -> bool:
    """Whether what stands for an intrinsic can fail. Foreign functions are declared pure."""
    if not isinstance(rule, Expansion):
        return False
    return not is_total(rule.make(*(Var("x", arg.dtype) for arg in call.args)))
