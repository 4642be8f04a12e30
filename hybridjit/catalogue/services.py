"""HJ410 to HJ415, HJ705: what is given to functions of this package that are no kernels."""

from __future__ import annotations

from hybridjit.catalogue.entry import Entry

_KIND = "ArgumentError"

ENTRIES = (
    Entry(
        "HJ410",
        "a module or a library cannot be made or used so",
        """
`hj.build` makes a module of functions that have names of their own; `export_library` writes it as
a shared library, for which it needs a C compiler to link with, and functions that do without this
process: no callbacks, and results whose size the caller knows.
""",
        wrong="""
a = te.placeholder((8,), name="a")
b = te.compute((8,), lambda i: a[i] * 2, name="b")
hj.build(te.create_schedule(b.op), [a, b])["no such function"]
""",
        right="""
a = te.placeholder((8,), name="a")
b = te.compute((8,), lambda i: a[i] * 2, name="b")
hj.build(te.create_schedule(b.op), [a, b])(np.ones(8, "float32"), np.ones(8, "float32"))
""",
        says=(
            "^export_library",
            "failed to link the library",
            "is the name of a header",
            "have the same name in C",
            "and a C function writes into",
            "which a library cannot",
            "what a library has no words for",
            "loaded from a library",
            "the library was made for",
            "not written by export_library",
            "^cannot load ",
            "there is no code for the target",
            "a module needs at least one function",
            "no function '.*' in the module",
            "functions of a module have the same name",
            "^number and repeat must",
        ),
    ),
    Entry(
        "HJ411",
        "an option is not one of those that there are",
        """
A number of threads, the stage to be shown, the time that a search may take and other options have
a type and a range, which the message names.
""",
        wrong="""
hj.threads(0)
""",
        right="""
with hj.threads(2):
    pass
""",
        says=(
            "^the number of threads must",
            "^parallel must be True or False",
            "there is no stage ",
            "name of a stage",
            "^budget is ",
            "^tune has no option",
            "it must be a (number|time|list)",
            "^a database is the path",
            "^no database is open",
            "passes are a list of functions",
            "^a pass is a function",
            "a profile is of a run",
            r"^with these arguments, '.*' (does not fail|fails with)",
        ),
        kind=_KIND,
    ),
    Entry(
        "HJ412",
        "a ufunc is made or called in a way that it is not made for",
        """
What `hybrid.vectorize` and `hybrid.guvectorize` make is called as NumPy's own ufuncs are: operands
first, then outputs, and the keywords out, where, casting, dtype, axis and axes. A fold needs two
operands; a signature such as "(n),(n)->()" needs a parameter for each operand.
""",
        wrong="""
@hybrid.vectorize
def scaled(x, y):
    return 2 * x + y

scaled(np.ones(3), np.ones(3), where=3)
""",
        right="""
@hybrid.vectorize
def scaled(x, y):
    return 2 * x + y

scaled(np.ones(3), np.ones(3), where=np.array([True, False, True]))
""",
        says=(
            r"\b(axis|axes|dtypes|where)=",
            "is not known to be associative",
            "is for functions of two operands",
            "zero-size array to reduction",
            "^accumulate needs",
            "^at takes the",
            "takes .* operands",
            "the signature ",
            "core dimension",
            "the size of (dimension|result) .* (is not known|is computed)",
            "writes to its operand",
            "and results are plain arrays",
            "does not cast to",
            "^casting must be",
            "knows what to do",
            "does not support ufuncs",
            "is a ufunc already",
            "^hybrid.vectorize takes",
            "nothing to be called on",
            "by name only",
            "there is no keyword",
            "is not an array or a number",
        ),
        kind=_KIND,
    ),
    Entry(
        "HJ413",
        "a schedule is neither a function, a Schedule nor a trace",
        """
A schedule is a function that takes steps on the Schedule that it is given, a Schedule of the same
kernel, or a trace, which may come from JSON. A trace is replayed step by step; one that was made by
another version, or of another program, may have steps that are not there.
""",
        wrong="""
@hybrid.script
def doubled(a):
    return 2 * a

doubled.with_schedule("split i by 8")
""",
        right="""
@hybrid.script
def doubled(a):
    return 2 * a

doubled.with_schedule(lambda s: s.split("i", 8))(np.ones(64))
""",
        says=(
            "^a schedule (is|function)",
            "^a trace",
            "JSON of a trace",
            "^expected a schedule",
            "^the schedule needs the parameters",
            "^this schedule was not made",
            "^a template returns",
            "^args are for tensors",
        ),
        kind=_KIND,
    ),
    Entry(
        "HJ414",
        "a generator of random numbers cannot be used so",
        """
A script draws from a `np.random.Generator` the numbers that NumPy would draw. It holds the
generator while it runs: it is given once, and no callback draws from it in the meantime.
""",
        wrong="""
@hybrid.script
def drawn(first, second):
    return first.random() + second.random()

one = np.random.default_rng(1)
drawn(one, one)
""",
        right="""
@hybrid.script
def drawn(first, second):
    return first.random() + second.random()

drawn(np.random.default_rng(1), np.random.default_rng(2))
""",
        says=("generator of ", "the same generator"),
        kind=_KIND,
    ),
    Entry(
        "HJ415",
        "a C function is not declared as it is",
        """
`hybrid.extern` takes a symbol, a pointer, or a function of ctypes or cffi, with the types of its
arguments and its result; arrays are passed as they lie in memory, in C order. A function of LLVM's
text is declared with the types that it has there.
""",
        wrong="""
hybrid.extern("cos", "float64")
""",
        right="""
cosine = hybrid.extern("cos", "float64", ["float64"])

@hybrid.script
def total(a):
    return cosine(a[0])

total(np.ones(3))
""",
        says=(
            "extern needs the types",
            "must be C-contiguous",
            "cannot take a C function",
            "is not an element type$",
            "in the LLVM text",
            "the LLVM text (is not valid|defines)",
            "cannot be passed to C",
            "takes an array of ",
        ),
        kind=_KIND,
    ),
    Entry(
        "HJ705",
        "a database of tuned schedules cannot be used",
        """
The file is not there, is locked by another process, or is no database of this version. Name another
one with `hj.tune.use(path)` or HYBRIDJIT_TUNE_DB; kernels run without it, untuned.
""",
        wrong="""
hj.tune.use("/no such folder/tuned.db")
try:
    hj.tune.winners()
finally:
    hj.tune.use(None)
""",
        right="""
import tempfile

hj.tune.use(tempfile.mkdtemp() + "/tuned.db")
try:
    hj.tune.winners()
finally:
    hj.tune.use(None)
""",
        says=(
            "cannot be (opened|used): ",
            " is locked: ",
            "is damaged or not a database",
            "is a database of another kind",
            "tuning database",
        ),
        kind="TuneError",
    ),
)
