"""Random scripts of whole arrays, of several kinds: `make_program`.

Scripts are written statement by statement (`script.py`), each tried out with NumPy.
What is drawn:

arguments   arrays of 0 to 4 axes, of every type and layout, with NaNs, infinities and the ends of
            integers; some in the memory of others; numbers of Python's and NumPy's (`values.py`)
parts       slices with any bounds and steps, indices, new axes, ellipses (`pool.py`)
expressions operators, functions, `where`, casts (`elements.py`); folds along axes, products,
            gathers, selections, other shapes, new arrays (`folds.py`); the rest of NumPy's
            functions (`library.py`)
statements  names, stores and updates in place that may overlap, masks, `out=`, loops over rows,
            steps that are measured, loops and branches around all of them (`stmts.py`)
names       that stand for other arrays as loops and branches go on (`names.py`)
idioms      of numerical code, on whole arrays and as loops, with guards and packing (`idioms.py`)
lists       that change in loops (`lists.py`)
brought     what people bring: computed sizes, functions, draws, classes, `match` (`brought.py`)

Scripts that do not know the sizes of their arguments are called with several.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import replace

from tests.arrays import brought, elements, folds, idioms, library, lists, names, stmts
from tests.arrays.pool import Operand, Writer
from tests.arrays.program import Program
from tests.arrays.script import PRELUDES, Script
from tests.arrays.style import Style
from tests.arrays.values import alike, any_arrays, factors

_WRITERS: tuple[Writer, ...] = (*elements.ELEMENTS, *folds.FOLDS)
_SIMPLE: tuple[Writer, ...] = (
    *(elements.arithmetic,) * 6,
    *(elements.number, elements.math, elements.extremum, folds.reduction) * 2,
    *(elements.function, elements.sign, elements.where, folds.part),
)
# Up to several vectors and a rest.
LONG_SIZES = (0, 1, 2, 3, 8, 15, 16, 17, 31, 33, 40, 67, 130)
# Rows that are folded in lanes, or just too short for it.
_ROW_SIZES = (*range(1, 5), *range(14, 20), 31, 33, 40, 64, 65, 100)
_IDIOM_SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 40)

ANY = Style(any_arrays, stmts.STATEMENTS, _WRITERS)
LONG = replace(ANY, sizes=LONG_SIZES, most=4000)
MULTIPLYING = replace(ANY, make=factors, writers=(*_WRITERS, *(folds.matrix_product,) * 30))
# Arrays are alike: most statements can use what others made.
CHAIN = Style(
    alike,
    stmts.CHAIN,
    _SIMPLE,
    counts=range(2, 8),
    sizes=(1, 3, 4, 4, 5, 7),
    dtypes=("float64", "float64", "float32", "int64"),
    sharing=0,
    planes=1,
    newest=0.7,
    whole=0.75,
)
ROWS = replace(
    CHAIN,
    statements=stmts.STEPS,
    sizes=_ROW_SIZES,
    dtypes=("float64", "float32", "float32", "int32"),
    planes=0.15,
    whole=0.5,
    shifts=True,
)
NAMES = Style(
    names.rounds,
    names.CARRIED,
    begin=names.name_three,
    counts=(2, 3, 4),
    dtypes=("int64", "int64", "int64", "int32", "float64"),
    is_sized=False,
    depth=3,
    late=0.1,
)
LISTS = Style(lists.counts, lists.LISTS, begin=lists.change_lists, counts=(0,), is_sized=False)
BROUGHT = Style(lists.counts, brought.STEPS, begin=brought.begin, counts=(0,), is_sized=False)
IDIOMS = Style(
    idioms.axes,
    idioms.IDIOMS,
    _WRITERS,
    begin=idioms.name_sizes,
    counts=(1, 1, 1, 2, 2, 3),
    sizes=_IDIOM_SIZES,
    dtypes=("float64", "float64", "float32", "float32", "int32", "int16"),
    sharing=0.12,
    is_sized=False,
)


PACKING = replace(
    IDIOMS,
    statements=(idioms.packing,),
    counts=(1,),
    sizes=(0, 1, 7, 8, 9, 16, 31, 33, 64, 70, 130),
    dtypes=("float64", "float64", "float32", "int32", "int64", "int16", "uint8"),
    calls=6,
)
_LIBRARY = (*elements.ELEMENTS, *folds.FOLDS, *library.LIBRARY * 6)
_SELECTIONS = (*_WRITERS, *(folds.selection,) * 8)
# Styles, and how many of a hundred programs are of each.
KINDS: dict[str, tuple[Style, int]] = {
    "any": (ANY, 8),
    "long": (LONG, 8),
    "library": (replace(ANY, writers=_LIBRARY), 4),
    "long, library": (replace(LONG, writers=_LIBRARY), 4),
    "selecting": (replace(ANY, writers=_SELECTIONS), 5),
    "long, selecting": (replace(LONG, writers=_SELECTIONS), 5),
    "multiplying": (MULTIPLYING, 8),
    "chain": (CHAIN, 8),
    "rows": (ROWS, 8),
    "names": (NAMES, 5),
    "names among others": (
        replace(CHAIN, statements=stmts.CHAIN + names.CARRIED, planes=0.6),
        6,
    ),
    "idioms": (IDIOMS, 14),
    "idioms among others": (
        replace(IDIOMS, statements=idioms.IDIOMS + stmts.STATEMENTS, is_sized=True),
        8,
    ),
    "windows": (replace(IDIOMS, statements=(idioms.window,), counts=(1,)), 4),
    "packing": (PACKING, 3),
    "lists": (LISTS, 1),
    "brought": (BROUGHT, 1),
}


def make_program(label: int | str, kind: str | Style | None = None) -> Program:
    """The program of a label: of a kind, in a style, or of any kind."""
    choose = random.Random(label)
    if isinstance(kind, Style):
        return _write(choose, kind, "style")
    shares = [share for _, share in KINDS.values()]
    name = kind or choose.choices(list(KINDS), shares)[0]
    return _write(choose, KINDS[name][0], name)


def _write(choose: random.Random, style: Style, kind: str) -> Program:
    tried, *others = style.make(choose, style)
    script = Script(choose, style, tried)
    if style.begin is not None:
        style.begin(script)
    script.statements(choose.choice(style.counts))
    if style.is_sized:
        stmts.move(script)
    results = [script.pool.named(name) for name in script.results]
    results += _returned(script) if style.is_sized or not results else []
    lines = [*script.lines, f"return {', '.join(result.text for result in results)}"]
    calls = [tried] if style.is_sized else others
    used = _used("\n".join([*lines, *(call.share for call in calls)]), script.passed)
    head = f"def kernel({', '.join([*used, *tried.numbers])}):"
    text = "\n".join([head, *(f"    {line}" for line in lines)]) + "\n"
    return Program(
        kind,
        "".join(f"{prelude}\n" for call, prelude in PRELUDES.items() if call in text) + text,
        [replace(call, plans={name: call.plans[name] for name in used}) for call in calls],
        [result.note for result in results],
        {name: script.passed_note(name) for name in used},
        script.drawn,
        style.is_sized,
    )


def _used(text: str, names: Iterable[str]) -> list[str]:
    """Those of the arguments that the text knows."""
    words = set(re.findall(r"\w+", text))
    return [name for name in names if name in words]


def _returned(script: Script) -> list[Operand]:
    """Values that are no views of arguments."""
    choose, pool = script.choose, script.pool
    if script.style.is_sized:
        found = [pool.make(choose.choice((1, 2, 3, 3))) for _ in range(choose.choice((1, 1, 2, 3)))]
        copies = {True: "({}).copy()", False: "({}) * 1"}
        return [replace(x, text=copies[x.ndim > 0].format(x.text)) for x in found]
    arrays = _used("\n".join(script.lines), pool.arrays())
    integers = [name for name in arrays if pool.names[name].dtype.kind in "iu"]
    names = choose.sample(arrays, min(3, len(arrays)))
    copies = [replace(pool.named(name), text=f"{name} * 1") for name in names]
    return copies + [replace(pool.named(name), text=f"{name}.sum()") for name in integers[-1:]]
