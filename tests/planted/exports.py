"""Bugs planted in libraries for C. Each must make a random program of one differ from Python."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hybridjit.runtime.modules import c_text, c_transforms, export
from tests.exports.campaign import try_number
from tests.planted.bugs import Bug, RandomCheck, replaced
from tests.runtime.test_export import test_a_library_transforms_without_numpy

# Libraries until a bug counts as missed.
MAX_LIBRARIES = 12


def at_random(first: int) -> RandomCheck:
    """Functions of random libraries do what they do in plain Python."""

    def check_number(number: int) -> None:
        failures = try_number(0, number).failures
        assert not failures, failures[0]

    return RandomCheck("exports", check_number, first, MAX_LIBRARIES)


def transforms() -> None:
    """The transforms of a library give what NumPy's give."""
    with tempfile.TemporaryDirectory() as folder:
        test_a_library_transforms_without_numpy("complex128", Path(folder))


_passed = vars(c_text)["_passed"]
_TRANSFORMS: str = vars(c_transforms)["_BEGIN"]
_format_with = vars(c_text)["format_with"]
_Exported = export.Exported


def sizes_turned_around(function: Any) -> Iterator[tuple[str, str]]:
    """The run-time sizes are passed on in another order."""
    passed = list(_passed(function))
    first = len(function.convention.buffers)
    last = first + len(function.convention.dimensions)
    yield from [*passed[:first], *passed[first:last][::-1], *passed[last:]]


def without_clash(name: str) -> str:
    return name


def without_divisor(names: Any, expr: Any) -> str:
    return _format_with(names, expr).split(" //")[0]


def without_writes(*args: Any) -> Any:
    """Says of all arrays that they are read only."""
    return dataclasses.replace(_Exported(*args), written=frozenset())


def in_transforms(name: str, right: str, wrong: str) -> Bug:
    """Another text somewhere in the C code of transforms."""
    assert _TRANSFORMS.count(right) == 1, right
    text = _TRANSFORMS.replace(right, wrong)
    return Bug(name, [replaced(c_transforms, "_BEGIN", text)], transforms)


BUGS = (
    Bug(
        "sizes are mistaken for each other",
        [replaced(c_text, "_passed", sizes_turned_around)],
        at_random(0),
    ),
    Bug(
        "the header says that an array is only read",
        [replaced(export, "Exported", without_writes)],
        at_random(0),
    ),
    Bug(
        "words of C are names",
        [replaced(c_text, "c_name", without_clash)],
        at_random(0),
    ),
    Bug(
        "the header says other sizes of results",
        [replaced(c_text, "format_with", without_divisor)],
        at_random(0),
    ),
    in_transforms("parts take the first roots of the whole", "% n * step]", "% n]"),
    in_transforms("parts are turned by another root", "(q * m + j) % n", "(q * m) % n"),
    in_transforms("half a spectrum is not mirrored", "is_mirrored ? im : -im", "im"),
    in_transforms("elements after the last are read", "if (k >= given)", "if (k > n)"),
    in_transforms("an odd length is an even one", "(kind == 3 ? 2 : 1)", "2"),
)
