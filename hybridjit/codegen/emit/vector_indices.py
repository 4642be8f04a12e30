"""Indices in a vector loop: kept as ramps, `base + stride * lane`, as long as they are."""

from __future__ import annotations

from llvmlite import ir

from hybridjit.arith.fold import wrap
from hybridjit.codegen.emit.arithmetic import emit_binary
from hybridjit.codegen.emit.index_factors import find_factor, loop_factor
from hybridjit.codegen.emit.statements import StatementEmitter
from hybridjit.codegen.emit.vector_values import Index, Ramp, has_lanes, splat
from hybridjit.codegen.llvm_types import I64, Value, find_constant
from hybridjit.ir import expr as tir
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import Const, Expr
from hybridjit.ir.stmt import For

# Ramps of such numbers do not overflow, whatever the number of lanes.
_MAX_EXACT = 1 << 48


class IndexEmitter(StatementEmitter):
    """Values of index expressions, in and outside of vector loops."""

    # How many iterations run at once; None outside of a vector loop.
    lanes: int | None = None

    def index(self, expr: Expr) -> Index:
        """The value of `expr`, as a ramp if it is one."""
        if self.lanes is None or expr.dtype is not INT64:
            return self.emit(expr)
        match expr:
            case tir.Var():
                return self.values[expr]
            case tir.Add(x, y):
                return self._sum(self.index(x), self.index(y), 1)
            case tir.Sub(x, y):
                return self._sum(self.index(x), self.index(y), -1)
            case tir.Mul(x, Const(int(factor))) | tir.Mul(Const(int(factor)), x):
                return self._scaled(self.index(x), factor)
            case tir.FloorDiv(x, Const(int(divisor))) if divisor != 0:
                found = self.index(x)
                if self._is_in_one_block(found, x, divisor):
                    return self._floor_div(found.base, divisor)
                quotient = _divided(found, divisor)
                return self._floor_div(found, divisor) if quotient is None else quotient
            case tir.Mod(x, Const(int(divisor))) if divisor != 0:
                found = self.index(x)
                if self._is_in_one_block(found, x, divisor):
                    return Ramp(ir.Constant(I64, 0), found.stride)
                return self.emit(expr)
            case _:
                return self.emit(expr)

    def _is_in_one_block(self, found: Index, expr: Expr, size: int) -> bool:
        """Whether all lanes of a ramp, the value of `expr`, lie between two multiples of `size`.

        They do if the first of them is a multiple, and the last is less than a block away.
        """
        if not isinstance(found, Ramp) or not 0 < found.stride * ((self.lanes or 1) - 1) < size:
            return False
        return find_factor(expr, self.factors) % size == 0

    def iterate(self, loop: For, origin: tuple[Value, Value], bounds: tuple[Value, Value]) -> None:
        self.factors[loop.var] = loop_factor(loop, self.factors)
        super().iterate(loop, origin, bounds)

    def _sum(self, x: Index, y: Index, sign: int) -> Index:
        combine = self._add if sign > 0 else self._subtract
        ramps = [value for value in (x, y) if isinstance(value, Ramp)]
        others = [value for value in (x, y) if not isinstance(value, Ramp)]
        if not ramps or any(has_lanes(value) for value in others):
            x, y = (self.spread(value) for value in (x, y))
            if has_lanes(x) or has_lanes(y):
                x, y = self.whole(x), self.whole(y)
            return combine(x, y)
        bases = [value.base if isinstance(value, Ramp) else value for value in (x, y)]
        strides = [value.stride if isinstance(value, Ramp) else 0 for value in (x, y)]
        return _ramp(combine(*bases), strides[0] + sign * strides[1])

    def _add(self, x: Value, y: Value) -> Value:
        a, b = find_constant(x), find_constant(y)
        return self.b.add(x, y) if a is None or b is None else _constant(a + b, x)

    def _subtract(self, x: Value, y: Value) -> Value:
        a, b = find_constant(x), find_constant(y)
        if x is y:
            a = b = 0
        return self.b.sub(x, y) if a is None or b is None else _constant(a - b, x)

    def _floor_div(self, x: Index, divisor: int) -> Value:
        whole = self.spread(x)
        return emit_binary(self.b, tir.FloorDiv, whole, ir.Constant(whole.type, divisor), INT64)

    def _scaled(self, x: Index, factor: int) -> Index:
        if isinstance(x, Ramp):
            return _ramp(self.b.mul(x.base, ir.Constant(I64, factor)), x.stride * factor)
        return self.b.mul(x, ir.Constant(x.type, factor))

    def spread(self, value: Index) -> Value:
        """A ramp as the vector that it stands for."""
        return value.whole(self.b, self.lanes or 1) if isinstance(value, Ramp) else value

    def whole(self, value: Value) -> Value:
        """A value with lanes, the same in each if it has none."""
        return value if has_lanes(value) else splat(self.b, value, self.lanes or 1)


def _constant(number: int, like: Value) -> Value:
    return ir.Constant(like.type, wrap(number, INT64))


def _divided(x: Index, divisor: int) -> Index | None:
    """The ramp that is `divisor` times smaller, if there is one."""
    if not isinstance(x, Ramp) or x.stride % divisor:
        return None
    base = find_constant(x.base)
    if base is None or base % divisor or max(abs(base), abs(x.stride)) > _MAX_EXACT:
        return None
    return _ramp(ir.Constant(I64, base // divisor), x.stride // divisor)


def _ramp(base: Value, stride: int) -> Index:
    stride = wrap(stride, INT64)
    return base if stride == 0 else Ramp(base, stride)
