"""Fusion of array statements: what a quick proof allows, for the steps that do the same with isl.

`find_*` give the program that a step makes, or None if the quick proof does not tell: then the
step asks isl, which explains.
"""

from __future__ import annotations

from collections.abc import Sequence

from hybridjit.analysis.faults import Fault
from hybridjit.ir.expr import Buffer, Load, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, For, Let, Stmt, Store
from hybridjit.ir.visit import walk
from hybridjit.schedule.arrays.contract import contract
from hybridjit.schedule.arrays.epilogue import find_epilogue, make_epilogue
from hybridjit.schedule.arrays.inline import find_elements, make_inline, may_inline
from hybridjit.schedule.arrays.merge import find_merge
from hybridjit.schedule.arrays.plain import Plain, stored_in
from hybridjit.schedule.arrays.store_once import make_store_once, uses_own_elements
from hybridjit.schedule.arrays.unpack import find_packed, make_unpacked
from hybridjit.schedule.program import the_block
from hybridjit.schedule.refusal import refuse


def find_inlined(func: PrimFunc, block_name: str) -> PrimFunc | None:
    """`func` without the array of a block, whose elements are computed where they are read."""
    plain = Plain.of(func)
    allocation = _allocation_of(plain, func, block_name)
    if allocation is None:
        return None
    stmts = plain.list_with(allocation)
    if allocation.buffer not in plain.fusion.temporaries:
        return _find_unpacked(plain, stmts, allocation)
    elements = find_elements(plain.fusion, stmts, allocation)
    if elements is None or not may_inline(plain.fusion, stmts, elements):
        return None
    return plain.with_list(allocation, make_inline(plain.fusion, stmts, elements))


def _find_unpacked(plain: Plain, stmts: list[Stmt], allocation: Allocate) -> PrimFunc | None:
    """The function without an array of computed size, of which only the elements are folded."""
    packed = find_packed(plain.fusion, stmts, allocation)
    made = None if packed is None else make_unpacked(plain.fusion, stmts, packed)
    return None if made is None else plain.with_list(allocation, made)


def find_merged(func: PrimFunc, first: Var, second: Var) -> PrimFunc | None:
    """`func` with two loops over elements as one; what stands between goes before or after."""
    plain = Plain.of(func)
    a, b = plain.find_loop(first), plain.find_loop(second)
    if a is None or b is None:
        return None
    stmts = plain.list_with(a)
    if b not in stmts or stmts.index(b) < stmts.index(a):
        return None
    made = find_merge(plain.fusion, stmts, stmts.index(a), stmts.index(b))
    return None if made is None else plain.with_list(a, made)


def find_with_epilogue(func: PrimFunc, block_name: str) -> PrimFunc | None:
    """`func` without a product of which this block makes something, element by element."""
    plain = Plain.of(func)
    reads = {node.buffer for node in walk(the_block(func, block_name)) if isinstance(node, Load)}
    for buffer in reads & set(plain.fusion.products):
        allocation = plain.find_allocation(buffer)
        if allocation is None or buffer not in plain.fusion.temporaries:
            continue
        stmts = plain.list_with(allocation)
        epilogue = find_epilogue(plain.fusion, stmts, allocation)
        if epilogue is not None:
            return plain.with_list(allocation, make_epilogue(stmts, epilogue))
    return None


def contract_buffer(func: PrimFunc, buffer: Buffer) -> PrimFunc:
    """Make an array anew, and smaller, in each iteration of the one loop that uses it."""
    plain = Plain.of(func)
    allocation = plain.find_allocation(buffer)
    if allocation is None or buffer not in plain.fusion.temporaries:
        raise refuse(func, f"contract: '{buffer.name}' is not made in the program")
    stmts = plain.list_with(allocation)
    users = [s for s in stmts if s is not allocation and plain.fusion.footprint(s).touches(buffer)]
    if len(users) != 1 or not isinstance(users[0], For) or not plain.fusion.is_nest(users[0]):
        raise refuse(
            func,
            f"contract: '{buffer.name}' is not used by one loop of array statements alone",
            help="s.merge(first, second) makes one loop of those that use it",
        )
    made = contract(plain.fusion, stmts, allocation, users[0])
    if isinstance(made, str):
        raise refuse(func, f"contract: '{buffer.name}' stays as it is: {made}")
    return plain.with_list(allocation, made[0])


def store_once(func: PrimFunc, block_name: str) -> PrimFunc:
    """Store to the elements of an array once in each iteration."""
    plain = Plain.of(func)
    block = the_block(func, block_name)
    nest, stored = plain.find_nest(block_name), stored_in(block)
    if nest is None or len(stored) != 1 or stored[0].is_register:
        raise refuse(func, f"store_once: '{block_name}' is no store of an array statement", [block])
    (buffer,) = stored
    store = next(s for s, origin in plain.marks.origins.items() if origin is block)
    stmts = plain.list_with(store)
    obstacle = _find_store_obstacle(plain, nest, stmts, buffer)
    if obstacle is not None:
        raise refuse(func, f"store_once: '{buffer.name}': {obstacle}", [block])
    return plain.with_list(store, make_store_once(stmts, buffer))


def _find_store_obstacle(
    plain: Plain, nest: For, stmts: Sequence[Stmt], buffer: Buffer
) -> str | None:
    if not all(isinstance(stmt, Let | Store) for stmt in stmts):
        return "more than stores and names stand between its stores"
    if not uses_own_elements(stmts):
        return "an iteration uses several of its elements"
    stores = [stmt for stmt in stmts if isinstance(stmt, Store) and stmt.buffer is buffer]
    if any(isinstance(n, Load) for store in stores for at in store.indices for n in walk(at)):
        return "an index of it is read from memory"
    fault = plain.fusion.fault(nest)
    if fault is Fault.ANY and buffer in plain.fusion.visible:
        return "a store that is left out would be seen after an error"
    return None


def _allocation_of(plain: Plain, func: PrimFunc, block_name: str) -> Allocate | None:
    """Where the one array is made that a block stores to."""
    stored = stored_in(the_block(func, block_name))
    return plain.find_allocation(stored[0]) if len(stored) == 1 else None
