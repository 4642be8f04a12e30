"""HJ111 to HJ122, and HJ100: what a script may do with values and names."""

from __future__ import annotations

from hybridjit.catalogue.entry import Entry

ENTRIES = (
    Entry(
        "HJ111",
        "the returns of a function do not agree",
        """
Every way through a function returns the same number of values, of types that meet.
""",
        wrong="""
@hybrid.script
def clipped(a):
    if a > 1:
        return a, True
    return a

clipped(2.0)
""",
        right="""
@hybrid.script
def clipped(a):
    if a > 1:
        return a, True
    return a, False

clipped(2.0)
""",
        says=(
            "and the return in line",
            "and another return",
            "the returns of '",
            "returns a value on some paths",
            "not every path through the script",
            "returns before its end",
        ),
    ),
    Entry(
        "HJ112",
        "a value cannot be returned",
        """
Scripts return numbers, arrays that they made or were given, and tuples of these. Strings,
functions and what comes from outside cannot leave; neither can an object that is an argument, whose
fields may be given other values later.
""",
        wrong="""
@hybrid.script
def named(a):
    return "a name"

named(1)
""",
        right="""
@hybrid.script
def named(a):
    return a + 1

named(1)
""",
        says=("cannot return", "is never returned"),
    ),
    Entry(
        "HJ113",
        "an array is made where it cannot be",
        """
`output_tensor` makes what the script returns: once, at the top level. Scratch memory comes from
`allocate` or NumPy's functions, anywhere.
""",
        wrong="""
@hybrid.script
def made(n):
    for i in range(3):
        a = hybrid.output_tensor((4,), "float64")
    return a

made(3)
""",
        right="""
@hybrid.script
def made(n):
    a = hybrid.output_tensor((4,), "float64")
    for i in range(3):
        a[i] = n
    return a

made(3)
""",
        says=(
            "must stand at the top level",
            "expected a scope",
            "unknown scope",
            "expected a shape",
        ),
    ),
    Entry(
        "HJ114",
        "a block is malformed",
        """
`with block("name", ...)` names a computation: its iterations are loop variables or values with
their range, and it sees no other loop variables.
""",
        wrong="""
@hybrid.script
def doubled(a):
    for i in range(a.shape[0]):
        with hybrid.block("1 by 1", i):
            a[i] = a[i] * 2

doubled(np.ones(3))
""",
        right="""
@hybrid.script
def doubled(a):
    for i in range(a.shape[0]):
        with hybrid.block("doubled", i):
            a[i] = a[i] * 2

doubled(np.ones(3))
""",
        says=(
            "a block (needs|takes)",
            "iteration of a block",
            "which is none of its iterations",
            "can only stand in block",
            "init\\(\\) must be the first",
            "is not the variable of a loop between",
            "brings its own range",
        ),
    ),
    Entry(
        "HJ115",
        "a value from outside cannot be used so",
        """
What a script takes from around it is constant: it is read, not written to, and large arrays are
passed as arguments.
""",
        wrong="""
table = np.zeros(4)

@hybrid.script
def noted(n):
    table[n] = 1.0

noted(2)
""",
        right="""
@hybrid.script
def noted(table, n):
    table[n] = 1.0

noted(np.zeros(4), 2)
""",
        says=("the captured array", "comes from outside the script"),
    ),
    Entry(
        "HJ116",
        "a name would stand for memory that is shared",
        """
In NumPy, a part of an array or a second name shares its memory. A script follows that where it
can be told which memory is meant; where it depends on the way that was taken, copy explicitly.
""",
        wrong="""
@hybrid.script
def marked(a):
    m = a.reshape(2, 2)
    m[0, 1] = 1

marked(np.zeros(4))
""",
        right="""
@hybrid.script
def marked(a):
    a[1] = 1

marked(np.zeros(4))
""",
        says=(
            "another view of the elements",
            "which would not see what is written",
            "may be an array with two names",
            "may still be the array that it was",
            "in another shape or order, which can only be read",
            "taken inside a loop or a branch",
            "' may be one of two arrays",
            "is one of two arrays",
        ),
    ),
    Entry(
        "HJ117",
        "a variable has two kinds of value",
        """
After a loop or a branch a variable may be one of two things that do not meet in one: arrays of
two shapes, or a number and None.
""",
        wrong="""
@hybrid.script
def chosen(a):
    b = a if a[0] > 0 else a[1:]
    return b.sum()

chosen(np.ones(3))
""",
        right="""
@hybrid.script
def chosen(a):
    return a.sum() if a[0] > 0 else a[1:].sum()

chosen(np.ones(3))
""",
        says=(
            "after this (loop|branch)",
            "^one side is ",
            "that change from round to round",
        ),
    ),
    Entry(
        "HJ118",
        "values do not fit the names that they are given to",
        """
The number of names on the left is that of the values on the right; tuples and their items cannot
be assigned to.
""",
        wrong="""
@hybrid.script
def swapped(a, b):
    x, y, z = b, a
    return x

swapped(1, 2)
""",
        right="""
@hybrid.script
def swapped(a, b):
    x, y = b, a
    return x

swapped(1, 2)
""",
        says=(
            "cannot unpack",
            "unpacking is not supported",
            "assign to an item of",
            "its items are",
            "a list that comes from outside",
        ),
    ),
    Entry(
        "HJ119",
        "strings are only printed and compared",
        """
A script knows strings as arguments of `print`, of errors, of options, and of comparisons. Values
are put into them by f-strings, `%` and `.format`, as formats say that are known beforehand.
""",
        wrong="""
@hybrid.script
def shown(n):
    text = "n"
    return text + 1

shown(1)
""",
        right="""
@hybrid.script
def shown(n):
    print(f"n is {n:3d}")
    return n

shown(1)
""",
        says=(
            "can only be printed",
            "a format that is computed",
            "the format '.*' does not fit",
            "the conversion in",
            "'%.*' does not fit",
            "by the text",
            "of the text",
            "the text has no value for",
            "is no format",
            "looks by repr",
            "cannot be printed as a whole",
            "has no value",
            "found the string",
            "read from strings",
        ),
    ),
    Entry(
        "HJ120",
        "an exception cannot be raised from a script",
        """
Scripts raise built-in exceptions with a message of strings and numbers: `raise ValueError("...",
n)`.
""",
        wrong="""
class Trouble(Exception):
    pass

@hybrid.script
def checked(n):
    if n < 0:
        raise Trouble("negative")
    return n

checked(1)
""",
        right="""
@hybrid.script
def checked(n):
    if n < 0:
        raise ValueError("negative")
    return n

checked(1)
""",
        says=("cannot raise", "bare raise", r"raise \.\.\. from", "from a script$"),
    ),
    Entry(
        "HJ121",
        "a function of NumPy is not supported in this way",
        """
The function is known, and this option of it is not, or a value that the option has. The message
says what there is; `hybrid.NUMPY_FUNCTIONS` lists the functions.
""",
        wrong="""
@hybrid.script
def padded(a):
    return np.pad(a, 1, mode="maximum")

padded(np.ones(3))
""",
        right="""
@hybrid.script
def padded(a):
    return np.pad(a, 1, mode="edge")

padded(np.ones(3))
""",
        says=(
            r"^np\.\S+ .* is not supported",
            r"^in `",
            "with digits is not supported",
            "must be letters, ",
            "the subscripts '",
            "takes no argument '",
            "does not know",
            "is only supported of",
        ),
    ),
    Entry(
        "HJ122",
        "a function is not known inside a script",
        """
The function exists, and the language does not have it. `hybrid.NUMPY_FUNCTIONS` lists those of
NumPy that it has; what can be written with loops can be compiled, and the rest is done by the
caller.
""",
        wrong="""
@hybrid.script
def running_sum(a):
    return np.cumulative_sum(a)

running_sum(np.ones(3))
""",
        right="""
@hybrid.script
def running_sum(a):
    return np.cumsum(a)

running_sum(np.ones(3))
""",
        says=("' is not supported inside a script",),
    ),
    Entry(
        "HJ100",
        "something is not part of the language",
        """
Scripts are restricted Python: what cannot be compiled to fast code with the same meaning is
refused, at the very place. The message says what was found and, where there is a way, how to
write it.
""",
        wrong="""
@hybrid.script
def halved(a):
    a @= a
    return a

halved(np.ones(3))
""",
        right="""
@hybrid.script
def halved(a):
    return a * 0.5

halved(np.ones(3))
""",
        kind="ParseError",
    ),
)
