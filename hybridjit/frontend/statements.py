"""Statements of the source, translated to statements of the IR."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hybridjit.errors import HybridError
from hybridjit.frontend.arrays import refuse_array_expression
from hybridjit.frontend.calls import CallTranslator
from hybridjit.frontend.conversion import convert, store_value, truth
from hybridjit.frontend.frame import LoopScope, Pending, Skip, Variable
from hybridjit.frontend.operators import BINARY, binary, logical_not
from hybridjit.frontend.refusals import refusal
from hybridjit.frontend.values import (
    Array,
    Builtin,
    ElementType,
    Foreign,
    Items,
    PythonType,
    Scalar,
    Text,
    Value,
    describe,
)
from hybridjit.frontend.variables import Web, bound_names
from hybridjit.ir.dtype import BOOL, DTYPES, WEAK_BOOL, ScalarType
from hybridjit.ir.expr import Const, Expr, Load
from hybridjit.ir.stmt import (
    RAISABLE,
    Assert,
    Break,
    Continue,
    If,
    LoopKind,
    Print,
    Raise,
    Stmt,
    Store,
    While,
)

Message = tuple[str | Expr, ...]


class StatementTranslator(CallTranslator):
    """Assignments, branches, `while`, and everything that is a line of its own.

    Each `run_*` returns whether the statement can be followed by another: a `return` cannot.
    """

    def run_block(self, body: Sequence[ast.stmt], first: int = 0) -> bool:
        for position, stmt in enumerate(body):
            if position < first:
                continue
            for web in self.frame.variables.mutable_at(body, position):
                self._declare(web, stmt)
            if not self._guarded(stmt):
                return False
        return True

    def nested(self, body: Sequence[ast.stmt], first: int = 0) -> tuple[Stmt, bool]:
        """A block inside another statement, and whether its end can be reached."""
        with self.collect() as stmts:
            self.depth += 1
            goes_on = self.run_block(body, first)
            self.depth -= 1
            return self.close(stmts), goes_on

    def _guarded(self, stmt: ast.stmt) -> bool:
        """Run a statement; one that fails is noted, and what it would have assigned is poisoned."""
        loops, depth = len(self.frame.loops), self.depth
        try:
            return self.run_statement(stmt)
        except HybridError as error:
            self.unit.errors.append(error)
        except Skip:
            self.unit.skipped += 1
        del self.frame.loops[loops:]
        self.depth = depth
        for name in bound_names([stmt]):
            web = self.frame.variables.writes.get(name)
            if web is not None:
                self.frame.poisoned.add(web)
        return not isinstance(stmt, (ast.Return, ast.Raise))

    def run_statement(self, stmt: ast.stmt) -> bool:
        match stmt:
            case ast.Assign():
                self._assign(stmt)
            case ast.AugAssign():
                self._augmented(stmt)
            case ast.AnnAssign():
                self._annotated(stmt)
            case ast.Expr():
                self._expression(stmt)
            case ast.Assert():
                self._assert(stmt)
            case ast.Pass():
                pass
            case ast.If():
                return self._if(stmt)
            case ast.While():
                return self._while(stmt)
            case ast.For():
                return self.run_for(stmt)
            case ast.With():
                return self.run_with(stmt)
            case ast.Raise():
                return self._raise(stmt)
            case ast.Break() | ast.Continue():
                return self._leave(stmt)
            case ast.Return():
                self.run_return(stmt)
                return False
            case _:
                raise refusal(stmt, self.span(stmt))
        return True

    # Provided by the layers above.

    def run_for(self, stmt: ast.For) -> bool:
        raise NotImplementedError

    def run_with(self, stmt: ast.With) -> bool:
        raise NotImplementedError

    def run_return(self, stmt: ast.Return) -> None:
        raise NotImplementedError

    # -- variables -----------------------------------------------------------------------------

    def _declare(self, web: Web, stmt: ast.stmt) -> None:
        """Make the mutable variable of `web`, which lives from here to the end of the block."""
        variable = Variable((self.frame.path, web), web.name, self._annotated_type(web.name))
        self.frame.bindings[web] = variable
        self.emit(Pending(variable=variable, span=self.span(stmt)))
        for definition in web.definitions:
            value = self.frame.fixed.get(definition.node)
            if not isinstance(definition.node, ast.arg) or value is None:
                continue
            if isinstance(value, Scalar):
                self.assign_variable(variable, value, self.span(definition.node))
            else:
                self.frame.bindings[web] = value

    def _annotated_type(self, name: str) -> ScalarType | None:
        annotation = self.frame.annotations.get(name)
        return None if annotation is None else self.type_in(annotation)

    def type_in(self, annotation: ast.expr) -> ScalarType | None:
        """The scalar type that an annotation names, or None if it means nothing to the language."""
        if isinstance(annotation, ast.Constant) and annotation.value in DTYPES:
            return ScalarType(DTYPES[annotation.value])
        captures = len(self.unit.captures)
        try:
            value = self.evaluate(annotation)
        except (HybridError, Skip):
            del self.unit.captures[captures:]
            return None
        match value:
            case ElementType(dtype):
                return ScalarType(dtype)
            case PythonType(type):
                return type
            case _:
                return None

    # -- assignment ----------------------------------------------------------------------------

    def _assign(self, stmt: ast.Assign) -> None:
        value = self._right_hand_side(stmt.targets[0], stmt.value)
        if len(stmt.targets) > 1:
            value = self._frozen(value, "t", stmt)
        for target in stmt.targets:
            self._assign_to(target, value, stmt)

    def _right_hand_side(self, target: ast.expr, value: ast.expr) -> Value:
        self.hint = target.id if isinstance(target, ast.Name) else None
        try:
            return self.evaluate(value)
        finally:
            self.hint = None

    def _assign_to(self, target: ast.expr, value: Value, stmt: ast.stmt) -> None:
        match target:
            case ast.Name():
                self.assign_name(target, value, stmt)
            case ast.Subscript():
                self._store(target, value, stmt)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                self._unpack(elts, value, stmt)
            case ast.Attribute():
                raise self.refuse(
                    f"cannot assign to the attribute '{target.attr}'",
                    target,
                    help="write to the elements of an array",
                )
            case _:
                raise refusal(target, self.span(target))

    def _unpack(self, targets: Sequence[ast.expr], value: Value, stmt: ast.stmt) -> None:
        if not isinstance(value, Items):
            raise self.mismatch(f"cannot unpack {describe(value)}", stmt)
        if len(value.items) != len(targets):
            raise self.mismatch(
                f"cannot unpack {len(value.items)} values into {len(targets)} names", stmt
            )
        # The whole right side is computed before any target changes: `x, y = y, x`.
        frozen = self._frozen(value, "t", stmt)
        assert isinstance(frozen, Items)
        for target, item in zip(targets, frozen.items, strict=True):
            self._assign_to(target, item, stmt)

    def _frozen(self, value: Value, name: str, stmt: ast.stmt) -> Value:
        """`value` as it is now, whatever is stored afterwards."""
        span = self.span(stmt)
        match value:
            case Scalar():
                return self.let(value, name, span)
            case Items(items):
                return Items(tuple(self._frozen(item, name, stmt) for item in items))
            case Array(buffer, indices) if indices:
                kept = (self.let(Scalar(i, ScalarType(i.dtype)), name, span).expr for i in indices)
                return Array(buffer, tuple(kept))
            case _:
                return value

    def assign_name(self, target: ast.Name, value: Value, stmt: ast.stmt) -> None:
        web = self.frame.variables.writes[target]
        bound = self.frame.bindings.get(web)
        span = self.span(stmt)
        if isinstance(bound, Variable) and isinstance(value, Scalar):
            self.assign_variable(bound, value, span)
            return
        if web.is_mutable:
            self._rebind(web, value, target)
            return
        if isinstance(value, Scalar):
            declared = self._annotated_type(target.id)
            if declared is not None and not declared.weak:
                value = Scalar(store_value(value, declared.dtype, span), declared)
        self.frame.bindings[web] = self._frozen(value, target.id, stmt)

    def _rebind(self, web: Web, value: Value, target: ast.Name) -> None:
        """A name that several assignments share can hold an array only if it is always the same."""
        bound = self.frame.bindings.get(web)
        is_unused = isinstance(bound, Variable) and bound.buffer is None
        if bound is None or is_unused or bound == value:
            self.frame.bindings[web] = value
            return
        other = "a number" if isinstance(bound, Variable) else describe(bound)
        raise self.refuse(
            f"'{target.id}' stands for {other}, and cannot become {describe(value)} here",
            target,
            help="use another name; to swap two arrays, give one array a leading dimension of 2 "
            "and index it with t % 2",
        )

    def _store(self, target: ast.Subscript, value: Value, stmt: ast.stmt) -> None:
        if isinstance(value, Array):
            raise refuse_array_expression(value, target, self.span(stmt))
        # Python computes the right side first, then finds the element.
        value, part = self.then(self.as_scalar(value, stmt), lambda: self._element(target))
        stored = store_value(self.as_scalar(value, stmt), part.buffer.dtype, self.span(stmt))
        self.emit(Store(part.buffer, part.indices, stored, span=self.span(stmt)))

    def _element(self, target: ast.Subscript) -> Array:
        """Evaluate the subscript that is assigned to; it must be one element."""
        owner = self.evaluate(target.value)
        if not isinstance(owner, Array):
            raise self.mismatch(f"cannot assign to an item of {describe(owner)}", target)
        if any(constant.buffer is owner.buffer for constant in self.unit.constants.values()):
            raise self.mismatch(
                f"'{owner.buffer.name}' is a constant of the script and cannot be written to",
                target,
                help="pass the array as an argument, or copy it into one from allocate(...)",
            )
        part = self.subscript_array(owner, target)
        if part.shape:
            raise refuse_array_expression(part, target, self.span(target))
        return part

    def _augmented(self, stmt: ast.AugAssign) -> None:
        op = BINARY.get(type(stmt.op))
        if op is None:
            raise refusal(stmt.op, self.span(stmt))
        if isinstance(stmt.target, ast.Name):
            current = self.read_name(stmt.target)
            if isinstance(current, Array):
                raise refuse_array_expression(current, stmt.target, self.span(stmt.target))
            current, operand = self.then(current, lambda: self.operand(stmt.value))
            old = self.as_scalar(current, stmt.target)
            self.assign_name(stmt.target, binary(op, old, operand, self.span(stmt)), stmt)
        elif isinstance(stmt.target, ast.Subscript):
            self._augmented_element(stmt, stmt.target)
        else:
            raise self.refuse("cannot update this in place", stmt.target)

    def _augmented_element(self, stmt: ast.AugAssign, target: ast.Subscript) -> None:
        part = self._element(target)
        with self.collect() as needed:
            operand = self.operand(stmt.value)
        if needed:  # the element is found before the right side runs
            frozen = self._frozen(part, "t", stmt)
            assert isinstance(frozen, Array)
            part = frozen
        element = Load(part.buffer, part.indices, span=self.span(target))
        old = Scalar(element, ScalarType(part.buffer.dtype))
        if needed:
            old = self.let(old, "t", self.span(target))
            self.body.extend(needed)
        new = binary(BINARY[type(stmt.op)], old, operand, self.span(stmt))
        value = store_value(new, part.buffer.dtype, self.span(stmt))
        self.emit(Store(part.buffer, part.indices, value, span=self.span(stmt)))

    def _annotated(self, stmt: ast.AnnAssign) -> None:
        if not isinstance(stmt.target, ast.Name):
            raise self.refuse("only names can be annotated", stmt.target)
        if stmt.value is not None:
            value = self._right_hand_side(stmt.target, stmt.value)
            self._assign_to(stmt.target, value, stmt)
            return
        declared = self.type_in(stmt.annotation)
        if declared is None:
            raise self.mismatch(
                f"'{stmt.target.id}' needs a type the language knows",
                stmt.annotation,
                help="write a scalar type, as in x: float32",
            )

    # -- control -------------------------------------------------------------------------------

    def _if(self, stmt: ast.If) -> bool:
        cond = self.condition(stmt.test)
        seen = self.unit.branches.setdefault(stmt, set())
        if isinstance(cond, Const):
            seen.add(bool(cond.value))
            return self.run_block(stmt.body if cond.value else stmt.orelse)
        seen.add(None)
        then, then_goes_on = self.nested(stmt.body)
        otherwise, otherwise_goes_on = self.nested(stmt.orelse)
        span = self.span(stmt)
        self.emit(If(cond, then, otherwise if stmt.orelse else None, span=span))
        return then_goes_on or otherwise_goes_on

    def _while(self, stmt: ast.While) -> bool:
        if stmt.orelse:
            raise self.refuse(
                "while ... else is not supported", stmt.orelse[0], help="set a flag before break"
            )
        value, needed = self.lazily(stmt.test)
        span = self.span(stmt)
        test = truth(value, self.span(stmt.test))
        if isinstance(test, Const) and not test.value:
            return True
        with self.collect() as stmts:
            self.frame.loops.append(LoopScope(None, "while"))
            self.depth += 1
            if needed:
                self.body.extend(needed)
                stop = logical_not(Scalar(test, WEAK_BOOL), span).expr
                self.emit(If(stop, Break(span=span), span=span))
                test = Const(True, BOOL, span=span)
            self.run_block(stmt.body)
            self.depth -= 1
            self.frame.loops.pop()
            body = self.close(stmts)
        self.emit(While(test, body, span=span))
        return not isinstance(test, Const) or bool(needed) or has_break(stmt.body)

    def _leave(self, stmt: ast.Break | ast.Continue) -> bool:
        word = "break" if isinstance(stmt, ast.Break) else "continue"
        if not self.frame.loops:
            raise self.refuse(f"{word} outside a loop", stmt)
        loop = self.frame.loops[-1]
        if loop.is_expanded:
            raise self.refuse(
                f"{word} inside a loop that is expanded while the script is read",
                stmt,
                help="use range(...), or put the rest of the body under an if",
            )
        if word == "break" and loop.is_grid:
            raise self.refuse(
                "break would have to leave all the loops of grid(...)",
                stmt,
                help="write the loops out with range(...)",
            )
        if word == "break" and loop.kind in (LoopKind.PARALLEL, LoopKind.VECTORIZED):
            raise self.refuse(
                f"break in a {loop.word} loop: its iterations have no order",
                stmt,
                help="use range(...)",
            )
        self.emit((Break if word == "break" else Continue)(span=self.span(stmt)))
        return False

    # -- messages ------------------------------------------------------------------------------

    def _expression(self, stmt: ast.Expr) -> None:
        value = stmt.value
        if isinstance(value, ast.Constant) and (value.value is ... or isinstance(value.value, str)):
            return
        if not isinstance(value, ast.Call):
            self.evaluate(value)  # an error inside it is the better message
            raise self.refuse(
                "this expression has no effect", value, help="assign it to a name, or remove it"
            )
        if self.evaluate_callee(value) == Builtin("print"):
            self._print_statement(value)
            return
        before = len(self.body)
        self.evaluate(value)
        if len(self.body) == before:
            raise self.refuse(
                "the result of this call is not used", value, help="assign it to a name"
            )

    def evaluate_callee(self, node: ast.Call) -> Value | None:
        return self.evaluate(node.func) if isinstance(node.func, ast.Name) else None

    def _print_statement(self, node: ast.Call) -> None:
        if node.keywords:
            raise self.refuse(
                f"print(..., {node.keywords[0].arg}=) is not supported", node.keywords[0].value
            )
        parts = self._message(node.args)
        self.emit(Print(parts, span=self.span(node)))

    def _message(self, nodes: Sequence[ast.expr]) -> Message:
        parts: list[str | Expr] = []
        for node, value in zip(nodes, self.evaluate_all(nodes), strict=True):
            for item in value.items if isinstance(value, Items) else (value,):
                if isinstance(item, Text):
                    parts.append(item.text)
                elif isinstance(item, Array):
                    raise refuse_array_expression(item, node, self.span(node))
                else:
                    scalar = self.as_scalar(item, node, "a string or a number")
                    parts.append(convert(scalar, scalar.type.dtype, self.span(node)))
        return tuple(parts)

    def _assert(self, stmt: ast.Assert) -> None:
        cond = self.condition(stmt.test)
        span = self.span(stmt)
        with self.collect() as needed:
            message = () if stmt.msg is None else self._message([stmt.msg])
        if isinstance(cond, Const) and cond.value:
            return
        if not needed and not isinstance(cond, Const):
            self.emit(Assert(cond, message, span=span))
            return
        failure = self.close([*needed, Raise("AssertionError", message, span=span)])
        if isinstance(cond, Const):
            self.emit(failure)
        else:
            self.emit(If(logical_not(Scalar(cond, WEAK_BOOL), span).expr, failure, span=span))

    def _raise(self, stmt: ast.Raise) -> bool:
        if stmt.exc is None or stmt.cause is not None:
            raise self.refuse(
                "only `raise Error(...)` is supported", stmt, help='write raise ValueError("...")'
            )
        call = stmt.exc
        kind, args = (call.func, call.args) if isinstance(call, ast.Call) else (call, [])
        value = self.evaluate(kind)
        name = value.value.__name__ if _is_raisable(value) else None
        if name is None:
            raise self.refuse(
                f"cannot raise {describe(value)} from a script",
                kind,
                help=f"raise one of {', '.join(RAISABLE)}",
            )
        self.emit(Raise(name, self._message(args), span=self.span(stmt)))
        return False


def _is_raisable(value: Value) -> bool:
    if not isinstance(value, Foreign) or not isinstance(value.value, type):
        return False
    return value.value.__module__ == "builtins" and value.value.__name__ in RAISABLE


def has_break(body: Sequence[ast.stmt]) -> bool:
    """True if a `break` in `body` leaves the loop that `body` belongs to."""
    stack: list[ast.AST] = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Break):
            return True
        if not isinstance(node, (ast.For, ast.While)):
            stack.extend(ast.iter_child_nodes(node))
    return False
