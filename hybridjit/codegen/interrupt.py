"""Letting Python handle signals while a kernel runs: Ctrl-C works in long kernels."""

from __future__ import annotations

from llvmlite import ir

from hybridjit.codegen.casts import declare
from hybridjit.codegen.llvm_types import I8, I32, I64, Builder, Function, Module


def poll_function(module: Module) -> Function:
    """`int32 hj_poll(record)`: run pending signal handlers; 1 if one raised.

    The exception is taken from the interpreter and left in the first three words of the record:
    no Python error may be pending while a kernel runs on.
    """
    known = module.globals.get("hj_poll")
    if known is not None:
        return known
    pointer = I8.as_pointer()
    kind = ir.FunctionType(I32, [I64.as_pointer()])
    function: Function = ir.Function(module, kind, "hj_poll")
    function.linkage = "internal"
    function.attributes.add("noinline")
    b: Builder = ir.IRBuilder(function.append_basic_block("entry"))
    state = b.call(declare(module, "PyGILState_Ensure", ir.FunctionType(I32, [])), [])
    status = b.call(declare(module, "PyErr_CheckSignals", ir.FunctionType(I32, [])), [])
    raised = b.icmp_signed("!=", status, ir.Constant(I32, 0))
    with b.if_then(raised, likely=False):
        fetch_type = ir.FunctionType(ir.VoidType(), [pointer.as_pointer()] * 3)
        record = b.bitcast(function.args[0], pointer.as_pointer())
        places = [b.gep(record, [ir.Constant(I64, i)]) for i in range(3)]
        b.call(declare(module, "PyErr_Fetch", fetch_type), places)
    release_type = ir.FunctionType(ir.VoidType(), [I32])
    b.call(declare(module, "PyGILState_Release", release_type), [state])
    b.ret(b.zext(raised, I32))
    return function
