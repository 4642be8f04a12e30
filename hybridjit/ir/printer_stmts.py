"""Statements as hybrid script, one line each, bodies indented."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

from hybridjit.ir import stmt as ir
from hybridjit.ir.expr import Buffer, Const, Expr, Node, Var
from hybridjit.ir.printer_exprs import format_with, index_text
from hybridjit.ir.printer_names import Names
from hybridjit.ir.signature import ArrayResult, Nesting, Result
from hybridjit.ir.stmt import Iter, IterKind, LoopKind, Stmt, flat_stmts
from hybridjit.ir.texts import Message, parts_of

_INDENT = "    "
_ZERO, _ONE = Const(0), Const(1)


class StmtPrinter:
    """Collects the lines of a text. Statements and loop variables in `marks` are underlined."""

    def __init__(
        self,
        names: Names,
        marks: Iterable[Node] = (),
        results: Sequence[Result] = (),
        returns_tuple: bool = False,
        nesting: Nesting | None = None,
    ) -> None:
        self.lines: list[str] = []
        self.origins: list[int | None] = []  # of each line, the line of the script it came from
        self._names = names
        self._marks = frozenset(marks)
        self._results = results
        self._returns_tuple = returns_tuple
        self._nesting = nesting
        self._depth = 0
        self._loops = 0  # around the current statement, up to the enclosing block

    def line(self, text: str, *marks: Node) -> None:
        """Add a line, underlined if one of the nodes that it shows is marked."""
        margin = _INDENT * self._depth
        self.lines.append(margin + text)
        self.origins.append(next((node.span.line for node in marks if node.span), None))
        if self._marks and not self._marks.isdisjoint(marks):
            self.lines.append(margin + "^" * len(text.rstrip(":")))
            self.origins.append(None)

    @contextmanager
    def indented(self) -> Generator[None, None, None]:
        """Indent the lines added inside; a body without lines becomes `pass`."""
        self._depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.line("pass")
        self._depth -= 1

    def stmt(self, stmt: Stmt | None) -> None:
        """Add the lines of `stmt`."""
        for item in flat_stmts(stmt):
            printer = self.PRINTERS.get(type(item))
            if printer is None:  # broken IR is printed too, when the verifier refuses it
                self.line(f"<{type(item).__name__}>")
            else:
                printer(self, item)

    def expr(self, expr: Expr) -> str:
        """The text of `expr`."""
        return format_with(self._names, expr)

    def exprs(self, exprs: Iterable[Expr]) -> str:
        """The texts of `exprs`, separated by commas."""
        return ", ".join(map(self.expr, exprs))

    def shape(self, shape: Sequence[Expr]) -> str:
        """`shape` as a tuple."""
        return f"({self.expr(shape[0])},)" if len(shape) == 1 else f"({self.exprs(shape)})"

    def _body(self, header: str, body: Stmt | None, *marks: Node) -> None:
        self.line(header, *marks)
        with self.indented():
            self.stmt(body)

    def _for(self, loop: ir.For) -> None:
        word = loop.kind.value
        if loop.annotations and loop.kind is LoopKind.SERIAL:
            word = "serial"  # Python's range takes no keywords
        bounds = self._range(loop) + annotation_text(loop.annotations)
        header = f"for {self._names.bind(loop.var)} in {word}({bounds}):"
        self._loops += 1
        self._body(header, loop.body, loop, loop.var)
        self._loops -= 1

    def _range(self, loop: ir.For) -> str:
        from_zero, by_one = loop.start == _ZERO, loop.step == _ONE
        bounds = (loop.start, loop.stop, loop.step)
        if from_zero and by_one:
            bounds = (loop.stop,)
        elif by_one and loop.kind is not LoopKind.BOUND:
            bounds = (loop.start, loop.stop)
        if loop.kind is not LoopKind.BOUND:
            return self.exprs(bounds)
        return f"{self.exprs(bounds)}, {quote(loop.thread or '')}"

    def _while(self, loop: ir.While) -> None:
        self._body(f"while {self.expr(loop.cond)}:", loop.body, loop)

    def _if(self, branch: ir.If) -> None:
        self._body(f"if {self.expr(branch.cond)}:", branch.then, branch)
        rest = flat_stmts(branch.otherwise)
        while len(rest) == 1 and isinstance(rest[0], ir.If):
            branch = rest[0]
            self._body(f"elif {self.expr(branch.cond)}:", branch.then, branch)
            rest = flat_stmts(branch.otherwise)
        if rest:
            self._body("else:", branch.otherwise)

    def _store(self, store: ir.Store) -> None:
        target = self._names.text(store.buffer)
        if not store.buffer.is_register or store.indices:
            target += index_text(self._names, store.indices)
        self.line(f"{target} = {format_with(self._names, store.value, typed=True)}", store)

    def _let(self, let: ir.Let) -> None:
        value = self.expr(let.value)
        self.line(f"{self._names.bind(let.var)} = {value}", let, let.var)

    def _allocate(self, allocate: ir.Allocate) -> None:
        buffer = allocate.buffer
        name = self._names.bind(buffer)
        if buffer.is_register and not allocate.zero and not buffer.shape:
            self.line(f"{name}: {buffer.dtype.name}", allocate)
            return
        zero = "" if allocate.zero else ", zero=False"
        dtype, scope = quote(buffer.dtype.name), quote(buffer.scope)
        self.line(
            f"{name} = allocate({self.shape(buffer.shape)}, {dtype}, {scope}{zero})", allocate
        )

    def _reserve(self, stmt: ir.Reserve) -> None:
        self.line(f"reserve({self.exprs((stmt.array, stmt.size))})", stmt)

    def _block(self, block: ir.Block) -> None:
        self.line(f"with block({self._block_header(block)}:", block)
        outer_loops, self._loops = self._loops, 0
        with self.indented():
            if flat_stmts(block.init):
                self._body("with init():", block.init)
            self.stmt(block.body)
        self._loops = outer_loops

    def _block_header(self, block: ir.Block) -> str:
        name, iters, hints = quote(block.name), block.iters, annotation_text(block.annotations)
        if not iters:
            # A bare block would bind the loops around it when it is parsed.
            return f"{name}, iters=(){hints})" if self._loops or hints else f"{name})"
        values = [item.value for item in iters]
        if all(_is_bare(item) for item in iters) and len(set(values)) == len(values):
            texts = [self._iter(item) for item in iters]
            for item in iters:
                self._names.show_as(item.var, self.expr(item.value))
            return f"{name}, {', '.join(texts)}{hints})"
        variables = [self._names.bind(item.var) for item in iters]
        bound = f"({variables[0]},)" if len(variables) == 1 else f"({', '.join(variables)})"
        return f"{name}, {', '.join(map(self._iter, iters))}{hints}) as {bound}"

    def _iter(self, item: Iter) -> str:
        value = self.expr(item.value)
        if _is_bare(item):
            return value if item.kind is IterKind.SPATIAL else f"{item.kind.value}({value})"
        return f"{item.kind.value}({self.exprs((item.value, *(item.domain or ())))})"

    def _assert(self, check: ir.Assert) -> None:
        message = self._message(check)
        self.line(f"assert {self.expr(check.cond)}{message and ', ' + message}", check)

    def _raise(self, stmt: ir.Raise) -> None:
        message = self._text(stmt.message) if stmt.is_text else self._message(stmt)
        self.line(f"raise {stmt.error}({message})", stmt)

    def _text(self, message: Message) -> str:
        """A text with the values in their places: f"index {i} of {n:5d}"."""
        return "f" + "".join(
            quote(part.replace("{", "{{").replace("}", "}}"))[1:-1]
            if isinstance(part, str)
            else f"{{{self.expr(part.value)}{part.style}}}"
            for part in parts_of(message)
        ).join('""')

    def _print(self, stmt: ir.Print) -> None:
        if stmt.is_text:
            self.line(f'print({self._text(stmt.message)}, end="")', stmt)
        else:
            self.line(f"print({self._parts(stmt.message)})", stmt)

    def _message(self, stmt: ir.Assert | ir.Raise) -> str:
        parts = self._parts(stmt.message)
        if not stmt.is_tuple:
            return parts
        return f"({parts},)" if len(stmt.message) == 1 else f"({parts})"

    def _parts(self, message: Sequence[str | Expr]) -> str:
        return ", ".join(
            quote(item) if isinstance(item, str) else self.expr(item) for item in message
        )

    def _evaluate(self, stmt: ir.Evaluate) -> None:
        self.line(self.expr(stmt.value), stmt)

    def _break(self, stmt: ir.Break) -> None:
        self.line("break", stmt)

    def _continue(self, stmt: ir.Continue) -> None:
        self.line("continue", stmt)

    def _return(self, stmt: ir.Return) -> None:
        scalars = [self.expr(value) for value in reversed(stmt.values)]
        texts: list[str] = []
        for result in self._results:
            if isinstance(result, Buffer):
                texts.append(self._names.text(result))
            elif scalars and isinstance(result, ArrayResult) and result.place is not None:
                column = f"({scalars.pop()}, {result.place}, {result.weak})"
                texts += ["list_of()"] if result.begins_list else []
                texts[-1] = texts[-1][:-1] + (", " * (not result.begins_list)) + column + ")"
            elif scalars:
                texts.append(scalars.pop())
        texts += reversed(scalars)
        results = ", ".join(texts)
        if self._nesting is not None and texts:
            results = self._nesting.text(iter(texts))
        elif self._returns_tuple and len(texts) < 2:
            results = f"({results},)" if texts else "()"
        self.line(f"return {results}".rstrip(), stmt)

    PRINTERS: ClassVar[Mapping[type[Node], Callable[[Any, Any], None]]] = {
        ir.For: _for,
        ir.While: _while,
        ir.If: _if,
        ir.Store: _store,
        ir.Let: _let,
        ir.Allocate: _allocate,
        ir.Reserve: _reserve,
        ir.Block: _block,
        ir.Assert: _assert,
        ir.Raise: _raise,
        ir.Print: _print,
        ir.Evaluate: _evaluate,
        ir.Break: _break,
        ir.Continue: _continue,
        ir.Return: _return,
    }


def _is_bare(item: Iter) -> bool:
    """True for an iter that prints as the loop variable it is bound to."""
    return isinstance(item.value, Var) and item.domain is None


def annotation_text(annotations: ir.Annotations) -> str:
    """`annotations` as a further argument of a loop or a block."""
    if not annotations:
        return ""
    items = (
        f"{quote(name)}: {quote(value) if isinstance(value, str) else repr(value)}"
        for name, value in annotations
    )
    return f", annotations={{{', '.join(items)}}}"


def quote(text: str) -> str:
    """`text` as a Python literal in double quotes."""
    literal = repr(text)
    if literal.startswith('"'):
        return literal
    # In single quotes, every single quote inside is escaped and no double quote is.
    inner = literal[1:-1].replace("\\'", "'").replace('"', '\\"')
    return f'"{inner}"'
