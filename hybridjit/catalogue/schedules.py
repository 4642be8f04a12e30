"""HJ5xx: steps of schedules that are refused."""

from __future__ import annotations

from hybridjit.catalogue.entry import Entry

_KIND = "ScheduleError"

ENTRIES = (
    Entry(
        "HJ501",
        "a step would change the result",
        """
An iteration needs what another one has written, and the step would run them in another order, or
at the same time. The message names the two iterations. A step that you know to be right, and the
compiler cannot prove, takes `unsafe=True`.
""",
        wrong="""
@hybrid.script
def summed(a):
    for i in range(1, a.shape[0]):
        a[i] += a[i - 1]

s = summed.schedule(hj.f64[8])
s.parallel("i")
""",
        right="""
@hybrid.script
def doubled(a):
    for i in range(1, a.shape[0]):
        a[i] += a[i]

s = doubled.schedule(hj.f64[8])
s.parallel("i")
""",
        says=(
            "cannot be (parallel|vectorized|bound to threads)",
            "turn a dependence around",
            "would run a step before",
            "is written by",
        ),
    ),
    Entry(
        "HJ502",
        "a loop or block is not there",
        """
Loops and blocks are found by their names. A loop that was split or fused is gone: its parts have
new names, which the step returned.
""",
        wrong="""
@hybrid.script
def doubled(a):
    for i in range(a.shape[0]):
        a[i] *= 2

s = doubled.schedule(hj.f64[8])
s.split("i", factor=4)
s.unroll("i")
""",
        right="""
@hybrid.script
def doubled(a):
    for i in range(a.shape[0]):
        a[i] *= 2

s = doubled.schedule(hj.f64[8])
outer, inner = s.split("i", factor=4)
s.unroll(inner)
""",
        says=(
            "there is no (loop|block|buffer|array)",
            r"there are \d+ (loops|blocks)",
            "was replaced by",
        ),
        kind=_KIND,
    ),
    Entry(
        "HJ503",
        "a loop may be left early",
        """
A `break`, `continue` or `return` leaves the loop that it stands in: a step that cuts that loop,
or puts another one in its place, would let it leave only a part.
""",
        wrong="""
@hybrid.script
def found(a):
    n = 0
    for i in range(a.shape[0]):
        if a[i] > 1:
            break
        n = i
    return n

s = found.schedule(hj.f64[8])
s.split("i", factor=4)
""",
        right="""
@hybrid.script
def found(a):
    n = 0
    for i in range(a.shape[0]):
        if a[i] <= 1:
            n = i
    return n

s = found.schedule(hj.f64[8])
s.split("i", factor=4)
""",
        says=("may leave it early", "would leave", "break or"),
        kind=_KIND,
    ),
    Entry(
        "HJ504",
        "a stage cannot be computed there",
        """
`compute_at` puts a computation into a loop that reads it, and `compute_inline` puts it into the
expressions that do. It must be read there, have one value for each element, and not be an output.
""",
        wrong="""
A = te.placeholder((8,), name="A")
B = te.compute((8,), lambda i: A[i] + 1, name="B")
s = te.create_schedule(B.op)
s[B].compute_inline()
""",
        right="""
A = te.placeholder((8,), name="A")
B = te.compute((8,), lambda i: A[i] + 1, name="B")
C = te.compute((8,), lambda i: B[i] * 2, name="C")
s = te.create_schedule(C.op)
s[B].compute_inline()
""",
        says=("^(reverse_)?compute_(at|inline):", "^create_group:"),
    ),
    Entry(
        "HJ505",
        "an array cannot be copied or laid out so",
        """
Copies are made of what a computation reads or writes; the layout is changed of what is made
inside the program, not of its arguments and outputs.
""",
        wrong="""
A = te.placeholder((8, 8), name="A")
B = te.compute((8, 8), lambda i, j: A[i, j] + 1, name="B")
s = te.create_schedule(B.op)
s.cache_write(A, "local")
""",
        right="""
A = te.placeholder((8, 8), name="A")
B = te.compute((8, 8), lambda i, j: A[i, j] + 1, name="B")
s = te.create_schedule(B.op)
s.cache_write(B, "local")
""",
        says=(
            "^(cache_read|cache_write|transform_layout|storage_align|set_scope):",
            "^(double_buffer|rolling_buffer|set_store_predicate):",
        ),
    ),
    Entry(
        "HJ506",
        "a reduction cannot be taken apart so",
        """
A reduction starts from its init and folds its terms in order. Steps that cut its loops must leave
the init where it runs once, and `rfactor` makes partial results only where these are the same
numbers.
""",
        wrong="""
A = te.placeholder((8, 8), name="A")
B = te.compute((8, 8), lambda i, j: A[i, j] + 1, name="B")
s = te.create_schedule(B.op)
s.rfactor(B, s[B].op.axis[0])
""",
        right="""
A = te.placeholder((8, 8), "int32", name="A")
k = te.reduce_axis((0, 8), name="k")
B = te.compute((8,), lambda i: te.sum(A[i, k], axis=k), name="B")
s = te.create_schedule(B.op)
s.rfactor(B, s[B].op.reduce_axis[0])
""",
        says=(
            "^(rfactor|decompose_reduction|blockize):",
            "part of a reduction with an init",
        ),
    ),
    Entry(
        "HJ500",
        "a step of a schedule is refused",
        """
What the step needs does not hold for this program. The message says what was found, and the
program as it is stands below it. A step that is refused leaves the schedule as it was.
""",
        wrong="""
@hybrid.script
def transposed(a, b):
    for i in range(8):
        for j in range(8):
            b[j, i] = a[i, j]

s = transposed.schedule(hj.f64[8, 8], hj.f64[8, 8])
s.fuse("j", "i")
""",
        right="""
@hybrid.script
def transposed(a, b):
    for i in range(8):
        for j in range(8):
            b[j, i] = a[i, j]

s = transposed.schedule(hj.f64[8, 8], hj.f64[8, 8])
s.fuse("i", "j")
""",
        kind=_KIND,
    ),
)
