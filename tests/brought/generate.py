"""Random scripts of what people bring: `make_program`.

arguments   arrays in every layout and read-only ones, arrays of others (memoryview, array.array,
            ctypes, `__array_interface__`, DLPack, columns), named tuples and dataclasses of arrays
            and numbers, structured arrays, lists and tuples of numbers (`values.py`)
statements  fields read, written, named, looped over and handed on; items by an index that is
            computed; records made, taken apart and passed to helpers; stores to parts
results     views of arguments and of locals, arguments themselves, records, lists, numbers

Each script is called with vectors of several sizes, also with none.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.brought.values import SIZES, Plan, draw_plan

# What stands before a script that calls it.
HELPERS = {
    "weight(": """def weight(pair):
    x, y = pair
    return pair.y * 2 + x.sum() + y
""",
    "scaled(": """def scaled(array, by):
    for i in range(len(array)):
        array[i] *= by
""",
    "heavier(": """def heavier(one, by):
    one["mass"] += by
    return one["mass"] * 2
""",
    "shifted(": """def shifted(pair, by=1):
    return Pair(pair.x + by, pair.y - by)
""",
    "picked(": """def picked(items, k):
    return items[k % len(items)]
""",
}
_KINDS = ("array", "array", "foreign", "record", "record", "structured", "numbers", "number")
# Of a vector {v}: what shows its memory, or a part of it.
_VIEWS = (
    *("{v}[1:]", "{v}[::-1]", "{v}[:-1]", "{v}[::2]", "{v}[None, :]", "{v}[k:]", "{v}"),
    *("{v}.reshape(-1, 1)", "{v}.reshape(-1)", "{v}[k % 3 : 9]", "{v}[1:][::-1]", "{v}.T"),
)
_MATRIX_VIEWS = (
    *("{m}.T", "{m}[1:]", "{m}[:, 1]", "{m}[::-1, ::2]", "{m}[:, None]", "{m}.T[1:]", "{m}"),
    *("{m}[..., 0]", "{m}.reshape(-1)", "{m}.ravel()", "{m}.reshape(3, -1)", "{m}[k:, 1:]"),
    *("np.ascontiguousarray({m})", "{m}.swapaxes(0, 1)", "np.transpose({m})[::-1]"),
)


@dataclass(frozen=True, slots=True)
class Operand:
    """The text of an array, and what may be done with it."""

    text: str
    is_float: bool
    can_write: bool = True


@dataclass(frozen=True, slots=True)
class Program:
    """The text of a function `kernel`, its arguments, and the sizes that it is called with."""

    text: str
    plans: dict[str, Plan]
    statements: Counter[str]
    sizes: tuple[int, ...] = SIZES


@dataclass(slots=True)
class Script:
    """A script while it is written, and what its names stand for."""

    choose: random.Random
    lines: list[str] = field(default_factory=list[str])
    vectors: list[Operand] = field(default_factory=list[Operand])
    matrices: list[Operand] = field(default_factory=list[Operand])
    floats: list[str] = field(default_factory=lambda: ["0.5", "k * 0.5"])
    integers: list[str] = field(default_factory=lambda: ["1", "3", "k", "n"])
    pairs: list[str] = field(default_factory=list[str])
    structured: list[tuple[str, Plan]] = field(default_factory=list[tuple[str, Plan]])
    numbers: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])
    views: list[str] = field(default_factory=list[str])
    results: list[str] = field(default_factory=list[str])
    made: int = 0

    def name(self) -> str:
        self.made += 1
        return f"t{self.made}"

    def write(self, text: str) -> bool:
        self.lines += text.split("\n")
        return True

    def number(self, is_float: bool = True, also: tuple[str, ...] = ()) -> str:
        """A number; for what has integers, an integer."""
        known = [*self.integers, *also, *(self.floats if is_float else ())]
        known += [f"len({name})" for name, _ in self.numbers]
        lists = [name for name, has_floats in self.numbers if is_float or not has_floats]
        if lists and self.choose.random() < 0.5:
            index = self.choose.choice(known[: len(self.integers)])
            name = self.choose.choice(lists)
            forms = (f"{name}[({index}) % len({name})]", f"picked({name}, {index})", f"{name}[-1]")
            return self.choose.choice(forms)
        return self.choose.choice(known)

    def target(self) -> Operand | None:
        """An array that may be written to."""
        known = [each for each in (*self.vectors, *self.matrices) if each.can_write]
        return self.choose.choice(known) if known else None

    def vector(self) -> Operand | None:
        return self.choose.choice(self.vectors) if self.vectors else None

    def view(self) -> str | None:
        """A part of an array that shows its memory."""
        if self.matrices and self.choose.random() < 0.5:
            return self.choose.choice(_MATRIX_VIEWS).format(
                m=self.choose.choice(self.matrices).text
            )
        found = self.vector()
        return None if found is None else self.choose.choice(_VIEWS).format(v=found.text)


# -- statements ------------------------------------------------------------------------------------


def _local(script: Script) -> bool:
    first, second, name = script.vector(), script.vector(), script.name()
    if first is None or second is None:
        return False
    by = script.number(first.is_float)
    script.vectors.append(Operand(name, first.is_float or second.is_float))
    return script.write(f"{name} = {first.text} * {by} + {second.text}")


def _local_matrix(script: Script) -> bool:
    name = script.name()
    script.matrices.append(Operand(name, True))
    return script.write(
        f"{name} = np.zeros((n, 3))\nfor i in range(n):\n    {name}[i, i % 3] = {script.number()}"
    )


def _named_view(script: Script) -> bool:
    found, name = script.view(), script.name()
    if found is None:
        return False
    script.views.append(name)
    return script.write(f"{name} = {found}\ntotal += {name}.sum()")


def _store(script: Script) -> bool:
    target = script.target()
    if target is None:
        return False
    number = script.number(target.is_float)
    forms = ("{t}[1:] = {x}", "{t}[...] += {x}", "{t}[::2] *= {x}", "{t}[k:] -= {x}", "{t} += {x}")
    is_named = target.text.isidentifier()
    form = script.choose.choice(forms if is_named else forms[:-1])
    return script.write(form.format(t=target.text, x=number))


def _store_in_loop(script: Script) -> bool:
    found = [each for each in script.vectors if each.can_write]
    other = script.vector()
    if not found or other is None:
        return False
    target = script.choose.choice(found)
    also = (f"{other.text}[i]",) if target.is_float or not other.is_float else ()
    number = script.number(target.is_float, ("i", *also))
    return script.write(f"for i in range(n):\n    {target.text}[i] += {number}")


def _other_sizes(script: Script) -> bool:
    found, number = script.vector(), script.number(is_float=False)
    if found is None:
        return False
    forms = (
        "if n > 0:\n    total += np.delete({v}, k % n).sum()",
        "total += np.insert({v}, min(k, n), {x}).sum()",
        "total += {v}[{v} > 1].sum() + np.append({v}, {x}).size",
    )
    return script.write(script.choose.choice(forms).format(v=found.text, x=number))


def _helper(script: Script) -> bool:
    target = script.target()
    if target is None:
        return False
    return script.write(f"scaled({target.text}, {script.choose.choice(('2', 'k', '-1'))})")


def _pair(script: Script) -> bool:
    found, name = script.vector(), script.name()
    if found is None:
        return False
    forms = ["Pair({v} * 2, {x})", "Pair(y={x}, x={v} + 1)"]
    if script.pairs:
        forms += ["shifted({p})", "shifted({p}, by={x})", "Pair({p}.x + {p}.y, {x})"]
        forms += [
            "{p}.moved({x})",
            "{p}._replace(x={v} + 1, y={x})",
            "{p}.moved(1)._replace(y=2.5)",
        ]
    pair = script.choose.choice(script.pairs) if script.pairs else ""
    text = script.choose.choice(forms).format(v=found.text, x=script.number(), p=pair)
    script.pairs.append(name)
    script.vectors.append(Operand(f"{name}.x", True, can_write=False))
    script.floats.append(f"{name}.y")
    return script.write(f"{name} = {text}")


def _read_pair(script: Script) -> bool:
    if not script.pairs:
        return False
    pair, name = script.choose.choice(script.pairs), script.name()
    forms = (
        *("total += weight({p})", "{t}, {t}y = {p}\ntotal += {t}.sum() * {t}y"),
        *("{t} = {p}\ntotal += {t}.y + len({p})", "total += {p}[1] + {p}[0].sum()"),
        *("total += {p}.weighed() - {p}.half", "total += {p}.moved(1).weighed(by=3)"),
        "if isinstance({p}, Pair) and not isinstance({p}, Body):\n    total += {p}.y",
    )
    return script.write(script.choose.choice(forms).format(p=pair, t=name))


def _records(script: Script) -> bool:
    if not script.structured:
        return False
    name, plan = script.choose.choice(script.structured)
    x, whole, one = script.number(), script.number(is_float=False), script.name()
    forms = [
        *("{s}['mass'] += {x}", "{s}['mass'][1:] = {x}", "total += {s}['mass'].sum() + {s}.size"),
        *("{s}['id'] = {s}['id'] + 1", "total += {s}[1:]['mass'].sum() + len({s}[::2])"),
    ]
    if plan.ndim == 1:
        forms += [
            "for {t} in {s}:\n    {t}['mass'] -= {x}\n    total += {t}['id']",
            "for i, {t} in enumerate({s}):\n    {t}['id'] = i % 7\n    total += heavier({t}, {x})",
            "for i in range(n):\n    {s}[i]['mass'] *= 2\n    {s}['id'][i] = {k} % 100",
            "if n > 0:\n    {t} = {s}[k % n]\n    {t}['mass'] = {x}\n    total += {s}[0]['mass']",
            "for i in range(1, n):\n    {s}[i]['mass'] = {s}[i - 1]['mass'] + {x}",
            "for {t}, {t}o in zip({s}[1:], {s}):\n    {t}['mass'] += {t}o['mass'] * 0.5",
            "{t} = 0\nfor i in range(n):\n    if {s}[i]['mass'] > {s}[{t}]['mass']:\n"
            "        {t} = i\ntotal += {t}",
        ]
    if plan.ndim == 2:
        forms += [
            "for i in range(n):\n    for j in range(3):\n        {s}[i, j]['mass'] += {x} + j",
            "for {t} in {s}:\n    for {t}o in {t}:\n        {t}o['mass'] += 1",
            "total += {s}['mass'].sum(axis=0)[1] + {s}.shape[0]",
        ]
    if plan.form == "mixed":
        forms += ["{s}['at'][..., 0] = {s}['mass']", "total += {s}['at'].sum()"]
        if plan.ndim == 1:
            forms += ["for i in range(n):\n    {s}[i]['at'][1] += {s}['at'][i, 0] + {x}"]
    if plan.form == "nested":
        forms += ["{s}['to']['v'] = {s}['to']['u'] + 1"]
        if plan.ndim == 1:
            forms += ["for {t} in {s}:\n    {t}['to']['u'] += {t}['mass']"]
    return script.write(script.choose.choice(forms).format(s=name, x=x, k=whole, t=one))


def _items(script: Script) -> bool:
    if not script.numbers:
        return False
    name, has_floats = script.choose.choice(script.numbers)
    item, other = script.name(), script.name()
    forms = (
        "for i in range(len({s})):\n    total += {s}[i] * i",
        "for i, {t} in enumerate({s}):\n    total += {t} * (i + {s}[-1])",
        "total += sum({s}) + max({s}) * min({s})",
        "total += sum({t} * 2 for {t} in {s} if {t} > 1)",
        "{o} = [{t} * 2 for {t} in {s}]\ntotal += {o}[k % len({o})]",
        "{o} = sorted({s})\ntotal += {o}[0] - {o}[-1]",
        "{o} = np.array({s})\ntotal += {o}.sum() + {o}[k % len({s})]",
        "total += len({s}[1:]) + sum({s}[:2])",
        "if {x} in {s}:\n    total += 1",
        "for {t} in reversed({s}):\n    if {t} < 0:\n        break\n    total += {t}",
        "for {t}, {o} in zip({s}, {s}[1:]):\n    total += {t} * {o}",
        "for i, {t} in enumerate({s}):\n    if i == k:\n        continue\n    total += {t} * i",
        "total += min({s}, key=lambda z: (z - 1) ** 2)",
        "total += max(range(len({s})), key=lambda z: {s}[z])",
        "{o} = sorted(range(len({s})), key=lambda z: -{s}[z])\ntotal += {o}[0] * 3 + {o}[-1]",
        "{o} = [[z, z + 1] for z in {s}]\ntotal += {o}[k % len({o})][1]",
        "total += any({t} > 3 for {t} in {s}) + all({t} < 9 for {t} in {s})",
        "{o} = {s}[k % len({s})] if {s}[0] > 0 else {s}[-1]\ntotal += {o}",
        "{t} = k\nwhile {t} < k + len({s}):\n    total += {s}[{t} % len({s})]\n    {t} += 1",
    )
    number = script.number(has_floats)
    text = script.choose.choice(forms).format(s=name, t=item, o=other, x=number)
    return script.write(text)


_STATEMENTS: tuple[Callable[[Script], bool], ...] = (
    *(_local, _local_matrix, _named_view, _store, _store_in_loop, _helper, _other_sizes),
    *(_pair, _read_pair, _read_pair, _records, _records, _records, _items, _items),
)


# -- results ---------------------------------------------------------------------------------------


def _results(script: Script) -> list[str]:
    """What is returned, at most one of each kind."""
    choose, found = script.choose, ["total"]
    views = [view for view in (script.view(), script.view()) if view is not None]
    found += choose.sample(views, min(len(views), choose.choice((0, 1, 1, 2))))
    if script.views and choose.random() < 0.5:
        found.append(choose.choice(script.views))
    if script.pairs and choose.random() < 0.7:
        found.append(choose.choice(script.pairs))
    if script.numbers and choose.random() < 0.5:
        name, _ = choose.choice(script.numbers)
        found.append(
            choose.choice((name, f"{name}[1:]", f"[z + 1 for z in {name}]", f"tuple({name})"))
        )
    if script.structured and choose.random() < 0.5:
        name, _ = choose.choice(script.structured)
        found.append(choose.choice((f"{name}['mass']", f"{name}['id'][1:]", f"{name}['mass'] * 2")))
    vector = script.vector()
    if vector is not None and choose.random() < 0.3:
        found.append(f"Body({vector.text}, {script.number()})")
    return choose.sample(found, len(found)) if len(found) > 1 else found


def _take(script: Script, name: str, plan: Plan) -> None:
    """Say what an argument offers to statements."""
    is_float = not plan.dtype.startswith("int")
    match plan.kind, plan.form:
        case (("array" | "foreign"), form):
            into = script.vectors if plan.ndim == 1 else script.matrices
            into.append(Operand(name, is_float, form != "read-only"))
        case "numbers", _:
            script.numbers.append((name, is_float))
        case "number", form:
            (script.integers if form == "int" else script.floats).append(name)
        case "structured", _:
            script.structured.append((name, plan))
            if plan.ndim == 1:
                script.vectors.append(Operand(f"{name}['mass']", True))
        case _, "Pair":
            script.pairs.append(name)
            script.vectors.append(Operand(f"{name}.x", is_float))
            script.floats.append(f"{name}.y")
        case _, "Body":
            script.matrices.append(Operand(f"{name}.at", is_float))
            script.floats.append(f"{name}.mass")
        case _:
            script.pairs.append(f"{name}.inner")
            script.vectors += [
                Operand(f"{name}.weights", True),
                Operand(f"{name}.inner.x", is_float),
            ]
            script.floats += [f"{name}.bias", f"{name}.inner.y"]


def make_program(label: int | str) -> Program:
    """The program of a label."""
    choose = random.Random(label)
    kinds = choose.sample(_KINDS, choose.choice((1, 2, 2, 3)))
    plans = {name: draw_plan(choose, kind) for name, kind in zip("abc", kinds, strict=False)}
    script, drawn = Script(choose), Counter[str]()
    for name, plan in plans.items():
        _take(script, name, plan)
    for _ in range(choose.choice((2, 3, 4, 5))):
        statement = choose.choice(_STATEMENTS)
        while not statement(script):
            statement = choose.choice(_STATEMENTS)
        drawn[statement.__name__.strip("_")] += 1
    results = _results(script)
    drawn["returned"] += len(results)
    head = f"def kernel({', '.join(plans)}, n, k):"
    lines = ["total = 0.0", *script.lines, f"return {', '.join(results)}"]
    text = "\n    ".join([head, *lines]) + "\n"
    helpers = (f"{helper}\n\n" for call, helper in HELPERS.items() if call in text)
    return Program("".join(helpers) + text, plans, drawn)
