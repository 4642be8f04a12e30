"""Random kernels called from several threads at once, against plain Python: see tests/campaigns.

First calls race each other, shapes vary, some calls fail; meanwhile others clear what is known,
change settings, call back and call again.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

from hybridjit import config
from hybridjit.errors import RefutedIndex
from tests.callers.crowd import Caller, Made, kernel_of, run_crowd
from tests.callers.scripts import KINDS, Refused, Script
from tests.campaigns.drawn import Drawn

THREADS = (2, 3, 4, 6)
MOST_SCRIPTS = 2
# One in so many crowds keeps nothing on disk, and so many kernels say `parallel=True`.
WITHOUT_DISK_EVERY = 3
PARALLEL = 0.4


def try_number(seed: int, number: int) -> Drawn:
    """A few scripts, and threads that call them."""
    rng = random.Random(f"{seed}/{number}")
    drawn = Drawn()
    with ExitStack() as stack:
        scripts = _draw(rng, f"{seed}/{number}", stack)
        if not scripts:
            return drawn
        drawn.counts["programs"] += 1
        uses_disk = number % WITHOUT_DISK_EVERY > 0
        folder = stack.enter_context(tempfile.TemporaryDirectory()) if uses_disk else None
        count = rng.choice(THREADS)
        callers = [Caller(scripts, random.Random(rng.random())) for _ in range(count)]
        with config.scope(cache_enabled=uses_disk, cache_dir=folder, verify=False):
            try:
                run_crowd(callers)
                _check(drawn, callers)
            except Exception as error:
                texts = "\n".join(f"{script.kernel!r}\n{script.text}" for script in scripts)
                raise AssertionError(f"{count} threads: {error}\n{texts}") from error
    drawn.count("threads", [str(count)])
    drawn.count("disk", ["shared" if uses_disk else "none"])
    return drawn


def _draw(rng: random.Random, label: str, stack: ExitStack) -> list[Script]:
    found: list[Script] = []
    for number in range(rng.randint(1, MOST_SCRIPTS)):
        make = KINDS[rng.choice(list(KINDS))]
        script = stack.enter_context(make(f"{label}/{number}"))
        if script is not None:
            kernel = kernel_of(script, parallel=rng.random() < PARALLEL)
            found.append(replace(script, kernel=kernel))
    return found


def _check(drawn: Drawn, callers: Sequence[Caller]) -> None:
    """Fail unless each call did what plain Python does, and failed alike in every thread."""
    failures = [failure for caller in callers for failure in caller.failures]
    assert not failures, "\n".join(failures)
    refused, messages = set[Script](), dict[object, str]()
    for made in (made for caller in callers for made in caller.made):
        try:
            made.call.check(made.outcome)
        except Refused as refusal:
            refused.add(made.script)
            drawn.count("refused", [str(refusal)])
            continue
        except AssertionError as error:
            number = made.script.calls.index(made.call)
            raise AssertionError(f"{made.way}, call {number}: {error}") from made.outcome.error
        assert made.script not in refused, "a script was refused in one call only"
        _check_message(messages, made)
        drawn.counts["native calls"] += made.way != "interpreted"
        drawn.counts["errors"] += made.outcome.error is not None
        drawn.count_arrays(made.call.args)
    for caller in callers:
        drawn.count("steps of threads", caller.steps)
    scripts = callers[0].scripts
    drawn.count("kinds", [script.kind for script in scripts])
    drawn.counts["native"] += any(script not in refused for script in scripts)


def _check_message(messages: dict[object, str], made: Made) -> None:
    """An error says the same in whichever thread; what the compiler saw coming says more."""
    error = made.outcome.error
    if error is None or isinstance(error, RefutedIndex) or made.way == "interpreted":
        return
    known = messages.setdefault(made.call, str(made.call.error or error))
    assert str(error) == known, f"{made.way} says {error}, expected {known}"
