"""Keep the sign of zero where LLVM's back end for ARM would lose it.

A choice between a value and zero by which one is less is an instruction there, for which -0.0 is
less than 0.0. As it is written, neither is (seen in LLVM 22):

    %c = fcmp olt double %x, 0.0                      # -0.0 is not less: 0.0
    %r = select i1 %c, double %x, double 0.0    -->   fminnm d0, d0, d1    # -0.0

Asked the other way around, it takes a comparison and a choice:

    %signed.0 = fcmp uge double %x, 0.0
    %r = select i1 %signed.0, double 0.0, double %x

The passes before it would turn that back, so that it is done to what they have left.
"""

from __future__ import annotations

import re

_OPPOSITE = {"olt": "uge", "ogt": "ule", "ult": "oge", "ugt": "ole"}
_NUMBER = r"(?:-?0\.0+e\+00|0xH[08]000)"
_ZERO = rf"(?:{_NUMBER}|zeroinitializer|splat \(\w+ {_NUMBER}\))"
_TYPE = r"(?:half|float|double|<\d+ x (?:half|float|double)>)"
_COMPARISON = re.compile(
    rf" (?P<name>%\S+) = fcmp (?:\w+ )*?(?P<how>[ou][lg]t) (?P<type>{_TYPE}) (?P<x>%[^\s,]+), "
    rf"(?P<zero>{_ZERO})"
)
_CHOICE = re.compile(
    rf" = select (?P<flags>(?:\w+ )*?)(?P<kind>i1|<\d+ x i1>) (?P<cond>%[^\s,]+), "
    rf"(?P<type>{_TYPE}) (?P<then>%[^\s,]+|{_ZERO}), (?P=type) (?P<other>%[^\s,]+|{_ZERO})"
)


def keep_zeros(text: str) -> str:
    """The text of an optimised module, with such choices asked the other way around."""
    if _COMPARISON.search(text) is None:
        return text
    lines: list[str] = []
    comparisons: dict[str, re.Match[str]] = {}  # of a function, by their names
    for line in text.splitlines():
        found = _COMPARISON.search(line)
        if line.startswith("define"):
            comparisons.clear()
        elif found is not None:
            comparisons[found["name"]] = found
        lines += _kept(line, comparisons, f"%signed.{len(lines)}")
    return "\n".join(lines) + "\n"


def _is_positive(zero: str) -> bool:
    return "-" not in zero and "0xH8" not in zero


def _kept(line: str, comparisons: dict[str, re.Match[str]], name: str) -> list[str]:
    choice = _CHOICE.search(line)
    asked = comparisons.get(choice["cond"]) if choice is not None else None
    if choice is None or asked is None or "nsz" in choice["flags"] or "fast" in choice["flags"]:
        return [line]
    then, other = choice["then"], choice["other"]
    is_first = then == asked["x"]
    value, zero = (then, other) if is_first else (other, then)
    if value != asked["x"] or re.fullmatch(_ZERO, zero) is None:
        return [line]
    is_maximum = (asked["how"][1] == "g") == is_first
    if (is_maximum == _is_positive(zero)) == is_first:
        return [line]  # max(x, 0.0): the instruction gives the same
    kind = asked["type"]
    turned = f" = select {choice['kind']} {name}, {kind} {other}, {kind} {then}"
    return [
        f"  {name} = fcmp {_OPPOSITE[asked['how']]} {kind} {asked['x']}, {asked['zero']}",
        line[: choice.start()] + turned + line[choice.end() :],
    ]
