"""The printed form of the IR: hybrid script that parses back to a structurally equal function.

    @hybrid.script(fastmath={"contract"})              the options, if there are any,
    def scale(a: float32["n"], x: float):              the signature,
        table = constant_array([1, 2], "int64")        the constants,
        c = output_tensor((a.shape[0],), "float32")    the outputs,
        ...                                            and the body

Broken IR prints too, as far as it can: the verifier shows what it refuses.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from hybridjit.ir.dtype import BOOL, PYTHON_NAMES, DType
from hybridjit.ir.expr import Buffer, Expr, ExternCall, Node, Var
from hybridjit.ir.fastmath import print_fastmath
from hybridjit.ir.printer_exprs import format_literal, format_with
from hybridjit.ir.printer_names import TYPED_BOOL, Names, make_identifier
from hybridjit.ir.printer_stmts import StmtPrinter, quote
from hybridjit.ir.signature import ConstantArray, Param, ScalarParam, ScalarResult
from hybridjit.ir.stmt import Allocate, For, Stmt
from hybridjit.ir.visit import walk, walk_stmts

if TYPE_CHECKING:
    from hybridjit.ir.func import PrimFunc


def print_func(func: PrimFunc, marks: Iterable[Node] = ()) -> str:
    """`func` as hybrid script; the lines of statements and loop variables in `marks` underlined."""
    return "\n".join(_print(func, _signature_names(func), marks).lines)


def print_lines(func: PrimFunc) -> list[tuple[str, int | None]]:
    """The lines of `func`, each with the line of the script that it came from, if there is one."""
    printer = _print(func, _signature_names(func), ())
    return list(zip(printer.lines, printer.origins, strict=True))


def name_buffers(func: PrimFunc) -> dict[str, Buffer]:
    """The buffers of `func` by the names that they print as, in the order of the text."""
    names = _signature_names(func)
    _print(func, names, ())
    made = (node.buffer for node in walk_stmts(func.body) if isinstance(node, Allocate))
    constants = (constant.buffer for constant in func.constants)
    return {names.text(b): b for b in (*func.buffers, *constants, *func.outputs, *made)}


def name_loops(func: PrimFunc) -> dict[str, For]:
    """The loops of `func` by the names that their variables print as, in the order of the text."""
    names = _signature_names(func)
    _print(func, names, ())
    return {names.text(node.var): node for node in walk_stmts(func.body) if isinstance(node, For)}


def _print(func: PrimFunc, names: Names, marks: Iterable[Node]) -> StmtPrinter:
    printer = StmtPrinter(names, marks, func.returns or (), func.returns_tuple, func.nesting)
    params = ", ".join(_param(param, names) for param in func.params)
    options = [f"fastmath={print_fastmath(func.fastmath)}"] if func.fastmath else []
    options += ["parallel=True"] if func.parallel else []
    if options:
        printer.line(f"@hybrid.script({', '.join(options)})")
    printer.line(f"def {make_identifier(func.name)}({params}){_return_annotation(func)}:")
    _show_dimensions(func, names)
    with printer.indented():
        for constant in func.constants:
            printer.line(f"{names.bind(constant.buffer)} = {_constant_array(constant)}")
        for output in func.outputs:
            made = f"output_tensor({printer.shape(output.shape)}, {quote(output.dtype.name)})"
            printer.line(f"{names.bind(output)} = {made}")
        printer.stmt(func.body)
    return printer


def format_expr(expr: Expr) -> str:
    """`expr` as text; variables print by their names."""
    return format_with(Names(), expr)


def format_stmt(stmt: Stmt) -> str:
    """`stmt` as text; variables that it does not bind print by their names."""
    printer = StmtPrinter(Names())
    printer.stmt(stmt)
    return "\n".join(printer.lines)


def _signature_names(func: PrimFunc) -> Names:
    """Names for what is known from outside: external functions, parameters, dimensions."""
    names = Names()
    # An external function is found by its name when the text is parsed: variables give way.
    names.bind_all(node.callee for node in walk(func.body) if isinstance(node, ExternCall))
    names.bind_all(param if isinstance(param, Buffer) else param.var for param in func.params)
    names.bind_all(func.dimensions)
    return names


def _show_dimensions(func: PrimFunc, names: Names) -> None:
    """From here on, print each run-time dimension as an entry of the first shape that has it."""
    pending = dict.fromkeys(func.dimensions)
    for buffer in func.buffers:
        for axis, extent in enumerate(buffer.shape):
            if isinstance(extent, Var) and extent in pending:
                del pending[extent]
                names.show_as(extent, f"{names.text(buffer)}.shape[{axis}]")


def _param(param: Param, names: Names) -> str:
    if isinstance(param, ScalarParam):
        return f"{names.text(param.var)}: {_scalar_type(param.var.dtype, param.weak)}"
    return f"{names.text(param)}: {param.dtype.name}[{_annotated_shape(param, names)}]"


def _annotated_shape(buffer: Buffer, names: Names) -> str:
    if not buffer.shape:
        return "()"
    texts = (format_with(names, extent) for extent in buffer.shape)
    return ", ".join(text if text.isdecimal() else quote(text) for text in texts)


def _scalar_type(dtype: DType, weak: bool) -> str:
    if weak:
        return PYTHON_NAMES.get(dtype, dtype.name)
    return TYPED_BOOL if dtype is BOOL else dtype.name


def _return_annotation(func: PrimFunc) -> str:
    scalars = [
        _scalar_type(result.dtype, result.weak)
        for result in func.returns or ()
        if isinstance(result, ScalarResult)
    ]
    if not scalars:
        return ""
    return f" -> {scalars[0]}" if len(scalars) == 1 else f" -> ({', '.join(scalars)})"


def _constant_array(constant: ConstantArray) -> str:
    data, dtype = constant.data, constant.buffer.dtype
    # Nested lists cannot tell the dimensions that follow an empty one.
    shape = f", shape={data.shape}" if 0 in data.shape[:-1] else ""
    return f"constant_array({_nested(data.tolist(), dtype)}, {quote(dtype.name)}{shape})"


def _nested(value: Any, dtype: DType) -> str:
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return f"[{', '.join(_nested(item, dtype) for item in items)}]"
    return format_literal(value, dtype)
