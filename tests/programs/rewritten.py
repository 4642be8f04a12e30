"""Random statements that the front end rewrites: `try`, tuples made inside, `:=` and generators."""

from __future__ import annotations

from dataclasses import dataclass

from tests.programs import types as ty
from tests.programs.intervals import clamp
from tests.programs.scope import Name, Value
from tests.programs.stmts import Lines, StmtMaker

_CAUGHT = ("IndexError", "ZeroDivisionError", "ValueError", "(ValueError, IndexError)", "Exception")
# The loops around a `try`: what runs in another order has no place for errors.
_ORDERED = ("", "range", "scan", "serial", "while")

# What follows `if x <= {stop}: return {end}` in a function `f` that calls itself; x is 0 to 6.
RECURSIONS = (
    "return (f({args}1{rest}) + x) % 97",
    "return f({args}1{rest})",
    "return (f({args}2{rest}) - f({args}1{rest})) % 89",
    "return 1 + (f({args}1{rest}) if x % 2 else f({args}2{rest}) * 2) % 50",
    "t = f({args}1{rest}) if x > 3 else 5\nreturn (t * 3 + x) % 71",
    "if x % 2:\n    t = f({args}1{rest})\nelse:\n    t = f({args}3{rest}) - 1\nreturn (t + x) % 30",
    "s = 0\nfor k in range(x):\n    if k == 4:\n        break\n    s += f({args}k - 1{rest})\n"
    "return s % 40",
    "s = x\nwhile s > 2:\n    s -= f({args}2{rest}) % 3 + 1\nreturn s % 20",
    "return (x > 3 and f({args}3{rest}) or 2) % 9",
)


@dataclass
class RewrittenMaker(StmtMaker):
    """Makes these statements among the others."""

    def statement(self, depth: int) -> Lines:
        if not self.choices.chance(12):
            return super().statement(depth)
        makers = (self._attempt, self._attempt, self._tuple_inside, self._named, self._folded)
        return self.choices.pick(makers)(depth)

    def _attempt(self, depth: int) -> Lines:
        """`try` with what may fail, jump and return in it, and in what handles it."""
        if self.scope.loop not in _ORDERED or self.scope.parallel is not None or depth <= 0:
            return self._named(depth)
        lines = ["try:", *self._part(depth, fails=True)]
        handlers = self.choices.below(3)
        for _ in range(handlers):
            lines += [f"except {self.choices.pick(_CAUGHT)}:", *self._part(depth)]
        if handlers and self.choices.chance(40):
            lines += ["else:", *self._part(depth)]
        if not handlers or self.choices.chance(50):
            lines += ["finally:", *self._part(depth)]
        return lines

    def _part(self, depth: int, *, fails: bool = False) -> Lines:
        """A block after which no more is known than after a branch that may not be taken."""

        def body() -> Lines:
            first = self._failure() if fails and self.choices.chance(70) else []
            return [*first, *self._branch(depth)]

        lines, inner, assigned = self._inside(body)
        self._forget(assigned, self._still_valid(assigned, inner))
        return [f"    {line}" for line in lines]

    def _failure(self) -> Lines:
        error = f'    raise ValueError("{self._fresh("e")}")'
        divisor = clamp(self.int_expr(1), 0, 2).text
        form = self.choices.below(3)
        if form == 0:
            return [f"if {self.condition(1)}:", error]
        return [f"{self._fresh('q')} = 7 // {divisor}" if form == 1 else f"assert {divisor} < 2"]

    def _tuple_inside(self, depth: int) -> Lines:
        """A tuple that branches, or the rounds of a loop, give a name, and what is read of it."""
        pair, types = self._fresh("pair"), [self._new_name(), self._new_name()]

        def made() -> str:
            return f"    {pair} = ({', '.join(self.fitting(type, 2).text for type in types)})"

        if self.scope.parallel is not None or self.choices.chance(50):
            lines = [f"if {self.condition(1)}:", made(), "else:", made()]
        else:
            lines = [f"for {self._fresh('c')} in range({self.choices.between(1, 3)}):", made()]
        position, name = self.choices.below(2), self._fresh("z")
        self._bind(name, types[position])
        return [*lines, f"{name} = {pair}[{position}]"]

    def _named(self, depth: int) -> Lines:
        """`x = (z := value)`, alone or where a condition decides."""
        inner, outer, binding = self._fresh("z"), self._fresh("z"), self._new_name()
        value, other = self.fitting(binding, 2).text, self.fitting(binding, 1).text
        test = f"{self._int_leaf().text} > {self._int_leaf().text}"  # calls may not come first
        self._bind(inner, binding)
        self._bind(outer, binding)
        if self.choices.chance(50):
            return [f"{outer} = ({inner} := {value})"]
        return [f"{outer} = ({inner} := {value}) if {test} else ({inner} := {other})"]

    def _plain_element(self) -> Value:
        """A number, from an array if there is one, without a call that may change something."""
        arrays = [a for a in self._written_arrays() if ty.is_int(a.type)]
        if not arrays:
            return self._int_leaf()
        element = self.element(self.choices.pick(arrays), 0)
        return Value(f"int({element.text} & 31)", "int", 0, 31)

    def _folded(self, depth: int) -> Lines:
        """What is read before a generator, which may call a function that changes it."""
        counter, count = self._fresh("c"), self.choices.between(0, 3)
        element = self._plain_element()
        outer = self.scope.names
        self.scope.names = outer | {counter: Name("int", 0, max(count - 1, 0), locked=True)}
        term = clamp(self._helper_call("int", 1) or self.int_expr(2), -50, 50)
        self.scope.names = outer
        text = f"({element.text} + sum({term.text} for {counter} in range({count})))"
        value = Value(text, "int", element.low - 150, element.high + 150)
        name, binding = self._fresh("z"), Name("int", -1000, 1000)
        self._bind(name, binding)
        return [f"{name} = {clamp(value, binding.low, binding.high).text}"]
