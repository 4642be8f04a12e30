"""The rules that every expression obeys: what is in scope, and which types go together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hybridjit.ir import expr as ir
from hybridjit.ir.dtype import BOOL, COMPLEX128, FLOAT64, INT64, DType, Kind
from hybridjit.ir.expr import Buffer, Const, Expr, Node, Var
from hybridjit.ir.extern import Extern, Pointer
from hybridjit.ir.intrinsics import INTRINSICS
from hybridjit.lazy import lazy_module

if TYPE_CHECKING:
    from hybridjit.ir import printer
else:
    printer = lazy_module("hybridjit.ir.printer")  # for what is shown, and for errors

_INTEGERS = (Kind.INT, Kind.UINT)
_REALS = (*_INTEGERS, Kind.FLOAT)
_NUMBERS = (*_REALS, Kind.COMPLEX)
_BITS = (Kind.BOOL, *_INTEGERS)
_ORDERED = (Kind.BOOL, *_REALS)

# The kinds of operands that each operator takes; both operands have the same type.
OPERAND_KINDS: dict[type[Node], tuple[Kind, ...]] = {
    **dict.fromkeys((ir.Neg, ir.Add, ir.Sub, ir.Mul, ir.Pow), _NUMBERS),
    ir.Div: (Kind.FLOAT, Kind.COMPLEX),
    **dict.fromkeys((ir.FloorDiv, ir.Mod), _REALS),
    **dict.fromkeys((ir.Min, ir.Max), _ORDERED),
    **dict.fromkeys((ir.BitAnd, ir.BitOr, ir.BitXor), _BITS),
    **dict.fromkeys((ir.ShiftLeft, ir.ShiftRight, ir.Invert), _INTEGERS),
    **dict.fromkeys((ir.Eq, ir.Ne), tuple(Kind)),
    **dict.fromkeys((ir.Lt, ir.Le, ir.Gt, ir.Ge), _ORDERED),
    **dict.fromkeys((ir.And, ir.Or, ir.Not), (Kind.BOOL,)),
}


def _operators(kind: type[Node]) -> list[type[Node]]:
    return [cls for cls in OPERAND_KINDS if issubclass(cls, kind)]


class Fault(Exception):
    """What is wrong with the IR."""


class Scope:
    """What is bound, and what of that can be seen from where the verifier stands.

    Loop variables and the iters of blocks stand in `loops`, of which a block inherits the iters
    only; parameters, dimensions, `Let`s and buffers stand in `visible`, which a block inherits.
    """

    def __init__(self) -> None:
        self.visible: set[Var | Buffer] = set()
        self.loops: dict[Var, bool] = {}  # True for the variable of a For, False for an iter
        self._bound: set[Var | Buffer] = set()

    def claim(self, item: Var | Buffer) -> None:
        """Note that `item` is bound, which happens once in a function."""
        if item in self._bound:
            raise Fault(f"{_noun(item)} '{item.name}' is bound twice")
        self._bound.add(item)

    def bind(self, item: Var | Buffer) -> None:
        """Bind `item` and make it visible."""
        self.claim(item)
        self.visible.add(item)

    def check_visible(self, item: Var | Buffer) -> None:
        """Refuse `item` unless it can be seen from here."""
        if item in self.visible or item in self.loops:
            return
        if item in self._bound:
            raise Fault(
                f"{_noun(item)} '{item.name}' is used out of scope; "
                "a block sees the loops around it only through iters"
            )
        raise Fault(f"{_noun(item)} '{item.name}' is used but not bound")


def _noun(item: Var | Buffer) -> str:
    return "buffer" if isinstance(item, Buffer) else "variable"


class ExprVerifier:
    """Checks expressions bottom-up: the type of each is computed once, from its operands."""

    def __init__(self, allowed: frozenset[type[Node]]) -> None:
        self.scope = Scope()
        self._checks = {cls: check for cls, check in self.CHECKS.items() if cls in allowed}

    def expr(self, expr: Expr) -> DType:
        """The type of `expr`, all of whose rules hold."""
        check = self._checks.get(type(expr))
        if check is None:
            raise Fault(f"{type(expr).__name__} is not an expression of this stage")
        return check(self, expr)

    def typed(self, expr: Expr, dtype: DType, role: str, *name: str) -> None:
        """Check `expr`, which must have type `dtype`; `role` of `name` says what it is for."""
        found = self.expr(expr)
        if found is not dtype:
            what = " ".join((role, *(f"'{word}'" for word in name)))
            raise Fault(f"{what} has type {found}, not {dtype}: {printer.format_expr(expr)}")

    def condition(self, cond: Expr, role: str) -> None:
        """Check a condition, which is bool and, being of use, not a constant."""
        self.typed(cond, BOOL, role)
        if isinstance(cond, Const):
            raise Fault(f"{role} is the constant {cond.value}")

    def shape(self, buffer: Buffer) -> None:
        """Check the extents of `buffer` where it is made."""
        if buffer.is_register and buffer.shape:
            raise Fault(f"register '{buffer.name}' has dimensions")
        if buffer.is_growing and buffer.shape[:1] != (Const(Buffer.MANY),):
            raise Fault(f"growing buffer '{buffer.name}' has an end along its first axis")
        for extent in buffer.shape:
            self.typed(extent, INT64, "an extent of buffer", buffer.name)
            if isinstance(extent, Const) and extent.value.real < 0:
                raise Fault(f"buffer '{buffer.name}' has the negative extent {extent.value}")

    def element(self, buffer: Buffer, indices: Sequence[Expr]) -> None:
        """Check a place in a buffer."""
        self.scope.check_visible(buffer)
        if len(indices) != buffer.ndim:
            raise Fault(
                f"buffer '{buffer.name}' has {buffer.ndim} dimensions but {len(indices)} indices"
            )
        for index in indices:
            self.typed(index, INT64, "an index of buffer", buffer.name)

    def arguments(self, call: ir.ExternCall) -> None:
        """Check the arguments of a call, whether or not the callee has a result."""
        dtypes = [self._argument(arg) for arg in call.args]
        if call.callee.params is None:
            return
        if len(dtypes) != len(call.callee.params):
            raise Fault(
                f"'{call.callee.name}' takes {len(call.callee.params)} arguments, not {len(dtypes)}"
            )
        for found, needed in zip(dtypes, call.callee.params, strict=True):
            if found != (Pointer(needed.dtype) if isinstance(needed, Pointer) else needed):
                raise Fault(f"'{call.callee.name}' takes {_c_type(needed)}, not {_c_type(found)}")

    def _argument(self, arg: Expr) -> DType | Pointer:
        if not isinstance(arg, ir.BufferRef):
            return self.expr(arg)
        self.scope.check_visible(arg.buffer)
        if arg.buffer.is_register:
            raise Fault(f"register '{arg.buffer.name}' is passed as an array")
        if arg.starts or arg.extents:
            self._part(arg)
        return Pointer(arg.buffer.dtype)

    def _part(self, arg: ir.BufferRef) -> None:
        self.element(arg.buffer, arg.starts)
        if len(arg.extents) != arg.buffer.ndim:
            raise Fault(
                f"buffer '{arg.buffer.name}' has {arg.buffer.ndim} dimensions, a part of it "
                f"{len(arg.extents)} extents"
            )
        for extent in arg.shape:
            self.typed(extent, INT64, "an extent of a part of buffer", arg.buffer.name)

    def _const(self, expr: Const) -> DType:
        if not _is_exact(expr.value, expr.of):
            raise Fault(f"{expr.value!r} is not a value of type {expr.of}")
        return expr.of

    def _var(self, var: Var) -> DType:
        self.scope.check_visible(var)
        return var.of

    def _unary(self, expr: ir.Unary) -> DType:
        dtype = self.expr(expr.value)
        _check_kind(expr, dtype)
        if isinstance(expr, ir.Neg) and isinstance(expr.value, Const):
            raise Fault(f"Neg of the constant {expr.value.value}, which should be folded")
        return dtype

    def _binary(self, expr: ir.Binary) -> DType:
        dtype, other = self.expr(expr.lhs), self.expr(expr.rhs)
        if dtype is not other:
            raise _mismatch(expr, (dtype, other))
        _check_kind(expr, dtype)
        if isinstance(expr.rhs, Const) and isinstance(expr.lhs, Const):
            _check_not_foldable(expr, dtype)
        return dtype

    def _compare(self, expr: ir.Compare) -> DType:
        self._binary(expr)
        return BOOL

    def _select(self, expr: ir.Select) -> DType:
        self.condition(expr.cond, "the condition of a Select")
        dtype, other = self.expr(expr.then), self.expr(expr.otherwise)
        if dtype is not other:
            raise _mismatch(expr, (dtype, other))
        return dtype

    def _cast(self, expr: ir.Cast) -> DType:
        dtype = self.expr(expr.value)
        if expr.checked and not (dtype.is_integer and expr.to.is_integer):
            raise Fault(f"a checked Cast from {dtype} to {expr.to}: only integers have one")
        return expr.to

    def _load(self, expr: ir.Load) -> DType:
        self.element(expr.buffer, expr.indices)
        return expr.buffer.dtype

    def _bounded(self, expr: ir.Bounded) -> DType:
        self.typed(expr.index, INT64, "an index of buffer", expr.buffer)
        self.typed(expr.extent, INT64, "an extent of buffer", expr.buffer)
        return INT64

    def _call(self, expr: ir.Call) -> DType:
        intrinsic = INTRINSICS.get(expr.name)
        if intrinsic is None:
            raise Fault(f"there is no intrinsic called '{expr.name}'")
        if len(expr.args) != intrinsic.arity:
            raise Fault(f"'{expr.name}' takes {intrinsic.arity} arguments, not {len(expr.args)}")
        dtypes = [self.expr(arg) for arg in expr.args]
        if any(dtype is not dtypes[0] for dtype in dtypes):
            raise _mismatch(expr, dtypes)
        if not intrinsic.domain.accepts(dtypes[0]):
            raise Fault(f"'{expr.name}' takes {intrinsic.domain.value}, not {dtypes[0]}")
        return intrinsic.result_dtype(dtypes[0])

    def _buffer_ref(self, expr: ir.BufferRef) -> DType:
        raise Fault(f"the whole buffer '{expr.buffer.name}' used as a value")

    def _extern_call(self, expr: ir.ExternCall) -> DType:
        self.arguments(expr)
        return _result(expr.callee)

    CHECKS: ClassVar[Mapping[type[Node], Callable[[Any, Any], DType]]] = {
        **dict.fromkeys(_operators(ir.Unary), _unary),
        **dict.fromkeys(_operators(ir.Binary), _binary),
        **dict.fromkeys(_operators(ir.Compare), _compare),
        ir.Const: _const,
        ir.Var: _var,
        ir.Select: _select,
        ir.Cast: _cast,
        ir.Load: _load,
        ir.Bounded: _bounded,
        ir.Call: _call,
        ir.BufferRef: _buffer_ref,
        ir.ExternCall: _extern_call,
    }


def _check_kind(expr: Expr, dtype: DType) -> None:
    if dtype.kind not in OPERAND_KINDS[type(expr)]:
        raise Fault(f"{type(expr).__name__} does not take {dtype}: {printer.format_expr(expr)}")


def _check_not_foldable(expr: ir.Binary, dtype: DType) -> None:
    """Refuse an integer operator on two constants, unless evaluating it is an error."""
    if not dtype.is_integer:
        return
    match expr:
        case ir.FloorDiv(rhs=Const(0)) | ir.Mod(rhs=Const(0)):
            return
        case ir.Pow(rhs=Const(int(exponent))) if exponent < 0:
            return
        case _:
            raise Fault(f"integer constants should be folded: {printer.format_expr(expr)}")


def _mismatch(expr: Expr, dtypes: Sequence[DType]) -> Fault:
    names = " and ".join(dtype.name for dtype in dtypes)
    return Fault(f"{type(expr).__name__} of {names}, which differ: {printer.format_expr(expr)}")


def _is_exact(value: object, dtype: DType) -> bool:
    """True when `value` is a Python number that type `dtype` holds without rounding."""
    match dtype.kind:
        case Kind.BOOL:
            return isinstance(value, bool)
        case Kind.INT | Kind.UINT:
            low, high = dtype.bounds
            return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
        case Kind.FLOAT:
            return isinstance(value, float) and (dtype is FLOAT64 or _survives(value, dtype))
        case Kind.COMPLEX:
            return isinstance(value, complex) and (dtype is COMPLEX128 or _survives(value, dtype))


def _survives(value: complex, dtype: DType) -> bool:
    with np.errstate(all="ignore"):
        # Back to Python's number: beside a NumPy scalar it would be rounded before comparing.
        return value != value or complex(dtype.numpy.type(value)) == value


def _result(callee: Extern) -> DType:
    if callee.result is None:
        raise Fault(f"'{callee.name}' has no result but is used as a value")
    return callee.result


def _c_type(kind: DType | Pointer) -> str:
    return f"an array of {kind.dtype}" if isinstance(kind, Pointer) else kind.name
