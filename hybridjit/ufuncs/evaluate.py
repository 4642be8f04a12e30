"""`hybrid.evaluate`: an expression over arrays, given as text, in one loop."""

from __future__ import annotations

import sys
from collections import ChainMap
from collections.abc import Iterable, Mapping
from typing import Any

from hybridjit.brief_locks import brief_lock
from hybridjit.config import api_edge
from hybridjit.errors import ArgumentError
from hybridjit.ir.fastmath import Fastmath, read_fastmath
from hybridjit.record import record
from hybridjit.scalars.suggest import did_you_mean
from hybridjit.ufuncs.expression import CONSTANTS, FUNCTIONS, read_expression
from hybridjit.ufuncs.texts import definition, make_function
from hybridjit.ufuncs.ufunc import Declared, Ufunc

# Expressions are few in a program; those that are made up on the fly must not pile up.
_MAX_KNOWN = 256


@record
class _Known:
    """An expression as a function of its variables."""

    names: tuple[str, ...]
    ufunc: Ufunc


_known: dict[tuple[str, tuple[str, ...]], _Known] = {}
_lock = brief_lock()


@api_edge
def evaluate(
    expression: str,
    /,
    *,
    out: Any = None,
    local_dict: Mapping[str, Any] | None = None,
    casting: str = "same_kind",
    fastmath: Fastmath = False,
    **variables: Any,
) -> Any:
    """The value of an expression over arrays, computed element by element in one loop.

    Its variables are the keyword arguments, else those of `local_dict` or of the caller. It may
    use numbers, the operators of Python, comparisons, `x if c else y`, and the functions of the
    language and of NumPy that work on elements. The text is parsed, never executed.

    >>> a, b = np.arange(3.0), np.ones(3)
    >>> hybrid.evaluate("2*a + sin(b - 1)")
    array([0., 2., 4.])
    """
    known = _find(expression, read_fastmath(fastmath))
    others = local_dict
    if others is None:
        frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]  # past api_edge
        others = ChainMap(frame.f_locals, frame.f_globals)
    values = [_value(name, variables, others) for name in known.names]
    options: dict[str, Any] = {} if out is None else {"out": out, "casting": casting}
    return known.ufunc(*(values or [0]), **options)


def _value(name: str, variables: Mapping[str, Any], others: Mapping[str, Any]) -> Any:
    for names in (variables, others, CONSTANTS):
        if name in names:
            return names[name]
    raise ArgumentError(
        f"the variable '{name}' of the expression has no value",
        help=did_you_mean(name, [*variables, *others]) or f"pass it: {name}=...",
    )


def _find(text: str, fastmath: tuple[str, ...]) -> _Known:
    """The function of an expression, made once for each text."""
    known = _known.get((text, fastmath))
    if known is None:
        known = _make(text, fastmath)
        with _lock:
            surplus = max(0, len(_known) + 1 - _MAX_KNOWN)
            forgotten = [_known.pop(key) for key in list(_known)[:surplus]]
            _known[text, fastmath] = known
        _forget(forgotten)
    return known


def _make(text: str, fastmath: tuple[str, ...]) -> _Known:
    expression = read_expression(text)
    written = definition("expression", expression.names or ("_",), [f"return {expression.text}"])
    functions = {name: FUNCTIONS[name] for name in expression.functions}
    function = make_function("expression", written, functions)
    return _Known(expression.names, Ufunc(function, Declared(fastmath=fastmath)))


def clear() -> None:
    """Forget all expressions."""
    with _lock:
        forgotten = list(_known.values())
        _known.clear()
    _forget(forgotten)


def _forget(expressions: Iterable[_Known]) -> None:
    for known in expressions:
        known.ufunc.forget_texts()
