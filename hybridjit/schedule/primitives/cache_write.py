"""cache_write: let a part of a program write to a copy of a buffer."""

from __future__ import annotations

from hybridjit.analysis.instances import infer_instances
from hybridjit.ir.expr import Buffer, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, Block, Break, Continue, For, Return, Stmt, Store, While, seq
from hybridjit.ir.visit import children, walk
from hybridjit.schedule.bind_loops import bind_loops
from hybridjit.schedule.label_iters import label_iters
from hybridjit.schedule.primitives.set_scope import check_rank, check_scope
from hybridjit.schedule.program import loops_around, replace_stmt, the_block
from hybridjit.schedule.refusal import check_concurrent, refuse
from hybridjit.schedule.reindex import reindex
from hybridjit.schedule.staging import (
    fresh_block_name,
    is_overwritten,
    make_copy,
    make_scratch,
)
from hybridjit.schedule.staging_scope import (
    check_elementwise,
    find_place,
    set_elements,
)


def cache_write(
    func: PrimFunc, block_name: str, buffer: Buffer, scope: str, at: Var | None = None
) -> tuple[PrimFunc, str]:
    """Let the block write to a copy of `buffer` in `scope`; also gives the block that writes back.

        for i in range(n):                    c_local = allocate((n,), "float32", "local")
            with block("c", i):               for i in range(n):
                c[i] = a[i] + 1                   with block("c", i):
                                       -->            c_local[i] = a[i] + 1
                                              for ax0 in range(n):
                                                  with block("c_local", ax0):
                                                      c[ax0] = c_local[ax0]

    With `at`, only what one iteration of that loop touches is copied, in each iteration. All
    accesses of this part of the program go to the copy. What the part does not overwrite is
    read into the copy first.
    """
    check_cache_write(func, block_name, buffer, scope, at)
    return make_cache_write(func, block_name, buffer, scope, at)


def check_cache_write(
    func: PrimFunc, block_name: str, buffer: Buffer, scope: str, at: Var | None = None
) -> None:
    """Refuse a copy that would not come back, or that iterations would write over each other."""
    block = the_block(func, block_name)
    _check(func, block, buffer, scope)
    place = find_place(func, block, buffer, at, "cache_write")
    _check_end(func, place, buffer)
    around = loops_around(func, place)
    if any(loop.kind.is_concurrent for loop in around):
        made, _ = make_cache_write(func, block_name, buffer, scope, at)
        check_concurrent(made, around, "cache_write")


def make_cache_write(
    func: PrimFunc, block_name: str, buffer: Buffer, scope: str, at: Var | None = None
) -> tuple[PrimFunc, str]:
    """`func` with a copy that the block writes to, and the name of the block that writes back."""
    place = find_place(func, the_block(func, block_name), buffer, at, "cache_write")
    part = infer_instances(func, place)
    name = fresh_block_name(func, f"{buffer.name}_{scope}")
    scratch = make_scratch(part, buffer, scope, part.statements, whole=at is None)
    changed = scratch.redirect(func, place, reindex)
    staged = [changed, make_copy(func, part, place, scratch, name, back=True)]
    made = func
    if not is_overwritten(part, place, scratch):
        first = fresh_block_name(func, f"{name}_in")
        staged.insert(0, make_copy(func, part, place, scratch, first, back=False))
        made = set_elements(func, buffer, place)

    made = replace_stmt(made, place, seq(Allocate(scratch.made, zero=False), *staged))
    return label_iters(bind_loops(made), [name]), name


def _check(func: PrimFunc, block: Block, buffer: Buffer, scope: str) -> None:
    check_scope(func, scope, "cache_write")
    check_rank(func, buffer, scope, "cache_write")
    if not any(isinstance(node, Store) and node.buffer is buffer for node in walk(block)):
        raise refuse(
            func, f"cache_write: block '{block.name}' does not write '{buffer.name}'", [block]
        )


def _check_end(func: PrimFunc, place: Stmt, buffer: Buffer) -> None:
    """The copy is written back at the end of the part, so that must be reached."""
    check_elementwise(func, buffer, place, "cache_write")
    leaves = _find_exit(place, inside_loop=False)
    if leaves is not None:
        raise refuse(
            func,
            f"cache_write: {type(leaves).__name__.lower()} leaves before '{buffer.name}' is "
            "written back",
            [leaves],
        )


def _find_exit(stmt: Stmt, *, inside_loop: bool) -> Stmt | None:
    match stmt:
        case Return():
            return stmt
        case Break() | Continue():
            return None if inside_loop else stmt
        case _:
            inside = inside_loop or isinstance(stmt, For | While)
            below = (child for child in children(stmt) if isinstance(child, Stmt))
            found = (_find_exit(child, inside_loop=inside) for child in below)
            return next((leaves for leaves in found if leaves is not None), None)
