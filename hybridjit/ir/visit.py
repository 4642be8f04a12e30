"""Traversal and rewriting: two styles, no third.

Stateless: `rewrite(root, rule)`, children first. With scoped state: subclass `Mutator`. Both rest
on `map_children`, which returns the same object when nothing changed, so that "did this pass do
anything" is `is`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from operator import is_not
from typing import Any, ClassVar, TypeVar

from hybridjit.ir import expr as _expr
from hybridjit.ir import stmt as _stmt
from hybridjit.ir.expr import Buffer, Expr, Load, Node, Var
from hybridjit.ir.stmt import Seq, Stmt, seq

N = TypeVar("N", bound=Node)

NODE_CLASSES: dict[str, type[Node]] = {
    name: cls
    for module in (_expr, _stmt)
    for name, cls in vars(module).items()
    if isinstance(cls, type) and issubclass(cls, Node)
}

# A field annotated exactly `Var` or `Buffer` is a binder or a reference, not a child.
_SCALAR_CHILD = {"Expr", "Stmt", "Expr | None", "Stmt | None"}
_TUPLE_CHILD = {
    "tuple[Expr, ...]",
    "tuple[Stmt, ...]",
    "tuple[Iter, ...]",
    "tuple[Expr, Expr] | None",
    "tuple[str | Expr, ...]",
    "tuple[Expr | None, ...]",
}


Fields = tuple[tuple[str, bool], ...]  # names, each with whether there is a tuple of them


def _child_fields(cls: type[Node]) -> Fields:
    """The fields of `cls` that hold children."""
    return tuple(
        (field.name, field.type in _TUPLE_CHILD)
        for field in dataclasses.fields(cls)
        if field.type in _SCALAR_CHILD or field.type in _TUPLE_CHILD
    )


def _stmt_fields(cls: type[Node]) -> Fields:
    """The fields of `cls` that hold statements."""
    types = {field.name: str(field.type) for field in dataclasses.fields(cls)}
    return tuple(found for found in _child_fields(cls) if "Stmt" in types[found[0]])


class _ByClass(dict[type[Node], Fields]):
    """Fields of the classes of nodes that were met: most of what a compiler does begins here."""

    def __init__(self, fields_of: Callable[[type[Node]], Fields]) -> None:
        self._fields_of = fields_of

    def __missing__(self, cls: type[Node]) -> Fields:
        self[cls] = fields = self._fields_of(cls)
        return fields


_CHILDREN = _ByClass(_child_fields)
# The last one first, as a stack takes them.
_CHILDREN_FROM_LAST = _ByClass(lambda cls: _child_fields(cls)[::-1])
_STMTS_FROM_LAST = _ByClass(lambda cls: _stmt_fields(cls)[::-1])


def children(node: Node) -> Iterator[Node]:
    """The direct children of `node`, in order of evaluation in the text."""
    for name, is_tuple in _CHILDREN[type(node)]:
        value = getattr(node, name)
        if is_tuple:
            for item in value or ():
                if isinstance(item, Node):
                    yield item
        elif isinstance(value, Node):
            yield value


def walk(node: Node) -> Iterator[Node]:
    """`node` and everything below it, parents before children, without recursion."""
    fields, stack = _CHILDREN_FROM_LAST, [node]
    pop, push = stack.pop, stack.append
    while stack:
        node = pop()
        yield node
        for name, is_tuple in fields[type(node)]:
            value = getattr(node, name)
            if not is_tuple:
                if value is not None:
                    push(value)
            elif value:
                for item in value[::-1]:
                    if isinstance(item, Node):
                        push(item)


def walk_stmts(stmt: Stmt) -> Iterator[Stmt]:
    """`stmt` and the statements below it, in the order of the text; expressions are left out."""
    fields, stack = _STMTS_FROM_LAST, [stmt]
    pop, push = stack.pop, stack.append
    while stack:
        stmt = pop()
        yield stmt
        for name, is_tuple in fields[type(stmt)]:
            value = getattr(stmt, name)
            if is_tuple:
                stack.extend(value[::-1])
            elif value is not None:
                push(value)


def map_children(node: N, function: Callable[[Any], Any]) -> N:
    """`node` with `function` applied to each child; the same object if no child changed."""
    changes: dict[str, Any] = {}
    for name, is_tuple in _CHILDREN[type(node)]:
        old = getattr(node, name)
        if not is_tuple:
            if old is not None and (new := function(old)) is not old:
                changes[name] = new
        elif old:
            new = tuple([function(item) if isinstance(item, Node) else item for item in old])
            if any(map(is_not, old, new)):
                changes[name] = new
    return dataclasses.replace(node, **changes) if changes else node


def rewrite(root: N, rule: Callable[[Node], Node | None]) -> N:
    """`root` with `rule` applied to every node, children first. None from a rule means keep."""

    def visit(node: Node) -> Node:
        node = map_children(node, visit)
        replacement = rule(node)
        return node if replacement is None else replacement

    return visit(root)  # type: ignore[return-value]


class Mutator:
    """A rewriting pass with state. Define `rewrite_<Node>(self, node)` for the nodes you handle.

    A handler receives the node with its children not yet rewritten and calls `self.generic(node)`
    to rewrite them. A handler for a node class that does not exist fails when the class is made.
    A statement that becomes several, or none, joins its neighbours.
    """

    # By the classes of nodes that were met.
    _handlers: ClassVar[dict[type[Node], str]] = {}

    def __init_subclass__(cls) -> None:
        for name in vars(cls):
            if name.startswith("rewrite_") and name.removeprefix("rewrite_") not in NODE_CLASSES:
                raise TypeError(f"{cls.__name__}.{name}: there is no such node class")
        cls._handlers = {}

    @classmethod
    def _find_handler(cls, node_class: type[Node]) -> str:
        """The most specific handler, in whatever order they were defined, or else `generic`."""
        names = (f"rewrite_{ancestor.__name__}" for ancestor in node_class.__mro__)
        return next((name for name in names if hasattr(cls, name)), "generic")

    def rewrite(self, node: N) -> N:
        """`node` rewritten: by its handler, or else by rewriting its children."""
        name = self._handlers.get(type(node))
        if name is None:
            name = self._handlers[type(node)] = self._find_handler(type(node))
        return getattr(self, name)(node)

    def generic(self, node: N) -> N:
        """`node` with its children rewritten."""
        return map_children(node, self.rewrite)

    def rewrite_Seq(self, node: Seq) -> Stmt:
        rewritten = self.generic(node)
        return rewritten if rewritten is node else seq(*rewritten.stmts)


class StmtMutator(Mutator):
    """A pass over statements alone: it does not look into expressions."""

    def rewrite_Expr(self, node: Expr) -> Expr:
        return node


class Substitute(Mutator):
    """Replace variables by expressions, and buffers by buffers, everywhere."""

    def __init__(
        self, variables: Mapping[Var, Expr], buffers: Mapping[Buffer, Buffer] | None = None
    ) -> None:
        self.variables = dict(variables)
        self.buffers = dict(buffers or {})

    def rewrite_Var(self, node: Var) -> Expr:
        return self.variables.get(node, node)

    def rewrite_Load(self, node: Load) -> Expr:
        return self._with_buffer(self.generic(node))

    def rewrite_BufferRef(self, node: _expr.BufferRef) -> Expr:
        return self._with_buffer(self.generic(node))

    def rewrite_Store(self, node: _stmt.Store) -> Stmt:
        return self._with_buffer(self.generic(node))

    def rewrite_Allocate(self, node: _stmt.Allocate) -> Stmt:
        shape = tuple(self.rewrite(extent) for extent in node.buffer.shape)
        if any(new is not old for new, old in zip(shape, node.buffer.shape, strict=True)):
            # The shape mentions a replaced variable: a buffer is its identity, so make a new one.
            self.buffers[node.buffer] = dataclasses.replace(node.buffer, shape=shape)
        return self._with_buffer(node)

    def _with_buffer(self, node: Any) -> Any:
        buffer = self.buffers.get(node.buffer)
        return node if buffer is None else dataclasses.replace(node, buffer=buffer)


def substitute(
    root: N, variables: Mapping[Var, Expr], buffers: Mapping[Buffer, Buffer] | None = None
) -> N:
    """`root` with variables replaced by expressions and buffers by buffers."""
    return Substitute(variables, buffers).rewrite(root)


class FreshCopy(Substitute):
    """Rename every binder on the way, so that the copy may stand beside the original.

    Statements of one `Seq` may be copied one after the other: names stay as they are given.
    """

    def generic(self, node: N) -> N:
        made = super().generic(node)
        # A statement is found by identity: none stands in two places.
        return dataclasses.replace(made) if made is node and isinstance(node, Stmt) else made

    def rewrite_For(self, node: _stmt.For) -> Stmt:
        return dataclasses.replace(self.generic(self._rebind(node)), var=self._name(node.var))

    def rewrite_Let(self, node: _stmt.Let) -> Stmt:
        value = self.rewrite(node.value)
        return dataclasses.replace(self._rebind(node), value=value, var=self._name(node.var))

    def rewrite_Iter(self, node: _stmt.Iter) -> Node:
        node_copy = self.generic(node)
        return dataclasses.replace(self._rebind(node_copy), var=self._name(node.var))

    def rewrite_Allocate(self, node: _stmt.Allocate) -> Stmt:
        shape = tuple(self.rewrite(extent) for extent in node.buffer.shape)
        self.buffers[node.buffer] = dataclasses.replace(node.buffer, shape=shape)
        return self._with_buffer(node)

    def _rebind(self, node: Any) -> Any:
        self.variables[node.var] = Var(node.var.name, node.var.of)
        return node

    def _name(self, var: Var) -> Var:
        fresh = self.variables[var]
        assert isinstance(fresh, Var)
        return fresh


def fresh_copy(stmt: Stmt) -> Stmt:
    """A copy of `stmt` in which everything it binds is new, for primitives that duplicate code."""
    return FreshCopy({}).rewrite(stmt)
