"""Kernels and arguments named on the command line: `file.py:name --args "f32[512, 512], 3"`.

Arguments are written as in Python: numbers, strings and lists as they are; `f32[512, 512]` is an
array of random elements, always the same ones, and `f32` a number of that type. Integers in arrays
are small and not negative, so that they may be indices. What cannot be written so is made by a
function: `--args-from file.py:name` takes a tuple of that name, or the one that a function of that
name returns; `--args-from file.py` takes `args`.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import os
import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any, TypeGuard, cast

import numpy as np
from numpy.typing import NDArray

import hybridjit
from hybridjit.scalars.builtins import find_element_type
from hybridjit.scalars.suggest import did_you_mean
from hybridjit.script import Kernel
from hybridjit.syntax import parse_expression
from hybridjit.tools.working import working

MAX_INDEX = 8  # elements of arrays of integers are below it


class LoadError(Exception):
    """What the command line names cannot be had; the message says why."""


def declare_kernel(parser: argparse.ArgumentParser) -> None:
    """The arguments of a command that is about one call of a kernel."""
    parser.add_argument("kernel", metavar="file.py:name", help="the kernel, and where it stands")
    given = parser.add_mutually_exclusive_group()
    given.add_argument(
        "--args", default="", metavar="TEXT", help='its arguments: "f32[512, 512], f64[8], 3"'
    )
    given.add_argument(
        "--args-from",
        metavar="file.py[:name]",
        help="them as a tuple, or a function that returns it; by default it is called args",
    )


def load_call(options: argparse.Namespace) -> tuple[Kernel[..., Any], tuple[Any, ...]]:
    """The kernel and its arguments."""
    kernel = _load_object(options.kernel)
    if not is_kernel(kernel):
        raise LoadError(
            f"{options.kernel} is not a kernel but {type(kernel).__name__}: decorate the function "
            "with @hybrid.script"
        )
    if options.args_from is None:
        with working("filling arrays"):
            return kernel, read_arguments(options.args)
    return kernel, load_arguments(options.args_from)


def load_arguments(text: str) -> tuple[Any, ...]:
    """The tuple that `file.py:name` has or returns; the name may be left out if it is `args`."""
    place = text if ":" in os.path.basename(text) else f"{text}:args"
    found = _load_object(place)
    is_made = callable(found)
    with _others_code():
        made: object = found() if is_made else found
    if type(made) is not tuple:
        what = "returned" if is_made else "is"
        raise LoadError(f"{place}{'()' * is_made} {what} {type(made).__name__}, not a tuple")
    return cast("tuple[Any, ...]", made)


def is_kernel(value: object) -> TypeGuard[Kernel[..., Any]]:
    """Whether it was decorated."""
    return isinstance(value, Kernel)


def _load_object(text: str) -> Any:
    path, colon, name = text.rpartition(":")
    names = name.split(".")  # of a class, and of what is in it
    if not colon or not all(map(str.isidentifier, names)):
        raise LoadError(f"{text!r} does not name a function: write {_example(text)}")
    found: Any = _load_module(Path(path))
    for part in names:
        if not hasattr(found, part):
            meant = did_you_mean(part, _kernels_in(found))
            raise LoadError(f"{path} has no {name!r}{'' if meant is None else f': {meant}'}")
        found = getattr(found, part)
    return found


def _example(text: str) -> str:
    """A name of a function, one of a file if that is what was given."""
    if not Path(text).is_file():
        return "file.py:name"
    names = _kernels_in(_load_module(Path(text)))[:4]
    return " or ".join(f"{text}:{name}" for name in names) or f"{text}:name"


def _kernels_in(owner: Any) -> list[str]:
    return [name for name, value in getattr(owner, "__dict__", {}).items() if is_kernel(value)]


def _load_module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise LoadError(f"there is no Python file {str(path)!r}")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    sys.path.insert(0, str(path.resolve().parent))  # its neighbours are found, as if it were run
    with _others_code():
        spec.loader.exec_module(module)
    return module


@contextmanager
def _others_code() -> Generator[None]:
    """Where the code of others runs: what it prints is no answer, and its errors are told."""
    try:
        with redirect_stdout(sys.stderr):
            yield
    except SyntaxError as error:
        raise LoadError(f"{error.filename}:{error.lineno}: {error.msg}") from None
    except (Exception, SystemExit) as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        problem = f"{type(error).__name__}: {error}"
        raise LoadError(f"{last.filename}:{last.lineno}: {problem}") from None


def read_arguments(text: str) -> tuple[Any, ...]:
    """The values that the text of `--args` describes."""
    if not text.strip():
        return ()
    try:
        parsed = parse_expression(f"({text},)")
    except SyntaxError:
        parsed = None
    if not isinstance(parsed, ast.Tuple):
        raise LoadError(f"--args {text!r} does not read as a list of arguments")
    random = np.random.default_rng(0)
    return tuple(_read_argument(node, random) for node in parsed.elts)


def _read_argument(node: ast.expr, random: np.random.Generator) -> Any:
    match node:
        case ast.Subscript(value=ast.Name(id=name)):
            try:
                return _random_array(_dtype(name, node), _read_shape(node), random)
            except MemoryError as error:
                raise LoadError(f"{ast.unparse(node)!r} in --args: {error}") from None
        case ast.Name(id=name):
            return _dtype(name, node).type(1)
        case _:
            return _read_literal(node)


def _dtype(name: str, node: ast.expr) -> np.dtype[Any]:
    found = find_element_type(getattr(hybridjit, name, None))
    if found is None:
        raise LoadError(f"{ast.unparse(node)!r} in --args: {name!r} is not an element type")
    return found.numpy


def _read_shape(node: ast.Subscript) -> tuple[int, ...]:
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    sizes = tuple(map(_read_literal, parts))
    if not all(type(size) is int and size >= 0 for size in sizes):
        raise LoadError(f"{ast.unparse(node)!r} in --args: sizes are numbers that are not negative")
    return sizes


def _read_literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise LoadError(
            f"{ast.unparse(node)!r} in --args is neither a literal nor like f32[512, 512]"
        ) from None


def _random_array(
    dtype: np.dtype[Any], shape: tuple[int, ...], random: np.random.Generator
) -> NDArray[Any]:
    if dtype.kind == "b":
        return random.random(shape) < 0.5
    if dtype.kind in "iu":
        return random.integers(0, MAX_INDEX, shape).astype(dtype)
    if dtype.kind == "c":
        return (random.random(shape) + 1j * random.random(shape)).astype(dtype)
    return np.asarray(random.random(shape)).astype(dtype)
