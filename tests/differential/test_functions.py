"""Every operator and every function, of numpy, math and the language, on every kind of scalar."""

import importlib.util
import itertools
import math
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from hybridjit import Kernel
from hybridjit.errors import TypeMismatch
from hybridjit.frontend import captures
from hybridjit.scalars.builtins import MATH
from hybridjit.scalars.functions import arity_of
from tests.support.oracle import run_plain_and_interpreted

REAL = (
    *(True, 2, 2.5, np.bool_(True), np.int8(3), np.uint8(3), np.int32(-3), np.int64(3)),
    *(np.uint64(3), np.float16(0.5), np.float32(0.5), np.float64(-0.5)),
)
COMPLEX = (1 + 2j, np.complex64(0.5 + 1j), np.complex128(0.5 + 1j))
FEW = (2, 2.5, np.int8(3), np.float32(0.5), np.float64(0.5))
ULP = 4  # the functions of math.h and NumPy's are not the same code

OPERATORS = (
    *("+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>"),
    *("==", "!=", "<", "<=", ">", ">="),
)
SIGNS = ("-", "+", "~", "not ")
PYTHON = {"abs": 1, "round": 1, "int": 1, "float": 1, "bool": 1, "complex": 1, "pow": 2}

# Results that differ in type and not in value, or where Python is the odd one out.
KNOWN = {
    "np.where": "gives an array without dimensions",
    "np.real": "np.real(True) is the int 1",
    "np.clip": "joins its three types at once",
    "math.trunc": "refuses every NumPy scalar that is not a float64",
    "round": "refuses np.bool_",
    **{f"math.{name}": "raises outside its domain" for name in ("asin", "acos", "acosh", "atanh")},
    **{f"math.{name}": "raises outside its domain" for name in ("log", "log2", "log10", "log1p")},
    **{f"math.{name}": "raises outside its domain" for name in ("sqrt", "pow", "gamma", "lgamma")},
}


def expressions() -> Iterator[tuple[str, str, int]]:
    """What to try: a label, an expression of x, y and z, and how many of them it has."""
    modules = {"np": (np, captures.NUMPY_NAMES), "math": (math, captures.MATH_NAMES)}
    for module, (contents, names) in modules.items():
        for attribute, name in names.items():
            if hasattr(contents, attribute):
                yield _call(f"{module}.{attribute}", arity_of(name))
    for name in MATH:
        yield _call(name, arity_of(name))
    for name, arity in PYTHON.items():
        yield _call(name, arity)
    for operator in OPERATORS:
        yield operator, f"x {operator} y", 2
    for sign in SIGNS:
        yield f"{sign}x", f"{sign}x", 1


def _call(name: str, arity: int) -> tuple[str, str, int]:
    return name, f"{name}({', '.join('xyz'[:arity])})", arity


TRIED = [entry for entry in expressions() if entry[0] not in KNOWN]


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """A module with one kernel for each expression; a script needs a file to be read from."""
    lines = ["import math", "import numpy as np", "from hybridjit import hybrid"]
    for number, (_, expression, arity) in enumerate(TRIED):
        lines.append(f"@hybrid.script\ndef f{number}({', '.join('xyz'[:arity])}):")
        lines.append(f"    return {expression}")
    path: Path = tmp_path_factory.mktemp("functions") / "kernels.py"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location("kernels", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def arguments(arity: int) -> Iterator[tuple[Any, ...]]:
    match arity:
        case 1:
            return itertools.product((*REAL, *COMPLEX))
        case 2:
            return itertools.product((*REAL, *COMPLEX), repeat=2)
        case _:
            return itertools.product(FEW, repeat=arity)


@pytest.mark.sampled(18)
@pytest.mark.parametrize("number", range(len(TRIED)), ids=[label for label, _, _ in TRIED])
def test_function_of_every_type(kernels: ModuleType, number: int) -> None:
    kernel: Kernel[..., Any] = vars(kernels)[f"f{number}"]
    for args in arguments(TRIED[number][2]):
        if not (is_odd(args) or is_refused(kernel, args)):
            run_plain_and_interpreted(kernel, args, ulp=ULP)


def is_refused(kernel: Kernel[..., Any], args: tuple[Any, ...]) -> bool:
    """What is refused cannot be wrong; of integers and floats, nothing is that Python computes."""
    if not any(np.asarray(arg).dtype.kind in "bc" for arg in args):
        return False
    try:
        kernel.prim_func(*args)
    except TypeMismatch:
        return True
    return False


def is_odd(args: tuple[Any, ...]) -> bool:
    """Python computes with a complex and a np.float64, which is a float, without asking NumPy."""
    return type(args[0]) is complex and type(args[-1]) is np.float64
