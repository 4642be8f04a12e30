"""Assignments: to names, to elements of arrays, and to several targets at once."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hybridjit.arith.ranges import ZERO, constant
from hybridjit.errors import HybridError, ParseError
from hybridjit.frontend.arrays.names import ArrayNames
from hybridjit.frontend.arrays.refusals import count, element_of, refuse_whole
from hybridjit.frontend.arrays.stores import Target
from hybridjit.frontend.conversion import store_value
from hybridjit.frontend.frame import Pending, Skip, Variable
from hybridjit.frontend.operators import BINARY, binary
from hybridjit.frontend.refusals import refusal
from hybridjit.frontend.suggest import did_you_mean
from hybridjit.frontend.values import (
    AnyArray,
    Array,
    ArrayExpr,
    ElementType,
    Items,
    Place,
    PythonType,
    Scalar,
    Value,
    View,
    describe,
)
from hybridjit.frontend.variables import Web
from hybridjit.ir.dtype import DTYPES, ScalarType
from hybridjit.ir.expr import Buffer, Const, Load
from hybridjit.ir.stmt import Store


class AssignmentTranslator(ArrayNames):
    """What changes a variable or an element."""

    def declare(self, web: Web, stmt: ast.stmt) -> None:
        """Make the mutable variable of `web`, which lives from here to the end of the block."""
        variable = Variable((self.frame.path, web), web.name, self._annotated_type(web.name))
        self.frame.bindings[web] = variable
        variable.block = self.body
        self.homes[self.frame.path, web] = self.body
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
        try:
            value = self.evaluate(annotation)
        except (HybridError, Skip):
            return None
        match value:
            case ElementType(dtype):
                return ScalarType(dtype)
            case PythonType(type):
                return type
            case _:
                return None

    def assign(self, stmt: ast.Assign) -> None:
        """`x = value`, `a[i] = value`, `x, y = values`, `x = y = value`."""
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
                raise self._refuse_attribute(target)
            case _:
                raise refusal(target, self.span(target))

    def _unpack(self, targets: Sequence[ast.expr], value: Value, stmt: ast.stmt) -> None:
        node, names = _value_node(stmt), count(len(targets), "name")
        if isinstance(value, AnyArray) and value.shape and constant(value.shape[0]) is not None:
            value = Items(tuple(self.rows_of(value, node)))
        if not isinstance(value, Items):
            raise self.mismatch(
                f"cannot unpack {describe(value)} into {names}",
                node,
                help=f"assign one element at a time, as in x = {element_of(value)}"
                if isinstance(value, Array)
                else "give a value for each name, as in x, y = 1.0, 2.0",
            )
        targets, value = self._spread_out(targets, value)
        if len(value.items) != len(targets):
            raise self.mismatch(
                f"cannot unpack {count(len(value.items), 'value')} into {names}",
                node,
                help="give as many values as there are names",
            )
        # The whole right side is computed before any target changes: `x, y = y, x`.
        frozen = self._frozen(value, "t", stmt)
        assert isinstance(frozen, Items)
        for target, item in zip(targets, frozen.items, strict=True):
            self._assign_to(target, item, stmt)

    def _spread_out(
        self, targets: Sequence[ast.expr], value: Items
    ) -> tuple[Sequence[ast.expr], Items]:
        """Targets and values with `*rest` as one name for all the values that are left over."""
        starred = [k for k, target in enumerate(targets) if isinstance(target, ast.Starred)]
        left_over = len(value.items) - len(targets) + 1
        if len(starred) != 1 or left_over < 0:
            return targets, value
        first, last = starred[0], starred[0] + left_over
        rest, star = Items(value.items[first:last]), targets[first]
        assert isinstance(star, ast.Starred)
        items = (*value.items[:first], rest, *value.items[last:])
        return [*targets[:first], star.value, *targets[first + 1 :]], Items(items)

    def rows_of(self, value: AnyArray, node: ast.AST) -> list[Value]:
        """The elements or rows of an array whose length is known now."""
        size = constant(value.shape[0])
        assert size is not None
        rest = tuple(Place(ZERO, 1, axis) for axis in range(len(value.shape) - 1))
        places = [(Place(Const(k)), *rest) for k in range(size)]
        rows = [self.shown(value, place, value.shape[1:], node) for place in places]
        return [self.element_or_part(row, node) for row in rows]

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
            case ArrayExpr():
                return self.named(value, name, stmt)
            case _:
                return value

    def assign_name(self, target: ast.Name, value: Value, stmt: ast.stmt) -> None:
        """Give a name its value: a plain value, or a store to its variable."""
        web = self.frame.variables.writes[target]
        bound = self.frame.bindings.get(web)
        span = self.span(stmt)
        if isinstance(bound, Variable) and isinstance(value, Scalar):
            self.assign_variable(bound, value, span)
            return
        if web.is_mutable and isinstance(value, ArrayExpr):
            self.assign_array(web, value, target)
            return
        if web.is_mutable:
            self.rebind(web, value, target)
            return
        if isinstance(value, Scalar):
            declared = self._annotated_type(target.id)
            if declared is not None and not declared.weak:
                value = Scalar(store_value(value, declared.dtype, span), declared)
        self.frame.bindings[web] = self._frozen(value, target.id, stmt)

    def _keep_array(self, target: ast.Name, value: Array | View) -> None:
        """After `a += b` on an array, the name still stands for it."""
        web = self.frame.variables.writes[target]
        if web.is_mutable:
            self.rebind(web, value, target)
        else:
            self.frame.bindings[web] = value

    def _store(self, target: ast.Subscript, value: Value, stmt: ast.stmt) -> None:
        node = _value_node(stmt)
        if isinstance(value, Items):
            self._store_items(target, value, stmt)
            return
        if not isinstance(value, AnyArray):
            value = self.as_scalar(value, node)
        # Python computes the right side first, then finds the element.
        value, part = self.then(value, lambda: self._target(target))
        if part.shape or part.mask is not None:
            self.store_values(part, value, stmt)
            return
        if isinstance(value, AnyArray):
            raise refuse_whole(value, stmt, self.span(node))
        self.emit(self._element_store(part, self.as_scalar(value, node), target, node))

    def _store_items(self, target: ast.Subscript, value: Items, stmt: ast.stmt) -> None:
        """`a[i:j] = x, y`: each number is converted to the type of the array by itself."""
        node = _value_node(stmt)
        kept = self._frozen(value, "t", stmt)
        part = self._target(target)
        if not part.shape and part.mask is None:
            self.as_scalar(value, node)  # refuses it
        stored = self._stored_items(kept, part.buffer, node)
        self.store_values(part, self.array_of_items(stored, target), stmt)

    def _stored_items(self, value: Value, stored: Buffer, node: ast.AST) -> Value:
        match value:
            case Scalar():
                number = store_value(value, stored.dtype, self.span(node))
                return Scalar(number, ScalarType(stored.dtype))
            case Items(items):
                return Items(tuple(self._stored_items(item, stored, node) for item in items))
            case Array(buffer) | View(buffer) | ArrayExpr(shown=buffer) if buffer == stored:
                raise self.refuse(
                    f"this list holds a part of '{stored.name}', which is being assigned to: NumPy "
                    "stores one item before it reads the next",
                    node,
                    help="copy the parts, as in [x.copy(), y.copy()], or make one array of them "
                    "with np.array([x, y])",
                )
            case _:
                return value

    def _element_store(
        self, part: Target, value: Scalar, target: ast.Subscript, node: ast.AST
    ) -> Store:
        stored = store_value(value, part.buffer.dtype, self.span(node))
        return Store(part.buffer, part.indices, stored, span=self.span(target))

    def _target(self, target: ast.Subscript) -> Target:
        """Evaluate the subscript that is assigned to."""
        owner = self.evaluate(target.value)
        if isinstance(owner, ArrayExpr) and owner.shown is not None:
            raise self.refuse(
                f"'{ast.unparse(target.value)}' is '{owner.shown.name}' in another shape, which "
                "can only be read",
                target,
                help=f"write to '{owner.shown.name}' itself, or make a copy with .copy()",
            )
        if not isinstance(owner, (Array, View)):
            raise self.mismatch(
                f"cannot assign to an item of {describe(owner)}",
                target,
                help="keep the values in an array: allocate(shape, dtype)"
                if isinstance(owner, Items)
                else None,
            )
        self.check_writable(owner.buffer, target)
        return self.target_in(owner, target)

    def augmented(self, stmt: ast.AugAssign) -> None:
        """`x += value`; the target is looked at before the value."""
        op = BINARY.get(type(stmt.op))
        if op is None:
            raise refusal(stmt.op, self.span(stmt))
        if isinstance(stmt.target, ast.Attribute):
            raise self._refuse_attribute(stmt.target)
        if isinstance(stmt.target, ast.Name):
            current = self.read_name(stmt.target)
            if isinstance(current, (Array, View)):
                self.check_writable(current.buffer, stmt.target)
                self.update(self.target_of(current), self.evaluate(stmt.value), stmt)
                self._keep_array(stmt.target, current)
                return
            current, operand = self.then(current, lambda: self.operand(stmt.value))
            old = self.as_scalar(current, stmt.target)
            self.assign_name(stmt.target, binary(op, old, operand, self.span(stmt)), stmt)
        else:
            self._augmented_element(stmt, stmt.target)

    def _refuse_attribute(self, target: ast.Attribute) -> ParseError:
        return self.refuse(
            f"cannot assign to the attribute '{target.attr}'",
            target,
            help="assign to a variable, or to the elements of an array",
        )

    def _augmented_element(self, stmt: ast.AugAssign, target: ast.Subscript) -> None:
        part = self._target(target)
        if part.shape or part.mask is not None:
            self.update(part, self.evaluate(stmt.value), stmt)
            return
        with self.collect() as needed:
            operand = self.operand(stmt.value)
        indices = part.indices
        if needed:  # the element is found before the right side runs
            span = self.span(stmt)
            kept = (self.let(Scalar(i, ScalarType(i.dtype)), "t", span).expr for i in indices)
            indices = tuple(kept)
        element = Load(part.buffer, indices, span=self.span(target))
        old = Scalar(element, ScalarType(part.buffer.dtype))
        if needed:
            old = self.let(old, "t", self.span(target))
            self.body.extend(needed)
        new = binary(BINARY[type(stmt.op)], old, operand, self.span(stmt))
        value = store_value(new, part.buffer.dtype, self.span(stmt))
        self.emit(Store(part.buffer, indices, value, span=self.span(target)))

    def annotated(self, stmt: ast.AnnAssign) -> None:
        """`x: float32 = value`, or a declaration without a value."""
        if not isinstance(stmt.target, ast.Name):
            raise self.refuse(
                "only names can be annotated",
                stmt.target,
                help=f"leave out the type: {ast.unparse(stmt.target)} = ...",
            )
        declared = self.type_in(stmt.annotation)
        help = did_you_mean(ast.unparse(stmt.annotation), DTYPES)
        # An annotation that means nothing to the language is left to other tools.
        if declared is None and (stmt.value is None or help is not None):
            raise self.mismatch(
                f"'{ast.unparse(stmt.annotation)}' is not a scalar type",
                stmt.annotation,
                help=help or f"write a scalar type, as in {stmt.target.id}: float32",
            )
        if stmt.value is not None:
            value = self._right_hand_side(stmt.target, stmt.value)
            self._assign_to(stmt.target, value, stmt)


def _value_node(stmt: ast.stmt) -> ast.AST:
    """The right side of an assignment."""
    match stmt:
        case ast.Assign(value=value) | ast.AugAssign(value=value):
            return value
        case ast.AnnAssign(value=ast.expr() as value):
            return value
        case _:
            return stmt
