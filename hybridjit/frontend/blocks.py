"""`with block(...)`: a computation with a name, and how the loops around it drive it."""

from __future__ import annotations

import ast

import numpy as np

from hybridjit.errors import ParseError
from hybridjit.frontend.arrays.refusals import count
from hybridjit.frontend.assignments import assign_name
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.loops import loop_annotations
from hybridjit.frontend.statements import nested
from hybridjit.frontend.values import Builtin, Foreign, Text, Value
from hybridjit.ir.expr import Var
from hybridjit.ir.stmt import UNBOUND, Block, Iter, IterKind, Stmt
from hybridjit.ir.visit import substitute, walk
from hybridjit.scalars.scalar import index
from hybridjit.syntax import nodes_of


def run_with(build: Builder, stmt: ast.With) -> bool:
    """A `with block(...)`."""
    call = stmt.items[0].context_expr
    callee = build.evaluate(call.func) if isinstance(call, ast.Call) else None
    if isinstance(call, ast.Call) and callee == Foreign(np.errstate):
        return _without_warnings(build, stmt, call)
    if len(stmt.items) != 1 or not isinstance(callee, Builtin) or callee.name != "block":
        raise _refuse_with(build, stmt, callee)
    assert isinstance(call, ast.Call)
    _block(build, stmt, call)
    return True


def _without_warnings(build: Builder, stmt: ast.With, call: ast.Call) -> bool:
    """`with np.errstate(...)`: no script ever warns, so there is nothing to do."""
    for keyword in call.keywords:
        if build.evaluate(keyword.value) not in (Text("ignore"), Text("warn")):
            raise build.refuse(
                f"np.errstate({ast.unparse(keyword)}) is not supported: floating-point errors "
                "give inf or nan",
                keyword.value,
                help=f"write {keyword.arg}='ignore', and test with np.isfinite(x).all()",
            )
    return build.run_block(stmt.body)


def _refuse_with(build: Builder, stmt: ast.With, callee: Value | None) -> ParseError:
    if callee == Builtin("init"):
        return build.refuse(
            "init() must be the first statement of a block with reduce iterations",
            stmt,
            help='write `with block("name", reduce(k)):` around it, k being a loop variable',
        )
    return build.refuse(
        "with is not supported, except to name a computation",
        stmt,
        help='write `with block("name"):`, or leave the with out',
    )


def _block(build: Builder, stmt: ast.With, call: ast.Call) -> None:
    name = _block_name(build, call)
    is_explicit = len(call.args) > 1 or bool(call.keywords)
    iters = _iters(build, call, stmt.items[0].optional_vars, stmt)
    around, build.unit.open_loops = build.unit.open_loops, ()
    init = _init(build, stmt.body[0]) if is_explicit else None
    body, _ = nested(build, stmt.body, 0 if init is None else 1)
    build.unit.open_loops = around
    if stmt.items[0].optional_vars is None:
        # The short form: inside the block, the name of a loop means the block's iteration.
        inside = {it.value: it.var for it in iters if isinstance(it.value, Var)}
        body = substitute(body, inside)
        init = None if init is None else substitute(init, inside)
    hints = loop_annotations(build, call) if is_explicit else ((UNBOUND, True),)
    block = Block(name, iters, body, init, hints, span=build.span(stmt))
    if is_explicit:
        _check_sees(build, block, stmt)
    build.emit(block)


def _check_sees(build: Builder, block: Block, stmt: ast.With) -> None:
    """Refuse a block that uses a loop around it which is none of its iterations."""
    parts = [block.body] if block.init is None else [block.init, block.body]
    used = {node for part in parts for node in walk(part) if isinstance(node, Var)}
    for var in build.unit.open_loops:
        if var in used:
            nodes = (node for inner in stmt.body for node in nodes_of(inner))
            places = [n for n in nodes if isinstance(n, ast.Name) and n.id == var.name]
            raise build.refuse(
                f"block '{block.name}' uses the loop variable '{var.name}', which is none of "
                "its iterations",
                places[0] if places else stmt,
                help=f"add it to the iterations: spatial({var.name}) or reduce({var.name})",
            )


def _init(build: Builder, stmt: ast.stmt) -> Stmt | None:
    match stmt:
        case ast.With(items=[ast.withitem(context_expr=ast.Call() as call)], body=body):
            is_init = build.evaluate(call.func) == Builtin("init")
            return nested(build, body)[0] if is_init else None
        case _:
            return None


def _block_name(build: Builder, call: ast.Call) -> str:
    value = build.evaluate(call.args[0]) if call.args else None
    if not isinstance(value, Text) or not value.text.isidentifier():
        raise build.refuse(
            "a block needs a name made of letters, digits and _",
            call,
            help='write it as in block("name")',
        )
    return value.text


def _iters(
    build: Builder, call: ast.Call, names: ast.expr | None, stmt: ast.With
) -> tuple[Iter, ...]:
    keywords = [keyword for keyword in call.keywords if keyword.arg != "annotations"]
    if keywords:
        _check_no_iters(build, call, keywords)
        return ()
    nodes = call.args[1:]
    targets: list[ast.Name | None] = [None] * len(nodes)
    if names is not None:
        found = names.elts if isinstance(names, ast.Tuple) else [names]
        targets = [target for target in found if isinstance(target, ast.Name)]
        if len(targets) != len(nodes):
            raise build.refuse(
                f"a block needs one name for each iteration, found "
                f"{count(len(found), 'name')} for {count(len(nodes), 'iteration')}",
                names,
                help='write it as in `with block("name", spatial(i)) as x:`',
            )
    return tuple(
        _iter(build, node, target, stmt) for node, target in zip(nodes, targets, strict=True)
    )


def _check_no_iters(build: Builder, call: ast.Call, keywords: list[ast.keyword]) -> None:
    match call.args, keywords:
        case [_], [ast.keyword(arg="iters", value=ast.Tuple(elts=[]))]:
            return
        case _:
            raise build.refuse(
                "a block takes its name and its iterations, nothing else",
                call,
                help='write it as in block("name", spatial(i), reduce(k))',
            )


def _iter(build: Builder, node: ast.expr, target: ast.Name | None, stmt: ast.With) -> Iter:
    kind, args = IterKind.SPATIAL, [node]
    if isinstance(node, ast.Call):
        callee = build.evaluate(node.func)
        words = {kind.value: kind for kind in IterKind}
        if isinstance(callee, Builtin) and callee.name in words:
            kind, args = words[callee.name], node.args
    values = [build.index(arg, "an iteration of a block") for arg in args]
    match values:
        case [Var() as value] if value in build.unit.open_loops:
            domain = None
        case [Var(name=name)]:
            raise build.refuse(
                f"'{name}' is not the variable of a loop between this block and the next one "
                "around it",
                node,
                help=f"leave it out: the block can use {name} as it is",
            )
        case [Var(name=name) as value, _, _] if value in build.unit.open_loops:
            raise build.refuse(
                f"the loop variable '{name}' brings its own range",
                node,
                help=f"leave the range out: {kind.value}({name})",
            )
        case [value, start, stop] if target is not None:
            domain = (start, stop)
        case _:
            raise build.refuse(
                "an iteration of a block is a loop variable, or a value with its range",
                node,
                help='name the value, as in `with block("name", spatial(i + 1, 0, 9)) as x:`',
            )
    name = target.id if target is not None else ast.unparse(args[0])
    var = Var(name, span=build.span(node))
    if target is not None:
        assign_name(build, target, index(var), stmt)
    return Iter(var, value, kind, domain, span=build.span(node))
