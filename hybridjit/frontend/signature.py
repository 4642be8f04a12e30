"""What a script takes and gives: parameters, returns and output arrays."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from hybridjit.errors import ParseError, Span
from hybridjit.frontend.arrays.elementwise import shape_text
from hybridjit.frontend.conversion import convert
from hybridjit.frontend.frame import Frame, Key, Unit
from hybridjit.frontend.inline import InlineTranslator
from hybridjit.frontend.lift import lift
from hybridjit.frontend.printed_sizes import read_size
from hybridjit.frontend.specs import ArraySpec, ConstantSpec, ScalarSpec, Spec, TupleSpec
from hybridjit.frontend.values import (
    Array,
    ArrayExpr,
    Items,
    Nothing,
    Scalar,
    Value,
    View,
    buffers_of,
    describe,
    index,
)
from hybridjit.ir.dtype import DType, ScalarType
from hybridjit.ir.expr import Buffer, Const, Expr, Load, Var
from hybridjit.ir.signature import Param, Result, ScalarParam, ScalarResult
from hybridjit.ir.stmt import Allocate, Return
from hybridjit.ir.visit import substitute, walk


class SignatureTranslator(InlineTranslator):
    """The edges of the script itself; functions that are inlined have none."""

    def __init__(self, unit: Unit, frame: Frame, specs: Sequence[Spec]) -> None:
        super().__init__(unit, frame)
        self.specs = specs
        self.params: list[Param] = []
        self.number_params: dict[str, Scalar] = {}  # the parameters that are one
        self.dimensions: dict[str, Var] = {}
        # What the first `return` gives, and whether there was one.
        self.results: list[Buffer | Key] | None = None
        self.first_return: ast.Return | None = None
        self.common: dict[int, Buffer] = {}
        self.ever_returned: set[Buffer] = set()
        self.returned_at: dict[Buffer, Span] = {}
        self.returns_tuple = False
        self.has_returned = False
        self.result_types = self._declared_results(frame.source.node)

    def bind_parameters(self, node: ast.FunctionDef) -> None:
        """Make the parameters of the function, and what their names stand for."""
        args = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        for arg, spec in zip(args, self.specs, strict=True):
            if isinstance(spec, ScalarSpec):
                self.number_params[arg.arg] = Scalar(
                    Var(arg.arg, spec.type.dtype, span=self.span(arg)), spec.type
                )
        for arg, spec in zip(args, self.specs, strict=True):
            value = self._parameter(arg.arg, spec, self.span(arg))
            self.frame.fixed[arg] = value
            web = self.frame.variables.writes[arg]
            if not web.is_mutable:
                self.frame.bindings[web] = value

    def _parameter(self, name: str, spec: Spec, span: Span) -> Value:
        match spec:
            case ArraySpec(dtype, shape):
                buffer = Buffer(name, dtype, tuple(self._size(extent, span) for extent in shape))
                self.params.append(buffer)
                return Array(buffer)
            case ScalarSpec(type):
                scalar = self.number_params.get(name) or Scalar(
                    Var(name, type.dtype, span=span), type
                )
                assert isinstance(scalar.expr, Var)
                self.params.append(ScalarParam(scalar.expr, type.weak))
                return scalar
            case TupleSpec(items):
                return Items(
                    tuple(self._parameter(f"{name}_{i}", s, span) for i, s in enumerate(items))
                )
            case ConstantSpec(value):
                return lift(value)

    def _size(self, extent: int | str, span: Span) -> Expr:
        if isinstance(extent, int):
            return Const(extent)
        if extent.isidentifier() or not self.frame.source.is_printed:
            return self._dimension(extent)
        return read_size(extent, self._number, span)

    def _number(self, name: str) -> Scalar:
        """What a name in the size of a parameter stands for."""
        return self.number_params.get(name) or index(self._dimension(name))

    def _dimension(self, name: str) -> Var:
        return self.dimensions.setdefault(name, Var(name))

    def _declared_results(self, node: ast.FunctionDef) -> list[ScalarType | None]:
        """The scalar result types of a printed function: its return annotation."""
        if node.returns is None or not self.frame.source.is_printed:
            return []
        nodes = node.returns.elts if isinstance(node.returns, ast.Tuple) else [node.returns]
        return [self.type_in(entry) for entry in nodes]

    def run_return(self, stmt: ast.Return) -> None:
        if not self.frame.is_root:
            super().run_return(stmt)
            return
        self.check_return_order(stmt)
        value = Nothing() if stmt.value is None else self.evaluate(stmt.value)
        items = value.items if isinstance(value, Items) else (value,)
        if isinstance(value, Nothing):
            items = ()
        nodes = [stmt.value] * len(items)
        if isinstance(stmt.value, ast.Tuple) and len(stmt.value.elts) == len(items):
            nodes = list(stmt.value.elts)  # otherwise some are starred
        results: list[Buffer | Key] = []
        scalars: list[Expr] = []
        for position, (item, node) in enumerate(zip(items, nodes, strict=True)):
            assert node is not None
            item = self._returned_array(item, position, node)
            if isinstance(item, Array) and not item.indices:
                results.append(item.buffer)
                self._check_returned(item.buffer, results, node)
                continue
            scalar = self._returned_scalar(item, node)
            key: Key = ((), ("return", position))
            declared = self._declared_result(len(scalars))
            type = self.join_type(key, declared or scalar.type, self.span(node))
            scalars.append(convert(scalar, type.dtype, self.span(node)))
            results.append(key)
        self._agree(None if isinstance(value, Nothing) else results, value, stmt)
        self.emit(Return(tuple(scalars), span=self.span(stmt)))

    def _returned_array(self, item: Value, position: int, node: ast.expr) -> Value:
        """An array that is computed becomes an output, and so does a part of a local array."""
        self.ever_returned.update(buffers_of(item))
        if isinstance(item, (Array, View)) and item.buffer not in self.params:
            item = item if item == Array(item.buffer) else self.array(item)
        if isinstance(item, ArrayExpr) and item.shown is not None and item.shown in self.params:
            raise self.refuse_alias("result", item.shown, self.span(node))
        if position in self.unit.common_results and isinstance(item, (Array, ArrayExpr)):
            return Array(self._common_result(self.array(item), position, node))
        if isinstance(item, ArrayExpr):
            return self.materialize(item, "result", self.span(node))
        return item

    def _common_result(self, value: ArrayExpr, position: int, node: ast.expr) -> Buffer:
        """Store an array where all paths store what they return at this position."""
        self.check_whole(value, self.span(node))
        result = self.common.get(position)
        if result is None:
            result = Buffer("result", value.dtype, tuple(value.shape), "global")
            self.common[position] = result
        if not self.is_alike(result, Buffer("", value.dtype, tuple(value.shape))):
            assert self.first_return is not None
            raise self.mismatch(
                f"this returns {_array_text(value.dtype, value.shape)}, and the return in line "
                f"{self.span(self.first_return).line} {_array_text(result.dtype, result.shape)}",
                node,
                help="return arrays of one type and shape on every path",
            )
        self.store_array(self.view(Array(result)), value, self.span(node))
        return result

    def is_made_here(self, buffer: Buffer) -> bool:
        return buffer not in self.params

    def _check_returned(self, buffer: Buffer, results: list[Buffer | Key], node: ast.expr) -> None:
        self.returned_at.setdefault(buffer, self.span(node))
        name = buffer.name
        if results.count(buffer) > 1:
            raise self.mismatch(
                f"the array '{name}' is returned twice",
                node,
                help=f"return it once, or copy '{name}' into another output",
            )
        if any(constant.buffer is buffer for constant in self.unit.constants):
            raise self.mismatch(
                f"cannot return '{name}', which comes from outside the script",
                node,
                help="copy its elements into an output_tensor(shape, dtype)",
            )

    def _declared_result(self, position: int) -> ScalarType | None:
        return self.result_types[position] if position < len(self.result_types) else None

    def _returned_scalar(self, item: Value, node: ast.expr) -> Scalar:
        if isinstance(item, Scalar):
            return item
        help = "return arrays, numbers, or a tuple of these"
        if isinstance(item, (Array, View)):
            help = "return a copy of it, with .copy()"
        elif isinstance(item, Items):
            help = "return its items beside the others, in one tuple"
        raise self.mismatch(f"cannot return {describe(item)}", node, help=help)

    def _agree(self, results: list[Buffer | Key] | None, value: Value, stmt: ast.Return) -> None:
        """Every return must give the same arrays and the same number of scalars."""
        if not self.has_returned:
            self.has_returned = True
            self.results = results
            self.first_return = stmt
            self.returns_tuple = isinstance(value, Items)
            return
        kinds = [type(result) for result in results or ()]
        same_kinds = (results is None) == (self.results is None) and kinds == [
            type(result) for result in self.results or ()
        ]
        if not same_kinds or self.returns_tuple != isinstance(value, Items):
            assert self.first_return is not None
            raise self.refuse(
                f"this returns {self._described(results)}, and the return in line "
                f"{self.span(self.first_return).line} {self._described(self.results)}",
                stmt,
                help="return as many arrays and numbers, in the same order, on every path",
            )
        for position, (found, other) in enumerate(
            zip(results or (), self.results or (), strict=True)
        ):
            if found != other:
                self._check_new(found, other, stmt)
                self.unit.common_results.add(position)

    def _check_new(self, found: Buffer | Key, other: Buffer | Key, stmt: ast.Return) -> None:
        """Refuse to return one argument or another: what is returned would be a copy of it."""
        if found in self.params and other in self.params:
            assert isinstance(found, Buffer)
            assert isinstance(other, Buffer)
            raise self.refuse(
                f"this returns the argument '{found.name}' itself, and another return "
                f"'{other.name}'",
                stmt,
                help=f"return a new array on every path, as in return {found.name}.copy()",
            )

    @staticmethod
    def _described(results: list[Buffer | Key] | None) -> str:
        if results is None:
            return "nothing"
        items = [f"the array '{r.name}'" if isinstance(r, Buffer) else "a number" for r in results]
        return items[0] if len(items) == 1 else f"({', '.join(items)})"

    def final_results(self, final: Mapping[Buffer, Buffer]) -> tuple[Result, ...] | None:
        """What the function returns, its outputs replaced by those of `final`."""
        if self.results is None:
            return None
        found: list[Result] = []
        for result in self.results:
            if isinstance(result, Buffer):
                found.append(final.get(result, result))
            else:
                type = self.unit.found[result]
                found.append(ScalarResult(type.dtype, type.weak))
        return tuple(found)

    def find_outputs(self, returned: list[Buffer]) -> list[Buffer]:
        """The arrays that the call makes: those returned, in the order they are declared."""
        self._check_aliases()
        made = [stmt.buffer for stmt in self.body if isinstance(stmt, Allocate)]
        made.extend(self.common.values())
        params = [param for param in self.params if isinstance(param, Buffer)]
        for position, buffer in enumerate(self.results or ()):
            if isinstance(buffer, Buffer) and buffer not in made and buffer not in params:
                self.unit.common_results.add(position)  # it is made inside a loop or a branch
        for buffer, span in self.unit.declared_outputs.items():
            if buffer not in self.ever_returned:
                self.unit.errors.append(
                    ParseError(
                        f"the output '{buffer.name}' is never returned",
                        span,
                        help=f"add `return {buffer.name}`; for scratch use allocate(shape, dtype)",
                    )
                )
        return [buffer for buffer in made if buffer in returned]

    def _check_aliases(self) -> None:
        """Refuse names for what is a view or a copy, if what they show is written to."""
        for alias in self.aliases:
            if alias.may_change(self.body, shares_memory=self.unit.shares_memory):
                self.unit.errors.append(self.refuse_alias(alias.name, alias.shown, alias.span))

    def output_shape(self, buffer: Buffer) -> tuple[Expr, ...]:
        """The shape of an output, in terms of the parameters only."""
        known = {param.var for param in self.params if isinstance(param, ScalarParam)}
        known |= set(self.dimensions.values())
        shape = tuple(self._without_lets(extent) for extent in buffer.shape)
        for extent in shape:
            for node in walk(extent):
                if isinstance(node, Load) or (isinstance(node, Var) and node not in known):
                    self.unit.errors.append(
                        ParseError(
                            f"the shape of the output '{buffer.name}' depends on values that are "
                            "computed in the script",
                            self._made_at(buffer),
                            help="pass the size as an argument, or make the output as large as "
                            "it can get",
                        )
                    )
                    return shape
        return shape

    def _made_at(self, buffer: Buffer) -> Span | None:
        """Where the script makes an array."""
        made = (node for stmt in self.body for node in walk(stmt) if isinstance(node, Allocate))
        found = self.unit.declared_outputs.get(buffer)
        return found or next((node.span for node in made if node.buffer is buffer), None)

    def _without_lets(self, expr: Expr) -> Expr:
        for _ in range(len(self.unit.let_values) + 1):
            values = {
                node: self.unit.let_values[node]
                for node in walk(expr)
                if isinstance(node, Var) and node in self.unit.let_values
            }
            if not values:
                break
            expr = substitute(expr, values)
        return expr


def _array_text(dtype: DType, shape: tuple[Expr, ...]) -> str:
    return f"{dtype} of shape {shape_text(shape)}"
