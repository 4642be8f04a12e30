"""What expressions are made with: leaves, elements, operands that fit, calls of helpers.

Expressions are of a wanted type, in bounds and free of undefined results by construction. Their
kinds stand in `typed_exprs.py`, `int_exprs.py` and `conditions.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from tests.programs import conditions
from tests.programs import types as ty
from tests.programs.indices import make_index
from tests.programs.int_exprs import INT_EXPRS, SMALL
from tests.programs.intervals import clamp
from tests.programs.kinds import Style
from tests.programs.scope import Array, Extent, Helper, Name, Scope, Value
from tests.programs.typed_exprs import DIVISIONS, EXPRS
from tests.support.choices import Choices

T = TypeVar("T")

INT_LITERALS = (0, 1, 2, 3, -1, 5, 7, -4, 100)
FLOAT_LITERALS = ("1.0", "0.5", "0.0", "-2.75", "3.6", "0.1", "1e10", "-0.0", "inf", "nan")
COMPLEX_LITERALS = ("2j", "(1.5 - 0.5j)", "(0.0 + 1j)")


@dataclass
class ExprMaker:
    """Makes expressions out of what the scope offers and the style allows."""

    choices: Choices
    style: Style
    palette: tuple[str, ...]  # the typed types of this program, few so that they meet
    helpers: list[Helper] = field(default_factory=list[Helper])
    scope: Scope = field(default_factory=Scope)
    # How the program calls its sizes, and its tables of indices: their names and lengths.
    size_names: Mapping[str, str] = field(default_factory=dict[str, str])
    tables: Mapping[str, tuple[str, Extent]] = field(default_factory=dict[str, tuple[str, Extent]])
    # What must hold for the indices so far to be in bounds; None where no statement can be guarded.
    guards: list[str] | None = None
    jumps: int = 0
    exits: int = 0  # returns, after which a loop may never end

    def expr(self, type: str, depth: int) -> Value:
        """An expression of exactly this type, in plain Python and in a script."""
        if type == "int":
            return self.int_expr(depth)
        if depth <= 0 or self.choices.chance(20):
            return self.leaf(type)
        made = EXPRS[self.choices.weighted(self._kinds(type))](self, type, depth - 1)
        return made or self.leaf(type)

    def _kinds(self, type: str) -> dict[str, int]:
        """The kinds of expressions that there are of a type."""
        kinds = dict(self.style.exprs)
        if any(helper.has_effects for helper in self.helpers):
            kinds["helper call"] = 3
        if ty.is_complex(type):
            kinds.pop("extremum", None)
        if ty.is_bool(type):
            kinds["comparison"] = 3
        return kinds

    # -- leaves --------------------------------------------------------------------------------

    def leaf(self, type: str) -> Value:
        names = [n.value(name) for name, n in self.scope.names.items() if n.type == type]
        arrays = [a for a in self.scope.arrays.values() if a.type == type and self.readable(a)]
        kind = self.choices.weighted(self.style.leaves)
        if arrays and (kind == "element" or (kind == "name" and not names)):
            return self._read(self.choices.pick(arrays))
        if names and kind != "literal":
            return self.choices.pick(names)
        return self.literal(type)

    def _read(self, array: Array) -> Value:
        """An element, or where there is none, a number: then its guards stay in the expression."""
        if self.guards is None:
            return self.element(array)
        value, found = self.collected(lambda: self.element(array))
        if found and self.choices.chance(30):
            other = self.literal(array.type).text
            return Value(f"({value.text} if {' and '.join(found)} else {other})", array.type)
        self.guards += found
        return value

    def collected(self, make: Callable[[], T]) -> tuple[T, list[str]]:
        """What is made, and what must hold for its indices to be in bounds."""
        outer, self.guards = self.guards, [] if "guard" in self.style.fixes else None
        made, found = make(), self.guards or []
        self.guards = outer
        return made, list(dict.fromkeys(found))

    def literal(self, type: str) -> Value:
        most = self.style.literals
        if type in ("int", "bool"):
            ints = INT_LITERALS[:most]
            number = self.choices.pick(ints) if type == "int" else self.choices.below(2)
            return Value(str(number if type == "int" else bool(number)), type, number, number)
        if ty.is_int(type):
            low, high = ty.bounds(type)
            every = (*INT_LITERALS, low, high)[:most]
            number = self.choices.pick([n for n in every if low <= n <= high])
            return Value(f"{type}({number})", type)
        if type == ty.BOOL:
            return Value(f"np.bool_({bool(self.choices.below(2))})", type)
        floats = FLOAT_LITERALS[:most]
        text = self.choices.pick(COMPLEX_LITERALS if ty.is_complex(type) else floats)
        return Value(text if ty.is_weak(type) else f"{type}({text})", type)

    def readable(self, array: Array) -> bool:
        """Empty arrays are read only where the program may fail, or no iteration gets there."""
        if not array.readable:
            return False
        return self.style.wild or not array.is_empty or self._is_dead()

    def _is_dead(self) -> bool:
        return any(value.is_empty for value in self.int_names())

    def int_names(self) -> list[Value]:
        """The variables that are Python ints."""
        return [n.value(name) for name, n in self.scope.names.items() if n.type == "int"]

    def loop_values(self) -> list[Value]:
        """The variables of the loops around, outermost first."""
        names = self.scope.names
        return [names[name].value(name) for name in self.scope.loops if name in names]

    def element(self, array: Array, *, is_target: bool = False) -> Value:
        axes = range(len(array.shape))
        indices = [self._axis_index(array, axis, is_target) for axis in axes]
        if not indices:
            return Value(f"{array.name}[()]", array.type)
        is_chain = len(indices) > 1 and self.choices.chance(self.style.chains)
        return Value(f"{array.name}[{('][' if is_chain else ', ').join(indices)}]", array.type)

    def _axis_index(self, array: Array, axis: int, is_target: bool) -> str:
        parallel = self.scope.parallel
        if axis == 0 and parallel is not None and array.name in parallel.places:
            return parallel.places[array.name]
        return make_index(self, array, axis, is_target=is_target)

    def extent(self, array: Array, axis: int) -> str:
        """An expression for the size of an axis."""
        extent = array.shape[axis]
        if self.size_names:
            return extent.text(self.size_names)
        forms = [f"{array.name}.shape[{axis}]", str(extent.pad)]
        return self.choices.pick([*forms, f"len({array.name})"] if axis == 0 else forms)

    def extent_value(self, array: Array, axis: int) -> Value:
        """The size of an axis as a number of the program."""
        extent, text = array.shape[axis], self.extent(array, axis)
        text = f"({text})" if " " in text else text
        return Value(text, "int", extent.pad, extent.pad, extent.size, extent.factor)

    # -- Python ints, whose interval is known ----------------------------------------------------

    def int_expr(self, depth: int) -> Value:
        if depth <= 0 or not self.style.int_exprs or self.choices.chance(20):
            return self.int_leaf()
        kind = self.choices.weighted(self.style.int_exprs)
        return INT_EXPRS[kind](self, depth - 1) or self.int_leaf()

    def int_leaf(self) -> Value:
        names = self.int_names()
        axes = [(array, k) for array in self.scope.arrays.values() for k in range(len(array.shape))]
        kind = self.choices.below(6)
        if names and kind >= 2:
            return self.choices.pick(names)
        if axes and kind == 1:
            return self.extent_value(*self.choices.pick(axes))
        return self.literal("int")

    # -- operators -----------------------------------------------------------------------------

    def types_here(self) -> tuple[str, ...]:
        """The types that variables and comparisons may have."""
        return (*(name for name in self.style.weak if name != "complex"), *self.palette)

    def allowed(self, types: tuple[str, ...]) -> bool:
        """True if operands may have these types."""
        return all(name in self.palette or name in self.style.weak for name in types)

    def operand(self, type: str, depth: int, *others: str) -> Value:
        """An operand; a Python int must fit the integer types that it meets."""
        value = self.expr(type, depth)
        bounds = [ty.bounds(other) for other in others if ty.is_int(other)]
        if type == "int" and bounds:
            lows, highs = zip(*bounds, strict=True)
            return clamp(value, max(*lows, -100), min(*highs, 100))
        return value

    def right_operand(self, symbol: str, result: str, type: str, depth: int, other: str) -> Value:
        if symbol in DIVISIONS and not ty.is_float(result):
            return self.nonzero(type, depth)
        if symbol in DIVISIONS or (symbol == "/" and ty.is_weak(result)):
            # Python raises for x / 0.0 between floats; scripts follow IEEE.
            return self.nonzero(type, depth) if ty.is_weak(result) else self.expr(type, depth)
        if symbol == "**" and ty.is_int(result):
            return self._small(type, depth, 3)
        if symbol in ("<<", ">>") and (type == "int" or self.choices.chance(80)):
            return self._small(type, depth, 7)
        if type == "int" and "big" in self.scope.names and self.choices.chance(20):
            return self.scope.names["big"].value("big")  # it fits, or both ways raise OverflowError
        return self.operand(type, depth, other)

    def nonzero(self, type: str, depth: int) -> Value:
        """An operand to divide by."""
        if ty.is_int(type):
            return Value(f"({self.expr(type, depth).text} | 1)", type)
        number = self.choices.pick(SMALL)
        return Value(f"{number}.0" if type == "float" else str(number), type, number, number)

    def _small(self, type: str, depth: int, most: int) -> Value:
        if type == "int":
            return clamp(self.int_expr(depth), 0, most)
        value = self.expr(type, depth)
        return Value(f"({value.text} & {most})", type) if ty.is_int(type) else value

    # -- casts and calls -----------------------------------------------------------------------

    def helper_call(self, type: str, depth: int) -> Value | None:
        helpers = [h for h in self.helpers if h.result == type and self.is_callable(h)]
        if not helpers:
            return None
        helper = self.choices.pick(helpers)
        return Value(self.call(helper, depth), type, helper.low, helper.high)

    def is_callable(self, helper: Helper) -> bool:
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
            and (parallel is None or name not in parallel.places)
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
        """An expression whose truth decides; of any type. No guard is around it."""
        outer, self.guards = self.guards, None
        weights = self.style.conditions
        if depth <= 0:
            weights = {kind: n for kind, n in weights.items() if kind in conditions.LEAVES}
        text = conditions.CONDITIONS[self.choices.weighted(weights)](self, max(depth - 1, 0))
        self.guards = outer
        return text
