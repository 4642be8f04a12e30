"""Statements after which names stand for other arrays, in loops and branches.

What they do to the numbers matters little: which array a name stands for does, so that every array
is written to and read all the time. None of them knows sizes.
"""

from __future__ import annotations

import random

from tests.arrays.script import Script
from tests.arrays.stmts import Statement, branch, element_test, loop, store_to
from tests.arrays.style import Style
from tests.arrays.values import Arguments, ArrayPlan, Calls

NAMES = ("u", "v", "w", "x")
# The array itself, in NumPy.
_SAME = (
    *("{0}", "{0}", "{0}", "np.asarray({0}, {0}.dtype)"),
    *("{0}.real", "np.real({0})", "{0}.conj()"),
)
# New arrays, made of one or two.
_NEW = ("{0} + 1", "{0} * 2", "{0}.copy()", "np.zeros_like({0})", "{0}[::-1] - 3")
_COMPUTED = tuple(f"{{0}} - {{1}}[::-1] * {factor}" for factor in (1, 2, 3))
_CHANGES = (
    *("{0} += {1}", "{0}[1:] = {1}[:-1]", "{0}[:] = {1} * 3", "{0} -= 1"),
    *("{0}[-1] += 1", "{0}[0] += 2", "{0}[1] += 9", "{0}[-1] += 4", "{0}[0] += 5"),
)
# Sizes of arrays, and how often loops run: when it is written, and when it is called.
_CALLS = ((4, 2), (2, 0), (3, 1), (5, 2), (4, 3))


def rounds(choose: random.Random, style: Style) -> Calls:
    """Two rows of numbers, and how often loops run."""
    seeds = [choose.randrange(1 << 30) for _ in "ab"]
    dtype = choose.choice(style.dtypes)

    def call(size: int, count: int) -> Arguments:
        plans = [ArrayPlan(dtype, (size,), seed=seed) for seed in seeds]
        return Arguments(dict(zip("ab", plans, strict=True)), {"n": count})

    return [call(*pair) for pair in _CALLS]


def name_three(script: Script) -> None:
    """The first lines: three more arrays. In most scripts, the arguments are not named any more."""
    for name in script.choose.sample(NAMES, 3):
        _make(script, name, _NEW)
    if script.choose.random() < 0.7:
        script.pool.hidden |= set(script.passed)


def _alike(script: Script, count: int) -> list[str]:
    """So many names of arrays that are alike; none if there are not so many."""
    names, pool = script.pool.arrays(), script.pool
    array = pool.names[script.choose.choice(names)]
    kind = array.dtype, array.shape
    alike = [n for n in names if (pool.names[n].dtype, pool.names[n].shape) == kind]
    if array.ndim == 0 or len(alike) < count:
        return []
    return script.choose.sample(alike, count)


def rotate(script: Script) -> bool:
    """`a, b = b, a`, or of three."""
    names = _alike(script, script.choose.choice((2, 3)))
    return bool(names) and script.mix(
        names, f"{', '.join(names)} = {', '.join([*names[1:], names[0]])}"
    )


def other_name(script: Script) -> bool:
    """A name that may have had no array before gets one that another name stands for."""
    names, target = _alike(script, 1), _any_name(script)
    source = script.choose.choice(_SAME).format(*names, "")
    return bool(names) and script.mix(names, f"{target} = {source}", target)


def _any_name(script: Script) -> str:
    return script.choose.choice((*NAMES, script.choose.choice(script.pool.arrays())))


def named_copy(script: Script) -> bool:
    """A new array for a name, made of another one."""
    return _make(script, script.choose.choice(NAMES), _NEW)


def computed(script: Script) -> bool:
    """A new array for a name, made of two others."""
    return _make(script, _any_name(script), _COMPUTED)


def _make(script: Script, target: str, forms: tuple[str, ...]) -> bool:
    names = _alike(script, 2) or _alike(script, 1) * 2
    if not names:
        return False
    operands = [script.pool.named(name) for name in names]
    scale = 4 * sum(operand.scale for operand in operands)
    value = script.pool.keep(script.choose.choice(forms).format(*names), *operands, scale=scale)
    return value is not None and script.assign(target, value)


def change(script: Script) -> bool:
    """All of an array, or all but an element, from another one; or an element."""
    names = _alike(script, 2)
    if not names or script.pool.names[names[0]].dtype.kind == "b":
        return False
    place, op, value = script.choose.choice(_CHANGES).format(*names).split(" ", 2)
    operand = script.pool.keep(value, script.pool.named(names[1]))
    if operand is None:  # a number
        return script.store(names[0], script.pool.note(names[0]), f"{place} {op} {value}")
    return store_to(script, names[0], place, op, operand)


def call(script: Script) -> bool:
    """Two names for what a function makes of two arrays."""
    pair, given = _alike(script, 2), _alike(script, 2)
    arrays = [script.pool.names[name] for name in (*pair, *given)]
    if script.loops or len(arrays) < 4 or any(array.dtype.kind not in "iu" for array in arrays):
        return False
    count = "n % 3" if "n" in script.arguments.numbers else str(script.choose.randrange(3))
    line = f"{', '.join(pair)} = helper({', '.join(given)}, {count})"
    return script.mix((*pair, *given), line)


def while_loop(script: Script) -> bool:
    """A loop that elements may end."""
    names, counter = _alike(script, 1), f"c{script.depth}"
    if script.depth >= script.style.depth or not names or not script.pool.note(names[0]).is_exact:
        return False
    count = "n" if "n" in script.arguments.numbers else "2"
    first = names[0] + "[0]" * script.pool.names[names[0]].ndim
    head = f"while {counter} < {count} and {first} < 99:"
    return script.write(f"{counter} = 0") and script.loop(
        head, script.choose.randint(1, 3), f"{counter} += 1"
    )


def leave(script: Script) -> bool:
    """A round of a loop may be the last one, or end here."""
    condition = element_test(script)
    if not script.loops or condition is None:
        return False
    return script.write(f"if {condition}:", f"    {script.choose.choice(('break', 'continue'))}")


CARRIED: tuple[Statement, ...] = (
    *(rotate, rotate, other_name, change, change, computed, named_copy, change),
    *(loop, loop, branch, while_loop, leave, call),
)
