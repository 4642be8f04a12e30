"""From the source of a script and the types of its arguments to a PrimFunc.

The types of variables depend on what is stored in them, which depends on the types of variables:
the script is translated in rounds, each with the types that the round before found, until
nothing changes. Most scripts need two.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType, FunctionType

from hybridjit import config
from hybridjit.errors import ParseError, Span, combine
from hybridjit.frontend.annotations import specs_in
from hybridjit.frontend.captures import Capture, Environment, lift
from hybridjit.frontend.conversion import convert
from hybridjit.frontend.frame import Frame, Key, Unit
from hybridjit.frontend.inline import InlineTranslator, annotations_in
from hybridjit.frontend.make_blocks import make_blocks
from hybridjit.frontend.specs import ArraySpec, ConstantSpec, ScalarSpec, Spec, TupleSpec
from hybridjit.frontend.values import Array, Items, Nothing, Scalar, Value, describe
from hybridjit.frontend.variables import Variables, find_variables
from hybridjit.ir.dtype import ScalarType
from hybridjit.ir.expr import Buffer, Const, Expr, Load, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.signature import Param, Result, ScalarParam, ScalarResult
from hybridjit.ir.stmt import Allocate, Return, Stmt
from hybridjit.ir.verify import Stage, verify
from hybridjit.ir.visit import substitute, walk
from hybridjit.source import FunctionSource, read_function, read_text

# Each round can only widen types or settle branches; real scripts need two or three.
MAX_ROUNDS = 20


@dataclass(frozen=True, slots=True)
class Parsed:
    """A translated script, and the values from around it that it depends on."""

    func: PrimFunc
    captures: tuple[Capture, ...]


@dataclass(eq=False, slots=True)
class _Knowledge:
    """What one round hands to the next."""

    types: dict[Key, ScalarType] = field(default_factory=dict[Key, ScalarType])
    taken: dict[ast.If, bool] = field(default_factory=dict[ast.If, bool])
    undecided: set[ast.If] = field(default_factory=set[ast.If])
    variables: dict[ast.FunctionDef, Variables] = field(
        default_factory=dict[ast.FunctionDef, Variables]
    )
    callees: dict[CodeType, FunctionSource] = field(default_factory=dict[CodeType, FunctionSource])

    def learn(self, unit: Unit) -> bool:
        """Take over what a round found; True if it had known all of it."""
        stable = all(
            self.types.get(key, unit.first.get(key)) == type for key, type in unit.found.items()
        )
        self.types = dict(unit.found)
        taken = dict(self.taken)
        for stmt, outcomes in unit.branches.items():
            if (
                len(outcomes) > 1
                or None in outcomes
                or taken.get(stmt, outcomes)
                not in (
                    outcomes,
                    *outcomes,
                )
            ):
                self.undecided.add(stmt)
            elif stmt not in self.undecided:
                (taken[stmt],) = (bool(outcome) for outcome in outcomes)
        for stmt in self.undecided:
            taken.pop(stmt, None)
        if taken != self.taken:
            self.taken = taken
            self.variables.clear()
            self.types.clear()
            return False
        return stable


def parse(
    source: FunctionSource,
    environment: Environment,
    specs: Sequence[Spec],
    *,
    blocks: bool = True,
) -> Parsed:
    """Translate a script for arguments of the given types, one for each parameter."""
    knowledge = _Knowledge()
    for _ in range(MAX_ROUNDS):
        script = _Script(source, environment, specs, knowledge)
        func = script.run(blocks)
        unit = script.unit
        if not knowledge.learn(unit):
            continue
        if unit.errors:
            raise combine(unit.errors)
        if func is None:
            raise script.unresolved()
        if config.current().verify:
            verify(func, Stage.BLOCKS)
        return Parsed(func, tuple(unit.captures))
    raise ParseError(
        f"the types of the variables of '{source.name}' do not settle",
        script.span(source.node),
        help="give the type of a variable, as in x: float64 = 0",
    )


def parse_text(text: str, names: Mapping[str, object] | None = None) -> PrimFunc:
    """Read a printed function back. `names` are the externs and functions that it calls."""
    source = read_text(text)
    environment = Environment({}, dict(names or {}))
    specs = specs_in(source, environment)
    return parse(source, environment, specs).func


class _Script(InlineTranslator):
    """One round of translating the script itself."""

    def __init__(
        self,
        source: FunctionSource,
        environment: Environment,
        specs: Sequence[Spec],
        knowledge: _Knowledge,
    ) -> None:
        self.knowledge = knowledge
        frame = Frame(
            source,
            environment,
            self.variables_of(source.node),
            annotations=annotations_in(source.node),
        )
        super().__init__(Unit(knowledge.types), frame)
        self.specs = specs
        self.params: list[Param] = []
        self.dimensions: dict[str, Var] = {}
        self.results: list[Buffer | Key] | None = None
        self.returns_tuple = False
        self.result_types = self._declared_results(source.node)

    def variables_of(self, node: ast.FunctionDef) -> Variables:
        found = self.knowledge.variables.get(node)
        if found is None:
            found = find_variables(node, self.knowledge.taken)
            self.knowledge.variables[node] = found
        return found

    def read_callee(self, pyfunc: FunctionType) -> FunctionSource:
        code = pyfunc.__code__
        if code not in self.knowledge.callees:
            self.knowledge.callees[code] = read_function(pyfunc)
        return self.knowledge.callees[code]

    def run(self, blocks: bool) -> PrimFunc | None:
        node = self.frame.source.node
        self._bind_parameters(node)
        goes_on = self.run_block(node.body)
        if goes_on and self.results is not None:
            self.unit.errors.append(
                self.refuse(
                    "not every path through the script returns a value",
                    node.body[-1],
                    help="add a return at the end",
                )
            )
        if self.unit.errors or self.unit.skipped:
            return None
        return self._finish(blocks)

    def unresolved(self) -> ParseError:
        """The error for statements that no round could translate."""
        return ParseError(
            f"'{self.frame.source.name}' reads a variable that is never given a value",
            self.span(self.frame.source.node),
        )

    # -- parameters ----------------------------------------------------------------------------

    def _bind_parameters(self, node: ast.FunctionDef) -> None:
        args = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        for arg, spec in zip(args, self.specs, strict=True):
            value = self._parameter(arg.arg, spec, self.span(arg))
            self.frame.fixed[arg] = value
            web = self.frame.variables.writes[arg]
            if not web.is_mutable:
                self.frame.bindings[web] = value

    def _parameter(self, name: str, spec: Spec, span: Span) -> Value:
        match spec:
            case ArraySpec(dtype, shape):
                buffer = Buffer(name, dtype, tuple(self._dimension(extent) for extent in shape))
                self.params.append(buffer)
                return Array(buffer)
            case ScalarSpec(type):
                var = Var(name, type.dtype, span=span)
                self.params.append(ScalarParam(var, type.weak))
                return Scalar(var, type)
            case TupleSpec(items):
                return Items(
                    tuple(self._parameter(f"{name}_{i}", s, span) for i, s in enumerate(items))
                )
            case ConstantSpec(value):
                return lift(value)

    def _dimension(self, extent: int | str) -> Expr:
        if isinstance(extent, int):
            return Const(extent)
        return self.dimensions.setdefault(extent, Var(extent))

    # -- results -------------------------------------------------------------------------------

    def _declared_results(self, node: ast.FunctionDef) -> list[ScalarType | None]:
        """The scalar result types of a printed function: its return annotation."""
        if node.returns is None or not self.frame.source.file.startswith("<hybridjit"):
            return []
        nodes = node.returns.elts if isinstance(node.returns, ast.Tuple) else [node.returns]
        return [self.type_in(entry) for entry in nodes]

    def run_return(self, stmt: ast.Return) -> None:
        if not self.frame.is_root:
            super().run_return(stmt)
            return
        self._check_order(stmt)
        value = Nothing() if stmt.value is None else self.evaluate(stmt.value)
        items = value.items if isinstance(value, Items) else (value,)
        if isinstance(value, Nothing):
            items = ()
        nodes = [stmt.value] * len(items)
        if isinstance(stmt.value, ast.Tuple):
            nodes = list(stmt.value.elts)
        results: list[Buffer | Key] = []
        scalars: list[Expr] = []
        for position, (item, node) in enumerate(zip(items, nodes, strict=True)):
            assert node is not None
            if isinstance(item, Array) and not item.indices:
                results.append(item.buffer)
                continue
            scalar = self._returned_scalar(item, node)
            key: Key = ((), ("return", position))
            declared = self._declared_result(len(scalars))
            type = self.join_type(key, declared or scalar.type, self.span(node))
            scalars.append(convert(scalar, type.dtype, self.span(node)))
            results.append(key)
        self._agree(None if isinstance(value, Nothing) else results, value, stmt)
        self.emit(Return(tuple(scalars), span=self.span(stmt)))

    def _declared_result(self, position: int) -> ScalarType | None:
        return self.result_types[position] if position < len(self.result_types) else None

    def _returned_scalar(self, item: Value, node: ast.expr) -> Scalar:
        if isinstance(item, Scalar):
            return item
        raise self.mismatch(
            f"cannot return {describe(item)}",
            node,
            help="return arrays made with output_tensor, parameters, or numbers",
        )

    def _check_order(self, stmt: ast.Return) -> None:
        for loop in self.frame.loops:
            if loop.word in ("parallel", "vectorize"):
                raise self.refuse(
                    f"return in a {loop.word} loop: its iterations have no order",
                    stmt,
                    help="store the result in a variable and return after the loop",
                )

    def _agree(self, results: list[Buffer | Key] | None, value: Value, stmt: ast.Return) -> None:
        """Every return must give the same arrays and the same number of scalars."""
        first = not hasattr(self, "_returned")
        self._returned = True
        if first:
            self.results = results
            self.returns_tuple = isinstance(value, Items)
            return
        if results != self.results or self.returns_tuple != isinstance(value, Items):
            raise self.refuse(
                "this return does not agree with the one before it",
                stmt,
                help="return the same arrays, and as many values, on every path",
            )

    # -- the function --------------------------------------------------------------------------

    def _finish(self, blocks: bool) -> PrimFunc | None:
        returned = [r for r in self.results or () if isinstance(r, Buffer)]
        outputs = self._outputs(returned)
        if self.unit.errors:
            return None
        body = self.close([stmt for stmt in self.body if not _makes(stmt, outputs)])
        if blocks:
            body = make_blocks(body, self.unit.automatic_blocks)
        shapes = {buffer: self._output_shape(buffer) for buffer in outputs}
        if self.unit.errors:
            return None
        final = {old: Buffer(old.name, old.dtype, shape) for old, shape in shapes.items()}
        return PrimFunc(
            self.frame.source.name,
            tuple(self.params),
            substitute(body, {}, final),
            tuple(final.values()),
            tuple(self.unit.constants.values()),
            self._results(final),
            self.returns_tuple,
            span=self.span(self.frame.source.node),
        )

    def _results(self, final: Mapping[Buffer, Buffer]) -> tuple[Result, ...] | None:
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

    def _outputs(self, returned: list[Buffer]) -> list[Buffer]:
        """The arrays that the call makes: those returned, in the order they are declared."""
        made = [stmt.buffer for stmt in self.body if isinstance(stmt, Allocate)]
        params = [param for param in self.params if isinstance(param, Buffer)]
        node = self.frame.source.node
        for buffer in returned:
            if buffer not in made and buffer not in params:
                self.unit.errors.append(
                    self.mismatch(
                        f"cannot return '{buffer.name}': it is not made at the top level",
                        node,
                        help="make it with output_tensor before the loop",
                    )
                )
        if len(set(returned)) != len(returned):
            self.unit.errors.append(self.mismatch("an array is returned twice", node))
        for buffer, span in self.unit.declared_outputs.items():
            if buffer not in returned:
                self.unit.errors.append(
                    ParseError(
                        f"the output '{buffer.name}' is never returned",
                        span,
                        help=f"add `return {buffer.name}`, or use allocate(...) for scratch",
                    )
                )
        return [buffer for buffer in made if buffer in returned]

    def _output_shape(self, buffer: Buffer) -> tuple[Expr, ...]:
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
                            self.unit.declared_outputs.get(buffer),
                            help="use shapes, constants and scalar arguments only",
                        )
                    )
                    return shape
        return shape

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


def _makes(stmt: Stmt, outputs: Sequence[Buffer]) -> bool:
    return isinstance(stmt, Allocate) and stmt.buffer in outputs
