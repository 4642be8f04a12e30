"""Intrinsics of one's own, with three kinds of rules for how code is made of them."""

from __future__ import annotations

import numpy as np

import hybridjit as hj
from hybridjit import hybrid, te, tir

# By an expression: the interpreter and native code both compute it.
softplus = tir.register_intrin("softplus", lambda x: te.log1p(te.exp(-te.abs(x))) + te.max(x, 0))

# By a C function of the process, declared with its types.
fdim = tir.register_intrin("fdim", hybrid.extern("fdim", "float64", ["float64", "float64"]))

# By an intrinsic of LLVM. The interpreter cannot know it, so it is told in Python.
reversed_bits = tir.register_intrin(
    "reversed_bits",
    tir.llvm_intrinsic("llvm.bitreverse"),
    arity=1,
    domain="integer",
    python=lambda x: int(f"{int(x):032b}"[::-1], 2),
)


@hybrid.script
def smooth(a):
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[i] = softplus(a[i]) - softplus(-a[i])  # which is a[i]
    return b


def in_a_script() -> None:
    a = np.linspace(-3.0, 3.0, 50, dtype=np.float32)
    np.testing.assert_allclose(smooth(a), a, atol=1e-6)
    np.testing.assert_allclose(smooth.interpret(a), a, atol=1e-6)
    print("softplus:", smooth.inspect("tir", a).splitlines()[-2].strip())


def in_tensors() -> None:
    A = te.placeholder((40,), "float64", "A")
    B = te.placeholder((40,), "float64", "B")
    C = te.compute((40,), lambda i: fdim(A[i], B[i]), name="C")
    s = te.create_schedule(C.op)
    s[C].split(C.op.axis[0], factor=8)
    a, b = np.random.default_rng(0).standard_normal((2, 40))
    c = np.empty(40)
    hj.build(s, [A, B, C])(a, b, c)
    np.testing.assert_array_equal(c, np.maximum(a - b, 0))
    print("fdim:    ", c[:4])


def in_vector_code() -> None:
    A = te.placeholder((32,), "uint32", "A")
    B = te.compute((32,), lambda i: reversed_bits(A[i]), name="B")
    s = te.create_schedule(B.op)
    s[B].vectorize(B.op.axis[0])
    module = hj.build(s, [A, B])
    a, b = np.arange(32, dtype=np.uint32), np.empty(32, np.uint32)
    module(a, b)
    twice = np.empty_like(b)
    module(b, twice)
    np.testing.assert_array_equal(twice, a)
    module.interpret(a, twice)
    np.testing.assert_array_equal(twice, b)
    print("bits:    ", [hex(value) for value in b[:4]])


def main() -> None:
    in_a_script()
    in_tensors()
    in_vector_code()


if __name__ == "__main__":
    main()
