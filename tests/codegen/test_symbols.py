"""Code for any x86-64 calls nothing that a process need not have: every intrinsic, operator and
cast is compiled for each processor, also for those that the host is not, and the symbols of the
object code are read."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import pytest

from hybridjit import hybrid
from hybridjit.codegen.engine import emit_object, optimize, tidy
from hybridjit.codegen.kernel import emit_kernel
from hybridjit.codegen.layout import ArrayLayout, Layout
from hybridjit.ir.dtype import DType, dtype_named
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.intrinsics import INTRINSICS
from hybridjit.lowering.pipeline import lower
from hybridjit.processor import host_features, make_target, processor_features
from hybridjit.scalars.builtins import TYPES
from hybridjit.target import Target
from tests.frontend.from_text import script_from_text
from tests.support.processors import PROCESSORS

REALS = (
    *("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "bfloat16", "float32", "float64"),
)
DTYPES = (*REALS, "complex64", "complex128")
SIZE = 37
# What every C library has, its part for floats, without which there is no Python, included; and
# what we link to code ourselves.
PROVIDED = {"malloc", "free", "memcpy", "memset", "memmove", "fma", "fmaf", "hj_poll"}
NAMES = {name: getattr(hybrid, name) for name in ("vectorize", *INTRINSICS) if name in dir(hybrid)}


def undefined_symbols(image: bytes) -> set[str]:
    """The names that an ELF object of 64 bits takes from elsewhere."""
    (start,) = struct.unpack_from("<Q", image, 40)
    size, count = struct.unpack_from("<HH", image, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", image, start + k * size) for k in range(count)]
    tables = [section for section in sections if section[1] == 2]
    return {name for table in tables for name in _names(image, table, sections[table[6]][4])}


def _names(image: bytes, table: Sequence[int], texts: int) -> Iterator[str]:
    offset, length = table[4], table[5]
    for place in range(offset, offset + length, 24):
        name, _, _, section = struct.unpack_from("<IBBH", image, place)
        if name and section == 0:
            yield image[texts + name : image.index(b"\0", texts + name)].decode()


@cache
def translated(text: str, specs: tuple[Any, ...]) -> PrimFunc:
    """The IR of a script, the same for each processor."""
    return script_from_text(text, NAMES).prim_func(*specs)


def symbols_of(
    text: str, specs: Sequence[Any], target: Target, passes: Callable[..., Any] = tidy
) -> set[str]:
    """What the code of a script takes from elsewhere, other than what is provided."""
    func = lower(translated(text, tuple(specs)), target)
    layout = Layout(tuple(ArrayLayout() for _ in func.buffers), True)
    module = emit_kernel(func, layout, target)
    return undefined_symbols(emit_object(passes(module.text, target), target)) - PROVIDED


def target_of(cpu: str) -> Target:
    """A processor with all that it has, whether the host has it or not."""
    features = processor_features(cpu)
    return make_target(cpu, {name: name in features for name in host_features()})


def loops(lines: Sequence[str], parameters: str) -> str:
    """The lines in a scalar loop, and in one that is made of vectors."""
    text = f"def f({parameters}):\n"
    for loop in ("range", "vectorize"):
        text += f"    for i in {loop}({SIZE}):\n" + "".join(f"        {line}\n" for line in lines)
    return text


# What processors in between lack of the newest, they lack for half floats, or the oldest does, too.
ENDS = [cpu for cpu in PROCESSORS if cpu in ("x86-64", "haswell", "sapphirerapids", "generic")]
BETWEEN = [cpu for cpu in PROCESSORS if cpu in ("nehalem", "cascadelake", "cortex-a76")]
EACH = [
    *((cpu, dtype) for cpu in ENDS for dtype in DTYPES),
    *((cpu, dtype) for cpu in BETWEEN for dtype in ("float16", "bfloat16")),
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("cpu", "source"), EACH)
def test_casts(cpu: str, source: str) -> None:
    real = ".real" if source.startswith("complex") else ""
    lines = [
        f"x_{dtype}[i] = a[i]{'' if dtype.startswith('complex') else real}" for dtype in DTYPES
    ]
    text = loops(lines, ", ".join(["a", *(f"x_{dtype}" for dtype in DTYPES)]))
    specs = [TYPES[dtype][SIZE] for dtype in (source, *DTYPES)]
    assert symbols_of(text, specs, target_of(cpu), optimize) == set()


OPERATORS = ("a[i] + a[i + 1]", "a[i] * a[i + 1]", "a[i] - a[i + 1]", "-a[i]")
REAL_OPERATORS = ("a[i] // a[i + 1]", "a[i] % a[i + 1]", "min(a[i], a[i + 1])", "a[i] ** 3")


def intrinsics_of(dtype: DType) -> Iterator[str]:
    """Each intrinsic that takes values of a type, called."""
    for name, intrinsic in INTRINSICS.items():
        if intrinsic.domain.accepts(dtype) and name in dir(hybrid):
            yield f"{name}({', '.join(f'a[i + {k}]' for k in range(intrinsic.arity))})"


@pytest.mark.sampled(24)
@pytest.mark.parametrize(("cpu", "name"), EACH)
def test_intrinsics_and_operators(cpu: str, name: str) -> None:
    dtype = dtype_named(name)
    values = [*OPERATORS, *intrinsics_of(dtype)]
    if not dtype.is_complex:
        values += REAL_OPERATORS
    lines = [f"x[{k}, i] = {value}" for k, value in enumerate(values)]
    specs = [TYPES[name][SIZE + 2], TYPES["complex128"][len(values), SIZE]]
    assert symbols_of(loops(lines, "a, x"), specs, target_of(cpu)) == set()
