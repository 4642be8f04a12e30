"""Loops as people write them: sums, stencils, what is packed or searched, a first step."""

from __future__ import annotations

from tests.programs import types as ty
from tests.programs.bounds import make_bounds
from tests.programs.intervals import clamp
from tests.programs.loops import loop_over
from tests.programs.maker import Lines, Maker, indent
from tests.programs.scope import Array, Name


def make_sum(make: Maker, depth: int) -> Lines:
    """A variable that an inner loop adds to, or keeps the largest in."""
    name, type = make.fresh("s"), make.choices.pick(make.palette)

    def body(var: str) -> Lines:
        def add() -> Lines:
            value = make.expr(type, 2).text
            forms = (f"{name} += {value}", f"{name} = {name} + {value}")
            return [make.choices.pick((*forms, f"{name} = max({name}, {value})"))]

        return make.guarded(add)

    lines = loop_over(make, make_bounds(make), body)
    make.bind(name, Name(type, locked=True))
    start = f"{name} = {type}({make.choices.pick((0, 0, 1))})"
    return [start, *lines, *_store_number(make, name, type)]


def _store_number(make: Maker, name: str, type: str) -> Lines:
    """Keep what a loop has found, if there is an array for it."""
    arrays = [a for a in make.written_arrays() if a.type == type]
    if not arrays:
        return []
    array = make.choices.pick(arrays)
    make.has_effects = True
    return make.guarded(lambda: [f"{make.element(array, is_target=True).text} = {name}"])


def make_rows(make: Maker, depth: int) -> Lines | None:
    """A loop over rows, each of which is summed first, and then used together with its sum."""
    arrays = [array for array in make.written_arrays() if not ty.is_bool(array.type)]
    if not arrays or len(make.scope.loops) + 1 >= make.style.max_loops:
        return None
    array = make.choices.pick([a for a in arrays if ty.is_float(a.type)] or arrays)
    make.has_effects = True
    return loop_over(make, make_bounds(make), lambda _: _row(make, array))


def _row(make: Maker, array: Array) -> Lines:
    name = make.fresh("s")

    def add(var: str) -> Lines:
        return make.guarded(lambda: [f"{name} += {make.expr(array.type, 2).text}"])

    def update() -> Lines:
        target = make.element(array, is_target=True).text
        op = make.choices.pick(("+", "-", "*"))
        return [f"{target} = {target} {op} {name} * {make.expr(array.type, 1).text}"]

    sums = loop_over(make, make_bounds(make), add)
    make.bind(name, Name(array.type, locked=True))
    rest = loop_over(make, make_bounds(make), lambda _: make.guarded(update))
    return [f"{name} = {array.type}(0)", *sums, *rest]


def make_stencil(make: Maker, depth: int) -> Lines | None:
    """Short loops around an update of one element by its neighbours, where there are some."""
    arrays = make.written_arrays()
    if not arrays or not make.scope.loops:
        return None
    array = make.choices.pick(arrays)
    return make.guarded(lambda: _stencil(make, array))


def _stencil(make: Maker, array: Array) -> Lines:
    target = make.element(array, is_target=True).text
    first = [f"{target} = {make.literal(array.type).text}"] if make.choices.chance(50) else []

    def add() -> Lines:
        values = [make.expr(array.type, 1).text for _ in range(make.choices.between(1, 2))]
        op = make.choices.pick(("+", "+", "*", "-"))
        return [f"{target} = {target} {op} {' + '.join(values)}"]

    def windows(count: int) -> Lines:
        if count == 0:
            return make.guarded(add)
        return loop_over(make, make_bounds(make, "window"), lambda _: windows(count - 1))

    return [*first, *windows(make.choices.pick((1, 2, 2)))]


def make_first_step(make: Maker, depth: int) -> Lines | None:
    """A loop whose first round does something else: `if i == n - 1: b[0] = 0`."""
    arrays = make.written_arrays()
    if not arrays or make.scope.parallel is not None:
        return None
    array = make.choices.pick(arrays)
    make.has_effects = True
    return make.guarded(lambda: _first_step(make, array))


def _first_step(make: Maker, array: Array) -> Lines:
    # Made outside of the loop, the element is the same one in all rounds.
    target = make.element(array, is_target=True).text
    goes_down = "down" in make.style.bounds and make.choices.chance(30)
    bounds = make_bounds(make, "down" if goes_down else None)

    def body(var: str) -> Lines:
        start = indent(make.guarded(lambda: [f"{target} = {_start_value(make, array.type)}"]))
        value = make.guarded(lambda: [f"{target} = {target} + {make.expr(array.type, 2).text}"])
        test = f"if {var} == {bounds.first}:"
        form = make.choices.below(4)
        if form <= 1:
            return [test, *start, *value]
        if form == 2:
            return [test, *start, "else:", *indent(value)]
        return [f"if {var} != {bounds.first}:", *indent(value), "else:", *start]

    return loop_over(make, bounds, body)


def _start_value(make: Maker, type: str) -> str:
    return (make.literal(type) if make.choices.chance(50) else make.expr(type, 1)).text


def make_packing(make: Maker, depth: int) -> Lines | None:
    """A loop that puts what passes a test to the next free places of an array."""
    rows = [a for a in make.written_arrays() if len(a.shape) == 1 and not a.is_empty]
    if not rows or make.scope.parallel is not None:
        return None
    array, place, bounds = make.choices.pick(rows), make.fresh("k"), make_bounds(make)
    make.has_effects = True

    def body(var: str) -> Lines:
        value, guards = make.collected(lambda: make.expr(array.type, 2).text)
        room = make.choices.chance(80)
        tests = [*guards, *[f"{place} < {array.name}.shape[0]"] * room, make.condition(1)]
        index = place if room else f"{place} % {array.name}.shape[0]"
        packed = [f"    {array.name}[{index}] = {value}", f"    {place} += 1"]
        return [f"if {' and '.join(tests)}:", *packed]

    lines = loop_over(make, bounds, body)
    if not make.size_names:
        make.bind(place, Name("int", 0, bounds.most, locked=True))
    return [f"{place} = 0", *lines]


def make_search(make: Maker, depth: int) -> Lines | None:
    """The largest or smallest element, and where it was."""
    arrays = [
        a
        for a in make.scope.arrays.values()
        if a.shape and make.readable(a) and not (ty.is_complex(a.type) or ty.is_bool(a.type))
    ]
    if not arrays or make.scope.parallel is not None:
        return None
    array, bounds = make.choices.pick(arrays), make_bounds(make)
    best, at = make.fresh("best"), make.fresh("at")

    def body(var: str) -> Lines:
        def look() -> Lines:
            element = make.element(array).text
            test = f"{element} {make.choices.pick(('>', '<', '>=', '<='))} {best}"
            if make.choices.chance(20):
                test += f" and {make.condition(1)}"
            return [f"if {test}:", f"    {best} = {element}", f"    {at} = {var}"]

        return make.guarded(look)

    first = make.element(array) if make.choices.chance(40) else make.literal(array.type)
    start = [f"{best} = {first.text}", f"{at} = {make.choices.pick((0, -1))}"]
    lines = loop_over(make, bounds, body)
    variable = bounds.variable
    low, high = min(-1, variable.low), max(0, variable.high)
    make.bind(best, Name(array.type, locked=True))
    make.bind(at, Name("int", low, high, locked=True, size=variable.size))
    place = f"{array.type}({clamp(make.scope.names[at].value(at), 0, 99).text})"
    stored = [*_store_number(make, best, array.type), *_store_number(make, place, array.type)]
    return [*start, *lines, *stored]


def make_reduction(make: Maker, depth: int) -> Lines | None:
    """A block that reduces over the innermost loop, with an init."""
    if len(make.scope.loops) < 2:
        return None
    *others, inner = make.loop_values()
    fitting = [
        (array, outer)
        for array in make.written_arrays()
        for outer in others
        if outer.low >= 0 and array.shape[0].ends_after(outer)
    ]
    if not fitting:
        return None
    array, kept = make.choices.pick(fitting)
    iters = [v.text if v.text == kept.text else f"scan({v.text})" for v in others]
    rest = [str(make.choices.below(extent.pad)) for extent in array.shape[1:]]
    element = f"{array.name}[{', '.join([kept.text, *rest])}]"
    return [
        f'with block("{make.fresh("r")}", {", ".join([*iters, f"reduce({inner.text})"])}):',
        "    with init():",
        f"        {element} = 2",
        f"    {element} = {element} + {make.expr(array.type, 2).text}",
    ]
