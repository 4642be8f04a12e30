"""Scripts of numerical idioms, natively against NumPy: see tests/campaigns."""

from __future__ import annotations

import linecache
import random
import warnings
from collections.abc import Iterator
from typing import Any, cast

import numpy

from hybridjit import Kernel, config
from hybridjit.errors import ParseError, TypeMismatch
from tests.campaigns.drawn import Drawn, size_class
from tests.idioms.generate import AXES, TABLES, Idioms, make_idioms

# Arrays of unknown types have no static types worth the name.
np: Any = numpy

SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 40)
# One in so many axes is long, for loops of whole vectors of small types.
LONG = (64, 65, 67, 100, 130, 260)
LAYOUTS = ("C", "C", "C", "C", "F", "strided", "reversed", "offset")
# Calls of a kernel: sizes are constants of the first code, and known at run time in later ones.
CALLS = 3
# Every so many calls have arguments that lie in each other's memory.
SHARING = 0.12
# What roundings in another order can change, of the largest number in sight.
_BOUNDS = {4: 2e-4, 8: 1e-11}


def try_number(seed: int, number: int) -> Drawn:
    """One script at several sizes."""
    label = f"{seed}/{number}"
    rng = random.Random(label)
    idioms = make_idioms(rng)
    drawn = Drawn()
    drawn.counts["programs"] += 1
    kernel: Kernel[..., Any] = Kernel(_define(idioms.text, label))
    sizes: dict[str, int] = {}
    try:
        for sizes, args in _calls(idioms, rng):
            with config.scope(cache_enabled=False, verify=False):
                _check(kernel, args)
            drawn.counts["native calls"] += 1
            drawn.count("sizes", [size_class(size) for size in sizes.values()])
    except (ParseError, TypeMismatch) as error:
        drawn.count("refused", [str(error.message)])
    except Exception as error:
        raise AssertionError(f"{error}\n{idioms.text}# {idioms.dtype}, {sizes}") from error
    else:
        drawn.counts["native"] += 1
        drawn.count("types", [idioms.dtype])
    finally:
        linecache.cache.pop(f"<idioms {label}>", None)
    return drawn


def _define(text: str, label: str) -> Any:
    file = f"<idioms {label}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"np": numpy}
    exec(compile(text, file, "exec"), names)
    return names["kernel"]


def _calls(idioms: Idioms, rng: random.Random) -> Iterator[tuple[dict[str, int], list[Any]]]:
    """Sizes, and arguments of these, in the same layouts each time."""
    layouts = {name: rng.choice(LAYOUTS) for name in AXES}
    for _ in range(CALLS):
        sizes = {name: rng.choice(SIZES) for name in "nml"}
        if rng.random() < 0.3:
            sizes[rng.choice("nm")] = rng.choice(LONG)
        yield sizes, _arguments(idioms, sizes, layouts, rng)


def _arguments(
    idioms: Idioms, sizes: dict[str, int], layouts: dict[str, str], rng: random.Random
) -> list[Any]:
    generator = np.random.default_rng(rng.randrange(1 << 30))
    made: dict[str, Any] = {}
    for name, axes in AXES.items():
        shape = tuple(sizes[axis] for axis in axes)
        values, dtype = generator.integers(-4, 5, shape), TABLES.get(name, idioms.dtype)
        values = values / 2 if dtype.startswith("float") else values
        made[name] = _in_layout(values.astype(dtype), layouts[name])
    if rng.random() < SHARING:
        made |= _shared(made, rng)
    return list(made.values())


def _shared(made: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Some of the arguments in the memory of others."""
    x = made["x"]
    rows = np.concatenate((x, x[:1] + 1))
    return rng.choice(
        (
            {"y": x},
            {"q": x.T},
            {"x": rows[1:], "y": rows[:-1]},
            {"x": rows[:-1], "y": rows[1:]},
            {"y": x[::-1]},
            {"u": x[:, 0]},
            {"v": x[-1]},
            {"e": made["d"]},
            {"x": made["d"][:, :, 0]},
        )
    )


def _in_layout(values: Any, layout: str) -> Any:
    match layout:
        case "F":
            return np.asfortranarray(values)
        case "strided":
            wide = np.zeros((*values.shape, 2), values.dtype)
            wide[..., 1] = values
            return wide[..., 1]
        case "reversed":
            return np.ascontiguousarray(values[..., ::-1])[..., ::-1]
        case "offset":  # not at the begin of a line, nor of a vector
            memory = np.zeros(values.size + 1, values.dtype)[1:]
            memory[:] = values.reshape(-1)
            return memory.reshape(values.shape)
        case _:
            return np.ascontiguousarray(values)


def _copies(args: list[Any]) -> list[Any]:
    """Fresh arguments that lie in memory as these do, in each other's where these do."""
    bases = {id(_base(arg)): _base(arg).ravel(order="K").copy() for arg in args}
    return [_view(arg, bases[id(_base(arg))]) for arg in args]


def _base(array: Any) -> Any:
    return array if array.base is None else _base(array.base)


def _view(array: Any, memory: Any) -> Any:
    offset = array.ctypes.data - _base(array).ctypes.data
    return np.ndarray(array.shape, array.dtype, memory, offset, array.strides)


def _check(kernel: Kernel[..., Any], args: list[Any]) -> None:
    """Native code and NumPy give the same results, and write the same to the arguments."""
    ours, theirs = _copies(args), _copies(args)
    expected, raised = _run(kernel.py_func, theirs)
    found, error = _run(kernel, ours)
    if isinstance(error, (ParseError, TypeMismatch)):
        raise error
    if type(error) is not type(raised):
        raise AssertionError(f"raised {error!r}, expected {raised!r}") from error
    if raised is not None:
        return
    wanted = [np.asarray(value) for value in (*expected, *theirs)]
    largest = max(_largest(value) for value in (*wanted, *args))
    for number, (got, want) in enumerate(zip((*found, *ours), wanted, strict=True)):
        _compare(np.asarray(got), want, largest, number)


def _run(way: Any, args: list[Any]) -> tuple[Any, Exception | None]:
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = way(*args)
    except Exception as error:
        return (), error
    return (cast("tuple[Any, ...]", result) if isinstance(result, tuple) else (result,)), None


def _largest(value: Any) -> float:
    numbers = np.abs(value.astype("float64"))
    finite = numbers[np.isfinite(numbers)]
    return float(finite.max()) if finite.size else 0.0


def _compare(got: Any, want: Any, largest: float, number: int) -> None:
    assert got.dtype == want.dtype, f"{number}: dtype {got.dtype}, expected {want.dtype}"
    assert got.shape == want.shape, f"{number}: shape {got.shape}, expected {want.shape}"
    if want.dtype.kind != "f":
        assert (got == want).all(), f"{number}: {got!r}, expected {want!r}"
        return
    bound = _BOUNDS[want.dtype.itemsize] * max(1.0, largest)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(got, want, rtol=0, atol=bound, err_msg=f"{number}")
