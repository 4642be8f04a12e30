"""What a program is known by in a database: by what it does, not by the names in it.

for row in range(512):            for v0 in range(512):           for v0 in range(N):
    y[row] = x[row] + 1     -->       v1[v0] = v2[v0] + 1   -->       v1[v0] = v2[v0] + N
                                  its hash                        its kind

Of one kind are programs of which the compiler makes the same by itself: what is better than its
tiles for large matrices says nothing of small ones that it leaves alone.
"""

from __future__ import annotations

import hashlib
import io
import json
import keyword
import tokenize
from collections.abc import Sequence
from typing import Any

from hybridjit.codegen.llvm_version import llvm_versions
from hybridjit.ir.func import PrimFunc
from hybridjit.optimize.optimize import optimize
from hybridjit.scalars.contents import arrays_in
from hybridjit.scalars.specs import ArraySpec, Spec, TupleSpec
from hybridjit.target import Target
from hybridjit.tuning.database import Identity

_NUMBERS = {"inf", "nan"}  # names that stand for something


Shapes = tuple[tuple[int, ...], ...]


def shapes_of(args: Sequence[Any]) -> Shapes:
    """The shapes of the arrays in arguments."""
    return tuple(array.shape for array in arrays_in(list(args)) if array.ndim)


def shapes_of_specs(specs: Sequence[Spec]) -> Shapes:
    """The same of what describes arguments; a size that is not known is 0."""
    found: list[tuple[int, ...]] = []
    for spec in specs:
        match spec:
            case ArraySpec() if spec.shape:
                found.append(tuple(n if type(n) is int else 0 for n in spec.shape))
            case TupleSpec():
                found += shapes_of_specs(spec.items)
            case _:
                pass
    return tuple(found)


def identify(func: PrimFunc, shapes: Shapes, target: Target, options: Any) -> Identity:
    """The identity of a program that is called with arrays of such shapes."""
    text = str(func)
    named = renamed(text)
    steps = " ".join(decision.step for decision in optimize(func, target).decisions.taken)
    kind = _short(f"{renamed(text, sized=False)} {steps}")
    setting = json.dumps([target.cpu, _short(target.features), options, list(llvm_versions())])
    return Identity(_short(named), kind, func.name, text, shapes, setting)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def renamed(text: str, *, sized: bool = True) -> str:
    """A printed program with its names in the order in which they come up; with `sized` false,
    without its numbers, too.
    """
    names: dict[str, str] = {}
    tokens = [
        (token.type, token.string) for token in tokenize.generate_tokens(io.StringIO(text).readline)
    ]
    made: list[str] = []
    for number, (kind, string) in enumerate(tokens):
        before = tokens[number - 1][1] if number else ""
        after = tokens[number + 1][1] if number + 1 < len(tokens) else ""
        is_name = kind == tokenize.NAME and not keyword.iskeyword(string) and string not in _NUMBERS
        is_called = after == "(" and before != "def"
        is_label = kind == tokenize.STRING and before == "("
        if (is_name and before != "." and not is_called) or is_label:
            string = names.setdefault(string, f"v{len(names)}")
        elif kind == tokenize.NUMBER and not sized:
            string = "N"
        made.append(string)
    return " ".join(made)
