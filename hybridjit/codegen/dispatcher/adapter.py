"""A second entry of every kernel, for the dispatcher: all arguments in one array of words.

    int32 hj_call(int64 *words)  -->  int32 hj_kernel(words[0], words[1], ...)

Each parameter of the kernel takes one word; a narrow value lies in its low bytes.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from hybridjit.codegen.llvm_types import I32, I64
from hybridjit.codegen.sites import ADAPTER


def emit_adapter(module: ir.Module, kernel: Any) -> None:
    """Add the second entry of `kernel`, an `ir.Function`, to its module."""
    kernel.attributes.add("noinline")
    kind = ir.FunctionType(I32, [I64.as_pointer()])
    function: Any = ir.Function(module, kind, ADAPTER)
    function.attributes.add("nounwind")
    b: Any = ir.IRBuilder(function.append_basic_block("entry"))
    args: list[Any] = []
    for position, parameter in enumerate(kernel.args):
        word = b.gep(function.args[0], [ir.Constant(I64, position)], inbounds=True)
        pointer = b.bitcast(word, parameter.type.as_pointer())
        args.append(b.load(pointer, typ=parameter.type))
    b.ret(b.call(kernel, args))
