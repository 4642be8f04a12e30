"""Expressions whose parts change each other, natively against plain Python: see tests/campaigns."""

from __future__ import annotations

import random
import re

import numpy as np

from hybridjit import config
from hybridjit.errors import ParseError, TypeMismatch
from tests.campaigns.drawn import Drawn
from tests.effects.generate import NAMES, make_arguments, make_text
from tests.frontend.from_text import script_from_text
from tests.support.oracle import assert_same_outcome, run_interpreted, run_once, run_plain
from tests.support.poisoned import run_poisoned

# Sums of larger numbers are rounded; what is added first is open.
LARGEST = 2.0**40
# One in so many runs natively: what is tested is the front end, which the interpreter shows.
NATIVE_EVERY = 2


def try_number(seed: int, number: int) -> Drawn:
    """One script, natively or in the interpreter; what may be a view or not is refused."""
    rng = random.Random(f"{seed}/{number}")
    text, args = make_text(rng), make_arguments(rng)
    kernel = script_from_text(text, NAMES)
    drawn = Drawn()
    drawn.counts["programs"] += 1
    drawn.count_arrays(args)
    is_native = number % NATIVE_EVERY == 0
    plain = run_once(run_plain, kernel, args)
    if any(np.any(np.abs(array) > LARGEST) for array in plain.arguments):
        drawn.counts["too large"] += 1
        return drawn
    with config.scope(cache_enabled=False, verify=False):
        found = run_once(run_poisoned if is_native else run_interpreted, kernel, args)
    if isinstance(found.error, (ParseError, TypeMismatch)):
        drawn.count("refused", [re.sub(r"'.*?'|`.*?`|\d+", "_", str(found.error).splitlines()[0])])
        return drawn
    drawn.counts["native" if is_native else "interpreted"] += 1
    try:
        assert_same_outcome(found, plain, joined=True)
    except AssertionError as error:
        raise AssertionError(f"{error}\n{text}{args}") from found.error
    return drawn
