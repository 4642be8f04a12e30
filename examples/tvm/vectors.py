"""Vector addition in TVM's words: compute, schedule, build, run, compare, time."""

from __future__ import annotations

import numpy as np

import hybridjit.compat.tvm as tvm
from hybridjit.compat.tvm import te


def main() -> None:
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.placeholder((n,), name="B")
    C = te.compute(A.shape, lambda i: A[i] + B[i], name="C")

    s = te.create_schedule(C.op)
    outer, inner = s[C].split(C.op.axis[0], factor=64)
    s[C].vectorize(inner)
    s[C].parallel(outer)
    print(tvm.lower(s, [A, B, C], simple_mode=True))
    add = tvm.build(s, [A, B, C], tvm.target.Target("llvm"), name="add")

    dev = tvm.cpu(0)
    for size in (1024, 1001):
        a = tvm.nd.array(np.random.uniform(size=size).astype("float32"), dev)
        b = tvm.nd.array(np.random.uniform(size=size).astype("float32"), dev)
        c = tvm.nd.array(np.zeros(size, dtype="float32"), dev)
        add(a, b, c)
        tvm.testing.assert_allclose(c.numpy(), a.numpy() + b.numpy())
        seconds = add.time_evaluator(add.entry_name, dev, number=10)(a, b, c).mean
        print(f"{size}: {seconds * 1e6:.1f} us")


if __name__ == "__main__":
    main()
