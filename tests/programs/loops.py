"""Random loops of every kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tests.programs.bounds import Bounds, known_number, make_bounds
from tests.programs.maker import SCALAR_NAMES, Lines, Maker, indent
from tests.programs.scope import Name, Parallel, Value
from tests.programs.stores import make_store


@dataclass(frozen=True, slots=True)
class Header:
    """What stands before the body of a loop: its variable, and how often it runs."""

    var: str
    text: str
    binding: Name
    word: str
    most: int
    runs: bool


def make_for(make: Maker, depth: int) -> Lines | None:
    if len(make.scope.loops) >= make.style.max_loops:
        return None
    word, bounds = make.choices.pick(make.style.words), make_bounds(make)
    lines = loop_over(make, bounds, lambda _: make_body(make, depth - 1), word=word)
    return [*lines, *_make_else(make, depth)]


def make_body(make: Maker, depth: int) -> Lines:
    """Some statements, or another loop alone: most schedules are about such nests."""
    is_perfect = depth > 0 and make.choices.chance(make.style.perfect)
    inner = make_for(make, depth) if is_perfect else None
    return make.block(make.style.block, depth) if inner is None else inner


def nested_loops(make: Maker, sizes: Sequence[str], body: Callable[[], Lines]) -> Lines:
    """Loops over these sizes, one in the other, around a body."""
    if not sizes:
        return body()
    bounds = make_bounds(make, size=sizes[0])
    return loop_over(make, bounds, lambda _: nested_loops(make, sizes[1:], body))


def loop_over(
    make: Maker, bounds: Bounds, body: Callable[[str], Lines], *, word: str = "range"
) -> Lines:
    """A loop with a body that is made for the name of its variable."""
    var, style = _loop_name(make), make.style
    binding = bounds.name(locked=not style.names)
    text = f"for {var} in {word}({bounds.text}):"
    header = Header(var, text, binding, word, bounds.most, bounds.runs)
    return _make_rounds(make, header, lambda: body(var))


def _loop_name(make: Maker) -> str:
    free = [n for n in make.style.names if n not in make.scope.protected]
    unused = [n for n in free if n not in make.scope.names]
    if unused and not make.choices.chance(15):
        return make.choices.pick(unused)
    return make.choices.pick(free) if free else make.fresh("i")


def _make_rounds(make: Maker, header: Header, body: Callable[[], Lines]) -> Lines:
    """The loop, and afterwards in scope what it leaves behind."""
    jumps, exits, var = make.jumps, make.exits, header.var
    unused = set(SCALAR_NAMES) - make.ever

    def inner() -> Lines:
        make.scope.names[var] = header.binding
        return body()

    loops = (*make.scope.loops, var) if header.binding.type == "int" else make.scope.loops
    trips = make.scope.trips * max(header.most, 1)
    made = make.inside(inner, loop=header.word, trips=trips, loops=loops)
    sizes = [value.size for value in make.loop_values()]
    make.order = max(make.order, [*sizes, header.binding.size].count("m"))
    make.ever.add(var)
    make.assigned.add(var)
    make.forget(made.assigned | {var}, make.still_valid(made.assigned - {var}, made.scope))
    may_leave = bool(make.style.names) and make.scope.parallel is None
    if may_leave and header.runs and make.exits == exits:
        # The last value stays, and so does what the body always assigns.
        stays = {var} if make.jumps > jumps else (unused & made.assigned) | {var}
        found = {n: made.scope.names[n] for n in sorted(stays) if n in made.scope.names}
        make.scope.names |= found
        make.pinned |= {n: binding.type for n, binding in found.items()}
    return [header.text, *indent(made.lines)]


# -- loops over what is listed ---------------------------------------------------------------------


def make_each(make: Maker, depth: int) -> Lines | None:
    """A loop over the items of a tuple, which the body may change, perhaps with an `else`."""
    if make.scope.parallel is not None or make.scope.trips * 4 > make.style.max_trips:
        return None
    binding = Name("int", -2, 3, locked=True) if make.style.run_time else make.new_name()
    items = [_item(make, binding).text for _ in range(make.choices.between(1, 4))]
    # The names of other loops hold numbers: a script may not know which loop gave one its value.
    var = _loop_name(make) if binding.type == "int" else make.fresh("e")
    listed = f"({', '.join(items)}{',' * (len(items) == 1)})"
    text = f"for {var} in {listed}:"
    header = Header(var, text, binding, "each", len(items), runs=True)
    lines = _make_rounds(make, header, lambda: make.block(3, min(depth - 1, 1)))
    return [*lines, *_make_else(make, depth)]


def _item(make: Maker, binding: Name) -> Value:
    """Often a variable: the body may change it before its turn."""
    names = [n.value(name) for name, n in make.scope.names.items() if n.type == binding.type]
    fitting = [v for v in names if binding.type != "int" or v.fits(binding.low, binding.high)]
    if fitting and make.choices.chance(40):
        return make.choices.pick(fitting)
    return make.fitting(binding, 1)


def _make_else(make: Maker, depth: int) -> Lines:
    """What is done after a loop that no `break` has left."""
    if not make.choices.chance(make.style.elses):
        return []
    made = make.inside(lambda: make.block(2, min(depth - 1, 1)))
    make.forget(made.assigned, make.still_valid(made.assigned, made.scope))
    return ["else:", *indent(made.lines)]


def make_expanded(make: Maker, depth: int) -> Lines:
    """Loops expanded while the script is read."""
    var = make.fresh("c")
    low, count = make.choices.between(-1, 1), make.choices.between(0, 3)

    def body() -> Lines:
        make.scope.names[var] = Name("int", low, low + count - 1, locked=True)
        return make.block(2, min(depth - 1, 1))

    made = make.inside(body, loop="const_range", trips=make.scope.trips * 3)
    make.forget(made.assigned | {var}, make.still_valid(made.assigned, made.scope))
    return [f"for {var} in const_range({low}, {low + count}):", *indent(made.lines)]


# -- other loops -----------------------------------------------------------------------------------


def make_grid(make: Maker, depth: int) -> Lines | None:
    sizes = [known_number(make) for _ in range(2)]
    most = max(sizes[0].high, 0) * max(sizes[1].high, 0)
    exits = make.exits
    names = [n for n in make.style.names if n not in make.scope.protected]
    if most * make.scope.trips > make.style.max_trips or len(names) < 2:
        return None
    a, b = names[:2]

    def body() -> Lines:
        for name, size in zip((a, b), sizes, strict=True):
            make.scope.names[name] = Name("int", 0, size.high - 1)
        return make.block(3, depth - 1)

    trips, loops = make.scope.trips * max(most, 1), (*make.scope.loops, a, b)
    made = make.inside(body, loop="grid", trips=trips, loops=loops)
    kept = make.still_valid(made.assigned - {a, b}, made.scope)
    make.ever |= {a, b}
    make.assigned |= {a, b}
    make.forget(made.assigned | {a, b}, kept)
    if make.exits == exits and all(size.low > 0 for size in sizes):
        make.scope.names |= {n: made.scope.names[n] for n in (a, b) if n in made.scope.names}
    return [f"for {a}, {b} in grid({sizes[0].text}, {sizes[1].text}):", *indent(made.lines)]


def make_while(make: Maker, depth: int) -> Lines | None:
    if make.style.run_time:
        return _counting_while(make)
    counter, limit = make.fresh("w"), make.choices.between(0, 4)
    if make.scope.trips * limit > make.style.max_trips:
        return None
    make.scope.names[counter] = Name("int", 0, limit, locked=True)
    endless = make.choices.chance(25)

    def body() -> Lines:
        # The test is read again after a round: it sees what the body may change.
        test = "True" if endless else _while_test(make, counter, limit)
        make.jumps += endless
        return [test, *make.block(3, depth - 1)]

    trips = make.scope.trips * max(limit, 1)
    made = make.inside(body, loop="while", trips=trips)
    test, *lines = made.lines
    make.forget(made.assigned, make.still_valid(made.assigned, made.scope))
    leave = [f"if {counter} >= {limit}:", "    break"] if endless else []
    step = [*leave, f"{counter} += 1"]
    return [f"{counter} = 0", f"while {test}:", *indent([*step, *lines])]


def _while_test(make: Maker, counter: str, limit: int) -> str:
    test = f"{counter} < {limit}"
    return f"{test} and {make.condition(2)}" if make.choices.chance(50) else test


def _counting_while(make: Maker) -> Lines:
    """A loop over a size that counts by itself."""
    counter, size = make.fresh("w"), make.choices.pick(make.style.run_time)

    def body() -> Lines:
        make.scope.names[counter] = Name("int", 0, -1, locked=True, size=size)
        test = f"{counter} < {make.size_names[size]}"
        if make.choices.chance(30):
            test += f" and {make.condition(0)}"
        stored = make_store(make, 0) or []
        return [f"while {test}:", *indent([*stored, f"{counter} += {make.choices.pick((1, 2))}"])]

    made = make.inside(body, loops=(*make.scope.loops, counter), trips=make.scope.trips * 33)
    return [f"{counter} = 0", *made.lines]


def make_independent(make: Maker, depth: int) -> Lines | None:
    """A loop whose rounds touch different rows and share no scalar."""
    arrays = [a for a in make.written_arrays() if a.shape and not a.is_empty]
    if not arrays or make.style.wild or make.scope.parallel is not None:
        return None
    chosen = make.choices.pick(arrays)
    same = [a.name for a in arrays if a.shape[0] == chosen.shape[0]]
    extent = chosen.shape[0].pad
    if make.scope.trips * extent > make.style.max_trips:
        return None
    word = make.choices.pick(("parallel", "unroll", "vectorize"))
    var = make.fresh("p")

    def body() -> Lines:
        locked = {n: replace(b, locked=True) for n, b in make.scope.names.items()}
        make.scope.names = locked | {var: Name("int", 0, extent - 1, locked=True)}
        rows = [n for n, a in make.scope.arrays.items() if a.writable and n not in same]
        make.scope.arrays = {n: a for n, a in make.scope.arrays.items() if n not in rows}
        return make.block(3, min(depth - 1, 1))

    trips = make.scope.trips * extent
    parallel = Parallel(dict.fromkeys(same, var))
    made = make.inside(
        body, loop=word, trips=trips, parallel=parallel, loops=(*make.scope.loops, var)
    )
    make.forget(made.assigned, {})
    return [f"for {var} in {word}({make.extent(chosen, 0)}):", *indent(made.lines)]
