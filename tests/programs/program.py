"""Random programs: the source of a script, its helpers and its arguments, from a row of choices."""

from __future__ import annotations
import __future__

import linecache
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from types import FunctionType
from typing import Any

import numpy as np

from hybridjit import Kernel, hybrid
from tests.programs import types as ty
from tests.programs.data import random_array, random_scalar
from tests.programs.intervals import clamp
from tests.programs.kinds import TAME, Style
from tests.programs.maker import Lines, Maker
from tests.programs.rewritten import RECURSIONS
from tests.programs.scope import Array, Extent, Helper, Name, Scope, constant_shape
from tests.programs.statements import new_maker
from tests.programs.stores import make_store
from tests.support.choices import Choices, seeded

_NUMBERS = count(1)
_ARRAY: type[Any] = np.ndarray
SIZES = (1, 3, 2, 5, 4, 0, 7)
# The last axes of long programs: several vectors and a rest.
LONG_SIZES = (17, 33, 20, 40, 66)


@dataclass(frozen=True)
class Program:
    """A script as text, and arguments to call it with."""

    source: str
    args: Sequence[Any]
    kinds: Mapping[str, int] = field(default_factory=dict[str, int])  # of statements, how many

    @cached_property
    def kernel(self) -> Kernel[..., Any]:
        return hybrid.script(load_function(self.source, "program"))

    def __repr__(self) -> str:
        args = "".join(f"\n# {_shown(arg)}" for arg in self.args)
        return f"Program:\n{self.source}{args}\n"


def _shown(arg: Any) -> str:
    if not isinstance(arg, _ARRAY):
        return f"{type(arg).__name__} {arg!r}"
    layout = f"shape {arg.shape} strides {arg.strides}"
    return f"{arg.dtype} {layout} {arg.tolist()!r}"


def load_function(source: str, name: str) -> FunctionType:
    """The function `name` of a module with this source, which can be read back."""
    file = f"<random program {next(_NUMBERS)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    flags = __future__.annotations.compiler_flag
    names: dict[str, Any] = {"np": np, "math": math, "__name__": "random_program"}
    if "def helper" in source:  # in plain Python, only scripts know the language without an import
        names |= {name: getattr(hybrid, name) for name in hybrid.__all__}
    exec(compile(source, file, "exec", flags), names)
    return names[name]


def forget_sources() -> None:
    """Drop the text of programs that have been run."""
    for file in [file for file in linecache.cache if file.startswith("<random program")]:
        del linecache.cache[file]


def program_from_seed(seed: int, style: Style = TAME) -> Program:
    """The random program number `seed` of a style."""
    return make_program(seeded(seed), style)


def make_program(choices: Choices, style: Style = TAME) -> Program:
    """A program of random choices; a wild one may index out of bounds."""
    return _ProgramMaker(choices, style).make()


@dataclass
class _ProgramMaker:
    choices: Choices
    style: Style
    helpers: list[Helper] = field(default_factory=list[Helper])
    source: Lines = field(default_factory=Lines)

    def make(self) -> Program:
        palette = self.choices.pick(self.style.palettes)
        maker = self._maker(palette, self.helpers)
        params = self._params(palette)
        args = [self._argument(param) for param in params.values()]
        arrays = {n: p for n, p in params.items() if isinstance(p, Array)}
        for number in range(self.choices.below(3)):
            self._helper(f"helper{number}", palette, tuple(arrays.values()))
        if self.choices.chance(self.style.recursions):
            self._recursive("helper_again", palette, tuple(arrays.values()))
        maker.scope = Scope(
            names={n: p for n, p in params.items() if isinstance(p, Name)}, arrays=arrays
        )
        maker.ever = set(maker.scope.names)
        header = ", ".join(self._parameter(name, param) for name, param in params.items())
        body = self._body(maker, palette)
        self.source += [f"def program({header}):", *(f"    {line}" for line in body)]
        return Program("\n".join(self.source) + "\n", args, maker.drawn)

    def _maker(self, palette: tuple[str, ...], helpers: list[Helper]) -> Maker:
        return new_maker(self.choices, self.style, palette, helpers)

    # -- parameters ----------------------------------------------------------------------------

    def _params(self, palette: tuple[str, ...]) -> dict[str, Name | Array]:
        params: dict[str, Name | Array] = {}
        for name in ("a", "b", "c")[: self.choices.between(1, 3)]:
            rank = self.choices.pick((1, 2, 1, 3, 0))
            shape = [self.choices.pick(SIZES[: 7 - rank]) for _ in range(rank)]
            params[name] = Array(name, self.choices.pick(palette), self._lengthened(shape))
        if self.style.wild:
            params["big"] = Name("int", -40_000, 40_000, locked=True)
        for name in ("x", "y", "n")[: self.choices.between(0, 3)]:
            type = self.choices.pick(("int", "float", "bool", *palette))
            low, high = (-20, 20) if type == "int" else (0, 0)
            params[name] = Name(type, low, high)
        return params

    def _lengthened(self, shape: list[int]) -> tuple[Extent, ...]:
        """The shape, in a long program with a long last axis."""
        if self.style.is_long and shape:
            shape[-1] = self.choices.pick(LONG_SIZES)
        return constant_shape(*shape)

    def _argument(self, param: Name | Array) -> Any:
        if isinstance(param, Array):
            return random_array(self.choices, ty.numpy_dtype(param.type), _numbers(param))
        if param.locked:
            return self.choices.pick((1, 100, 255, -1, 40_000, -129))
        return random_scalar(self.choices, param.type, param.low, param.high)

    def _parameter(self, name: str, param: Name | Array) -> str:
        """A parameter, annotated or not: `a: float32["n", 4]`."""
        if param.type == ty.BOOL or not self.choices.chance(50):
            return name
        if isinstance(param, Name):
            return f"{name}: {param.type}"
        if self.choices.chance(50):
            return f"{name}: {param.type}[{', '.join(map(str, _numbers(param))) or '()'}]"
        dims = [
            f'"{name}{k}"' if self.choices.chance(60) else str(n)
            for k, n in enumerate(_numbers(param))
        ]
        return f"{name}: {param.type}[{', '.join(dims) or '()'}]"

    # -- bodies --------------------------------------------------------------------------------

    def _body(self, maker: Maker, palette: tuple[str, ...]) -> Lines:
        lines: Lines = []
        outputs: list[str] = []
        for name in ("o", "r")[: self.choices.below(3)]:
            sizes = [self.choices.between(1, 4) for _ in range(self.choices.between(1, 2))]
            type = self.choices.pick(palette)
            array = Array(name, type, self._lengthened(sizes))
            maker.scope.arrays[name] = array
            dtype = "bool" if type == ty.BOOL else type
            lines.append(f'{name} = output_tensor({_numbers(array)}, "{dtype}")')
            outputs.append(name)
        scalars = [self.choices.pick(maker.types_here()) for _ in range(self.choices.below(3))]

        def returns(maker: Maker) -> str:
            values = [maker.expr(type, 2).text for type in scalars]
            return f"return {', '.join([*outputs, *values])}".rstrip()

        maker.returns = returns
        return [*lines, *maker.block(5, self.choices.between(1, 3)), returns(maker)]

    def _helper(self, name: str, palette: tuple[str, ...], arrays: tuple[Array, ...]) -> None:
        """A function of one or two numbers and perhaps an array, with early returns."""
        result = self.choices.pick(("int", "float", *palette))
        maker = self._maker(palette, list(self.helpers))
        params: dict[str, Name | Array] = {}
        for param in ("x", "u")[: self.choices.between(1, 2)]:
            type = self.choices.pick(maker.types_here())
            params[param] = Name(type, *((-20, 20) if type == "int" else (0, 0)))
        if arrays and self.choices.chance(70):
            array = self.choices.pick(arrays)
            params["q"] = Array("q", array.type, array.shape)
        maker.scope = Scope(
            names={n: p for n, p in params.items() if isinstance(p, Name)},
            arrays={n: p for n, p in params.items() if isinstance(p, Array)},
        )
        maker.ever = set(maker.scope.names)

        def returns(maker: Maker) -> str:
            value = maker.expr(result, 2)
            return f"return {clamp(value, -20, 20).text if result == 'int' else value.text}"

        maker.returns = returns
        first = _first_store(maker)
        body = [*first, *maker.block(3, self.choices.below(3)), returns(maker)]
        self.source += [f"def {name}({', '.join(params)}):", *(f"    {line}" for line in body), ""]
        low, high = (-20, 20) if result == "int" else (0, 0)
        effects = maker.has_effects and "q" in params
        self.helpers.append(
            Helper(name, tuple(params.values()), result, low, high, effects, bool(first))
        )

    def _recursive(self, name: str, palette: tuple[str, ...], arrays: tuple[Array, ...]) -> None:
        """A function that calls itself, and perhaps stores before or after it does."""
        maker = self._maker(palette, [])
        params: dict[str, Name | Array] = {"x": Name("int", 0, 6)}
        if arrays and self.choices.chance(60):
            array = self.choices.pick(arrays)
            params["q"] = Array("q", array.type, array.shape)
            maker.scope = Scope(names={"x": Name("int", -6, 6)}, arrays={"q": params["q"]})
        stores = _first_store(maker)
        rest = ", q)" if "q" in params else ")"
        text = self.choices.pick(RECURSIONS).replace("f({args}", f"{name}(x - ")
        lines = text.replace("{rest})", rest).splitlines()
        end = self.choices.between(-3, 3)
        body = [f"if x <= {self.choices.below(3)}:", f"    return {end}", *stores, *lines]
        self.source += [f"def {name}({', '.join(params)}):", *(f"    {line}" for line in body), ""]
        self.helpers.append(Helper(name, tuple(params.values()), "int", -99, 99, bool(stores)))


def _numbers(array: Array) -> tuple[int, ...]:
    return tuple(extent.pad for extent in array.shape)


def _first_store(maker: Maker) -> Lines:
    """A store that always happens, if there is an array for it."""
    return make_store(maker, 0) or []
