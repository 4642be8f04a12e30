"""Random statements that the front end rewrites: `try`, tuples made inside, `:=` and generators."""

from __future__ import annotations

from tests.programs import types as ty
from tests.programs.branches import make_branch
from tests.programs.intervals import clamp
from tests.programs.maker import Lines, Maker, indent
from tests.programs.scope import Name, Value

_CAUGHT = ("IndexError", "ZeroDivisionError", "ValueError", "(ValueError, IndexError)", "Exception")
# The loops around what may fail: what runs in another order has no place for errors.
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


def make_try(make: Maker, depth: int) -> Lines | None:
    """`try` with what may fail, jump and return in it, and in what handles it."""
    if make.scope.loop not in _ORDERED or make.scope.parallel is not None:
        return None
    lines = ["try:", *_part(make, depth, fails=True)]
    handlers = make.choices.below(3)
    for _ in range(handlers):
        lines += [f"except {make.choices.pick(_CAUGHT)}:", *_part(make, depth)]
    if handlers and make.choices.chance(40):
        lines += ["else:", *_part(make, depth)]
    if not handlers or make.choices.chance(50):
        lines += ["finally:", *_part(make, depth)]
    return lines


def _part(make: Maker, depth: int, *, fails: bool = False) -> Lines:
    """A block after which no more is known than after a branch that may not be taken."""

    def body() -> Lines:
        first = make_failure(make, depth) if fails and make.choices.chance(70) else None
        return [*(first or ()), *make_branch(make, depth)]

    made = make.inside(body)
    make.forget(made.assigned, make.still_valid(made.assigned, made.scope))
    return indent(made.lines)


def make_failure(make: Maker, depth: int) -> Lines | None:
    """What fails for some values: an error that is raised, a division, an assertion."""
    if make.scope.loop not in _ORDERED or make.scope.parallel is not None:
        return None
    error = f'    raise ValueError("{make.fresh("e")}")'
    divisor = clamp(make.int_expr(1), 0, 2).text
    form = make.choices.below(3)
    if form == 0:
        return [f"if {make.condition(1)}:", error]
    return [f"{make.fresh('q')} = 7 // {divisor}" if form == 1 else f"assert {divisor} < 2"]


def make_tuple_inside(make: Maker, depth: int) -> Lines:
    """A tuple that branches, or the rounds of a loop, give a name, and what is read of it."""
    pair, types = make.fresh("pair"), [make.new_name(), make.new_name()]

    def made() -> str:
        return f"    {pair} = ({', '.join(make.fitting(type, 2).text for type in types)})"

    if make.scope.parallel is not None or make.choices.chance(50):
        lines = [f"if {make.condition(1)}:", made(), "else:", made()]
    else:
        lines = [f"for {make.fresh('c')} in range({make.choices.between(1, 3)}):", made()]
    position, name = make.choices.below(2), make.fresh("z")
    make.bind(name, types[position])
    return [*lines, f"{name} = {pair}[{position}]"]


def make_named(make: Maker, depth: int) -> Lines:
    """`x = (z := value)`, alone or where a condition decides."""
    inner, outer, binding = make.fresh("z"), make.fresh("z"), make.new_name()
    value, other = make.fitting(binding, 2).text, make.fitting(binding, 1).text
    test = f"{make.int_leaf().text} > {make.int_leaf().text}"  # calls may not come first
    make.bind(inner, binding)
    make.bind(outer, binding)
    if make.choices.chance(50):
        return [f"{outer} = ({inner} := {value})"]
    return [f"{outer} = ({inner} := {value}) if {test} else ({inner} := {other})"]


def make_folded(make: Maker, depth: int) -> Lines:
    """What is read before a generator, which may call a function that changes it."""
    counter, count = make.fresh("c"), make.choices.between(0, 3)
    element = _plain_element(make)
    outer = make.scope.names
    make.scope.names = outer | {counter: Name("int", 0, max(count - 1, 0), locked=True)}
    term = clamp(make.helper_call("int", 1) or make.int_expr(2), -50, 50)
    make.scope.names = outer
    text = f"({element.text} + sum({term.text} for {counter} in range({count})))"
    value = Value(text, "int", element.low - 150, element.high + 150)
    name, binding = make.fresh("z"), Name("int", -1000, 1000)
    make.bind(name, binding)
    return [f"{name} = {clamp(value, binding.low, binding.high).text}"]


def _plain_element(make: Maker) -> Value:
    """A number, from an array if there is one, without a call that may change something."""
    arrays = [a for a in make.written_arrays() if ty.is_int(a.type)]
    if not arrays:
        return make.int_leaf()
    element = make.element(make.choices.pick(arrays))
    return Value(f"int({element.text} & 31)", "int", 0, 31)
