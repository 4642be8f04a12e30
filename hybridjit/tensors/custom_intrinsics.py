"""Intrinsics of the user's own: functions of numbers, with a rule for how code is made of them.

mylog = tir.register_intrin("mylog", lambda x: te.log(x) * 2)

C = te.compute((n,), lambda i: mylog(A[i]))       # and the same in a script, and on numbers
"""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from typing import Any, Literal, cast

from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.interp.run import compile_func
from hybridjit.interp.scalars import apply_intrinsic
from hybridjit.interp.scalars import as_scalar as number_of
from hybridjit.interp.scalars import dtype_of as type_of
from hybridjit.ir.dtype import DType, ScalarType
from hybridjit.ir.expr import Call, Expr, Var
from hybridjit.ir.extern import Extern
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.intrinsics import (
    CUSTOM_INTRINSICS,
    INTRINSICS,
    CustomIntrinsic,
    Domain,
    Expansion,
    Intrinsic,
    LLVMIntrinsic,
    OneType,
    Result,
    Rule,
    declare_intrinsic,
)
from hybridjit.ir.printer_names import RESERVED
from hybridjit.ir.signature import ScalarParam, ScalarResult
from hybridjit.ir.stmt import Return
from hybridjit.scalars.conversion import convert
from hybridjit.scalars.functions import NAMES_WITH_RULES, apply
from hybridjit.scalars.scalar import Scalar
from hybridjit.scalars.style import Style
from hybridjit.tensors.expression import Expression, Operand, as_scalar, dtype_of

# One for each number of arguments: so type checkers know the parameters of lambdas.
Formula = (
    Callable[[Any], Any]
    | Callable[[Any, Any], Any]
    | Callable[[Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any], Any]
)
DomainName = Literal["float", "integer", "real", "number"]
DOMAINS: dict[str, Domain] = {
    "float": Domain.FLOAT,
    "integer": Domain.INTEGER,
    "real": Domain.REAL,
    "number": Domain.NUMBER,
}


class UserIntrinsic(CustomIntrinsic):
    """An intrinsic that can be called: on te expressions, on those of the IR, and on numbers."""

    __slots__ = ()

    def __call__(self, *args: Any) -> Any:
        return call_by_name(self.name, args)

    def __reduce__(self) -> tuple[Any, ...]:
        return _find_registered, (self.name,)  # by name, as functions are


def _find_registered(name: str) -> CustomIntrinsic:
    """The intrinsic that another process called `name`, registered here as well."""
    found = CUSTOM_INTRINSICS.get(name)
    if found is None:
        raise pickle.UnpicklingError(
            f"there is no intrinsic '{name}' in this process: register it before it is loaded"
        )
    return found


def register_intrin(
    name: str,
    rule: Formula | LLVMIntrinsic | Extern,
    *,
    arity: int | None = None,
    domain: DomainName = "float",
    result: Any = "same",
    python: Formula | None = None,
) -> UserIntrinsic:
    """Make a pure function of numbers known, and give it back: call it in scripts and in te.

    `rule` says how code is made of it: a function that gives a te expression, a C function
    (`hybrid.extern`), or an intrinsic of LLVM (`tir.llvm_intrinsic("llvm.fma")`). `python` is what
    it means in the interpreter; without it, what the expression or the C function gives. All
    arguments have one type, of the `domain` (a C function says so itself); so has the result,
    unless it is "bool" or a dtype.

    >>> mylog = tir.register_intrin("mylog", lambda x: te.log(x) * 2)
    """
    _check_name(name)
    count = _read_arity(name, rule, arity)
    if domain not in DOMAINS:
        raise ArgumentValueError(
            f"intrinsic '{name}': there is no domain {domain!r}",
            help=f"one of {', '.join(DOMAINS)}",
        )
    shape = Intrinsic(name, _find_domain(rule, domain), count, _read_result(result))
    made = _read_rule(shape, rule)
    meaning = _meaning(shape, made) if python is None else python
    options = shape.name, shape.domain, shape.arity, shape.result
    declared = UserIntrinsic(*options, meaning=meaning, rule=made)
    declare_intrinsic(declared)
    return declared


def llvm_intrinsic(name: str) -> LLVMIntrinsic:
    """The intrinsic of LLVM called `name`, without types: "llvm.fma", "llvm.bitreverse"."""
    if not name.startswith("llvm."):
        raise ArgumentValueError(f"{name!r} is no intrinsic of LLVM", help='as in "llvm.fma"')
    return LLVMIntrinsic(name)


def call_by_name(name: str, args: Any) -> Any:
    """An intrinsic of te expressions, of those of the IR, or of numbers."""
    if not any(isinstance(arg, Operand | Expr) for arg in args):
        return apply_intrinsic(name, *args)
    if any(isinstance(arg, Expr) for arg in args):
        return Call(
            name, tuple(arg if isinstance(arg, Expr) else as_scalar(arg).expr for arg in args)
        )
    return Expression(apply(name, Style.LANGUAGE, [as_scalar(arg) for arg in args], None))


# -- what is given ---------------------------------------------------------------------------------


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name.isidentifier():
        raise ArgumentValueError(f"the name of an intrinsic is an identifier, got {name!r}")
    is_taken = name in RESERVED or name in NAMES_WITH_RULES
    if is_taken or (name in INTRINSICS and name not in CUSTOM_INTRINSICS):
        raise ArgumentValueError(f"'{name}' is a word of the language", help="choose another name")


def _read_arity(name: str, rule: object, arity: int | None) -> int:
    if arity is not None:
        return arity
    if isinstance(rule, Extern) and rule.params is not None:
        return len(rule.params)
    if callable(rule) and not isinstance(rule, Extern):
        return len(inspect.signature(rule).parameters)
    raise ArgumentError(
        f"intrinsic '{name}': how many arguments does it take?", help="say it, as in arity=2"
    )


def _find_domain(rule: object, domain: DomainName) -> Domain | OneType:
    """The argument types: of a C function its own, else what `domain` says."""
    if isinstance(rule, Extern) and rule.params and isinstance(rule.params[0], DType):
        return OneType(rule.params[0])
    return DOMAINS[domain]


def _read_result(result: Any) -> Result | DType:
    match result:
        case "same":
            return Result.SAME
        case "bool":
            return Result.BOOL
        case _:
            return dtype_of(result)


def _read_rule(shape: Intrinsic, rule: object) -> Rule:
    match rule:
        case LLVMIntrinsic():
            return rule
        case Extern():
            _check_function(shape, rule)
            return rule
        case _ if callable(rule):
            return Expansion(_expansion(shape, rule))
        case _:
            raise ArgumentError(
                f"intrinsic '{shape.name}': the rule is a function, a C function, or "
                f"tir.llvm_intrinsic(...), got {rule!r}"
            )


def _check_function(shape: Intrinsic, function: Extern) -> None:
    """Refuse what is no C function of numbers of one type."""
    params = function.params or ()
    argument = params[0] if params else None
    if (
        not isinstance(argument, DType)
        or len(params) != shape.arity
        or any(param is not argument for param in params)
        or function.result is None
    ):
        raise ArgumentError(
            f"intrinsic '{shape.name}': '{function.name}' must be a C function of {shape.arity} "
            "numbers of one type that gives a number"
        )
    declared = shape.result_dtype(argument)
    if function.result is not declared:
        raise ArgumentError(
            f"intrinsic '{shape.name}' gives {declared}, and '{function.name}' {function.result}",
            help=f'say it, as in result="{function.result}"',
        )


# -- rules and meanings ----------------------------------------------------------------------------


def _expansion(shape: Intrinsic, rule: Callable[..., Any]) -> Callable[..., Expr]:
    """The rule as a function of expressions of the IR."""

    def make(*args: Expr) -> Expr:
        given = [Expression(Scalar(arg, ScalarType(arg.dtype))) for arg in args]
        found = as_scalar(rule(*given))
        wanted = shape.result_dtype(args[0].dtype)
        return convert(found, wanted, None) if found.type.weak else found.expr

    return make


def _meaning(shape: Intrinsic, rule: Rule) -> Callable[..., Any]:
    """What the rule gives, in the interpreter."""
    match rule:
        case Extern():
            return cast("Callable[..., Any]", rule)
        case Expansion(make):
            return _interpreted(shape, make)
        case LLVMIntrinsic(name):
            raise ArgumentError(
                f"intrinsic '{shape.name}': the interpreter does not know {name}",
                help="say what it means, as in python=lambda x, y: ...",
            )


def _interpreted(shape: Intrinsic, make: Callable[..., Expr]) -> Callable[..., Any]:
    compiled: dict[DType, Callable[..., Any]] = {}

    def meaning(*args: Any) -> Any:
        dtype = type_of(number_of(args[0]))
        if dtype not in compiled:
            compiled[dtype] = compile_func(_function_of(shape, make, dtype))
        return compiled[dtype](args)

    return meaning


def _function_of(shape: Intrinsic, make: Callable[..., Expr], dtype: DType) -> PrimFunc:
    """The function of numbers of type `dtype` that gives the expression of a rule."""
    variables = [Var(f"x{place}", dtype) for place in range(shape.arity)]
    value = make(*variables)
    params = tuple(ScalarParam(var) for var in variables)
    returns = (ScalarResult(value.dtype),)
    return PrimFunc(shape.name, params, Return((value,)), returns=returns)
