"""Random loops over fields of structured arrays, natively and under random schedules.

Programs are those of tests/loops. Arrays of one shape become the fields of one structured array,
packed or aligned, with other fields before, between and behind them; elements are read and written
as `r["x"][i]` and as `r[i]["x"]`. Held against plain Python: see tests/campaigns.
"""

from __future__ import annotations

import ast
import linecache
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy

from hybridjit import Kernel, config
from tests.campaigns.drawn import Drawn, size_class
from tests.loops.generate import LoopProgram, make_program
from tests.loops.run import Case, Refused, cases, check_case
from tests.nests.scripts import Script, run_unscheduled, try_schedule
from tests.programs.data import LAYOUTS, with_layout
from tests.support.choices import Choices
from tests.support.oracle import run_plain

np: Any = numpy
# Schedules of each program, which is then called at one of its sizes.
SCHEDULES = 2
# Of what else is in a record.
FILLERS = ("int8", "float64", "int16", "complex64")


@dataclass(frozen=True, slots=True)
class Table:
    """A structured array: which arrays are its fields, how a record lies, and all of them."""

    name: str
    fields: Mapping[str, str]  # an array of the program, or something else, and its type
    is_aligned: bool
    layout: str

    def make(self, arrays: Mapping[str, Any]) -> Any:
        """The structured array with these arrays in it."""
        dtype = np.dtype(list(self.fields.items()), align=self.is_aligned)
        shape = next(arrays[name].shape for name in self.fields if name in arrays)
        made = np.zeros(shape, dtype)
        for name, type in self.fields.items():
            made[name] = arrays[name] if name in arrays else np.ones(shape, type) * 7
        return with_layout(made, self.layout)


def try_number(seed: int, number: int) -> Drawn:
    """Program number `number` of a seed at all of its sizes, and at one of them under schedules."""
    label = f"records {seed}/{number}"
    rng = random.Random(label)
    program = make_program(Choices(rng.randrange))
    tables = _tables(program, rng)
    text = _rewritten(program.text, tables, rng)
    drawn = Drawn()
    drawn.counts["programs"] += 1
    try:
        last = _check(drawn, replace(program, text=text), tables, rng, label)
        _schedule(drawn, text, *last, rng)
    except Refused as refusal:
        drawn.count("refused", [str(refusal)])
    except Exception as error:
        raise AssertionError(f"{error}\n{text}{tables}") from error
    finally:
        linecache.cache.pop(f"<loop program {label}>", None)
    drawn.count("layouts", [table.layout for table in tables])
    drawn.count("records", ["aligned" if table.is_aligned else "packed" for table in tables])
    drawn.count("types", [type for table in tables for type in table.fields.values()])
    return drawn


def _check(
    drawn: Drawn, program: LoopProgram, tables: Sequence[Table], rng: random.Random, label: str
) -> tuple[Kernel[..., Any], Case]:
    """Hold native code against plain Python at all sizes; the kernel, and the last case."""
    kernel: Kernel[..., Any] | None = None
    last: Case | None = None
    for case in cases(program, rng, label):
        if kernel is None or program.way == "captured":
            kernel = Kernel(case.function)
        names = [array.name for array in program.arrays]
        arrays = dict(zip(names, case.args, strict=False))
        made = [table.make(arrays) for table in tables]
        last = replace(case, args=(*made, *case.args[len(names) :]))
        check_case(kernel, last)
        drawn.counts["native calls"] += 1
        drawn.count("sizes", [size_class(size) for size in case.sizes.values()])
    assert kernel is not None
    assert last is not None
    drawn.counts["native"] += 1
    return kernel, last


def _schedule(
    drawn: Drawn, text: str, kernel: Kernel[..., Any], case: Case, rng: random.Random
) -> None:
    script = Script(text, kernel, list(case.args), run_plain)
    with config.scope(cache_enabled=False):
        expected = run_unscheduled(script)
        if expected is None:
            return
        scheduled = Drawn()
        for _ in range(SCHEDULES):
            try_schedule(scheduled, script, expected, rng.randrange)
    drawn.counts["scheduled"] += scheduled.counts["programs"]
    scheduled.counts.clear()
    drawn.add(scheduled)


def _tables(program: LoopProgram, rng: random.Random) -> list[Table]:
    groups: dict[Any, list[Any]] = {}
    for array in program.arrays:
        # Fields of one array share its memory, and such programs run as they are written.
        alone = rng.random() < 0.6
        groups.setdefault((array.shape, array.name if alone else ""), []).append(array)
    tables: list[Table] = []
    for number, arrays in enumerate(groups.values()):
        fields = [(array.name, array.type) for array in arrays]
        for filler in range(rng.choice((0, 1, 1, 2))):
            fields.insert(rng.randint(0, len(fields)), (f"filler{filler}", rng.choice(FILLERS)))
        is_aligned, layout = rng.random() < 0.5, rng.choice(("C", *LAYOUTS))
        tables.append(Table(f"r{number}", dict(fields), is_aligned, layout))
    return tables


def _rewritten(text: str, tables: Sequence[Table], rng: random.Random) -> str:
    """The program with structured arrays in the place of its arrays."""
    tree = ast.parse(text)
    places = {field: table.name for table in tables for field in table.fields}
    function = tree.body[-1]
    assert isinstance(function, ast.FunctionDef)
    others = [arg for arg in function.args.args if arg.arg not in places]
    function.args.args = [*(ast.arg(table.name) for table in tables), *others]
    return ast.unparse(ast.fix_missing_locations(_ToFields(places, rng).visit(tree))) + "\n"


class _ToFields(ast.NodeTransformer):
    """`a[i]` becomes `r["a"][i]` or `r[i]["a"]`, and `a` is `r["a"]`."""

    def __init__(self, places: Mapping[str, str], rng: random.Random) -> None:
        self._places, self._rng = places, rng

    def visit_Name(self, node: ast.Name) -> ast.expr:
        table = self._places.get(node.id)
        return node if table is None else _item(_item_of(table), ast.Constant(node.id), node.ctx)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        table = self._places.get(node.value.id) if isinstance(node.value, ast.Name) else None
        # An index that is computed is evaluated for each field, so it must not call anything.
        odd = any(isinstance(part, (ast.Call, ast.Slice)) for part in ast.walk(node.slice))
        if table is None or odd or self._rng.random() < 0.5:
            return self._each(node)
        assert isinstance(node.value, ast.Name)
        index: ast.expr = self.visit(node.slice)
        return _item(_item(_item_of(table), index), ast.Constant(node.value.id), node.ctx)

    def _each(self, node: ast.Subscript) -> ast.expr:
        value: ast.expr = self.visit(node.value)
        if isinstance(value, ast.Subscript):
            value.ctx = ast.Load()
        index: ast.expr = self.visit(node.slice)
        return _item(value, index, node.ctx)


def _item_of(table: str) -> ast.expr:
    return ast.Name(table, ast.Load())


def _item(value: ast.expr, index: ast.expr, ctx: ast.expr_context | None = None) -> ast.expr:
    return ast.Subscript(value, index, ctx or ast.Load())
