"""HJ6xx: tensor expressions."""

from __future__ import annotations

from hybridjit.catalogue.entry import Entry

ENTRIES = (
    Entry(
        "HJ601",
        "a reduction stands where it cannot",
        """
`te.sum` and its kin are the whole body of a `te.compute`, over axes made with `te.reduce_axis`.
What is made of the sum is another `te.compute`.
""",
        wrong="""
A = te.placeholder((4, 8), name="A")
k = te.reduce_axis((0, 8), name="k")
te.compute((4,), lambda i: te.sum(A[i, k], axis=k) * 2)
""",
        right="""
A = te.placeholder((4, 8), name="A")
k = te.reduce_axis((0, 8), name="k")
B = te.compute((4,), lambda i: te.sum(A[i, k], axis=k))
te.compute((4,), lambda i: B[i] * 2)
""",
        says=(
            "must be the whole body of a te.compute",
            r"^te\.(sum|max|min|all|any|first)\b",
            "reduce_axis",
        ),
    ),
    Entry(
        "HJ602",
        "a te expression is not right",
        """
Expressions are made of elements of tensors, numbers and axes, with one index for each dimension.
They are computed for every element, so they are neither true nor false here.
""",
        wrong="""
A = te.placeholder((4, 8), name="A")
te.compute((4,), lambda i: A[i])
""",
        right="""
A = te.placeholder((4, 8), name="A")
te.compute((4,), lambda i: A[i, 0])
""",
        says=(
            "te expression",
            "^fcompute",
            r"^tensor '.*' has \d+ dimensions",
            "te.gradient",
            "varargs_names",
        ),
    ),
    Entry(
        "HJ603",
        "a stage, tensor or axis is not part of the schedule",
        """
A classic schedule holds the operations that its outputs are made of. A step takes a stage, a
tensor or an axis of it; one that was split or fused is gone.
""",
        wrong="""
A = te.placeholder((8,), name="A")
B = te.compute((8,), lambda i: A[i] + 1, name="B")
C = te.compute((8,), lambda i: A[i] + 2, name="C")
s = te.create_schedule(B.op)
s[C]
""",
        right="""
A = te.placeholder((8,), name="A")
B = te.compute((8,), lambda i: A[i] + 1, name="B")
C = te.compute((8,), lambda i: B[i] + 2, name="C")
s = te.create_schedule(C.op)
s[B]
""",
        says=(
            "not part of the schedule",
            "no stage of this schedule",
            "is none of stage",
            "does not belong to stage",
            "expected a stage",
            "axis '.*' was (split|fused)",
            "found by its tensor",
        ),
    ),
    Entry(
        "HJ604",
        "the arguments of a module do not fit its graph",
        """
`te.create_prim_func`, `hj.build` and their kin take the tensors that are read and made: each
placeholder that is read, and each output, once.
""",
        wrong="""
n = te.placeholder((8,), name="A")
B = te.compute((8,), lambda i: n[i] + 1, name="B")
te.create_prim_func([B])
""",
        right="""
n = te.placeholder((8,), name="A")
B = te.compute((8,), lambda i: n[i] + 1, name="B")
te.create_prim_func([n, B])
""",
        says=("is not among the arguments", "nothing says what '", "is given twice"),
    ),
    Entry(
        "HJ605",
        "a scan is malformed",
        """
`te.scan` takes the first states, their update, and a placeholder for all of them. An update reads
earlier steps only, and has the shape and type of the state.
""",
        wrong="""
state = te.placeholder((8, 3), "float64", name="state")
first = te.compute((1, 3), lambda _, i: 0.0, name="first")
update = te.compute((8, 3), lambda t, i: state[t, i] + 1.0, name="update")
te.scan(first, update, state)
""",
        right="""
state = te.placeholder((8, 3), "float64", name="state")
first = te.compute((1, 3), lambda _, i: 0.0, name="first")
update = te.compute((8, 3), lambda t, i: state[t - 1, i] + 1.0, name="update")
te.scan(first, update, state)
""",
        says=(
            r"\bscan\b",
            "the state '",
            "not sure to be an earlier step",
        ),
    ),
    Entry(
        "HJ606",
        "an extern or a buffer is malformed",
        """
`te.extern` computes tensors by a statement, or a function that is called: it reads its inputs,
writes to its outputs, and its buffers have the shapes and types of these.
""",
        wrong="""
A = te.placeholder((8,), name="A")
te.extern((8,), [A], lambda ins, outs: 3, dtype="float32")
""",
        right="""
A = te.placeholder((8,), name="A")
te.compute((8,), lambda i: A[i] * 2)
""",
        says=(
            "an extern\\b",
            "^buffer '",
            "strides of buffer",
            "te.decl_buffer",
            r"^found \d+ (buffers|types) for",
            "type of the outputs",
            "no C function",
            "call_packed",
            "an access is '",
        ),
    ),
    Entry(
        "HJ607",
        "an intrinsic does not fit",
        """
An intrinsic has a description, which is a `te.compute`, and an implementation; `tensorize` puts
it in the place of a loop that does exactly what the description says. An intrinsic of numbers has
a rule that gives the type that it promises.
""",
        wrong="""
tir.register_intrin("my.exp", lambda x: x)
""",
        right="""
tir.llvm_intrinsic("llvm.fma")
""",
        says=("intrinsic", "^tensorize:", "is a word of the language", "no intrinsic of LLVM"),
    ),
    Entry(
        "HJ608",
        "the operands of an operator do not fit",
        """
Operators of the standard library take arrays, or tensors, whose shapes fit together.
""",
        wrong="""
hj.stdlib.add(np.ones((2, 3)), np.ones(5))
""",
        right="""
hj.stdlib.add(np.ones((2, 3)), np.ones(3))
""",
        says=(
            r"^\w+: .* do not (broadcast|match)",
            r"^\w+: argument '.*' is a tensor",
            "neither an array nor a tensor among",
            "does not fit on an axis",
            r"^\w+: axis -?\d+ is out of bounds",
            "there is no padding",
            "groups do not fit",
        ),
    ),
    Entry(
        "HJ609",
        "a script cannot be called on tensors so",
        """
On tensors a script is an operation of their graph: it returns tensors, and takes whole tensors and
numbers. Of a parameter that it returns, it makes a new tensor. To others it may write: the array
that is passed is written, and other operations read what it was.
""",
        wrong="""
@hybrid.script
def doubled(a):
    for i in range(8):
        a[i] *= 2

doubled(te.placeholder((8,), name="A"))
""",
        right="""
@hybrid.script
def doubled(a):
    for i in range(8):
        a[i] *= 2
    return a

doubled(te.placeholder((8,), name="A"))
""",
        says=(
            "and a tensor does not change",
            "which is another one, too",
            "both write to the argument",
            "so it makes no tensor",
            "an array beside tensors",
            "a part of the tensor",
            "an operation on tensors cannot",
        ),
    ),
)
