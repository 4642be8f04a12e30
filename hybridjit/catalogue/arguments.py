"""HJ4xx: what a kernel, or a function of this package, is called with."""

from __future__ import annotations

from hybridjit.catalogue.entry import Entry

_KIND = "ArgumentError"

ENTRIES = (
    Entry(
        "HJ401",
        "an argument is no array and no number",
        """
Kernels take NumPy arrays, numbers, tuples and lists of these, and random generators of NumPy.
Other objects are taken apart by the caller.
""",
        wrong="""
@hybrid.script
def total(a):
    return a.sum()

total({"a": 1})
""",
        right="""
@hybrid.script
def total(a):
    return a.sum()

total(np.array([1.0]))
""",
        says=("; expected a NumPy array, a number", "must be an array( or|,) a"),
        kind=_KIND,
    ),
    Entry(
        "HJ402",
        "the elements of an array are of a type that is not supported",
        """
Arrays hold bools, integers, floats or complex numbers, in the byte order of this machine. A
masked array would lose its mask.
""",
        wrong="""
@hybrid.script
def total(a):
    return a.sum()

total(np.array(["a", "b"]))
""",
        right="""
@hybrid.script
def total(a):
    return a.sum()

total(np.array([1, 2]))
""",
        says=(
            "array of dtype .* which is not supported",
            "byte-swapped",
            "masked array",
            "has elements of type",
        ),
        kind=_KIND,
    ),
    Entry(
        "HJ403",
        "an argument has another type than was declared",
        """
The annotation of a parameter says what it takes; nothing is converted silently.
""",
        wrong="""
@hybrid.script
def total(a: hj.f64["n"]):
    return a.sum()

total(np.ones(3, np.float32))
""",
        right="""
@hybrid.script
def total(a: hj.f64["n"]):
    return a.sum()

total(np.ones(3, np.float64))
""",
        says=(r"argument '.*' must (be|have)", "cannot read the annotation", "has no type"),
        kind=_KIND,
    ),
    Entry(
        "HJ404",
        "a call does not fit the parameters",
        """
As of any Python function: an argument is missing, given twice, or has a name that is not known.
""",
        wrong="""
@hybrid.script
def scaled(a, factor):
    return a * factor

scaled(np.ones(3))
""",
        right="""
@hybrid.script
def scaled(a, factor):
    return a * factor

scaled(np.ones(3), factor=2.0)
""",
        says=(
            "missing a required argument",
            "multiple values for argument",
            "too many positional",
            "there is no parameter",
            "unexpected keyword",
            "a script needs named parameters",
        ),
        kind=_KIND,
    ),
    Entry(
        "HJ405",
        "a number does not fit",
        """
Python's integers have no bounds, those of a kernel have 64 bits, or as many as were declared.
""",
        wrong="""
@hybrid.script
def twice(n):
    return 2 * n

twice(1 << 70)
""",
        right="""
@hybrid.script
def twice(n):
    return 2 * n

twice(1 << 60)
""",
        says=("which does not fit in",),
        kind=_KIND,
    ),
    Entry(
        "HJ406",
        "an argument cannot be written to",
        """
The script writes to an array that is read-only, whose elements share memory with each other, or
that the script has taken as a constant.
""",
        wrong="""
@hybrid.script
def cleared(a):
    a[:] = 0

a = np.ones(3)
a.flags.writeable = False
cleared(a)
""",
        right="""
@hybrid.script
def cleared(a):
    a[:] = 0

cleared(np.ones(3))
""",
        says=("is written, but", "arrays share memory"),
        kind=_KIND,
    ),
    Entry(
        "HJ407",
        "out= does not fit the results",
        """
`out` is an array, or a tuple of them, with the shapes and types of what the kernel returns.
""",
        wrong="""
@hybrid.script
def doubled(a):
    return 2 * a

doubled(np.ones(3), out=np.ones(4))
""",
        right="""
@hybrid.script
def doubled(a):
    return 2 * a

doubled(np.ones(3), out=np.ones(3))
""",
        says=(r"out=",),
        kind=_KIND,
    ),
    Entry(
        "HJ408",
        "a type is given for a value",
        """
Types such as `hj.f32[8]` stand for arguments in `compile`, `report`, `inspect` and the like. A
call needs values.
""",
        wrong="""
@hybrid.script
def doubled(a):
    return 2 * a

doubled(hj.f32[8])
""",
        right="""
@hybrid.script
def doubled(a):
    return 2 * a

doubled.compile(hj.f32[8])
""",
        says=("is a type, and a call needs values", r"a dimension of \S+\[...\]"),
        kind=_KIND,
    ),
    Entry(
        "HJ409",
        "@hybrid.script is used in a way that it is not made for",
        """
It decorates a function that is defined with `def`, whose text can be read. Its options are
keywords.
""",
        wrong="""
hybrid.script(len)
""",
        right="""
@hybrid.script
def length(a):
    return len(a)

length(np.ones(3))
""",
        says=("decorates a function", "^fastmath", "^source of '"),
    ),
    Entry(
        "HJ400",
        "an argument is not right",
        """
A function of this package, or a step of a schedule, was given something that it cannot take. The
message says what it needs.
""",
        wrong="""
te.compute((-1,), lambda i: i * 2)
""",
        right="""
te.compute((8,), lambda i: i * 2)
""",
        kind=_KIND,
    ),
)
