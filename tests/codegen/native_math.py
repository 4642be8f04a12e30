"""Compiles loops over the math functions, and measures errors in units in the last place."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir

from hybridjit.codegen.math import emit_math
from hybridjit.ir.dtype import BFLOAT16, DType

Array = np.ndarray[Any, Any]
I64, POINTER = ir.IntType(64), ir.PointerType()
ELEMENTS: dict[str, ir.Type] = {
    "float16": ir.HalfType(),
    "bfloat16": ir.IntType(16),
    "float32": ir.FloatType(),
    "float64": ir.DoubleType(),
}


@cache
def machine() -> llvm.TargetMachine:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=3,
        reloc="pic",
        codemodel="small",
    )


@cache
def session() -> llvm.LLJIT:
    return llvm.create_lljit_compiler(use_jit_link=False, suppress_errors=True)


def loop_module(name: str, dtype: DType, arity: int, fma: bool = True, lanes: int = 1) -> ir.Module:
    """void loop(n, x..., out): out[i] = name(x[i]...)."""
    module = ir.Module(name)
    module.triple = llvm.get_default_triple()
    kind = ir.FunctionType(ir.VoidType(), [I64, *[POINTER] * (arity + 1)])
    function: Any = ir.Function(module, kind, "loop")
    function.attributes._known |= {'"prefer-vector-width"="512"'}
    function.attributes.add('"prefer-vector-width"="512"')
    for pointer in function.args[1:]:
        pointer.add_attribute("noalias")
    entry, body, done = (function.append_basic_block(label) for label in ("entry", "body", "done"))
    b: Any = ir.IRBuilder(entry)
    count = function.args[0]
    b.cbranch(b.icmp_signed(">", count, I64(0)), body, done)
    b.position_at_end(body)
    i = b.phi(I64)
    i.add_incoming(I64(0), entry)
    element = ELEMENTS[dtype.name]
    kind = element if lanes == 1 else ir.VectorType(element, lanes)
    size = 2 if dtype.bits == 16 else dtype.bits // 8
    addresses = [b.gep(p, [i], source_etype=element) for p in function.args[1:]]
    values = [b.load(address, typ=kind, align=size) for address in addresses[:-1]]
    result = emit_math(b, name, dtype, values, fma)
    scalar = result.type.element if lanes > 1 else result.type
    if scalar == ir.IntType(1):
        wide = element if lanes == 1 else ir.VectorType(element, lanes)
        result = b.uitofp(result, wide)
    b.store(result, addresses[-1], align=size)
    following = b.add(i, I64(lanes))
    i.add_incoming(following, body)
    b.cbranch(b.icmp_signed("<", following, count), body, done)
    b.position_at_end(done)
    b.ret_void()
    return module


def optimize(module: ir.Module) -> llvm.ModuleRef:
    parsed = llvm.parse_assembly(str(module))
    parsed.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True
    options.slp_vectorization = True
    options.loop_unrolling = True
    builder = llvm.create_pass_builder(machine(), options)
    builder.getModulePassManager().run(parsed, builder)
    return parsed


@cache
def compile_loop(
    name: str, dtype: DType, arity: int = 1, fma: bool = True, lanes: int = 1
) -> Callable[..., Array]:
    """f(x...[, out]): the function over whole contiguous arrays."""
    return load(optimize(loop_module(name, dtype, arity, fma, lanes)), name, dtype, arity)


def load(module: llvm.ModuleRef, name: str, dtype: DType, arity: int) -> Callable[..., Array]:
    image = machine().emit_object(module)
    library = llvm.JITLibraryBuilder().add_object_img(image).add_current_process()
    tracker = library.export_symbol("loop").link(session(), f"math.{name}.{id(module)}")
    raw = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * (arity + 1))(tracker["loop"])

    def call(*args: Array) -> Array:
        inputs = [np.ascontiguousarray(arg, dtype.numpy) for arg in args[:arity]]
        out = args[arity] if len(args) > arity else np.empty(inputs[0].shape, dtype.numpy)
        raw(inputs[0].size, *(x.ctypes.data for x in inputs), out.ctypes.data)
        return out

    call.tracker = tracker  # type: ignore[attr-defined]
    call.raw = raw  # type: ignore[attr-defined]
    return call
