"""Kernels to be called with the wrong arguments."""

import hybridjit as hj
from hybridjit import hybrid

anonymous = lambda a: None
starred = lambda **arrays: None


@hybrid.script
def scale(a, factor):
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[i] = factor * a[i]
    return b


@hybrid.script
def clear(a):
    for i in range(a.shape[0]):
        a[i] = 0.0


@hybrid.script
def typed(a: hj.f32["n", 4], b: hj.f32["n"], x: hj.i32):
    for i in range(a.shape[0]):
        a[i, 0] = b[i] * x


def annotated(a: "hj.f32[4 + 4]"):
    a[0] = 0.0


class Filter:
    __slots__ = ()

    @hybrid.script
    def run(self, a):
        a[0] = 0.0
