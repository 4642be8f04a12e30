"""A builder that puts the fast-math flags of a kernel on the float instructions of its own code.

The functions of codegen/math have builders of their own and no flags: they depend on roundings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from hybridjit.codegen.llvm_types import DOUBLE, FLOAT, HALF, Block, Value
from hybridjit.ir.fastmath import POISONING_FLAGS

_Base: Any = ir.IRBuilder
_Instruction: Any = ir.instructions.Instruction
_FLOATS = (HALF, FLOAT, DOUBLE)


class FloatBuilder(_Base):
    """llvmlite's builder, with flags."""

    def __init__(self, block: Block, flags: Sequence[str]) -> None:
        _Base.__init__(self, block)
        self.float_flags = tuple(flags)
        self.may_poison = not POISONING_FLAGS.isdisjoint(flags)

    def fadd(self, lhs: Value, rhs: Value, name: str = "") -> Value:
        return _Base.fadd(self, lhs, rhs, name, self.float_flags)

    def fsub(self, lhs: Value, rhs: Value, name: str = "") -> Value:
        return _Base.fsub(self, lhs, rhs, name, self.float_flags)

    def fmul(self, lhs: Value, rhs: Value, name: str = "") -> Value:
        return _Base.fmul(self, lhs, rhs, name, self.float_flags)

    def fdiv(self, lhs: Value, rhs: Value, name: str = "") -> Value:
        return _Base.fdiv(self, lhs, rhs, name, self.float_flags)

    def fneg(self, arg: Value, name: str = "") -> Value:
        return _Base.fneg(self, arg, name, self.float_flags)

    def fcmp_ordered(self, cmpop: str, lhs: Value, rhs: Value, name: str = "") -> Value:
        return _Base.fcmp_ordered(self, cmpop, lhs, rhs, name, self.float_flags)

    def fcmp_unordered(self, cmpop: str, lhs: Value, rhs: Value, name: str = "") -> Value:
        return _Base.fcmp_unordered(self, cmpop, lhs, rhs, name, self.float_flags)

    def select(self, cond: Value, lhs: Value, rhs: Value, name: str = "") -> Value:
        is_float = getattr(lhs.type, "element", lhs.type) in _FLOATS
        return _Base.select(self, cond, lhs, rhs, name, self.float_flags if is_float else ())

    def settled(self, value: Value) -> Value:
        """`value`, which depends on floats and is none, fit to branch on and to index with.

        A NaN under "nnan" is poison, which would let LLVM drop the checks behind it: arrays stay
        safe whatever the flags. `freeze` makes it some value.
        """
        if not self.may_poison:
            return value
        frozen = _Instruction(self.block, value.type, "freeze", [value])
        self._insert(frozen)
        return frozen
