"""The styles of random programs: what may be drawn, and how often.

There is one set of makers, and each looks up in the style how often it is wanted. A new kind of
statement is a function in a table of `statements.py`, of an index one in `indices.py`, of an
expression one in `exprs.py`; then some styles give it a weight here.

    tame, wild, rewritten, roomy     any statement and type, small           tests/programs
    failing                          as rewritten, with errors               tests/callers
    neat, long, alone                loops over run-time sizes, with guards  tests/loops
    vectors                          loops of independent rounds             tests/programs
    nest, sized, stages              affine loops, for schedules             tests/nests
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tests.programs import types as ty

Weights = Mapping[str, int]


@dataclass(frozen=True)
class Style:
    """How often what is drawn; the first entry of a table is the simplest, and always possible."""

    statements: Weights
    exprs: Weights
    places: Weights
    bounds: Weights
    conditions: Weights
    palettes: tuple[tuple[str, ...], ...]
    # Where elements are stored, if not at places like the others.
    targets: Weights = field(default_factory=dict[str, int])
    # How an index is kept in bounds that is not known to be there.
    fixes: Weights = field(default_factory=lambda: {"remainder": 1})
    leaves: Weights = field(default_factory=lambda: {"literal": 1, "element": 5, "name": 3})
    operators: Weights = field(default_factory=lambda: dict.fromkeys(ty.BINARY, 1))
    int_exprs: Weights = field(default_factory=dict[str, int])
    # The functions that may be called, all without a choice; the weak types of values.
    functions: tuple[str, ...] | None = None
    weak: tuple[str, ...] = ty.WEAK
    literals: int | None = None  # so many of the list of literals
    # Loops: their words, the numbers and the names of run-time sizes that they run to, and how
    # often all of them may run in a program.
    words: tuple[str, ...] = ("range",)
    names: tuple[str, ...] = ()  # of their variables, which are used again; else each has its own
    extents: tuple[int, ...] = ()
    run_time: tuple[str, ...] = ()
    max_trips: int = 150
    max_loops: int = 4
    block: int = 3  # statements in a block, at most
    depth: int = 2  # of the expressions that are stored
    # In percent: operands of other types, loops that hold another loop and nothing else, axes that
    # get another loop than their own, negative indices, `a[i][j]`, conditions around statements,
    # jumps at the end of a branch, `else` after a loop.
    mixes: int = 100
    perfect: int = 0
    stray: int = 40
    from_end: int = 100
    chains: int = 0
    conditional: int = 0
    jumps: int = 0
    elses: int = 0
    recursions: int = 0  # in percent: programs with a function that calls itself
    wild: bool = False  # indices may be out of bounds
    is_long: bool = False  # last axes are several vectors long


# -- any statement and type ------------------------------------------------------------------------

_PALETTES = (
    *(ty.INTS[:2], ty.FLOATS[:2], ("float32", "int32"), ("int8", "uint8", "float16")),
    *(("uint64", "int64", "float64"), ("complex64", "float32"), ("complex128", "float64", "int16")),
    *(("bfloat16", "float32", "int8"), (ty.BOOL, "uint32", "float64"), (ty.BOOL, "int64")),
    *(("float16", "float32", "float64"), ("uint16", "int32", "int8"), ("bfloat16", "uint8")),
)

TAME = Style(
    statements={
        **{"assign": 10, "store": 10, "update": 10, "store update": 10, "tuple": 10},
        **{"for": 13, "if": 6, "grid": 6, "while": 6, "expanded": 4, "each": 4, "independent": 5},
        **{"allocate": 2, "call": 2, "chained": 2, "annotated": 2, "named block": 2},
        **{"first step": 2, "packing": 2, "search": 2, "rows": 2},
    },
    exprs={
        **{"binary": 2, "cast": 1, "conditional": 1, "unary": 1, "function": 1, "helper call": 1},
        **{"and or": 1, "select": 1, "extremum": 1},
    },
    int_exprs={
        **{"binary": 2, "conditional": 1, "extremum": 1, "data": 1, "float": 1, "call": 1},
        "division": 1,
    },
    places={"any": 1, "literal": 1, "mirrored": 1, "name": 4, "data": 1, "around": 1},
    bounds={"whole": 2, "between": 1, "stepped": 1, "falling": 2},
    conditions={
        **{"comparison": 2, "ints": 1, "loops": 1, "chain": 1, "junction": 1, "negation": 1},
        "truth": 1,
    },
    palettes=_PALETTES,
    words=("range", "range", "scan", "serial"),
    names=("i", "j", "k", "m"),
    depth=3,
    chains=15,
    jumps=35,
    elses=15,
)
WILD = replace(TAME, wild=True)
REWRITTEN = replace(
    TAME,
    statements={
        **TAME.statements,
        **{"try": 5, "tuple inside": 3, "named": 3, "folded": 3},
    },
    recursions=15,
)
ROOMY = replace(TAME, is_long=True)
FAILING = replace(
    REWRITTEN, statements={**REWRITTEN.statements, "failure": 6}, wild=True, is_long=True
)

# -- loops over run-time sizes ---------------------------------------------------------------------

# Types are drawn as often as they stand here.
_LOOP_PALETTES: tuple[tuple[str, ...], ...] = (
    *(("float32",), ("float32",), ("float64",), ("int32",), ("int16",)),
    *(("float32", "float64"), ("float32", "int32"), ("float64", "int16"), ("int16", "int32")),
    *(("float32", "int16"), ("uint8", "float32"), ("int64", "int32"), ("uint8", "int16")),
    *(("uint64",), ("int8",), ("int8", "float32"), ("uint16", "int32"), ("uint64", "float64")),
    *(("uint64", "float32"), ("uint32", "float64")),
)
_EXACT_FUNCTIONS = ("np.sqrt", "np.minimum", "np.maximum", "np.absolute", "dot_bytes")
_ARITHMETIC = {
    **{"+": 6, "-": 6, "*": 6, "/": 1, "//": 1, "%": 1, "&": 1, "|": 1, "^": 1, ">>": 1},
}

LONG = Style(
    statements={
        **{"store": 6, "fold": 4, "store update": 2, "temporary": 2, "swap": 2, "if": 3},
        **{"for": 2, "sum": 2, "while": 1, "stencil": 6, "first step": 2, "search": 1},
        **{"packing": 1, "each": 1, "rows": 1, "window": 1, "rounds": 1, "limits": 1},
    },
    exprs={"binary": 14, "extremum": 2, "conditional": 2, "unary": 1, "function": 1, "cast": 3},
    int_exprs={"binary": 1},
    places={
        **{"loop": 3, "shifted": 3, "windowed": 6, "mirrored": 1, "table": 1, "doubled": 2},
        **{"halved": 1, "negated": 1, "around": 1},
    },
    fixes={"guard": 3, "remainder": 1, "clamp": 1},
    bounds={
        **{"whole": 5, "from 1": 1, "but last": 1, "inner": 1, "past end": 1, "down": 1},
        **{"by 2": 1, "down by 3": 1, "window": 4, "triangle": 2},
    },
    conditions={"comparison": 2, "loops": 3, "junction": 2, "negation": 1},
    palettes=_LOOP_PALETTES,
    leaves={"element": 7, "name": 2, "literal": 1},
    operators=_ARITHMETIC,
    functions=_EXACT_FUNCTIONS,
    weak=("int",),
    literals=4,
    run_time=("n", "m"),
    max_trips=30_000,
    block=2,
    mixes=15,
    perfect=45,
    from_end=0,
    conditional=20,
    jumps=10,
)
# What people write, and compilers do most to: each axis has its loop, elements are stored where the
# loops are, neighbours are read if they are there.
NEAT = replace(
    LONG,
    statements={
        **{"store": 2, "stencil": 3, "sum": 2, "fold": 1, "if": 1, "first step": 1, "search": 1},
        **{"packing": 1, "each": 1, "rows": 1, "window": 1, "rounds": 1, "limits": 1},
    },
    exprs={"binary": 16, "extremum": 1, "conditional": 1, "unary": 1, "cast": 1},
    places={"loop": 2, "shifted": 3, "windowed": 6, "doubled": 1, "around": 1},
    targets={"loop": 1},
    fixes={"guard": 1},
    bounds={**LONG.bounds, "whole": 40},
    stray=0,
    conditional=10,
)

# What iterations do by themselves, with what lies where they are: nearly all of them are lanes.
ALONE = replace(
    NEAT,
    statements={"window": 3, "rounds": 3, "limits": 2},
    places={"loop": 3, "shifted": 2, "windowed": 2},
    bounds={"whole": 8, "from 1": 1, "but last": 1, "inner": 1, "down": 1},
    block=1,
    conditional=5,
)

# -- vectors ---------------------------------------------------------------------------------------

VECTORS = Style(
    statements={"store": 4, "store update": 3, "temporary": 2, "if": 4, "for": 2},
    exprs={"binary": 4, "extremum": 1, "conditional": 1, "cast": 2, "unary": 1, "function": 1},
    int_exprs={"binary": 2, "division": 2},
    places={"loop": 3, "mirrored": 1, "shifted": 1, "doubled": 2, "table": 1, "literal": 1},
    fixes={"remainder": 1},
    bounds={"window": 2, "few": 1},
    conditions={"comparison": 3, "junction": 1, "negation": 1},
    palettes=(
        *(("float32", "int8"), ("int16", "uint16"), ("float64", "float32"), ("uint8", "int32")),
        *(("bfloat16", "float32"), (ty.BOOL, "int32"), ("float16", "float32"), ("uint64", "int64")),
        *(("int8", "uint8"), ("uint32", "float64"), ("float64",), ("float32",)),
    ),
    leaves={"element": 6, "name": 3, "literal": 1},
    operators={"+": 4, "-": 4, "*": 4, "//": 1, "%": 1, "^": 1, "<<": 1},
    functions=("sqrt", "np.sqrt"),
    weak=("int", "float"),
    literals=5,
    run_time=("n",),
    max_trips=2_000,
    max_loops=2,
    block=2,
    mixes=30,
)

# -- loops for schedules ---------------------------------------------------------------------------

# Small, so that running every iteration of many orders is cheap.
NEST = Style(
    statements={
        **{"store": 8, "fold": 5, "for": 12, "if": 2, "scalar": 2, "reduction": 2, "first step": 1},
        "number": 2,
    },
    exprs={"binary": 1},
    places={
        **{
            "loop": 16,
            "name": 1,
            "shifted": 4,
            "mirrored": 2,
            "halved": 2,
            "doubled": 2,
            "around": 2,
        },
        **{"windowed": 2, "literal": 4, "table": 1},
    },
    bounds={
        **{"whole": 5, "later": 1, "down": 1, "by 2": 1, "triangle": 2, "stored": 1},
        "few": 2,
    },
    conditions={"loops": 1},
    palettes=tuple(
        (a, b)
        for a in ("int64", "int32", "uint8", "float32", "float64", "int16")
        for b in ("int64", "int32", "uint8", "float32", "float64", "int16")
    ),
    leaves={"element": 3, "literal": 1},
    operators={"+": 2, "*": 1},
    weak=("int",),
    literals=5,
    extents=(4, 4, 2, 3, 5),
    max_trips=1 << 30,
    max_loops=3,
    depth=1,
    mixes=30,
    perfect=66,
    stray=60,
    from_end=17,
)
# Several vectors and a rest.
NEST_LONG = replace(NEST, extents=(4, 17, 33, 3, 20), is_long=True)
# Over arrays of run-time sizes.
SIZED = replace(
    NEST,
    statements={"store": 3, "fold": 2, "if": 1},
    places={
        **{"loop": 6, "around": 1, "mirrored": 1, "shifted": 1, "halved": 1, "literal": 1},
    },
    bounds={"whole": 6, "from 1": 1, "but last": 1, "down": 1},
    palettes=(("int64",), ("float32",), ("float64",), ("int16",)),
    run_time=("n", "m"),
    block=2,
    mixes=0,
    stray=50,
    from_end=100,
)
# Stages that compute a buffer, and stages that use it. Some are out of bounds.
STAGES = replace(
    SIZED,
    places={
        **{"loop": 8, "shifted": 4, "mirrored": 1, "halved": 1, "doubled": 1, "literal": 1},
        **{"folded": 1, "around": 1},
    },
    fixes={"none": 3, "clamp": 1, "guard": 2},
    bounds={
        **{"whole": 6, "from 1": 1, "but last": 2, "inner": 1, "down": 1, "by 2": 1, "triangle": 1},
    },
    palettes=(("float32",),),
    run_time=("n",),
    stray=25,
    conditional=33,
)
# Mostly whole, in order and elsewhere than others: what steps that move stages are about.
PLAIN_STAGES = replace(
    STAGES,
    places={**STAGES.places, "loop": 80},
    bounds={**STAGES.bounds, "whole": 50},
    stray=5,
    conditional=8,
)

STYLES: dict[str, Style] = {
    **{"tame": TAME, "wild": WILD, "rewritten": REWRITTEN, "roomy": ROOMY},
    "failing": FAILING,
    **{"neat": NEAT, "long": LONG, "alone": ALONE, "vectors": VECTORS},
    **{"nest": NEST, "long nest": NEST_LONG, "sized": SIZED},
    **{"stages": STAGES, "plain stages": PLAIN_STAGES},
}
