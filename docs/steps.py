"""Every step of a schedule, with what it does to a small program, before and after.

The programs are scheduled while the site is built: what is shown is what happens.
"""

from __future__ import annotations

import html
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy

import hybridjit as hj
from docs.nests import draw_program
from hybridjit import hybrid
from hybridjit.hybrid import allocate

np: Any = numpy


@hybrid.script
def scaled(a, c):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            c[i, j] = a[i, j] * 2


scaled_on_threads = hybrid.script(scaled.py_func, parallel=True)


@hybrid.script
def neighbours(a, c):
    t = allocate(a.shape, a.dtype)
    for i in range(a.shape[0]):
        t[i] = a[i] * 2
    for j in range(a.shape[0] - 1):
        c[j] = t[j] + t[j + 1]


@hybrid.script
def stages(a, c):
    t = allocate(a.shape, a.dtype)
    for i in range(a.shape[0]):
        t[i] = a[i] * 2
    for j in range(a.shape[0]):
        c[j] = t[j] + 1


@hybrid.script
def planes(a, c):
    t = allocate(a.shape, a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            t[i, j] = a[i, j] * 2
    for k in range(a.shape[0]):
        for m in range(a.shape[1]):
            c[k, m] = t[k, m] + 1


@hybrid.script
def both(a, c):
    for i in range(a.shape[0]):
        a[i] = a[i] * 2
        c[i] = a[i] + 1


@hybrid.script
def total(a, c):
    for k in range(a.shape[0]):
        c[0] += a[k]


@hybrid.script
def sliding(a, c):
    t = allocate(a.shape, a.dtype)
    for i in range(a.shape[0]):
        t[i] = a[i] * 2
        if i >= 2:
            c[i] = t[i] + t[i - 2]


@hybrid.script
def staged(a, c):
    for i in range(a.shape[0]):
        t = allocate((a.shape[1],), a.dtype)
        for j in range(a.shape[1]):
            t[j] = a[i, j]
        for k in range(a.shape[1]):
            c[i, k] = t[k] * 2


@hybrid.script
def update(a, c):
    for i in range(a.shape[0]):
        for k in range(i):
            c[i] -= a[i, k] * c[k]


@hybrid.script
def columns(a, c):
    for k in range(a.shape[1]):
        for i in range(a.shape[0]):
            a[i, k] = a[i, k] * 2
        for i in range(a.shape[0]):
            c[i, k] = c[i, k] + 1


@hybrid.script
def flattened(a):
    return a.ravel() * 2


@hybrid.script
def sum_of_points(a):
    return a.sum()


@hybrid.script
def transposed(a):
    return a.T * 2


@hybrid.script
def with_their_sums(a, b):
    for i in range(a.shape[0]):
        total = 0.0
        for j in range(a.shape[1]):
            total += a[i, j]
        for j in range(a.shape[1]):
            b[j] += total * a[i, j]


@hybrid.script
def product(a, b):
    return a @ b


@hybrid.script
def product_across_rows(a, x):
    return x @ a


@hybrid.script
def row_sums(a):
    return a.sum(axis=1)


@hybrid.script
def squared(a):
    twice = a * 2
    return twice * twice


@hybrid.script
def updates(c, a):
    c[:] = c + a
    c[:] = c * 0.5


_INIT = hj.parse("""
def sums(a: float32[8, 8], c: float32[8]):
    for i in range(8):
        for k in range(8):
            with block("c", i, reduce(k)):
                with init():
                    c[i] = 0.0
                c[i] = c[i] + a[i, k]
""")

_HEADER = "x: float32[8], y: float32[8]"
_BODY = "for k in range(8):\n        y[k] = x[k]"


def _declare_doubled() -> None:
    hj.intrinsic(
        "doubled",
        hj.parse(f"def described({_HEADER}):\n    {_BODY} * 2.0\n"),
        hj.parse(f"def implemented({_HEADER}):\n    {_BODY} + x[k]\n"),
    )


@dataclass(frozen=True)
class Shown:
    """A step on a script for arguments of these types; `before` are steps that come first."""

    program: Any  # a script, or IR
    types: tuple[Any, ...]
    call: str
    before: str = ""


ROW, SQUARE, WHOLE = hj.f32[8], hj.f32[8, 8], hj.i64[8]
TWO = (SQUARE, SQUARE)
MERGED = "s.merge(*s.loops()[:2])"
GROUPS: dict[str, dict[str, Shown]] = {
    "Loops": {
        "split": Shown(scaled, TWO, 's.split("i", factor=4)'),
        "tile": Shown(scaled, TWO, 's.tile("i", "j", 4, 4)'),
        "reorder": Shown(scaled, TWO, 's.reorder("j", "i")'),
        "fuse": Shown(scaled, TWO, 's.fuse("i", "j")'),
        "merge": Shown(stages, (ROW, ROW), 's.merge("i", "j")'),
        "fission": Shown(both, (ROW, ROW), 's.fission("i", after="a")'),
        "peel": Shown(scaled, TWO, 's.peel("i")'),
        "partition": Shown(scaled, TWO, 's.partition("i", 3)'),
        "add_unit_loop": Shown(total, (ROW, hj.f32[1]), 's.add_unit_loop("c")'),
    },
    "How iterations run": {
        "parallel": Shown(scaled, TWO, 's.parallel("i")'),
        "vectorize": Shown(scaled, TWO, 's.vectorize("j")'),
        "unroll": Shown(scaled, TWO, 's.unroll("j")'),
        "serial": Shown(scaled, TWO, 's.serial("i")', 's.parallel("i")'),
        "bind": Shown(scaled, TWO, 's.bind("i", "threadIdx.x")'),
        "in_lanes": Shown(scaled, TWO, 's.in_lanes("j", 8)'),
        "on_threads": Shown(scaled_on_threads, TWO, 's.on_threads("i")'),
        "annotate": Shown(scaled, TWO, 's.annotate("j", "unroll_count", 4)'),
        "pragma": Shown(scaled, TWO, 's.pragma("j", "auto_unroll_max_step", 16)'),
    },
    "Where things are computed": {
        "compute_at": Shown(neighbours, (ROW, ROW), 's.compute_at("t", "j")'),
        "reverse_compute_at": Shown(stages, (ROW, ROW), 's.reverse_compute_at("c", "i")'),
        "compute_inline": Shown(neighbours, (ROW, ROW), 's.compute_inline("t")'),
        "reverse_compute_inline": Shown(stages, (ROW, ROW), 's.reverse_compute_inline("c")'),
        "compute_root": Shown(
            neighbours, (ROW, ROW), 's.compute_root("t")', 's.compute_at("t", "j")'
        ),
    },
    "Memory": {
        "cache_read": Shown(scaled, TWO, 's.cache_read("c", "a", "local", at="i")'),
        "cache_write": Shown(scaled, TWO, 's.cache_write("c", "c", "local", at="i")'),
        "set_scope": Shown(stages, (ROW, ROW), 's.set_scope("t", "local")'),
        "storage_align": Shown(planes, TWO, 's.storage_align("t", 0, 8, 1)'),
        "transform_layout": Shown(planes, TWO, 's.transform_layout("t", "i, j -> j, i")'),
        "double_buffer": Shown(staged, TWO, 's.double_buffer("t")'),
        "rolling_buffer": Shown(sliding, (ROW, ROW), 's.rolling_buffer("t")'),
        "prefetch": Shown(scaled, TWO, 's.prefetch("a", "i", 4)'),
    },
    "Sums": {
        "rfactor": Shown(total, (WHOLE, hj.i64[1]), 's.rfactor("k_0")', 's.split("k", factor=4)'),
        "decompose_reduction": Shown(_INIT, (), 's.decompose_reduction("c", "k")'),
        "reduce_in_lanes": Shown(row_sums, (hj.f32[8, 64],), 's.reduce_in_lanes("j", lanes=8)'),
        "in_register": Shown(update, (SQUARE, ROW), 's.in_register("k")'),
        "sums_in_lanes": Shown(
            product, TWO, 's.sums_in_lanes(s.loops("product")[1], s.loops("product")[0], lanes=8)'
        ),
        "sums_first": Shown(with_their_sums, (SQUARE, ROW), 's.sums_first("i", 8)'),
        "sum_in_register": Shown(product, (SQUARE, ROW), 's.sum_in_register("product")'),
        "add_terms": Shown(product_across_rows, (SQUARE, ROW), 's.add_terms("product", 4)'),
    },
    "Whole arrays": {
        "gemm": Shown(
            product,
            (hj.f32[24, 32], hj.f32[32, 32]),
            's.gemm("product", rows=6, vectors=2, lanes=8)',
        ),
        "interchange": Shown(product, TWO, 's.interchange("product")'),
        "unroll_and_jam": Shown(row_sums, (SQUARE,), 's.unroll_and_jam("i", 2)'),
        "contract": Shown(squared, (ROW,), 's.contract("twice")', MERGED),
        "store_once": Shown(updates, (ROW, ROW), 's.store_once("c")', MERGED),
        "unravel": Shown(flattened, (SQUARE,), 's.unravel("i")'),
        "ravel": Shown(sum_of_points, (hj.f32[100, 3],), 's.ravel("i")'),
        "sink": Shown(columns, TWO, 's.sink("k")'),
        "squares": Shown(transposed, (hj.f32[64, 64],), 's.squares("i", 16)'),
    },
    "Intrinsics": {
        "blockize": Shown(scaled, TWO, 's.blockize("j")'),
        "tensorize": Shown(scaled, TWO, 's.tensorize("j", "doubled")'),
    },
}
STEPS = {name: shown for group in GROUPS.values() for name, shown in group.items()}


def apply(shown: Shown) -> tuple[Any, Any]:
    """The program before and after the step."""
    if "doubled" in shown.call:
        _declare_doubled()
    is_script = isinstance(shown.program, hj.Kernel)
    s = shown.program.schedule(*shown.types) if is_script else hj.Schedule(shown.program)
    exec(shown.before, {"s": s})
    before = s.func
    exec(shown.call, {"s": s})
    return before, s.func


def draw_steps() -> str:
    """A section for each group, a picture before and after for each step."""
    return "\n".join(part for name, group in GROUPS.items() for part in _group(name, group))


def _group(title: str, group: dict[str, Shown]) -> Iterator[str]:
    yield f'<h2 id="{title.lower().replace(" ", "-")}">{title}</h2>'
    for name, shown in group.items():
        before, after = apply(shown)
        first, *more = (inspect.getdoc(getattr(hj.Schedule, name)) or "").split("\n\n")
        remarks = [part for part in more if not part.startswith((" ", ">>>"))]
        yield f'<h3 id="{name}">{name}</h3>'
        yield f"<p>{_prose(first)}</p><pre><code>{html.escape(shown.call)}</code></pre>"
        yield (
            f'<div class="change">{draw_program(before, f"before {name}")}'
            f'<b aria-label="becomes">&rarr;</b>{draw_program(after, f"after {name}")}</div>'
        )
        yield "".join(f"<p>{_prose(part)}</p>" for part in remarks)


def _prose(text: str) -> str:
    return re.sub(r"`(.*?)`", r"<code>\1</code>", html.escape(" ".join(text.split()), quote=False))
