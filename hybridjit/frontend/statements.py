"""Statements of the source, translated to statements of the IR."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hybridjit.errors import HybridError, ParseError
from hybridjit.frontend.carried import CarriedArrays
from hybridjit.frontend.context import Divide, Never, Unbound
from hybridjit.frontend.flow import bound_names
from hybridjit.frontend.frame import LoopScope, Skip
from hybridjit.frontend.operators import logical_not
from hybridjit.frontend.refusals import refusal
from hybridjit.frontend.values import (
    Scalar,
)
from hybridjit.ir.dtype import BOOL, INT64, WEAK_BOOL
from hybridjit.ir.expr import Buffer, Const, Load
from hybridjit.ir.stmt import (
    Allocate,
    Break,
    Continue,
    Evaluate,
    If,
    Stmt,
    While,
)

# A function of MAX_NODES has fewer; only expanded loops and inlined calls get this far. Measured on
# a busy machine: 18,000 stores are accepted in 14 s. Most of what is too large is seen to be so
# before it is expanded (`hybridjit.frontend.growth`), the rest is refused after 0.7 to 7 s.
MAX_STATEMENTS = 20_000

_COMPOUND = (ast.If, ast.For, ast.While, ast.With)

ELSE_HELP = "set a variable, such as found = True, before break, and test it after the loop"


class StatementTranslator(CarriedArrays):
    """Blocks of statements, branches, and `while`.

    Each `run_*` returns whether the statement can be followed by another: a `return` cannot.
    """

    def run_block(self, body: Sequence[ast.stmt], first: int = 0) -> bool:
        """Translate the statements of a block, from `first` on; True if its end can be reached."""
        chain, self.chain = self.chain, ()
        for position, stmt in enumerate(body):
            if position < first:
                continue
            for web in self.frame.variables.mutable_at(body, position):
                self.declare(web, stmt)
            outcome = self._attempt(stmt)
            if isinstance(outcome, Divide):
                assert isinstance(stmt, (ast.If, ast.With))
                return self.divide(stmt, [(body, position + 1), *chain], outcome.web)
            if not outcome:
                return False
        self.chain = chain
        return True

    def _attempt(self, stmt: ast.stmt) -> bool | Divide:
        """Translate a statement; whether its end can be reached, or why an `if` is to be divided.

        A loop is started over as long as it is found to carry more names.
        """
        while True:
            before = self.moment() if isinstance(stmt, _COMPOUND) else None
            self.around.append((self.body, stmt))
            try:
                return self._guarded(stmt)
            except Divide as found:
                if before is None or not self._is_for(found, stmt):
                    raise
                self.go_back(before)
                if isinstance(stmt, (ast.If, ast.With)):
                    return found
                assert isinstance(stmt, (ast.For, ast.While))
                self.carry(stmt, found.web)
            finally:
                self.around.pop()

    def _is_for(self, found: Divide, stmt: ast.stmt) -> bool:
        """True if a statement is the one to start over.

        Of statements that have no block of their own, as a static `if` and `with np.errstate()`,
        it is the outermost: what follows it is divided, too.
        """
        if found.home is not self.body:
            return False
        outer = [stmt for block, stmt in self.around[:-1] if block is self.body]
        return not (isinstance(stmt, (ast.If, ast.With)) and outer)

    def nested(self, body: Sequence[ast.stmt], first: int = 0) -> tuple[Stmt, bool]:
        """A block inside another statement, and whether its end can be reached."""
        with self.collect() as stmts:
            self.depth += 1
            known = set(self.frame.bindings)
            goes_on = self.run_block(body, first)
            self.forget_others(known)
            self.depth -= 1
            return self.close(stmts), goes_on

    def _guarded(self, stmt: ast.stmt) -> bool:
        """Run a statement; one that fails is noted, and what it would have assigned is poisoned."""
        loops, depth, open_loops = len(self.frame.loops), self.depth, self.unit.open_loops
        self._count(stmt)
        try:
            return self.run_statement(stmt)
        except HybridError as error:
            if self.unit.statements > MAX_STATEMENTS:
                raise
            self.unit.errors.append(error)
        except Skip as skip:
            self.unit.skipped += 1
            self.unit.unresolved = self.unit.unresolved or skip.unless_known
        except Unbound as found:
            self._stop_at(found)
            return False
        except Never:
            return False
        del self.frame.loops[loops:]
        self.depth, self.unit.open_loops = depth, open_loops
        self._poison(stmt)
        return not isinstance(stmt, (ast.Return, ast.Raise))

    def _stop_at(self, found: Unbound) -> None:
        """Read a variable that is never set: at run time, that is an error."""
        never = Buffer(found.name, INT64, (), Buffer.REGISTER)
        self.emit(Allocate(never, zero=False))
        self.emit(Evaluate(Load(never, (), span=found.span), span=found.span))

    def _count(self, stmt: ast.stmt) -> None:
        """Stop before copies of copies of code fill the memory."""
        self.unit.statements += 1
        if self.unit.statements > MAX_STATEMENTS:
            raise self.refuse_growth(stmt)

    def refuse_growth(self, stmt: ast.stmt) -> ParseError:
        """The error for a script that becomes too large."""
        return ParseError(
            f"'{self.root_name}' grows to more than {MAX_STATEMENTS} statements: expanded loops "
            "and inlined calls copy their body",
            self.unit.copied_at or self.span(stmt),
            help="use range(...) in place of const_range(...), and call the function fewer times",
        )

    @property
    def root_name(self) -> str:
        """The name of the script itself; provided by the layer above."""
        raise NotImplementedError

    def _poison(self, stmt: ast.stmt) -> None:
        """What a failed statement would have defined is not to be complained about later."""
        for name in bound_names([stmt]):
            web = self.frame.variables.writes.get(name)
            if web is not None:
                self.frame.poisoned.add(web)
        match stmt:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self.frame.undefined.add(stmt.name)
            case ast.Import() | ast.ImportFrom():
                names = [alias.asname or alias.name.partition(".")[0] for alias in stmt.names]
                self.frame.undefined.update(names)
            case _:
                pass

    def run_statement(self, stmt: ast.stmt) -> bool:
        """Translate one statement; return whether another can follow it."""
        match stmt:
            case ast.If():
                return self._if(stmt)
            case ast.While():
                return self._while(stmt)
            case ast.For():
                return self.run_for(stmt)
            case ast.With():
                return self.run_with(stmt)
            case ast.Raise():
                return self.run_raise(stmt)
            case ast.Break() | ast.Continue():
                return self._leave(stmt)
            case ast.Return():
                self.run_return(stmt)
                return False
            case _:
                self._run_line(stmt)
                return True

    def _run_line(self, stmt: ast.stmt) -> None:
        match stmt:
            case ast.Assign():
                self.assign(stmt)
            case ast.AugAssign():
                self.augmented(stmt)
            case ast.AnnAssign():
                self.annotated(stmt)
            case ast.Expr():
                self.run_expression(stmt)
            case ast.Assert():
                self.run_assert(stmt)
            case ast.Pass():
                pass
            case ast.Delete(targets=targets) if all(isinstance(t, ast.Name) for t in targets):
                pass  # a name that is deleted has no value in what follows: see `Flow`
            case _:
                raise refusal(stmt, self.span(stmt))

    # Provided by the layers above.

    def run_for(self, stmt: ast.For) -> bool:
        """A `for` loop."""
        raise NotImplementedError

    def run_with(self, stmt: ast.With) -> bool:
        """A `with block(...)`."""
        raise NotImplementedError

    def run_return(self, stmt: ast.Return) -> None:
        """A `return`, of the script or of a function that is inlined."""
        raise NotImplementedError

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
            raise self.refuse("while ... else is not supported", stmt.orelse[0], help=ELSE_HELP)
        with self.collect() as needed:
            test = self.condition(stmt.test)
        span = self.span(stmt)
        if isinstance(test, Const) and not test.value:
            return True
        is_endless = isinstance(test, Const) and not needed
        is_plain = not needed and not self.is_carried(stmt)
        head = test if is_plain else Const(True, BOOL, span=span)

        def once() -> bool:
            self.depth += 1
            if not is_plain and not is_endless:
                self._stop_unless(stmt)
            goes_on = self.run_block(stmt.body)
            self.depth -= 1
            return goes_on

        self.frame.loops.append(LoopScope(None, "while"))
        self.run_loop(stmt, once, lambda body: While(head, body, span=span), may_not_run=False)
        self.frame.loops.pop()
        return not is_endless or has_break(stmt.body)

    def _stop_unless(self, stmt: ast.While) -> None:
        """Leave a loop whose condition needs statements, or is another in each state."""
        span = self.span(stmt)
        stop = logical_not(Scalar(self.condition(stmt.test), WEAK_BOOL), span).expr
        with self.collect() as stmts:
            self.leave_round(and_loop=True)
            self.emit(Break(span=span))
        self.emit(If(stop, self.close(stmts), span=span))

    def _leave(self, stmt: ast.Break | ast.Continue) -> bool:
        word = "break" if isinstance(stmt, ast.Break) else "continue"
        if not self.frame.loops:
            raise self.refuse(f"{word} outside a loop", stmt)
        loop = self.frame.loops[-1]
        if loop.is_expanded:
            raise self.refuse(
                f"{word} in a {loop.word} loop: it is expanded while the script is read",
                stmt,
                help="loop over range(...), or put the rest of the body under an if",
            )
        if word == "break" and loop.is_grid:
            raise self.refuse(
                "break in a grid loop would have to leave several loops at once",
                stmt,
                help="write the loops one by one with range(...)",
            )
        if word == "break" and loop.kind is not None and loop.kind.is_concurrent:
            raise self.refuse(
                f"break in a {loop.word} loop: its iterations have no order",
                stmt,
                help="loop over range(...)",
            )
        self.leave_round(and_loop=word == "break")
        self.emit((Break if word == "break" else Continue)(span=self.span(stmt)))
        return False


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
