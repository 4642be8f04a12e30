"""All planted bugs, by area."""

from __future__ import annotations

from collections.abc import Sequence

from tests.planted import (
    arrays,
    bounds,
    brought,
    callers,
    computed,
    effects,
    exports,
    fusion,
    gradients,
    iterations,
    lanes,
    library,
    llvm,
    names,
    native,
    operators,
    optimizer,
    outputs,
    parallel,
    schedule_loops,
    schedule_stages,
    scripts,
    shapes,
    sums,
    te,
    tuning,
    vectors,
)
from tests.planted.bugs import Bug

AREAS: dict[str, Sequence[Bug]] = {
    "scripts": scripts.BUGS,
    "shapes": shapes.BUGS,
    "arrays": arrays.BUGS,
    "computed": computed.BUGS,
    "brought": brought.BUGS,
    "callers": callers.BUGS,
    "effects": effects.BUGS,
    "fusion": fusion.BUGS,
    "optimizer": optimizer.BUGS,
    "names": names.BUGS,
    "library": library.BUGS,
    "native": native.BUGS,
    "llvm": llvm.BUGS,
    "outputs": outputs.BUGS,
    "bounds": bounds.BUGS,
    "parallel": parallel.BUGS,
    "vectors": vectors.BUGS,
    "lanes": lanes.BUGS,
    "iterations": iterations.BUGS,
    "sums": sums.BUGS,
    "schedules": (*schedule_loops.BUGS, *schedule_stages.BUGS),
    "te": te.BUGS,
    "gradients": gradients.BUGS,
    "exports": exports.BUGS,
    "operators": operators.BUGS,
    "tuning": tuning.BUGS,
}


def seams() -> dict[str, list[Bug]]:
    """Every place of the compiler that bugs are planted at, and those bugs."""
    found: dict[str, list[Bug]] = {}
    for bug in (bug for bugs in AREAS.values() for bug in bugs):
        for plant in bug.plants:
            found.setdefault(plant.seam, []).append(bug)
    return dict(sorted(found.items()))
