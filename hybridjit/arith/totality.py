"""Which expressions can be dropped: those that give a value, and do nothing else, every time.

This is the one place that says what may fail. A `Load` may, until its indices are known to be
inside: who knows that of them asks `operation_may_fail`.
"""

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
    Max,
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
    return isinstance(node, Load) or operation_may_fail(node)


def operation_may_fail(node: Node) -> bool:
    """The same for accesses whose indices are inside of their arrays: those do not fail."""
    match node:
        case Bounded() | ExternCall():
            return True
        case Call("fmod", (_, Const(divisor))):
            return divisor == 0 and node.dtype.is_integer
        case Call("fmod"):
            return node.dtype.is_integer
        case Call(name) if name in CUSTOM_INTRINSICS:
            return _rule_may_fail(CUSTOM_INTRINSICS[name].rule, node)
        case FloorDiv(_, Const(divisor)) | Mod(_, Const(divisor)):
            return divisor == 0 and not node.dtype.is_float
        case FloorDiv(_, Max(_, Const(int(least)))) | Mod(_, Max(_, Const(int(least)))):
            return least < 1
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
    known = (arg if isinstance(arg, Const) else Var("x", arg.dtype) for arg in call.args)
    return not is_total(rule.make(*known))
