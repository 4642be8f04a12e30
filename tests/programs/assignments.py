"""Random assignments to names."""

from __future__ import annotations

from tests.programs import types as ty
from tests.programs.intervals import clamp
from tests.programs.maker import COUNT_RANGE, COUNT_STEP, Lines, Maker
from tests.programs.scope import Name
from tests.programs.stores import make_store, may_fail_update


def make_assign(make: Maker, depth: int) -> Lines:
    name, binding = make.target()
    value = make.fitting(binding, 3)
    make.bind(name, binding)
    return [f"{name} = {value.text}"]


def make_update(make: Maker, depth: int) -> Lines | None:
    """`x += e`, where the result has the type of x."""
    names = [n for n in make.scope.names if make.is_updatable(n)]
    if not names:
        return None
    name = make.choices.pick(names)
    binding = make.scope.names[name]
    if binding.type == "int":
        return _count(make, name, binding)
    symbols = [s for s in ty.BINARY if _update_types(make, s, binding.type)]
    symbol = make.choices.pick(symbols)
    type = make.choices.pick(_update_types(make, symbol, binding.type))
    value = make.right_operand(symbol, binding.type, type, 2, binding.type)
    make.bind(name, binding)
    return [f"{name} {symbol}= {value.text}"]


def _update_types(make: Maker, symbol: str, type: str) -> list[str]:
    pairs = ty.operator_results(symbol).get(type, ())
    return [
        b
        for a, b in pairs
        if a == type and make.allowed((b,)) and not may_fail_update(symbol, type, b)
    ]


def _count(make: Maker, name: str, binding: Name) -> Lines:
    if binding.high >= COUNT_RANGE:
        step = clamp(make.int_expr(1), -COUNT_STEP, COUNT_STEP)
        make.bind(name, binding)
        return [f"{name} {make.choices.pick(('+', '-'))}= {step.text}"]
    value = make.fitting(binding, 2)
    make.bind(name, binding)
    return [f"{name} = {value.text}"]


def make_tuple(make: Maker, depth: int) -> Lines | None:
    """Several names or elements at once, which may depend on each other."""
    form = make.choices.below(3)
    if form == 0:
        return _unpack(make)
    return _swap_elements(make) if form == 1 else _swap_names(make)


def _unpack(make: Maker) -> Lines | None:
    (a, first), (b, second) = make.target(), make.target()
    if a == b:
        return None
    values = [make.fitting(binding, 2).text for binding in (first, second)]
    make.bind(a, first)
    make.bind(b, second)
    return [f"{a}, {b} = {', '.join(values)}"]


def _swap_elements(make: Maker) -> Lines | None:
    arrays = make.written_arrays()
    if not arrays:
        return None
    array = make.choices.pick(arrays)
    a, b = make.element(array).text, make.element(array).text
    make.has_effects = True
    return [f"{a}, {b} = {b}, {a}"]


def _swap_names(make: Maker) -> Lines | None:
    names = [n for n in make.scope.names if make.is_updatable(n)]
    pairs = [
        (a, b) for a in names for b in names if a < b and make.scope.names[a] == make.scope.names[b]
    ]
    if not pairs:
        return None
    a, b = make.choices.pick(pairs)
    for name in (a, b):
        make.bind(name, make.scope.names[name])
    return [f"{a}, {b} = {b}, {a}"]


def make_chained(make: Maker, depth: int) -> Lines | None:
    (a, binding), (b, other) = make.target(), make.target()
    is_fixed = b in make.scope.protected or b in make.pinned
    if a == b or (is_fixed and other != binding):
        return None
    value = make.fitting(binding, 2)
    make.bind(a, binding)
    make.bind(b, binding)
    return [f"{a} = {b} = {value.text}"]


def make_annotated(make: Maker, depth: int) -> Lines | None:
    """An annotation fixes the type of its name in the whole function: one name per type."""
    type = make.choices.pick([t for t in make.palette if t != ty.BOOL] or ["float"])
    name = f"n_{type}"
    if name in make.scope.protected:
        return None
    value = make.expr(type, 2)
    make.bind(name, Name(type))
    return [f"{name}: {type} = {value.text}"]


def make_temporary(make: Maker, depth: int) -> Lines:
    """A name that is assigned once, and a store that may use it."""
    name, type = make.fresh("t"), make.choices.pick(make.palette)
    value = make.expr(type, 2).text
    make.bind(name, Name(type, locked=True))
    return [f"{name} = {value}", *(make_store(make, depth) or [])]


def make_number(make: Maker, depth: int) -> Lines | None:
    """A number with a name, and a store that may have it in its indices."""
    return [*name_number(make), *(make_store(make, depth) or [])] if make.scope.loops else None


def name_number(make: Maker) -> Lines:
    """A name for a small number that is computed or read: loops may run to it."""
    name = make.fresh("q")
    loops = [value.text for value in make.loop_values()]
    place = make.choices.pick([*loops, str(make.choices.below(4))])
    table, extent = make.tables[""]
    form = make.choices.pick(
        ("{t}[{i} % {n}] % 5", "({i} * 3 + 1) % 5", "{t}[{t}[{i} % {n}] % {n}] % 5")
    )
    make.bind(name, Name("int", 0, 4, locked=True))
    return [f"{name} = {form.format(t=table, i=place, n=extent.pad)}"]


def make_scalar(make: Maker, depth: int) -> Lines | None:
    """A variable private to an iteration, with its uses."""
    if not make.scope.loops:
        return None
    name, type = make.fresh("x"), make.choices.pick(make.palette)
    lines = [f"{name}: {type} = {make.expr(type, 2).text}"]
    if make.choices.chance(50):
        lines.append(f"{name} = {name} + {make.leaf(type).text}")
    array = make.choices.pick(make.written_arrays())
    value = make.expr(array.type, 1).text
    used = f"{name} + {value}" if array.type == type else value
    return [*lines, f"{make.element(array, is_target=True).text} = {used}"]
