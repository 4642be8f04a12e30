"""Statements in the ways that numerical code is written: products, folds, transposes, stencils,
planes, windows, packing, updates in place, each on whole arrays or as loops.

What is drawn from the whole language is hardly ever what most of the optimiser is for. All of them
are about the arrays of `AXES`, whatever their sizes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from itertools import product

from tests.arrays.script import Script
from tests.arrays.stmts import Statement
from tests.arrays.style import Style
from tests.arrays.values import Arguments, ArrayPlan, Calls

# The arrays and their axes, by name: n, m and l are sizes, p and q are a bit less than n and m, and
# r is room for more than n. Those of `OTHERS` are of another type, those of `TABLES` are indices.
AXES = {
    **{"x": "nm", "y": "nm", "q": "mn", "w": "ml", "c": "nl", "g": "nn", "d": "nml", "e": "nml"},
    **{"u": "n", "v": "m", "a": "n", "b": "n", "h": "n", "K": "m"},
    **{"P": "pq", "H": "pq", "o": "r", "f": "r"},
}
OTHERS = "of"
TABLES = "hK"
# What is packed is not negative, so that all types can have it.
_SOURCES = {"a": (0, 9), "b": (0, 9)}
_LAYOUTS = ("C", "C", "C", "C", "F", "strided", "mirrored", "offset")
# One in so many axes is long, for loops of whole vectors of small types.
_LONG = (64, 65, 67, 100, 130, 260)
_SHARED = (
    *("y = x", "q = x.T", "y = x[::-1]", "u = x[:, 0]", "v = x[-1]", "e = d", "x = d[:, :, 0]"),
    "rows = np.concatenate((x, x[:1] + 1)); x, y = rows[1:], rows[:-1]",
    "rows = np.concatenate((x, x[:1] + 1)); y, x = rows[1:], rows[:-1]",
)


def axes(choose: random.Random, style: Style) -> Calls:
    """Arrays of n, m and l elements along their axes, and the same for other sizes."""
    layouts = {name: choose.choice(_LAYOUTS) for name in AXES}
    dtype, other = (choose.choice(style.dtypes) for _ in "ab")
    dtypes = {**dict.fromkeys(AXES, dtype), **dict.fromkeys(OTHERS, choose.choice((dtype, other)))}
    dtypes |= dict.fromkeys(TABLES, "int64")
    less = [choose.choice((0, 1, 1, 2)) for _ in "pq"]

    def call(given: Sequence[int], has_room: bool = True) -> Arguments:
        sizes, seed = dict(zip("nml", given, strict=True)), choose.randrange(1 << 30)
        sizes |= {"p": max(1, sizes["n"] - less[0]), "q": max(1, sizes["m"] - less[1])}
        sizes["r"] = 2 * sizes["n"] + 3 if has_room else sizes["n"] // 2
        spans = {**dict.fromkeys(AXES, (-4, 4)), "K": (0, sizes["q"] - 1), **_SOURCES}
        plans = {
            name: ArrayPlan(
                dtypes[name],
                tuple(sizes[axis] for axis in letters),
                layouts[name],
                seed + ord(name),
                span=spans[name],
            )
            for name, letters in AXES.items()
        }
        is_shared = all(given) and choose.random() < style.sharing
        return Arguments(plans, {}, choose.choice(_SHARED) if is_shared else "")

    tried = call(choose.sample((2, 3, 4, 5, 6), 3))
    sizes = [[choose.choice(style.sizes) for _ in "nml"] for _ in range(style.calls)]
    for given in sizes:
        if choose.random() < 0.3:
            given[choose.randrange(2)] = choose.choice(_LONG)
    return [tried, *(call(given, choose.random() < 0.5) for given in sizes)]


def name_sizes(script: Script) -> None:
    """The first lines: the sizes."""
    script.write("n, m = x.shape", "l = w.shape[1]")


# -- texts -----------------------------------------------------------------------------------------

_FOLDS = (
    *("<s>.sum()", "(<s> * <s>).sum()", "<s>.min()", "<s>.max()", "(<s> > 0).sum()"),
    *("np.abs(<s>).max()", "<s>.mean()", "np.any(<s> > 3)", "(<s> * 2 + 1).sum()"),
)
_NEIGHBOURS = (
    *("(x[i - 1, j] if i >= 1 else <e>)", "(x[i - 2, j] if i >= 2 else <e>)"),
    *("(x[i, j - 1] if j >= 1 else <e>)", "(x[i, j - 3] if j >= 3 else <e>)"),
    *("(x[i + 1, j] if i + 1 < n else <e>)", "(x[i, j + 1] if j < m - 1 else <e>)"),
    "(x[i - 1, j - 1] if i > 0 and j > 0 else <e>)",
)
_UPDATES = ("<u> += 1", "<u> *= 2", "<u> -= <u>.min()", "<u> += <u> * <u>", "<u> %= 5")
_MATRICES = ("x", "y", "q.T", "x * 2", "(x + y)", "y[::-1]", "(x - u[:, None])", "x * v")
# What stands for what in the texts below: the same everywhere in one of them.
_PARTS = {
    **{f"<fold {number}>": _FOLDS for number in range(5)},
    **{f"<update {number}>": _UPDATES for number in range(3)},
    **{f"<neighbour {number}>": _NEIGHBOURS for number in range(3)},
    "<change>": (*("",) * 4, "\nx[1:] = 2", "\nu += 1", "\ny[:] = x", "\nd *= 2"),
    "<target>": ("y", "y", "y", "x"),
    "<factor>": ("y", "2", "<0>", "v"),
    "<cut>": ("[::-1]", "", "[1:]", ".T"),
    "<p>": ("(<a>) @ (<b>)",),
    "<a>": _MATRICES,
    "<other a>": _MATRICES,
    "<b>": ("w", "w", "w * 3", "d[0]", "w[:, ::-1]"),
    "<s>": ("x", "x", "y", "d", "u", "x[1:]", "q.T"),
    "<t>": ("x > 0", "y < 2", "x != y"),
    "<u>": ("x", "y", "d", "u", "x[1:]", "c[:, ::2]", "y[::-1]"),
    "<h>": ("h[i] % m", "h[i] % m", "(h[i] % 3) % m"),
    "<n>": ("h[i] + 1", "2", "i"),
    "<axis>": ("0", "1", "1"),
    "<e>": ("0", "1", "x[i, j]"),  # where an element has no neighbour
    "<f>": ("sum", "max", "min"),
    # Windows: their loops, guards and terms.
    "<rows>": ("n", "n", "n", "1, n", "n - 1, -1, -1"),
    "<columns>": ("m", "m", "m", "1, m", "0, m, 2", "i, m"),
    "<set>": ("\n        y[i, j] = 0", "\n        y[i, j] = 0", ""),
    "<wide>": ("1", "2", "2", "2", "3"),
    "<high>": ("1", "2", "2", "2", "3"),
    "<guard>": ("<in> and <jn>", "<in> and <jn>", "<jn> and <in>", "<in> and <jn> and <test>"),
    "<test>": ("v[j] > 0", "x[i, j] != 1", "r + s < 3", "i % 2 == 0"),
    "<in>": ("<i> >= 0 and <i> < H.shape[0]",),
    "<jn>": ("<j> >= 0 and <j> < H.shape[1]",),
    "<more>": ("", "", "\n                    y[i, j] -= <minus>"),
    "<terms>": ("<one>", "<one> + <two>", "<one> + <odd>", "<one> + <two> + <odd>"),
    "<minus>": ("<two>", "<odd>"),
    "<one>": ("H[<i>, <j>] * x[i, j]", "H[<i>, <j>]", "P[<i>, <j>]"),
    "<two>": ("P[<i>, <j>]", "H[<i>, <j>] * x[i, j]"),
    "<odd>": ("P[i % P.shape[0], <j>]", "H[<i>, K[j]]", "v[j]", "P[(<i>) // 2, <j>]"),
    "<i>": ("i - r", "i - r", "i - 2 * r"),
    "<j>": ("j - s", "j - s", "j - 2 * s"),
    # Packing: where it starts, what it lets through, and what else is done.
    "<start>": ("0", "0", "0", "1", "n // 3", "-2"),
    "<first>": (*("",) * 9, "\n    u[i] = t"),
    "<if>": (
        *("a[i] > 3", "a[i] > 3", "a[i] != b[i]", "a[i] > 2 and b[i] < 7", "i % 2 == 0", "i > 5"),
        *("a[i] > 8 or i % 3 == 0", "a[i] >= 0", "a[i] > 99", "not a[i] > 3", "t > 4"),
    ),
    "<again>": (*("",) * 4, "\n        t = <value>"),
    "<also>": ("", "\n        f[k] = <other>"),
    "<step>": (*("1",) * 11, "2"),
    "<else>": (*("",) * 5, "\n    else:\n        v[j] = <other>\n        j += 1", "\n    u[i] = t"),
    "<stored>": (*("<value>",) * 15, "<out>[i]", "k", "<out>[0] + 1"),
    "<value>": ("a[i]", "a[i]", "b[i]", "i", "t", "a[i] + b[i]", "t * 2", "3"),
    "<other>": ("a[i]", "b[i]", "i", "t", "a[i] + b[i]"),
    "<out>": ("o", "o", "v"),
}


def _nests(orders: str, *lines: str, before: str = "", after: str = "") -> tuple[str, ...]:
    """Loops over the axes by their letters, in each order, around each of some lines; others
    before and after the last loop.
    """
    sizes, texts = {"i": "n", "j": "m", "k": "l"}, list[str]()
    for order, line in product(orders.split(), lines):
        nest = [f"{'    ' * depth}for {i} in range({sizes[i]}):" for depth, i in enumerate(order)]
        inner = "    " * (len(order) - 1)
        around = [[inner + text] if text else [] for text in (before, after)]
        texts.append(
            "\n".join([*nest[:-1], *around[0], nest[-1], f"{inner}    {line}", *around[1]])
        )
    return tuple(texts)


_TERMS = ("c[i, k] += x[i, j] * w[j, k]", "c[i, k] -= y[i, j] * w[j, k]")
_PRODUCTS = _nests("ikj ijk kij jik kji jki", *_TERMS)
_LOOKED_UP = "for i in range(n):\n    if v[<h>] > 0:\n        {}\n        {}"
_SIDES = ("h[i] = <n>", "u[i] = v[<h>] * 2")
_WINDOW = """for i in range(<rows>):
    for j in range(<columns>):<set>
        for r in range(<high>):
            for s in range(<wide>):
                if <guard>:
                    y[i, j] = y[i, j] + <terms><more>"""
_PACKING = """k, j = <start>, 0
for i in range(n):
    t = a[i] + b[i]<first>
    if <if>:<again>
        <out>[k] = <stored><also>
        k += <step><else>"""


def _named(*values: str) -> tuple[str, ...]:
    return tuple(f"<0> = {value}" for value in values)


# Some lines each, in which <0>, <1> and so on are new names.
_TEXTS = {
    "product": _named("<p>", "<p>", "<p> + c", "2 * (<p>) + c", "(<p>).T", "-(<p>)"),
    "product_of_itself": _named("(<a>).T @ (<a>)", "(<a>) @ (<a>).T", "(<a>) @ y.T"),
    "of_a_vector": _named(
        *("(<a>) @ v", "u @ (<a>)", "(<a>) @ v + u", "(<a>).T @ u", "np.outer(u, v)"),
        *("np.dot(v, v)", "d @ w.T[:, :1].T[0]", "v @ w"),
    ),
    "folds": tuple(  # of one array, which may change in between
        "<0> = <fold 0><change>" + "".join(f"\n<{n}> = <fold {n}>" for n in range(1, count))
        for count in (2, 2, 3, 5)
    ),
    "fold_of_rows": _named("(<a>).<f>(axis=<axis>)"),
    "softmax": (
        "<0> = (<a>).max(axis=<axis>, keepdims=True)\n<1> = (<a>) - <0>\n"
        "<2> = <1> * <1>.sum(axis=<axis>, keepdims=True)",
    ),
    "selected": _named("x[<t>].sum()", "y[<t>] * 2", "(x * y)[<t>].sum()"),
    "transposed": _named("q.T + 0", "x + q.T", "x.T * q", "q.T[::-1] - y", "(x * q.T).T + q"),
    "reshaped": _named(
        *("d.reshape(n * m, l) + 1", "d.reshape(n, m * l) - 1", "d.reshape(-1, l) * 2"),
        *("d.ravel() * 2", "x.ravel() + q.T.ravel()", "x.reshape(m, n) + q", "d.reshape(-1).sum()"),
        *("d.reshape(n, -1).<f>(axis=<axis>)", "d.reshape(n, l, m).<f>(axis=<axis>)"),
        "x[: n // 2 * 2, : m // 2 * 2].reshape(n // 2, 2, m // 2, 2).<f>(axis=(1, 3))",
        *("x[: n // 2 * 2].reshape(n // 2, 2, m).<f>(axis=1)", "x.reshape(n, 1, m) + v"),
        *("x[:, : m // 3 * 3].reshape(n, m // 3, 3).<f>(axis=<axis>)", "(x + y).ravel().max()"),
        *("d.reshape(n * m, l) @ w.T", "(d * 2).reshape(l, m, n).<f>(axis=2)"),
    ),
    "chain": ("<0> = <a> + <other a>\n<1> = <0> * <factor>\n<2> = <1><cut> - 1",),
    "product_in_place": ("c[:] = x @ w", "c += x @ w", "c -= 2 * (y @ w)", "g[:] = x @ q"),
    "product_in_loops": (
        *_PRODUCTS,
        *(f"c[:] = 0\n{text}" for text in _PRODUCTS),
        *_nests("ikj", *_TERMS, before="c[i, k] = 0") * 6,
    ),
    "product_by_sums": _nests(
        "ikj", "z += x[i, j] * w[j, k]", before="z = x[0, 0] * 0", after="c[i, k] = z"
    ),
    "decomposed": tuple(  # sums over what earlier iterations made
        "for i in range(n):\n    for r in range(n):\n"
        f"        for k in range({stop}):\n            g[i, r] -= (g[i, k] % 3) * (g[k, r] % 3)"
        for stop in ("i", "r", "min(i, r)")
    ),
    "transposed_in_place": ("x[:] = q.T", "q[:] = x.T * 2", "x += q.T", "g[:] = g.T", "g += g.T"),
    "transposed_in_loops": _nests(
        "ij ji", "x[i, j] = q[j, i]", "q[j, i] = x[i, j] + y[i, j]", "x[i, j] += q[j, i] * v[j]"
    ),
    "planes": (
        *_nests("k", "d[:, :, k] = e[:, :, k] * 2", "d[:, :, k] += e[:, :, k] + x"),
        *_nests("k", "d[:, :, k] = x"),
        *("for k in range(1, l):\n    d[:, :, k] = d[:, :, k - 1] + e[:, :, k]",) * 2,
    ),
    "planes_in_loops": _nests(
        "kij kji ikj jki", "d[i, j, k] = e[i, j, k] * 2", "d[i, j, k] += x[i, j] * e[i, j, k]"
    ),
    "shifted": (
        *("x[1:] = x[:-1] + y[1:]", "x[:-1] = x[1:] * 2", "u[:] = u[::-1] + u"),
        *("x[:, 1:] += x[:, :-1]", "y[1:-1] = (x[2:] + x[:-2]) * 2", "x[:] = y[::-1] - x"),
    ),
    # Elements at places that are read from a table, which changes meanwhile.
    "looked_up": tuple(
        _LOOKED_UP.format(*sides) + other
        for sides in (_SIDES, _SIDES, _SIDES[::-1])
        for other in ("", "\n    else:\n        u[i] = v[<h>] - 1")
    ),
    "updates": ("<update 0>\n<update 1>",) * 2 + ("<update 0>\n<update 1>\n<update 2>",),
    "stencil": _nests(
        "ij ji",
        "<target>[i, j] = <neighbour 0>",
        "<target>[i, j] = <neighbour 0> + <neighbour 1>",
        "<target>[i, j] = <neighbour 0> + <neighbour 1> + <neighbour 2>",
    ),
    # Windows that are cut at the edges by guards.
    "window": (_WINDOW,),
    # What a condition lets through goes to the next free place, or nearly so. Some loops do
    # something besides that must keep them in order. There may be too little room.
    "packing": (_PACKING,),
}


def _idiom(name: str) -> Statement:
    """One of the texts of an idiom; what gets a name in it is returned."""

    def statement(script: Script) -> bool:
        text = script.choose.choice(_TEXTS[name])
        for part, choices in _PARTS.items():
            if part in text:
                text = text.replace(part, script.choose.choice(choices))
        for number in range(5):
            if f"<{number}>" in text:
                text = text.replace(f"<{number}>", script.new_name())
        is_done = script.change_all(*text.split("\n"))
        if is_done and not script.depth:
            script.results += re.findall(r"(?m)^(?:t\d+|k)\b", text)
        return is_done

    statement.__name__ = name
    return statement


_OFTEN = ("product", "of_a_vector", "folds", "stencil")
window, packing = _idiom("window"), _idiom("packing")
IDIOMS: tuple[Statement, ...] = tuple(_idiom(name) for name in (*_TEXTS, *_OFTEN))
