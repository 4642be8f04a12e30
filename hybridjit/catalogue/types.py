"""HJ2xx: types and shapes."""

from __future__ import annotations

from hybridjit.catalogue.entry import Entry

ENTRIES = (
    Entry(
        "HJ201",
        "a number is needed",
        """
Something that is no number stands where one is needed: None, a tuple, a function, a dtype, or an
object from outside.
""",
        wrong="""
@hybrid.script
def added(a):
    return a + None

added(1)
""",
        right="""
@hybrid.script
def added(a):
    return a + 1

added(1)
""",
        says=(
            "expected a number",
            "cannot combine",
            "must be an array or a number",
            "only compares with",
        ),
    ),
    Entry(
        "HJ202",
        "an integer is needed",
        """
Indices, sizes and bit operations take integers. A float is not rounded silently: convert it.
""",
        wrong="""
@hybrid.script
def middle(a):
    return a[a.shape[0] / 2]

middle(np.ones(4))
""",
        right="""
@hybrid.script
def middle(a):
    return a[a.shape[0] // 2]

middle(np.ones(4))
""",
        says=(
            "must be an integer",
            "needs integers",
            "needs an integer",
            "takes integer",
            "expected an index",
            "is not an integer",
        ),
    ),
    Entry(
        "HJ203",
        "a dtype is not known",
        """
The language has bool, integers of 8 to 64 bits, floats of 16 to 64, bfloat16 and complex numbers,
in the byte order of the machine.
""",
        wrong="""
@hybrid.script
def made(n):
    a = hybrid.output_tensor((3,), "float31")
    return a

made(1)
""",
        right="""
@hybrid.script
def made(n):
    a = hybrid.output_tensor((3,), "float32")
    return a

made(1)
""",
        says=(
            "unknown dtype",
            "expected a dtype",
            "not a dtype",
            "the dtype '",
            "not a scalar type",
        ),
    ),
    Entry(
        "HJ205",
        "an operation is not for these numbers",
        """
Complex numbers have no order, and are not stored where their imaginary part would be lost; bools
are not subtracted; functions of math take real numbers.
""",
        wrong="""
@hybrid.script
def stored(a, z):
    a[0] = z

stored(np.zeros(2), 1j)
""",
        right="""
@hybrid.script
def stored(a, z):
    a[0] = z.real

stored(np.zeros(2), 1j)
""",
        says=(
            "lose its imaginary part",
            "have no order",
            "needs real numbers",
            "takes real numbers",
            "NumPy does not subtract",
            "NumPy has no unary",
        ),
    ),
    Entry(
        "HJ206",
        "shapes do not fit together",
        """
Arrays are combined as in NumPy: from the last axis on, sizes are equal or one of them is 1.
Matrices are multiplied if the last size of the first is the first of the second.
""",
        wrong="""
@hybrid.script
def added(a, b):
    return a + b

added(np.ones(3), np.ones(4))
""",
        right="""
@hybrid.script
def added(a, b):
    return a + b

added(np.ones(3), np.ones((4, 1)))
""",
        says=(
            "could not be broadcast",
            "do not fit",
            "has two sizes",
            "cannot be split into",
            "must have shape",
        ),
    ),
    Entry(
        "HJ207",
        "an array has another number of dimensions",
        """
There are more indices than dimensions, or an axis that the array does not have.
""",
        wrong="""
@hybrid.script
def corner(a):
    return a[0, 0]

corner(np.ones(3))
""",
        right="""
@hybrid.script
def corner(a):
    return a[0, 0]

corner(np.ones((3, 3)))
""",
        says=("too many indices", "too few indices", r"^axis -?\d+ is out of bounds"),
    ),
    Entry(
        "HJ208",
        "a condition is neither true nor false",
        """
An array has many truth values: say which, with `.any()` or `.all()`, or test an element.
""",
        wrong="""
@hybrid.script
def positive(a):
    if a:
        return 1
    return 0

positive(np.ones(3))
""",
        right="""
@hybrid.script
def positive(a):
    if (a > 0).all():
        return 1
    return 0

positive(np.ones(3))
""",
        says=("neither true nor false", "expected a condition", "a condition needs"),
    ),
    Entry(
        "HJ209",
        "an array stands where a number is needed",
        """
A function of numbers, an element or a size is given a whole array, or a number is indexed.
""",
        wrong="""
@hybrid.script
def filled(a, b):
    a[0] = b

filled(np.ones(3), np.ones(3))
""",
        right="""
@hybrid.script
def filled(a, b):
    a[0] = b[0]

filled(np.ones(3), np.ones(3))
""",
        says=(
            "stands where a number is needed",
            "needs a number",
            "takes the array",
            "cannot be indexed",
            "out must be an array",
            "found the array",
        ),
    ),
    Entry(
        "HJ200",
        "types do not fit",
        """
A value has a type that does not fit its place. The message names both.
""",
        wrong="""
@hybrid.script
def second(pair):
    x, y = (0.0, *pair)
    return y

second(3.0)
""",
        right="""
@hybrid.script
def second(pair):
    x, y = (0.0, *pair)
    return y

second((3.0,))
""",
        kind="TypeMismatch",
    ),
    Entry(
        "HJ210",
        "shapes do not fit",
        """
The shapes of arrays do not fit what is done with them. The message names them.
""",
        wrong="""
@hybrid.script
def reshaped(a):
    return a.reshape(2, 2)

reshaped(np.ones(3))
""",
        right="""
@hybrid.script
def reshaped(a):
    return a.reshape(2, 2).copy()

reshaped(np.ones(4))
""",
        kind="ShapeMismatch",
    ),
)
