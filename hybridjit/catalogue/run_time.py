"""HJ3xx: what stops a kernel while it runs, or is sure to."""

from __future__ import annotations

from hybridjit.catalogue.entry import Entry

ENTRIES = (
    Entry(
        "HJ301",
        "an index is out of bounds",
        """
An index lies outside its axis. Negative ones count from the end, as in NumPy. Every index is
checked unless it is proved to be inside: the message names the iteration. An index that is sure
to be outside is found before anything runs.
""",
        wrong="""
@hybrid.script
def last(a, n):
    return a[n]

last(np.ones(3), 3)
""",
        right="""
@hybrid.script
def last(a, n):
    return a[n - 1]

last(np.ones(3), 3)
""",
        says=(r"index \S+ is out of bounds", "is not inside its buffer", "^the mask in "),
    ),
    Entry(
        "HJ302",
        "an integer is divided by zero",
        """
Integers have no infinity: dividing by zero is an error, as in Python. Floats give inf or nan.
""",
        wrong="""
@hybrid.script
def ratio(a, b):
    return a // b

ratio(4, 0)
""",
        right="""
@hybrid.script
def ratio(a, b):
    return a // b if b != 0 else 0

ratio(4, 0)
""",
        says=("(division|modulo) by zero",),
    ),
    Entry(
        "HJ303",
        "a variable is read before it is assigned",
        """
On the way that the kernel took, nothing was assigned to the variable. Assign a value before the
loop or branch that may leave it out.
""",
        wrong="""
@hybrid.script
def found(a):
    for i in range(a.shape[0]):
        if a[i] > 0:
            place = i
    return place

found(np.zeros(3))
""",
        right="""
@hybrid.script
def found(a):
    place = -1
    for i in range(a.shape[0]):
        if a[i] > 0:
            place = i
    return place

found(np.zeros(3))
""",
        says=("is read before it is assigned",),
    ),
    Entry(
        "HJ304",
        "an element is read before it is written",
        """
`allocate(..., zero=False)` gives elements no value. The interpreter notices when one is read;
native code would read what happens to be there.
""",
        wrong="""
@hybrid.script
def total(n):
    a = hybrid.allocate((4,), "float64", zero=False)
    a[0] = 1.0
    return a[0] + a[n]

total.interpret(1)
""",
        right="""
@hybrid.script
def total(n):
    a = hybrid.allocate((4,), "float64")
    a[0] = 1.0
    return a[0] + a[n]

total.interpret(1)
""",
        says=("is read before it is written",),
    ),
    Entry(
        "HJ305",
        "a value does not fit",
        """
A number is too large or too small for the type that it is stored in, or an operation on integers
has no integer as its result: a negative power, or a negative shift.
""",
        wrong="""
@hybrid.script
def stored(a, n):
    a[0] = n

stored(np.zeros(1, np.int8), 1000)
""",
        right="""
@hybrid.script
def stored(a, n):
    a[0] = np.int8(n & 127)

stored(np.zeros(1, np.int8), 1000)
""",
        says=(
            "to the negative power",
            "negative shift",
            "far past the range",
            r"^the Python integer .* does not fit",
            "Python integer .* out of bounds for",
        ),
    ),
    Entry(
        "HJ306",
        "a loop or an array has an impossible size",
        """
The step of a range is zero, a size is negative, or an array is larger than there is memory.
""",
        wrong="""
@hybrid.script
def counted(n):
    for i in range(0, 10, 0):
        n += 1
    return n

counted(0)
""",
        right="""
@hybrid.script
def counted(n):
    for i in range(0, 10, 1):
        n += 1
    return n

counted(0)
""",
        says=(
            "step of range must not be zero",
            "step must not be zero",
            "size must not be negative",
            "negative dimensions",
            "not enough memory",
        ),
    ),
)
