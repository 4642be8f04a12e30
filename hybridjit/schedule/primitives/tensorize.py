"""tensorize: do what a loop nest does by an intrinsic."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from hybridjit.intrinsics.registry import Intrinsic
from hybridjit.ir.expr import Buffer, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For, Store
from hybridjit.ir.visit import substitute, walk_stmts
from hybridjit.schedule.bind_loops import bind_loops
from hybridjit.schedule.copies import copy_beside
from hybridjit.schedule.foreign_parts import find_scattered, pass_parts
from hybridjit.schedule.matching import Matcher, Mismatch, Place
from hybridjit.schedule.program import replace_stmt, the_loop
from hybridjit.schedule.refusal import refuse
from hybridjit.schedule.reindex import reindex


def tensorize(func: PrimFunc, var: Var, intrinsic: Intrinsic) -> PrimFunc:
    """Replace the loop over `var`, and what is in it, by the implementation of `intrinsic`.

        for k in range(4):                     the implementation of dot4,
            c[i] += a[i, k] * b[k]     -->     on a[i, 0:4], b[0:4] and c[i:i+1]

    The loop must do exactly what the description does, on parts of its buffers. Indices of the
    implementation are checked like all others.
    """
    loop = the_loop(func, var)
    matcher = Matcher(intrinsic.scalars)
    try:
        places = matcher.match(intrinsic.description.body, loop)
    except Mismatch as mismatch:
        raise refuse(
            func,
            f"tensorize: loop '{var.name}' does not do what '{intrinsic.name}' describes: "
            f"{mismatch}",
            [loop],
        ) from None
    _check(func, loop, intrinsic, places)

    pairs = zip(intrinsic.implementation.buffers, intrinsic.description.buffers, strict=True)
    lies_in = {parameter: places[described] for parameter, described in pairs}
    body = copy_beside(func, pass_parts(intrinsic.implementation.body, lies_in, intrinsic))
    body = substitute(body, matcher.numbers)
    for parameter, place in lies_in.items():
        body = reindex(body, parameter, place.buffer, place.indices)
    scattered = find_scattered(body)
    if scattered is not None:
        raise refuse(
            func,
            f"tensorize: '{intrinsic.name}' hands a part of '{scattered.buffer.name}' to C, and "
            "its elements do not lie one behind the other",
            [loop],
            help="cache_read and transform_layout pack it; or declare the buffer with strides",
        )
    return bind_loops(replace_stmt(func, loop, body))


def _check(func: PrimFunc, loop: For, intrinsic: Intrinsic, places: Mapping[Buffer, Place]) -> None:
    if not intrinsic.is_exact and "reassoc" not in func.fastmath:
        raise refuse(
            func,
            f"tensorize: '{intrinsic.name}' rounds otherwise than its description",
            [loop],
            help='allow it: @hybrid.script(fastmath={"reassoc"})',
        )
    _check_apart(func, loop, intrinsic, places)
    unused = [buffer for buffer in intrinsic.description.buffers if buffer not in places]
    if unused:
        raise refuse(func, f"tensorize: '{unused[0].name}' is not used in the description")


def _check_apart(
    func: PrimFunc, loop: For, intrinsic: Intrinsic, places: Mapping[Buffer, Place]
) -> None:
    """An intrinsic takes its arrays for different ones, as far as it writes to them."""
    written = {
        node.buffer for node in walk_stmts(intrinsic.description.body) if isinstance(node, Store)
    }
    for a, b in combinations(places, 2):
        if places[a].buffer is places[b].buffer and (a in written or b in written):
            raise refuse(
                func,
                f"tensorize: '{a.name}' and '{b.name}' of '{intrinsic.name}' would both lie in "
                f"'{places[a].buffer.name}', which it writes to",
                [loop],
            )
