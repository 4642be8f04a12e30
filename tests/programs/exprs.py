"""Random expressions of a wanted type, in bounds and free of undefined results by construction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from hybridjit import hybrid
from tests.programs import types as ty
from tests.programs.intervals import clamp, combine, hull
from tests.programs.scope import Array, Helper, Name, Scope, Value
from tests.support.choices import Choices

INT_LITERALS = (0, 1, 2, 3, -1, 5, 7, -4, 100)
FLOAT_LITERALS = ("1.0", "0.5", "0.0", "-2.75", "3.6", "0.1", "1e10", "-0.0", "inf", "nan")
COMPLEX_LITERALS = ("2j", "(1.5 - 0.5j)", "(0.0 + 1j)")
SMALL = (1, 2, 3, 5, 7)

_LANGUAGE_UNARY = (
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "cbrt", "sin"),
    *("cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *("sigmoid", "erf", "erfc", "gamma", "lgamma", "floor", "ceil", "trunc", "rint", "sign"),
    *("isnan", "isinf", "isfinite", "popcount", "clz"),
)
_NUMPY_UNARY = (
    *("sqrt", "exp", "log", "sin", "cos", "tanh", "arctan", "floor", "ceil", "trunc", "rint"),
    *("sign", "absolute", "square", "isnan", "isfinite", "expm1", "log2", "cbrt"),
)
_LANGUAGE_BINARY = ("minimum", "maximum", "hypot", "atan2", "copysign", "fmod")
_NUMPY_BINARY = (
    *("minimum", "maximum", "hypot", "arctan2", "copysign", "fmod", "add", "multiply"),
    *("subtract", "less", "equal"),
)
_DIVISIONS = ("//", "%", "fmod", "np.fmod")


@cache
def calls_by_result(arity: int) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """The calls of the language and of NumPy that give each result type."""
    language, numpy = (
        (_LANGUAGE_UNARY, _NUMPY_UNARY) if arity == 1 else (_LANGUAGE_BINARY, _NUMPY_BINARY)
    )
    functions: list[tuple[str, Callable[..., Any]]] = [
        *((name, getattr(hybrid, name)) for name in language),
        *((f"np.{name}", getattr(np, name)) for name in numpy),
    ]
    return ty.function_results(functions, arity)


@dataclass
class ExprMaker:
    """Makes expressions out of what the scope offers."""

    choices: Choices
    palette: tuple[str, ...]  # the typed types of this program, few so that they meet
    helpers: list[Helper] = field(default_factory=list[Helper])
    scope: Scope = field(default_factory=Scope)
    wild: bool = False  # indices may be out of bounds
    jumps: int = 0
    exits: int = 0  # returns, after which a loop may never end

    def expr(self, type: str, depth: int) -> Value:
        """An expression of exactly this type, in plain Python and in a script."""
        if type == "int":
            return self.int_expr(depth)
        if depth <= 0 or self.choices.chance(20):
            return self.leaf(type)
        makers = self._makers(type)
        made = self.choices.pick(makers)(type, depth - 1)
        return made or self.leaf(type)

    def _makers(self, type: str) -> list[Callable[[str, int], Value | None]]:
        makers = [self._binary, self._binary, self._cast, self._conditional, self._unary]
        makers += [self._function, self._helper_call, self._and_or, self._select]
        if any(helper.has_effects for helper in self.helpers):
            makers += [self._helper_call] * 2
        if not ty.is_complex(type):
            makers.append(self._extremum)
        if ty.is_bool(type):
            makers += [self._comparison_value] * 3
        return makers

    # -- leaves --------------------------------------------------------------------------------

    def leaf(self, type: str) -> Value:
        names = [n.value(name) for name, n in self.scope.names.items() if n.type == type]
        arrays = [a for a in self.scope.arrays.values() if a.type == type and self._readable(a)]
        kind = self.choices.below(8)
        if arrays and kind in (1, 2, 3, 4):
            return self.element(self.choices.pick(arrays))
        if names and kind >= 2:
            return self.choices.pick(names)
        return self.literal(type)

    def literal(self, type: str) -> Value:
        if type in ("int", "bool"):
            number = self.choices.pick(INT_LITERALS) if type == "int" else self.choices.below(2)
            return Value(str(number if type == "int" else bool(number)), type, number, number)
        if ty.is_int(type):
            low, high = ty.bounds(type)
            number = self.choices.pick([n for n in (*INT_LITERALS, low, high) if low <= n <= high])
            return Value(f"{type}({number})", type)
        if type == ty.BOOL:
            return Value(f"np.bool_({bool(self.choices.below(2))})", type)
        text = self.choices.pick(COMPLEX_LITERALS if ty.is_complex(type) else FLOAT_LITERALS)
        return Value(text if ty.is_weak(type) else f"{type}({text})", type)

    def _readable(self, array: Array) -> bool:
        """Empty arrays are read only where the program may fail, or no iteration gets there."""
        return self.wild or 0 not in array.shape or self._is_dead()

    def _is_dead(self) -> bool:
        return any(n.type == "int" and n.low > n.high for n in self.scope.names.values())

    def element(self, array: Array, depth: int = 1) -> Value:
        indices = [self._axis_index(array, axis, depth) for axis in range(len(array.shape))]
        if not indices:
            return Value(f"{array.name}[()]", array.type)
        is_chain = len(indices) > 1 and self.choices.chance(15)
        return Value(f"{array.name}[{('][' if is_chain else ', ').join(indices)}]", array.type)

    def _axis_index(self, array: Array, axis: int, depth: int) -> str:
        parallel = self.scope.parallel
        if axis == 0 and parallel is not None and array.name in parallel.arrays:
            return parallel.var
        return self.index(array, axis, depth)

    def index(self, array: Array, axis: int, depth: int) -> str:
        """An index into one axis, in bounds unless this program is wild."""
        extent, text = array.shape[axis], self.extent(array, axis)
        if self.wild and self.choices.chance(12):
            return self._wild_index(array, axis, depth)
        fitting = [
            name
            for name, n in self.scope.names.items()
            if n.type == "int" and n.value(name).fits(-extent, extent - 1)
        ]
        kind = self.choices.below(8)
        if fitting and kind >= 3:
            return self.choices.pick(fitting)
        if extent and kind == 1:
            return str(self.choices.between(-extent, extent - 1))
        if kind == 2 and fitting:
            return f"{text} - 1 - abs({self.choices.pick(fitting)})" if extent > 1 else "0"
        if kind == 3:
            return self._data_index(text, extent)
        return clamp(self.int_expr(depth), 0, max(extent, 1) - 1).text

    def _data_index(self, text: str, extent: int) -> str:
        """An element of an integer array, brought into bounds."""
        types = [name for name in self.palette if ty.is_int(name)]
        if not types or not extent:
            return "0"
        return f"{self.leaf(self.choices.pick(types)).text} % {text}"

    def _wild_index(self, array: Array, axis: int, depth: int) -> str:
        # NumPy raises IndexError or OverflowError for an index past int64, as the moment has it.
        types = [name for name in self.palette if ty.is_int(name) and name != "uint64"]
        if types and self.choices.chance(40):
            return self.leaf(self.choices.pick(types)).text
        return f"{self.int_expr(depth).text} + {self.choices.pick(('1', '0', '-1'))}"

    def extent(self, array: Array, axis: int) -> str:
        """An expression for the size of an axis."""
        forms = [f"{array.name}.shape[{axis}]", str(array.shape[axis])]
        return self.choices.pick([*forms, f"len({array.name})"] if axis == 0 else forms)

    # -- Python ints, whose interval is known ----------------------------------------------------

    def int_expr(self, depth: int) -> Value:
        if depth <= 0 or self.choices.chance(20):
            return self._int_leaf()
        makers = (
            *(self._int_binary, self._int_binary, self._int_conditional, self._int_extremum),
            *(self._int_from_data, self._int_from_float, self._int_call),
        )
        return self.choices.pick(makers)(depth - 1) or self._int_leaf()

    def _int_leaf(self) -> Value:
        names = [n.value(name) for name, n in self.scope.names.items() if n.type == "int"]
        axes = [(array, k) for array in self.scope.arrays.values() for k in range(len(array.shape))]
        kind = self.choices.below(6)
        if names and kind >= 2:
            return self.choices.pick(names)
        if axes and kind == 1:
            array, axis = self.choices.pick(axes)
            return Value(self.extent(array, axis), "int", array.shape[axis], array.shape[axis])
        return self.literal("int")

    def _int_binary(self, depth: int) -> Value | None:
        symbol = self.choices.pick(("+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>"))
        left = self.int_expr(depth)
        if symbol in ("//", "%"):
            number = self.choices.pick((*SMALL, -3))
            return combine(symbol, left, Value(str(number), "int", number, number))
        if symbol in ("<<", ">>"):
            return combine(symbol, left, clamp(self.int_expr(depth), 0, 3))
        if self.choices.chance(10):
            return combine(symbol, left, Value(self.condition_value(depth).text, "int", 0, 1))
        return combine(symbol, left, self.int_expr(depth))

    def _int_conditional(self, depth: int) -> Value:
        a, b = self.int_expr(depth), self.int_expr(depth)
        form = self.choices.below(2 if self.wild else 3)
        if form == 0:
            return hull(f"({a.text} if {self.condition(depth)} else {b.text})", a, b)
        if form == 1:
            return hull(f"({a.text} {self.choices.pick(('and', 'or'))} {b.text})", a, b)
        return hull(f"select({self.condition(depth)}, {a.text}, {b.text})", a, b)

    def _int_extremum(self, depth: int) -> Value:
        values = [self.int_expr(depth) for _ in range(self.choices.between(2, 3))]
        word = self.choices.pick(("min", "max"))
        return hull(f"{word}({', '.join(v.text for v in values)})", *values)

    def _int_from_data(self, depth: int) -> Value | None:
        types = [name for name in self.palette if ty.is_int(name)]
        if not types:
            return None
        data = self.expr(self.choices.pick(types), depth)
        form = self.choices.pick(("int({} & 31)", "({} & 31).item()", "int({} % 32)"))
        return Value(form.format(data.text), "int", 0, 31)

    def _int_from_float(self, depth: int) -> Value | None:
        """int, round and math.floor of floats that are neither huge nor NaN: those raise."""
        types = ["float", *(name for name in self.palette if name in ty.FLOATS)]
        named = [name for name, n in self.scope.names.items() if n.type in types]
        if not named:
            return None
        name = self.choices.pick(named)
        words = ["int", "math.floor", "math.ceil"]
        if self.scope.names[name].type in ("float", "float64"):  # the others have no __trunc__
            words += ["round", "math.trunc"]
        word = self.choices.pick(words)
        return Value(f"({word}({name}) if -99.0 < {name} < 99.0 else 5)", "int", -99, 99)

    def _int_call(self, depth: int) -> Value | None:
        form = self.choices.below(5)
        if form == 0:
            return self._helper_call("int", depth)
        inner = self.int_expr(depth)
        largest = max(abs(inner.low), abs(inner.high))
        if form == 1:
            return Value(f"abs({inner.text})", "int", 0, largest)
        if form == 2:
            number = self.choices.pick(SMALL)
            return Value(f"ceil_div({inner.text}, {number})", "int", -largest, largest)
        if form == 3:
            return Value(f"popcount({inner.text})", "int", 0, 64)
        return Value(f"(~{inner.text})", "int", -largest - 1, largest)

    # -- operators -----------------------------------------------------------------------------

    def types_here(self) -> tuple[str, ...]:
        return (*ty.WEAK[:3], *self.palette)

    def _allowed(self, types: tuple[str, ...]) -> bool:
        return all(name in self.palette or name in ty.WEAK for name in types)

    def _binary(self, type: str, depth: int) -> Value | None:
        symbol = self.choices.pick(tuple(ty.BINARY))
        pairs = [
            pair
            for pair in ty.operator_results(symbol).get(type, ())
            if self._allowed(pair) and not _may_fail(symbol, type, pair)
        ]
        if not pairs:
            return None
        a, b = self.choices.pick(pairs)
        left = self._operand(a, depth, b)
        right = self._right_operand(symbol, type, b, depth, a)
        return Value(f"({left.text} {symbol} {right.text})", type)

    def _operand(self, type: str, depth: int, other: str) -> Value:
        """An operand; a Python int must fit the integer type that it meets."""
        value = self.expr(type, depth)
        if type == "int" and ty.is_int(other):
            low, high = ty.bounds(other)
            return clamp(value, max(low, -100), min(high, 100))
        return value

    def _right_operand(self, symbol: str, result: str, type: str, depth: int, other: str) -> Value:
        if symbol in _DIVISIONS and not ty.is_float(result):
            return self._nonzero(type, depth)
        if symbol in _DIVISIONS or (symbol == "/" and ty.is_weak(result)):
            # Python raises for x / 0.0 between floats; scripts follow IEEE.
            return self._nonzero(type, depth) if ty.is_weak(result) else self.expr(type, depth)
        if symbol == "**" and ty.is_int(result):
            return self._small(type, depth, 3)
        if symbol in ("<<", ">>") and (type == "int" or self.choices.chance(80)):
            return self._small(type, depth, 7)
        if type == "int" and "big" in self.scope.names and self.choices.chance(20):
            return self.scope.names["big"].value("big")  # it fits, or both ways raise OverflowError
        return self._operand(type, depth, other)

    def _nonzero(self, type: str, depth: int) -> Value:
        if ty.is_int(type):
            return Value(f"({self.expr(type, depth).text} | 1)", type)
        number = self.choices.pick(SMALL)
        return Value(f"{number}.0" if type == "float" else str(number), type, number, number)

    def _small(self, type: str, depth: int, most: int) -> Value:
        if type == "int":
            return clamp(self.int_expr(depth), 0, most)
        value = self.expr(type, depth)
        return Value(f"({value.text} & {most})", type) if ty.is_int(type) else value

    def _unary(self, type: str, depth: int) -> Value | None:
        symbols = [s for s in ty.UNARY if ty.unary_result(s, type) == type and type != "bool"]
        if not symbols:
            return self._not(type, depth)
        symbol, value = self.choices.pick(symbols), self.expr(type, depth)
        return Value(f"abs({value.text})" if symbol == "abs" else f"({symbol}{value.text})", type)

    def _not(self, type: str, depth: int) -> Value | None:
        return Value(f"(not {self.condition(depth)})", type) if type == "bool" else None

    def _conditional(self, type: str, depth: int) -> Value:
        a, b = self._pair(type, depth)
        text = f"({a.text} if {self.condition(depth)} else {b.text})"
        return self._as(type, text, a, b)

    def _select(self, type: str, depth: int) -> Value:
        if self.wild:  # a script looks only at the value that is chosen: the other may fail
            return self._conditional(type, depth)
        a, b = self._pair(type, depth)
        return self._as(type, f"select({self.condition(depth)}, {a.text}, {b.text})", a, b)

    def _extremum(self, type: str, depth: int) -> Value:
        a, b = self._pair(type, depth)
        return self._as(type, f"{self.choices.pick(('min', 'max'))}({a.text}, {b.text})", a, b)

    def _and_or(self, type: str, depth: int) -> Value:
        a, b = self._pair(type, depth)
        return self._as(type, f"({a.text} {self.choices.pick(('and', 'or'))} {b.text})", a, b)

    def _pair(self, type: str, depth: int) -> tuple[Value, Value]:
        """Two values that meet in `type`, at least one of which has it."""
        sources = [name for name in self.types_here() if self._meets(name, type)]
        first = self.expr(type, depth)
        if not sources or not self.choices.chance(30):
            return first, self.expr(type, depth)
        other = self._operand(self.choices.pick(sources), depth, type)
        return (first, other) if self.choices.chance(50) else (other, first)

    def _meets(self, source: str, type: str) -> bool:
        if source == type or ty.is_weak(type) or type == ty.BOOL or "bfloat16" in (source, type):
            return False
        return ty.joined(source, type) == type

    def _as(self, type: str, text: str, a: Value, b: Value) -> Value:
        """Plain Python gives one of the two in its own type, a script in the type of both."""
        return Value(text if a.type == b.type else f"{type}({text})", type)

    # -- casts and calls -----------------------------------------------------------------------

    def _cast(self, type: str, depth: int) -> Value | None:
        sources = [
            s
            for s in self.types_here()
            if s != type and (ty.is_complex(type) or ty.is_bool(type) or not ty.is_complex(s))
        ]
        source = self.choices.pick(sources)
        value = self._operand(source, depth, type)
        if type == "complex":
            return self._complex(depth)
        if type == "float" and not ty.is_weak(source) and self.choices.chance(30):
            return Value(f"{value.text}.item()", type) if ty.is_float(source) else None
        by_numpy = type in (*ty.FLOATS[:3], *ty.COMPLEX) and self.choices.chance(30)
        return Value(f"{'np.' * by_numpy}{type}({value.text})", type)

    def _complex(self, depth: int) -> Value:
        real, imag = self.expr("float", depth), self.expr("float", depth)
        return Value(f"complex({real.text}, {imag.text})", "complex")

    def _function(self, type: str, depth: int) -> Value | None:
        arity = self.choices.between(1, 2)
        found = [c for c in calls_by_result(arity).get(type, ()) if self._allowed(c[1])]
        if not found:
            return None
        label, types = self.choices.pick(found)
        values = [self._operand(t, depth, types[i - 1]) for i, t in enumerate(types)]
        if label in _DIVISIONS and not ty.is_float(type):
            values[1] = self._nonzero(types[1], depth)
        if label in _DIVISIONS and ty.is_bool(types[1]):
            return None
        return Value(f"{label}({', '.join(v.text for v in values)})", type)

    def _helper_call(self, type: str, depth: int) -> Value | None:
        helpers = [h for h in self.helpers if h.result == type and self._callable(h)]
        if not helpers:
            return None
        helper = self.choices.pick(helpers)
        return Value(self.call(helper, depth), type, helper.low, helper.high)

    def _callable(self, helper: Helper) -> bool:
        if self.scope.parallel is not None and helper.has_effects:
            return False
        return all(not isinstance(p, Array) or self.fitting_arrays(p) for p in helper.params)

    def fitting_arrays(self, wanted: Array) -> list[str]:
        parallel = self.scope.parallel
        return [
            name
            for name, array in self.scope.arrays.items()
            if (array.type, array.shape) == (wanted.type, wanted.shape)
            and (array.writable or not wanted.writable)
            and (parallel is None or name not in parallel.arrays)
        ]

    def call(self, helper: Helper, depth: int) -> str:
        args: list[str] = []
        for param in helper.params:
            if isinstance(param, Array):
                args.append(self.choices.pick(self.fitting_arrays(param)))
            else:
                args.append(self.fitting(param, depth).text)
        return f"{helper.name}({', '.join(args)})"

    def fitting(self, name: Name, depth: int) -> Value:
        """A value that may be assigned to a variable."""
        value = self.expr(name.type, depth)
        return clamp(value, name.low, name.high) if name.type == "int" else value

    # -- conditions ----------------------------------------------------------------------------

    def condition(self, depth: int) -> str:
        """An expression whose truth decides; of any type."""
        makers: tuple[Callable[[int], str], ...] = (
            *(self._comparison, self._comparison, self._int_comparison, self._chain),
            *(self._junction, self._negation, self._truth),
        )
        return self.choices.pick(makers if depth > 0 else makers[:3])(max(depth - 1, 0))

    def condition_value(self, depth: int) -> Value:
        """A comparison of Python numbers: a Python bool."""
        return Value(self._int_comparison(depth), "bool")

    def _comparison_value(self, type: str, depth: int) -> Value:
        if type == "bool":
            return self.condition_value(depth)
        typed = self.choices.pick(self.palette)
        other = self.choices.pick([t for t in self.types_here() if ty.joined(t, typed) is not None])
        return Value(self._compare(typed, other, depth), ty.BOOL)

    def _compare(self, a: str, b: str, depth: int) -> str:
        symbols = ty.COMPARISONS
        if ty.is_complex(a) or ty.is_complex(b):
            symbols = ("==", "!=")
        left, right = self.expr(a, depth), self.expr(b, depth)
        return f"({left.text} {self.choices.pick(symbols)} {right.text})"

    def _comparison(self, depth: int) -> str:
        a = self.choices.pick(self.types_here())
        others = [t for t in self.types_here() if ty.joined(t, a) is not None]
        return self._compare(a, self.choices.pick(others), depth)

    def _int_comparison(self, depth: int) -> str:
        return self._compare("int", "int", depth)

    def _chain(self, depth: int) -> str:
        types = [t for t in self.types_here() if not ty.is_complex(t)]
        first = self.choices.pick(types)
        others = [t for t in types if ty.joined(t, first) is not None]
        values = [self.expr(t, depth).text for t in (self.choices.pick(others), first, first)]
        symbols = [self.choices.pick(ty.COMPARISONS) for _ in range(2)]
        return f"({values[0]} {symbols[0]} {values[1]} {symbols[1]} {values[2]})"

    def _junction(self, depth: int) -> str:
        word = f" {self.choices.pick(('and', 'or'))} "
        return f"({word.join(self.condition(depth) for _ in range(self.choices.between(2, 3)))})"

    def _negation(self, depth: int) -> str:
        return f"(not {self.condition(depth)})"

    def _truth(self, depth: int) -> str:
        return self.expr(self.choices.pick(self.types_here()), depth).text


def _may_fail(symbol: str, result: str, pair: tuple[str, str]) -> bool:
    """Operators with values for which plain Python raises where scripts do not, or the reverse."""
    if symbol == "**" and not ty.is_int(result):
        # NumPy has a second, differently rounded pow for operands of two types.
        return ty.is_weak(result) or any(not ty.is_weak(t) and t != result for t in pair)
    if symbol == "**":
        return ty.is_bool(pair[1])
    if symbol in ("/", "//", "%") and all(map(ty.is_weak, pair)):
        return ty.is_complex(result) or ty.is_bool(pair[1])
    if symbol in ("//", "%") and not ty.is_float(result):
        return ty.is_bool(pair[1])
    return symbol in ("<<", ">>") and ty.is_weak(result)
