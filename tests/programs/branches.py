"""Random branches, and the jumps and returns at their ends."""

from __future__ import annotations

from tests.programs.maker import Lines, Maker, Nested, indent
from tests.programs.scope import Name


def make_if(make: Maker, depth: int) -> Lines:
    lines = [f"if {make.condition(2)}:"]
    sides = [_side(make, depth)]
    lines += indent(sides[0].lines)
    if make.choices.chance(25):
        lines.append(f"elif {make.condition(2)}:")
        sides.append(_side(make, depth))
        lines += indent(sides[-1].lines)
    has_else = make.choices.chance(50)
    if has_else:
        lines.append("else:")
        sides.append(_side(make, depth))
        lines += indent(sides[-1].lines)
    _after_branches(make, sides, has_else)
    return lines


def _side(make: Maker, depth: int) -> Nested:
    return make.inside(lambda: make_branch(make, depth))


def make_branch(make: Maker, depth: int) -> Lines:
    """A block that may end in a jump."""
    lines = make.block(2, depth - 1)
    jump = _jump(make) if make.choices.chance(make.style.jumps) else None
    if jump is None:
        return lines
    make.jumps += 1
    return [*lines, jump]


def _jump(make: Maker) -> str | None:
    loop, parallel = make.scope.loop, make.scope.parallel
    words: list[str] = []
    if loop:
        words.append("continue")
    if loop and loop not in ("grid", "parallel", "vectorize", "unroll"):
        words.append("break")
    if make.returns is not None and parallel is None and make.choices.chance(30):
        make.exits += 1
        return make.returns(make)
    if loop == "const_range":
        return None
    return make.choices.pick(words) if words else None


def _after_branches(make: Maker, sides: list[Nested], has_else: bool) -> None:
    everything = set[str]().union(*(side.assigned for side in sides))
    valid: dict[str, Name] = {}
    for side in sides:
        valid |= make.still_valid(side.assigned, side.scope)
    # A name that every side gave the same type is known afterwards.
    agreed = {
        name: sides[0].scope.names[name]
        for name in everything
        if has_else
        and all(name in side.scope.names and name in side.assigned for side in sides)
        and len({side.scope.names[name] for side in sides}) == 1
    }
    unsafe = {
        n for n in everything for s in sides if n in s.assigned and n not in s.scope.protected
    }
    for name in everything:
        if name in agreed:
            make.scope.names[name] = agreed[name]
        elif name in unsafe or name not in valid:
            make.scope.names.pop(name, None)
