"""Compiles loops over the math functions, and measures errors in units in the last place."""

from __future__ import annotations

import ctypes
import itertools
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import llvmlite.binding
import numpy as np
from llvmlite import ir

from hybridjit.codegen.math import emit_complex_math, emit_math
from hybridjit.codegen.module_features import note_features
from hybridjit.codegen.target import target_machine
from hybridjit.ir.dtype import DType
from hybridjit.processor import current_target

Array = np.ndarray[Any, Any]
llvm: Any = llvmlite.binding  # llvmlite has no types
INTERLEAVE = 2
NUMBERS = itertools.count()
I64, POINTER = ir.IntType(64), ir.PointerType()
ELEMENTS: dict[str, ir.Type] = {
    "float16": ir.IntType(16),
    "bfloat16": ir.IntType(16),
    "float32": ir.FloatType(),
    "float64": ir.DoubleType(),
}


def machine() -> Any:
    return target_machine(current_target())


@cache
def session() -> Any:
    return llvm.create_lljit_compiler(use_jit_link=False, suppress_errors=True)


def loop_module(
    name: str,
    dtype: DType,
    arity: int,
    fma: bool | None = None,
    lanes: int = 1,
    features: str | None = None,
) -> ir.Module:
    """void loop(n, x..., out): out[i] = name(x[i]...)."""
    element = ELEMENTS[dtype.name]
    kind = element if lanes == 1 else ir.VectorType(element, lanes)

    def step(b: Any, pointers: list[Any], i: Any) -> None:
        size = dtype.numpy.itemsize
        places = [b.gep(pointer, [i], source_etype=element) for pointer in pointers]
        values = [b.load(place, typ=kind, align=size) for place in places[:-1]]
        result = emit_math(b, name, dtype, values, fma)
        scalar = result.type.element if lanes > 1 else result.type
        if scalar == ir.IntType(1):
            result = b.uitofp(result, kind)
        b.store(result, places[-1], align=size)

    return make_loop(step, arity, lanes, features)


def complex_module(name: str, dtype: DType, arity: int) -> ir.Module:
    """As loop_module, on complex values."""
    element = ELEMENTS[dtype.component.name]

    def step(b: Any, pointers: list[Any], i: Any) -> None:
        first = b.shl(i, I64(1))
        indices = (first, b.add(first, I64(1)))
        places = [[b.gep(p, [index], source_etype=element) for index in indices] for p in pointers]
        values = [(b.load(re, typ=element), b.load(im, typ=element)) for re, im in places[:-1]]
        for part, place in zip(emit_complex_math(b, name, dtype, values), places[-1], strict=True):
            b.store(part, place)

    return make_loop(step, arity)


def make_loop(
    step: Callable[[Any, list[Any], Any], None],
    arity: int,
    stride: int = 1,
    features: str | None = None,
) -> ir.Module:
    """A module with one loop over `arity` inputs and an output, two vectors at a time."""
    module: Any = ir.Module("loop")
    module.triple = current_target().triple
    note_features(module, current_target().features if features is None else features)
    kind = ir.FunctionType(ir.VoidType(), [I64, *[POINTER] * (arity + 1)])
    function: Any = ir.Function(module, kind, "loop")
    function.attributes = Attributes(['"prefer-vector-width"="512"'])
    for pointer in function.args[1:]:
        pointer.add_attribute("noalias")
    entry, body, done = (function.append_basic_block(label) for label in ("entry", "body", "done"))
    b: Any = ir.IRBuilder(entry)
    count = function.args[0]
    b.cbranch(b.icmp_signed(">", count, I64(0)), body, done)
    b.position_at_end(body)
    i = b.phi(I64)
    i.add_incoming(I64(0), entry)
    step(b, list(function.args[1:]), i)
    following = b.add(i, I64(stride))
    i.add_incoming(following, body)
    branch = b.cbranch(b.icmp_signed("<", following, count), body, done)
    hint = ["llvm.loop.interleave.count", ir.Constant(ir.IntType(32), INTERLEAVE)]
    branch.set_metadata("llvm.loop", module.add_metadata([module.add_metadata(hint)]))
    b.position_at_end(done)
    b.ret_void()
    return module


class Attributes(ir.values.FunctionAttributes):
    """Function attributes that llvmlite does not check."""

    def __init__(self, names: list[str]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        names_: Any = self
        names_.update(names)


def optimize(module: ir.Module | str) -> Any:
    # LLVM wants the metadata of a loop to refer to itself, which llvmlite cannot write.
    text = re.sub(
        r"^(!\d+) = !\{ (!\d+) \}$", r"\1 = distinct !{ \1, \2 }", str(module), flags=re.M
    )
    parsed = llvm.parse_assembly(text)
    parsed.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True
    options.slp_vectorization = True
    options.loop_unrolling = True
    builder = llvm.create_pass_builder(machine(), options)
    builder.getModulePassManager().run(parsed, builder)
    inliner = llvm.create_new_module_pass_manager()
    inliner.add_always_inliner_pass()
    inliner.run(parsed, builder)
    return parsed


@cache
def compile_complex(name: str, dtype: DType, arity: int = 1) -> Callable[..., Array]:
    return load(str(complex_module(name, dtype, arity)), dtype, arity)


@cache
def compile_loop(
    name: str,
    dtype: DType,
    arity: int = 1,
    fma: bool | None = None,
    lanes: int = 1,
    features: str | None = None,
) -> Callable[..., Array]:
    """f(x...[, out]): the function over whole contiguous arrays."""
    return load(str(loop_module(name, dtype, arity, fma, lanes, features)), dtype, arity)


@cache
def load(text: str, dtype: DType, arity: int) -> Callable[..., Array]:
    """What is asked for in several ways is compiled once: what this processor has, by its name."""
    image = machine().emit_object(optimize(text))
    library = llvm.JITLibraryBuilder().add_object_img(image).add_current_process()
    tracker = library.export_symbol("loop").link(session(), f"math.{next(NUMBERS)}")
    raw = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * (arity + 1))(tracker["loop"])

    def call(*args: Array) -> Array:
        inputs = [np.ascontiguousarray(arg, dtype.numpy) for arg in args[:arity]]
        out = args[arity] if len(args) > arity else np.empty(inputs[0].shape, dtype.numpy)
        raw(inputs[0].size, *(x.ctypes.data for x in inputs), out.ctypes.data)
        return out

    call.tracker = tracker  # type: ignore[attr-defined]
    call.raw = raw  # type: ignore[attr-defined]
    return call


def load_scalar(
    emit: Callable[..., Any], kinds: list[Any], ctypes_: list[Any]
) -> Callable[..., Any]:
    """A function of scalars: what `emit(builder, *args)` computes."""
    module = ir.Module("scalar")
    module.triple = llvm.get_default_triple()
    function: Any = ir.Function(module, ir.FunctionType(kinds[0], kinds), "scalar")
    b: Any = ir.IRBuilder(function.append_basic_block("entry"))
    b.ret(emit(b, *function.args))
    image = machine().emit_object(optimize(module))
    library = llvm.JITLibraryBuilder().add_object_img(image).add_current_process()
    tracker = library.export_symbol("scalar").link(session(), f"math.{next(NUMBERS)}")
    raw: Any = ctypes.CFUNCTYPE(ctypes_[0], *ctypes_)(tracker["scalar"])
    raw.tracker = tracker
    return raw
