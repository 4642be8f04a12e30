"""HJ1xx: what a script may say."""

from __future__ import annotations

from hybridjit.catalogue.entry import Entry

ENTRIES = (
    Entry(
        "HJ101",
        "a name is not defined",
        """
A name is neither a variable of the script nor known around it where the script was defined, or it
is used before anything is assigned to it.
""",
        wrong="""
@hybrid.script
def scaled(a):
    return a * factr

scaled(np.ones(3))
""",
        right="""
factor = 2.0

@hybrid.script
def scaled(a):
    return a * factor

scaled(np.ones(3))
""",
        says=("' is not defined", "is used before it is assigned"),
    ),
    Entry(
        "HJ102",
        "a statement is not part of the language",
        """
Scripts have assignments, loops, conditions, returns, asserts, raises and try. Names outside are not
assigned to, and classes and generators are not defined. What is called inside try must be known:
errors are foreseen, and how a function of Python fails is not.
""",
        wrong="""
calls = 0

@hybrid.script
def quotient(a, b):
    global calls
    calls += 1
    return a // b

quotient(1, 2)
""",
        right="""
@hybrid.script
def quotient(a, b, calls):
    return a // b, calls + 1

quotient(1, 2, 0)
""",
        says=(
            "inside try is not supported",
            r"except\* is not supported",
            "except needs classes",
            "cannot be used inside a script",
            "with is not supported",
            "yield is not supported",
            "global is not supported",
            "nonlocal is not supported",
            "cannot be defined inside a script",
            "cannot be imported inside a script",
            "lambda cannot be compiled",
            "async",
            "cannot be deleted",
            "inside a script cannot be decorated",
            "only names can be annotated",
            "errstate",
        ),
    ),
    Entry(
        "HJ103",
        "a kind of value is not part of the language",
        """
Scripts work on numbers, arrays, tuples and lists of numbers. Dicts, sets, bytes and formatted
strings stay outside.
""",
        wrong="""
@hybrid.script
def weighted(a):
    weights = {"left": 0.25, "right": 0.75}
    return a * weights["left"]

weighted(np.ones(3))
""",
        right="""
left, right = 0.25, 0.75

@hybrid.script
def weighted(a):
    return a * left

weighted(np.ones(3))
""",
        says=(
            "dicts are not supported",
            "sets are not supported",
            "(dict|set) comprehensions are not",
            "f-strings? (are|is) not supported",
            "in an f-string",
            "bytes literal",
            "list comprehension cannot stand",
            "a list holds numbers",
            "dict cannot be indexed",
            "cannot make a '",
        ),
    ),
    Entry(
        "HJ104",
        "a statement has no effect",
        """
The value of an expression is computed and thrown away, which is most likely not what was meant.
""",
        wrong="""
@hybrid.script
def doubled(a):
    for i in range(a.shape[0]):
        a[i] == 2 * a[i]

doubled(np.ones(3))
""",
        right="""
@hybrid.script
def doubled(a):
    for i in range(a.shape[0]):
        a[i] = 2 * a[i]

doubled(np.ones(3))
""",
        says=("has no effect",),
    ),
    Entry(
        "HJ105",
        "a script grows too large",
        """
Calls are inlined and `const_range` loops are expanded while a script is read. A function that
calls itself becomes a loop with a stack where it is called with numbers, and arrays as they are; a
call with parts of arrays would never end, and large expansions would take minutes to compile.
""",
        wrong="""
@hybrid.script
def total(a):
    return 0.0 if len(a) == 0 else a[0] + total(a[1:])

total(np.ones(5))
""",
        right="""
@hybrid.script
def total(a, k):
    return 0.0 if k == len(a) else a[k] + total(a, k + 1)

total(np.ones(5), 0)
""",
        says=(
            "calls itself",
            "grows to more than",
            "nested too deeply",
            "is too large: more than",
            "nested more than",
            "would be expanded",
        ),
    ),
    Entry(
        "HJ106",
        "something cannot be called",
        """
Scripts call other scripts, plain functions of the same kind (which are inlined), functions of
NumPy and math that the language knows, and C functions that are declared.
""",
        wrong="""
from functools import partial

shifted = partial(pow, 2)

@hybrid.script
def powers(n):
    return shifted(n)

powers(3)
""",
        right="""
def shifted(n):
    return 2 ** n

@hybrid.script
def powers(n):
    return shifted(n)

powers(3)
""",
        says=(
            "cannot call",
            "cannot be called",
            "cannot inline",
            "a script calls functions that are declared outside",
            "there is no intrinsic",
            "is an intrinsic of your own",
            "call_intrin takes",
        ),
    ),
    Entry(
        "HJ107",
        "a call inside a script has the wrong arguments",
        """
A function is called with too many or too few arguments, or with a name that it does not have.
""",
        wrong="""
@hybrid.script
def largest(a, b):
    return np.maximum(a, b, 0.0, 1.0)

largest(1.0, 2.0)
""",
        right="""
@hybrid.script
def largest(a, b):
    return np.maximum(np.maximum(a, b), 0.0)

largest(1.0, 2.0)
""",
        says=(
            r" takes (at most |no |at least )?\d* ?(to \d+ )?arguments?( by position| '[^']*')?",
            r"takes at most",
            r"has no argument '",
            r"needs an argument '",
            r"' twice: by its position",
            "needs at least two numbers",
            "' arguments are not supported",
            "takes classes",
        ),
    ),
    Entry(
        "HJ108",
        "an attribute is not known",
        """
Arrays have `shape`, `ndim`, `size`, `dtype`, `T`, `real`, `imag` and the methods that the
language knows; modules and captured objects have what they have. Attributes cannot be assigned
to.
""",
        wrong="""
@hybrid.script
def size_of(a):
    return a.length

size_of(np.ones(3))
""",
        right="""
@hybrid.script
def size_of(a):
    return a.size

size_of(np.ones(3))
""",
        says=(
            "has no attribute '",
            "an array has no '",
            "assign to the attribute",
            "which has no '",
            "of an array is not supported inside",
            "cannot read '",
            "has no length",
        ),
    ),
    Entry(
        "HJ109",
        "a loop is not one that the language has",
        """
`for` runs over `range`, arrays, lists, tuples, `zip`, `enumerate` and the loops of hybrid. Loops
whose iterations have no order, or are expanded, cannot be left in the middle.
""",
        wrong="""
@hybrid.script
def first_large(a):
    n = 0
    for i in hybrid.parallel(a.shape[0]):
        if a[i] > 1:
            break
    return n

first_large(np.ones(3))
""",
        right="""
@hybrid.script
def first_large(a):
    n = 0
    for i in range(a.shape[0]):
        if a[i] > 1:
            break
        n = i
    return n

first_large(np.ones(3))
""",
        says=(
            "cannot loop over",
            "(break|continue|return) in a",
            "has one variable",
            "loop variable must be a name",
            "can only stand after",
            "bound of range must be",
            "extent of grid",
            "extents of grid",
            "grid needs one variable",
            "bind takes an extent",
            "there is no thread axis",
        ),
    ),
    Entry(
        "HJ110",
        "something must be known when the script is compiled",
        """
Bounds of `const_range`, indices of tuples and options are needed before the script runs:
constants, shapes and captured values are known then, arguments and elements are not.
""",
        wrong="""
@hybrid.script
def item(n):
    return (1, 2.5)[n]

item(0)
""",
        right="""
@hybrid.script
def item(n):
    return 1.0 if n == 0 else 2.5

item(0)
""",
        says=("must be known when the script is compiled", "known only when the script runs"),
    ),
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
functions and what comes from outside cannot leave; a part of an array is returned as a copy.
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
        says=("cannot return", "is returned twice", "is never returned"),
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
def squared(a):
    return a.reshape(2, 2)

squared(np.zeros(4))
""",
        right="""
@hybrid.script
def squared(a):
    return a.reshape(2, 2).copy()

squared(np.zeros(4))
""",
        says=(
            "another view of the elements",
            "which would not see what is written",
            "may be an array with two names",
            "may still be the array that it was",
            "in another shape, which can only be read",
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
        ),
    ),
    Entry(
        "HJ119",
        "strings are only printed and compared",
        """
A script knows strings as arguments of `print`, of options, and of comparisons.
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
    print("n is", n)
    return n

shown(1)
""",
        says=(
            "can only be printed or compared",
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
def without_first(a):
    return np.delete(a, 0)

without_first(np.ones(3))
""",
        right="""
@hybrid.script
def without_first(a):
    return a[1:].copy()

without_first(np.ones(3))
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
