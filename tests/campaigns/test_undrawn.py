"""Random programs call what the language has."""

from __future__ import annotations

from hybridjit.scalars.builtins import MATH
from tests.campaigns.undrawn import count_calls
from tests.programs.typed_exprs import calls_by_result


def test_random_programs_may_call_every_function_of_the_language() -> None:
    tables = [calls for arity in (1, 2, 3) for calls in calls_by_result(arity).values()]
    drawn = {label for calls in tables for label, _ in calls}
    assert set(MATH) <= drawn


def test_calls_are_counted_by_their_last_name() -> None:
    text = "x = np.linalg.norm(a) + dot_bytes(b, c) + (a).sum() + math.floor(d) + e[0]"
    assert set(count_calls([text])) == {"norm", "dot_bytes", "sum", "floor"}
