"""HJ101 to HJ110: what a script may say."""

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
Scripts work on numbers, arrays, tuples and lists of numbers. Dicts, sets, bytes and strings as
data stay outside.
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
Bounds of `const_range`, indices of tuples of arrays and options are needed before the script runs:
constants, shapes and captured values are known then, elements and most arguments are not. Integers
that are bounds of `const_range`, or choose an item of an argument, are: there is code for each.
""",
        wrong="""
@hybrid.script
def first(a, b, n):
    return (a, b)[n][0]

first(np.ones(2), np.zeros(2), 0)
""",
        right="""
@hybrid.script
def first(a, b, n):
    return a[0] if n == 0 else b[0]

first(np.ones(2), np.zeros(2), 0)
""",
        says=("must be known when the script is compiled", "known only when the script runs"),
    ),
)
