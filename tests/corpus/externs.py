"""DESIGN 2.7: C functions and Python callbacks."""

import numpy as np

from hybridjit import hybrid
from hybridjit.hybrid import extern, output_tensor, packed
from tests.corpus.case import Array, Number, call, case, sweep


def _smooth(a: Array, b: Array) -> None:
    b[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3


def _norm(a: Array, scale: Number) -> Number:
    return float(np.sum(a * a)) * scale


def _refuse(x: Number) -> None:
    if x > 5:
        raise LookupError("too large", float(x))


cosine = extern("cos", "float64", ["float64"])
power_of = extern("pow", "float64", ["float64", "float64"], name="power_of")
absolute = extern("abs", "int32", ["int32"], name="absolute")
copy_memory = extern("memcpy", None, ["float64*", "float64*", "uint64"], name="copy_memory")
smooth = packed(_smooth, name="smooth")
norm = packed(_norm, "float64", name="norm")
refuse = packed(_refuse, name="refuse")

_NAMES = {
    function.name: function
    for function in (cosine, power_of, absolute, copy_memory, smooth, norm, refuse)
}


@hybrid.script
def call_c(a: Array) -> Array:
    b = output_tensor((3, a.shape[0]), "float64")
    for i in range(a.shape[0]):
        b[0, i] = cosine(a[i])
        b[1, i] = power_of(a[i], 2) + cosine(0)
        b[2, i] = absolute(-i)
    return b


@hybrid.script
def call_c_with_arrays(a: Array) -> Array:
    b = output_tensor(a.shape, "float64")
    copy_memory(b, a, 8 * a.shape[0])
    return b


@hybrid.script
def call_python(a: Array) -> Array:
    b = output_tensor(a.shape, a.dtype)
    smooth(a, b)
    total = norm(b, 2)
    for i in range(a.shape[0]):
        b[i] += total * i
    return b


@hybrid.script
def callback_raises(a: Array) -> Number:
    count = 0
    for i in range(a.shape[0]):
        refuse(a[i])
        count += 1
    return count


CASES = (
    case(call_c, sweep(lambda d: (d(d.n),), dtypes=("float64", "float32")), names=_NAMES),
    case(call_c_with_arrays, call(np.arange(5.0)), call(np.zeros(0)), names=_NAMES),
    case(call_python, sweep(lambda d: (d.out(d.n),), sizes=(7, 3)), names=_NAMES),
    case(callback_raises, sweep(lambda d: (d(d.n),)), names=_NAMES),
)
