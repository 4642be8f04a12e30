"""What iterations do by themselves: windows in arrays of their own, rounds, numbers with limits.

Where nothing else is in the way, each is a lane: what it keeps lies in registers, it waits for
those with more rounds, and a number that was brought between limits needs no check.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.programs import types as ty
from tests.programs.bounds import constant_bounds, make_bounds
from tests.programs.loops import loop_over
from tests.programs.maker import Lines, Maker, indent
from tests.programs.scope import Array

COUNTS = (2, 3, 4, 5, 9)
ROUNDS = (1, 3, 7, 12)
# What is done in a window, all elements of which are set: {t} is it, {n} how many it has.
SORTED = """
for u in range({n} - 1):
    for w in range({n} - 1 - u):
        if {t}[w] > {t}[w + 1]:
            {t}[w], {t}[w + 1] = {t}[w + 1], {t}[w]
"""
INSERTED = """
for u in range(1, {n}):
    for w in range(u):
        if {t}[u] < {t}[w]:
            {t}_held = {t}[w]
            {t}[w] = {t}[u]
            {t}[u] = {t}_held
"""
RUNNING = """
for u in range({n} - 1):
    {t}[u + 1] = {t}[u + 1] + {t}[u]
"""
REVERSED = """
for u in range({n} - 1, 0, -1):
    if {t}[u] > {t}[u // 2]:
        {t}[u // 2] = {t}[u]
"""
COUNTED = """
for u in range({n}):
    {t}[{place} % {n}] += {t}[u]
"""
WINDOWS = (SORTED, SORTED, INSERTED, RUNNING, REVERSED, COUNTED)
STEPS = ("{z} * {z} + {c}", "{z} * {h} + {c}", "{z} + {c} * {c}", "{c} - {z} * {h}")
TESTS = ("{z} < {most}", "{z} * {z} < {most}", "-{most} < {z} < {most}", "{z} != {c}")
# Ways to bring a number between limits; one forgets a limit.
LIMITED = (
    "if {v} < {low}:\n    {v} = {low}\nif {v} > {high}:\n    {v} = {high}",
    "if {v} > {high}:\n    {v} = {high}\nelif {v} < {low}:\n    {v} = {low}",
    "{v} = min(max({v}, {low}), {high})",
    "{v} = {low} if {v} < {low} else {high} if {v} > {high} else {v}",
    "if not ({low} <= {v} <= {high}):\n    {v} = {low}",
    "if {v} > {high}:\n    {v} = {high}",
)


def _in_loops(
    make_one: Callable[[Maker, Array], Lines], fits: Callable[[str], bool]
) -> Callable[[Maker, int], Lines | None]:
    """A statement about an array of a type that fits, in a loop of its own if it is in none."""

    def make_statement(make: Maker, depth: int) -> Lines | None:
        arrays = [array for array in make.written_arrays() if fits(array.type)]
        if not arrays:
            return None
        make.has_effects = True
        array = make.choices.pick(arrays)
        if make.scope.loops:
            return make_one(make, array)
        return loop_over(make, make_bounds(make), lambda _: make_one(make, array))

    return make_statement


def _window(make: Maker, array: Array) -> Lines:
    name, type = make.fresh("w"), array.type
    most = make.style.max_trips // max(make.scope.trips, 1)
    count = make.choices.pick([n for n in COUNTS if n * n <= most] or COUNTS[:1])

    def fill(var: str) -> Lines:
        return make.guarded(lambda: [f"{name}[{var}] = {make.expr(type, 2).text}"])

    def store() -> Lines:
        target = make.element(array, is_target=True).text
        values = (
            f"{name}[{count // 2}]",
            f"{name}[0] - {name}[{count - 1}]",
            f"{target} + {name}[1]",
        )
        return [f"{target} = {make.choices.pick(values)}"]

    start = f"{name} = np.zeros({count}, {array.name}.dtype)"
    filled = loop_over(make, constant_bounds(0, count), fill)
    place = f"int({name}[u] & 31)" if ty.is_int(type) else f"({name}[u] < {name}[0])"
    work = make.choices.pick(WINDOWS).format(t=name, n=count, place=place)
    return [start, *filled, *work.strip().split("\n"), *make.guarded(store)]


def _rounds(make: Maker, array: Array) -> Lines:
    type, (z, c, count) = array.type, (make.fresh(letter) for letter in "zcr")
    names = {
        "z": z,
        "c": c,
        "h": f"{type}(0.5)",
        "most": f"{type}({make.choices.pick((1, 4, 100))})",
    }
    test, step = (make.choices.pick(forms).format(**names) for forms in (TESTS, STEPS))
    leave = [f"if {z} > {c}:", "    break"] if make.choices.chance(15) else []
    body = [f"{z} = {step}", *leave, f"{count} += 1"]

    def start() -> Lines:
        return [f"{c} = {make.expr(type, 2).text}"]

    def store() -> Lines:
        value = make.choices.pick((z, f"{type}({count})", f"{z} * {type}({count})"))
        return [f"{make.element(array, is_target=True).text} = {value}"]

    first = make.choices.pick((f"{type}(0)", c))
    return [
        *[f"{c} = {type}(0.25)", *make.guarded(start), f"{z} = {first}", f"{count} = 0"],
        f"while {count} < {make.choices.pick(ROUNDS)} and {test}:",
        *indent(body),
        *make.guarded(store),
    ]


def _limits(make: Maker, array: Array) -> Lines:
    name = make.fresh("v")
    least, most = (int(end) for end in ty.bounds(array.type))
    low, high = (max(least, -100_000), min(most, 100_000)) if make.choices.chance(70) else (0, 99)
    if make.choices.chance(8):
        high += 1  # one more than there is room for, perhaps
    types = [
        t for t in make.palette if ty.is_float(t) or (ty.is_int(t) and ty.bounds(t)[1] < 2**32)
    ]
    work = make.choices.pick(LIMITED).format(v=name, low=low, high=high)

    def start() -> Lines:
        if not types:
            return [f"{name} = {make.int_leaf().text} * 7 - 20"]
        type = make.choices.pick(types)
        value = make.expr(type, 2).text
        if ty.is_int(type):
            return [f"{name} = int({value}) * {make.choices.pick((1, 3, 1000))} - 20"]
        read = make.fresh("x")
        return [
            f"{read} = {value}",
            f"{name} = int({read} * {type}(16)) if {type}(-99) < {read} < {type}(99) else 300",
        ]

    def store() -> Lines:
        return [f"{make.element(array, is_target=True).text} = {name}"]

    return [f"{name} = 5", *make.guarded(start), *work.split("\n"), *make.guarded(store)]


make_window = _in_loops(_window, lambda type: not (ty.is_bool(type) or ty.is_complex(type)))
make_rounds = _in_loops(_rounds, lambda type: type in ("float32", "float64"))
make_limits = _in_loops(_limits, ty.is_int)
