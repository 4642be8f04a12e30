"""A machine so small that arrays of a few vectors are large: whatever the optimiser, lowering and
code generation do from some size on, they do in programs that take no time to run.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import Mock, patch
from zlib import crc32

from hybridjit import config, processor
from hybridjit.analysis import traffic
from hybridjit.codegen.emit import emitter, memory, parallel
from hybridjit.ir.stmt import For
from hybridjit.lowering import lane_cost, plan_storage, vectorize_inner
from hybridjit.optimize import pack_products, products, reduce_rows, transpose_tiles
from hybridjit.schedule.arrays import choose_tile, gemm, matrix_product
from hybridjit.stdlib.running import schedules
from hybridjit.target import Caches, Target

CACHES = Caches(first=256, own=1 << 10, shared=1 << 12)
# What counts as large: bytes that are stored past the caches or not on the stack, terms of products
# in tiles and of sums in blocks, rows in squares, work between two looks at signals.
THRESHOLDS: tuple[tuple[Any, dict[str, int]], ...] = (
    (traffic, {"STREAM_BYTES": 64}),
    (memory, {"MAX_STACK_BYTES": 64}),
    (plan_storage, {"_SMALL_BYTES": 0}),
    (products, {"MIN_BLOCKED_TERMS": 32, "MIN_BLOCKED_AT_RUN_TIME": 32, "MIN_JAMMED_TERMS": 8}),
    (pack_products, {"_MIN_TERMS": 64}),
    (choose_tile, {"DEPTH": 8, "MAX_DEPTH": 12, "LEAST_PACKED": 1, "_FEW_ROWS": 4}),
    (gemm, {"TERMS_OF_COLUMNS": 10}),
    (matrix_product, {"MIRRORED_TILES": 0, "MAX_PANELS_IN_PLACE": 0}),
    (reduce_rows, {"BLOCK": 128}),
    (transpose_tiles, {"_SHORTEST": 2}),
    (schedules, {"PARALLEL_WORK": 1 << 9, "TILED_WORK": 32, "REDUCED_WORK": 16}),
    (schedules, {"ROWS_WORK": 64, "ROW": 8}),
    (emitter, {"POLL_WORK": 64}),
    (parallel, {"POLL_WORK": 64}),
)


@contextmanager
def small_machine(*, by_element: bool | None = None) -> Generator[None]:
    """Code is made as if for such a machine; it is not kept.

    It multiplies vectors `by_element`, or does not, or is like the one that it runs on.
    """

    def shrunk(function: Any) -> Any:
        def target(*args: Any) -> Target:
            return replace(function(*args), caches=CACHES)

        return target

    with ExitStack() as patches:
        for name in ("host_target", "named_target"):
            small = shrunk(getattr(processor, name))
            patches.enter_context(patch.object(processor, name, small))
        for module, values in THRESHOLDS:
            for name, value in values.items():
                patches.enter_context(patch.object(module, name, value))
        if by_element is not None:
            kind = Mock(return_value=by_element)
            patches.enter_context(patch.object(choose_tile, "multiplies_by_element", kind))
        patches.enter_context(patch.object(vectorize_inner, "pays", _pays))
        patches.enter_context(patch.object(vectorize_inner, "reduction_pays", _always))
        patches.enter_context(config.scope(cache_enabled=False))
        yield


def _pays(loop: For, target: Target) -> bool:
    """Lanes are often taken where they do not pay: around other loops, gathering, scattering."""
    return lane_cost.pays(loop, target) or crc32(f"{loop.var.name}{loop.stop!r}".encode()) % 3 == 0


def _always(_: For) -> bool:
    return True
