"""Random expressions over arrays, tried out with NumPy while they are written.

An operand knows its value, and whether that is exact: what NumPy adds in another order, or rounds
otherwise, is compared with a tolerance, and nothing that jumps is made of it.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.support.random_array_values import np

MAX_SIZE = 400
# Beyond this, what is not exact is too far off to be compared.
MAX_SCALE = 1e7
_FAILURES = (ValueError, TypeError, IndexError, AttributeError, ArithmeticError)
_KINDS = "biufc"


@dataclass(frozen=True, slots=True)
class Operand:
    """An expression and its value. `scale` bounds what an inexact one was computed from."""

    text: str
    value: Any
    is_exact: bool = True
    scale: float = 1.0

    @property
    def kind(self) -> str:
        """b, i, u, f or c."""
        return self.value.dtype.kind

    @property
    def ndim(self) -> int:
        return self.value.ndim


@dataclass(frozen=True, slots=True)
class Noted:
    """What is known of a named array besides its value."""

    is_exact: bool = True
    scale: float = 1.0


def evaluate(text: str, names: dict[str, Any]) -> Any:
    """The value of an expression in NumPy, or None if it has none that can be compared."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = eval(text, {"np": np}, names)
    except _FAILURES:
        return None
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.kind not in _KINDS:
        return None
    is_odd = value.size > MAX_SIZE or value.dtype.itemsize > 16 or value.dtype.char in "gG"
    return None if is_odd else value


def largest(value: Any) -> float:
    """The largest finite magnitude, at least 1."""
    if value.dtype.kind == "b":
        return 1.0
    with np.errstate(all="ignore"):
        sizes = np.abs(value.astype("complex128")).ravel()
    sizes = sizes[np.isfinite(sizes)]
    return max(1.0, float(sizes.max())) if sizes.size else 1.0


class Expressions:
    """Writes expressions over `names`."""

    def __init__(
        self,
        choose: random.Random,
        names: dict[str, Any],
        noted: dict[str, Noted],
        *,
        selects: bool = False,
        multiplies: bool = False,
    ) -> None:
        self.choose = choose
        self._writers = (
            *WRITERS,
            *(write_selection,) * 8 * selects,
            *(write_matrix_product,) * 30 * multiplies,
        )
        self.names = names
        self.noted = noted

    def make(self, depth: int) -> Operand:
        """An expression of at most the given depth."""
        for _ in range(8):
            found = self._make(depth)
            if found is not None:
                return found
        return self.leaf()

    def _make(self, depth: int) -> Operand | None:
        if depth == 0:
            return self.leaf()
        writer = self.choose.choice(self._writers)
        return writer(self, depth - 1)

    def keep(self, text: str, *operands: Operand, is_exact: bool = True) -> Operand | None:
        """An operand made of others, unless it cannot be compared."""
        value = evaluate(text, self.names)
        if value is None:
            return None
        is_exact = (is_exact and all(operand.is_exact for operand in operands)) or (
            value.dtype.kind in "biu"
        )
        scale = largest(value)
        for operand in operands:
            scale = max(scale, operand.scale)
        if not is_exact and scale > (2000 if value.dtype.itemsize == 2 else MAX_SCALE):
            return None
        return Operand(text, value, is_exact, scale)

    # -- parts of arrays -----------------------------------------------------------------------

    def leaf(self) -> Operand:
        """A part of a named array, or a number that was passed."""
        name = self.choose.choice([name for name in self.names if name not in ("s", "i")])
        if self.choose.random() < 0.05 and "s" in self.names:
            value = np.asarray(self.names["s"])[()]
            if isinstance(self.names["s"], np.generic):
                return Operand("s", value)
        text = self.part(name)
        value = evaluate(text, self.names)
        if value is None:
            text, value = name, np.asarray(self.names[name])
        note = self.noted.get(name, Noted())
        if value.dtype.kind in "iu":  # sums of which floats are made of may cancel
            return Operand(text, value, True, max(note.scale, largest(value)))
        return Operand(text, value, note.is_exact or value.dtype.kind == "b", note.scale)

    def part(self, name: str) -> str:
        """A subscript of an array: slices, indices, new axes, ellipsis; or all of it."""
        array = self.names[name]
        if not np.ndim(array) or self.choose.random() < 0.3:
            return name
        entries: list[str] = []
        for size in array.shape:
            if self.choose.random() < 0.1:
                entries.append(self.choose.choice(("None", "np.newaxis")))
            entries.append(self.entry(size))
        if self.choose.random() < 0.2:
            entries[self.choose.randrange(len(entries)) :] = ["..."]
        elif self.choose.random() < 0.1:
            entries[: self.choose.randrange(len(entries))] = ["..."]
        return f"{name}[{', '.join(entries)}]"

    def entry(self, size: int) -> str:
        """One entry of a subscript."""
        if self.choose.random() < 0.3:
            return ":"
        if self.choose.random() < 0.15 and size:
            return str(self.choose.randint(-size, size - 1))
        low, high = (
            self.choose.choice(("", "", *map(str, range(-size - 1, size + 2)))) for _ in "ab"
        )
        step = self.choose.choice(("", "", ":1", ":2", ":-1", ":-1", ":-2", ":3", ":-3"))
        return f"{low}:{high}{step}"

    def matching(self, other: Operand, depth: int) -> Operand | None:
        """An operand that can be broadcast with another one."""
        for _ in range(6):
            found = self.make(depth)
            try:
                np.broadcast_shapes(found.value.shape, other.value.shape)
            except ValueError:
                continue
            return found
        return None


Writer = Callable[[Expressions, int], Operand | None]


def _exact(operand: Operand) -> bool:
    return operand.is_exact


def write_arithmetic(self: Expressions, depth: int) -> Operand | None:
    """+ - *: of numbers that are not exact, errors grow with the sizes of both."""
    left = self.make(depth)
    right = self.matching(left, self.choose.randint(0, depth))
    if right is None:
        return None
    op = self.choose.choice("++--**")
    text = f"({left.text} {op} {right.text})"
    kinds = left.kind + right.kind
    found = self.keep(text, left, right, is_exact=not (op == "*" and "c" in kinds))
    if found is None or found.is_exact or op != "*":
        return found
    scale = left.scale * right.scale * largest(left.value) * largest(right.value)
    return Operand(text, found.value, False, scale) if scale < MAX_SCALE else None


def write_division(self: Expressions, depth: int) -> Operand | None:
    """/ // %: by numbers that are not zero where both are integers."""
    left = self.make(depth)
    right = self.matching(left, self.choose.randint(0, depth))
    if right is None or not _exact(left) or not _exact(right):
        return None
    op = self.choose.choice(("/", "/", "//", "%"))
    if op != "/" and ("c" in left.kind + right.kind):
        return None
    if op != "/" and right.kind in "biu" and left.kind in "biu" and (right.value == 0).any():
        return None
    return self.keep(
        f"({left.text} {op} {right.text})", left, right, is_exact="c" not in left.kind + right.kind
    )


def write_number(self: Expressions, depth: int) -> Operand | None:
    """An array and a number of Python's."""
    operand = self.make(depth)
    number = self.choose.choice(("2", "3", "-1", "0.5", "1.25", "True", "1j", "100", "0"))
    op = self.choose.choice(("+", "-", "*", "*", "<", "==", ">="))
    if op in ("<", "==", ">=") and (not operand.is_exact or number == "1j"):
        return None
    if op in ("<", ">=") and operand.kind == "c":
        return None
    if op == "-" and number == "True":
        return None
    pair = (operand.text, number) if self.choose.random() < 0.6 else (number, operand.text)
    found = self.keep(f"({pair[0]} {op} {pair[1]})", operand, is_exact=op != "*" or number != "1j")
    if found is None or found.is_exact:
        return found
    return Operand(found.text, found.value, False, found.scale * 4)


def write_comparison(self: Expressions, depth: int) -> Operand | None:
    left = self.make(depth)
    right = self.matching(left, self.choose.randint(0, depth))
    if right is None or not _exact(left) or not _exact(right):
        return None
    op = self.choose.choice(("<", "<=", ">", ">=", "==", "!="))
    if op not in ("==", "!=") and "c" in left.kind + right.kind:
        return None
    return self.keep(f"({left.text} {op} {right.text})", left, right)


def write_bits(self: Expressions, depth: int) -> Operand | None:
    left = self.make(depth)
    right = self.matching(left, self.choose.randint(0, depth))
    if right is None or left.kind not in "biu" or right.kind not in "biu":
        return None
    op = self.choose.choice(("&", "|", "^", "<<", ">>"))
    if op in ("<<", ">>"):
        if "b" in left.kind + right.kind:
            return None
        return self.keep(f"({left.text} {op} ({right.text} & 3))", left, right)
    return self.keep(f"({left.text} {op} {right.text})", left, right)


_JUMPS = ("floor", "ceil", "trunc", "rint", "sign", "isnan", "isinf", "isfinite", "logical_not")
_SMOOTH = ("negative", "positive", "abs", "absolute", "square", "conj", "fabs")
# NumPy, the interpreter and native code may each be off by an ulp or two.
MATH = ("exp", "sin", "cos", "tanh", "arctan", "expm1", "log1p", "cbrt", "sinh", "arcsinh")


def write_function(self: Expressions, depth: int) -> Operand | None:
    operand = self.make(depth)
    kind = self.choose.random()
    if kind < 0.4:
        name = self.choose.choice(_SMOOTH)
        is_exact = operand.kind != "c" or name in ("negative", "positive", "conj")
        found = self.keep(f"np.{name}({operand.text})", operand, is_exact=is_exact)
        if found is None or found.is_exact or name != "square":
            return found
        scale = operand.scale**2 * largest(operand.value) ** 2
        return Operand(found.text, found.value, False, scale) if scale < MAX_SCALE else None
    if not operand.is_exact or operand.kind == "c":
        return None
    if kind < 0.75:
        return self.keep(f"np.{self.choose.choice(_JUMPS)}({operand.text})", operand)
    if kind < 0.85:
        return self.keep(f"np.sqrt(np.abs({operand.text}))", operand)
    if largest(operand.value) > 10 or (
        operand.kind in "biu"
        and operand.value.size
        and np.abs(operand.value.astype(float)).max() > 10
    ):
        return None
    name = self.choose.choice(MATH)
    argument = operand.text if name != "log1p" else f"np.abs({operand.text})"
    return self.keep(f"np.{name}({argument})", operand, is_exact=False)


def write_sign(self: Expressions, depth: int) -> Operand | None:
    operand = self.make(depth)
    op = self.choose.choice("-~+")
    return self.keep(f"({op}{operand.text})", operand)


def write_extremum(self: Expressions, depth: int) -> Operand | None:
    left = self.make(depth)
    right = self.matching(left, self.choose.randint(0, depth))
    if right is None or "c" in left.kind + right.kind:
        return None
    name = self.choose.choice(("minimum", "maximum", "minimum", "maximum", "logical_and"))
    if name == "logical_and" and not (_exact(left) and _exact(right)):
        return None
    return self.keep(f"np.{name}({left.text}, {right.text})", left, right)


def write_where(self: Expressions, depth: int) -> Operand | None:
    condition = write_comparison(self, depth)
    if condition is None:
        return None
    left = self.matching(condition, depth)
    right = None if left is None else self.matching(left, self.choose.randint(0, depth))
    if left is None or right is None:
        return None
    return self.keep(f"np.where({condition.text}, {left.text}, {right.text})", left, right)


def write_clip(self: Expressions, depth: int) -> Operand | None:
    operand = self.make(depth)
    if operand.kind == "c":
        return None
    low, high = self.choose.choice((("0", "2"), ("1", "100"), ("0", "1")))
    return self.keep(f"np.clip({operand.text}, {low}, {high})", operand)


def write_reduction(self: Expressions, depth: int) -> Operand | None:
    operand = self.make(depth)
    if not operand.ndim:
        return None
    names = ("sum", "sum", "prod", "min", "max", "any", "all", "argmin", "argmax", "mean", "std")
    name = self.choose.choice((*names, "var"))
    if name in ("any", "all", "argmin", "argmax") and not operand.is_exact:
        return None
    if operand.kind == "c" and name not in ("sum", "prod", "mean", "any", "all"):
        return None
    if name == "prod" and _overflows_on_the_way(operand.value):
        return None
    axis = _axis(self, operand.ndim, several=not name.startswith("arg"))
    keep = self.choose.choice(("", "", "keepdims=True"))
    options = ", ".join(entry for entry in (axis, keep) if entry)
    if self.choose.random() < 0.5:
        text = f"({operand.text}).{name}({options})"
    else:
        text = f"np.{name}({', '.join(entry for entry in (operand.text, options) if entry)})"
    is_exact = name in ("min", "max", "any", "all", "argmin", "argmax")
    found = self.keep(text, operand, is_exact=is_exact)
    if found is None or found.is_exact:
        return found
    growth = operand.value.size if name != "prod" else 1
    power = 2 if name in ("std", "var") else 1
    scale = max(found.scale, operand.scale) ** power * growth
    return Operand(text, found.value, False, scale) if scale < MAX_SCALE else None


def _overflows_on_the_way(values: Any) -> bool:
    """Whether a product of halves leaves their range: NumPy rounds it after each row, we once."""
    if values.dtype != np.float16:
        return False
    sizes = np.abs(values.astype(np.float64))
    return not np.prod(sizes, where=sizes > 1) < np.finfo(np.float16).max


def _axis(self: Expressions, ndim: int, *, several: bool) -> str:
    kind = self.choose.random()
    if kind < 0.3:
        return ""
    if kind < 0.4:
        return "axis=None"
    if several and kind < 0.6:
        axes = self.choose.sample(range(ndim), self.choose.randint(1, ndim))
        return f"axis=({', '.join(str(a - self.choose.choice((0, ndim))) for a in axes)},)"
    return f"axis={self.choose.randint(-ndim, ndim - 1)}"


def write_shape(self: Expressions, depth: int) -> Operand | None:
    """The same elements in another shape or order."""
    operand = self.make(depth)
    if not operand.ndim:
        return None
    match self.choose.randint(0, 5):
        case 0 | 1:
            text = f"({operand.text}).T"
        case 2:
            axes = self.choose.sample(range(operand.ndim), operand.ndim)
            text = f"np.transpose({operand.text}, ({', '.join(map(str, axes))},))"
        case 3:
            shape = _other_shape(self, operand.value.size)
            text = f"({operand.text}).reshape({', '.join(map(str, shape))})"
        case 4:
            axis = self.choose.randrange(operand.ndim)
            text = f"np.flip({operand.text}, axis={axis})"
        case _:
            text = f"({operand.text}).{self.choose.choice(('ravel', 'flatten', 'copy'))}()"
    return self.keep(text, operand)


def write_part(self: Expressions, depth: int) -> Operand | None:
    """A part of a part, or of something that is computed."""
    operand = self.make(depth)
    if not operand.ndim:
        return None
    entries = [self.entry(size) for size in operand.value.shape]
    return self.keep(f"({operand.text})[{', '.join(entries)}]", operand)


def _other_shape(self: Expressions, size: int) -> list[int]:
    divisors = [d for d in range(1, size + 1) if size % d == 0] or [1]
    first = self.choose.choice(divisors)
    return self.choose.choice(([size], [first, size // first], [first, -1], [1, size]))


def write_cast(self: Expressions, depth: int) -> Operand | None:
    operand = self.make(depth)
    wanted = self.choose.choice(("float32", "float64", "int64", "int8", "complex64", "float16"))
    if operand.kind == "c" and not wanted.startswith("complex"):
        return None
    if wanted.startswith("int") and operand.kind == "f" and not fits(operand, wanted):
        return None
    return self.keep(f'({operand.text}).astype("{wanted}")', operand)


def fits(operand: Operand, dtype: Any) -> bool:
    """True if the conversion to an integer type is the same for NumPy and for everyone."""
    if operand.kind not in "fc":
        return True
    info = np.iinfo(dtype)
    value = operand.value
    if not operand.is_exact or operand.kind == "c" or not np.isfinite(value).all():
        return False
    whole = value.astype("float64")
    return bool(((whole > float(info.min)) & (whole < float(info.max))).all())


def write_product(self: Expressions, depth: int) -> Operand | None:
    left = self.make(depth)
    right = self.make(self.choose.randint(0, depth))
    match self.choose.randint(0, 4):
        case 0 | 1:
            form = "({} @ {})"
        case 2:
            form = "np.dot({}, {})"
        case 3:
            form = "np.outer({}, {})"
        case _:
            form = "np.matmul({}, {})"
    return _multiplied(self, form, left, right)


def _multiplied(self: Expressions, form: str, left: Operand, right: Operand) -> Operand | None:
    if 1 in (left.value.size, right.value.size) and not (_is_finite(left) and _is_finite(right)):
        return None  # NumPy's dot of a single 0 and infinity is 0: BLAS leaves out what 0 scales
    text = form.format(left.text, right.text)
    found = self.keep(text, left, right, is_exact=False)
    if found is None or found.is_exact:
        return found
    scale = left.scale * right.scale * largest(left.value) * largest(right.value)
    scale *= max(1, left.value.size)
    return Operand(text, found.value, False, scale) if scale < MAX_SCALE else None


def _is_finite(operand: Operand) -> bool:
    return bool(np.isfinite(operand.value).all())


def write_matrix_product(self: Expressions, depth: int) -> Operand | None:
    """The product of two matrices that fit each other, each as it lies, transposed or turned."""
    del depth
    matrices = [side for name in self.names for side in _sides(self, name)]
    if not matrices:
        return None
    left = self.choose.choice(matrices)
    fitting = [side for side in matrices if side.value.shape[0] == left.value.shape[1]]
    return _multiplied(self, "({} @ {})", left, self.choose.choice(fitting)) if fitting else None


def _sides(self: Expressions, name: str) -> list[Operand]:
    """A named matrix in the ways in which it can lie in memory; nothing for other arrays."""
    if np.ndim(self.names[name]) != 2:
        return []
    note = self.noted.get(name, Noted())
    texts = [name, f"{name}.T", f"{name}[::-1]", f"{name}[:, ::-1].T", f"{name}[:, ::2]"]
    values = [eval(text, {}, self.names) for text in texts]
    pairs = zip(texts, values, strict=True)
    return [Operand(text, value, note.is_exact, note.scale) for text, value in pairs]


def write_gather(self: Expressions, depth: int) -> Operand | None:
    """Elements that an array of integers names."""
    del depth
    name = self.choose.choice([n for n in self.names if np.ndim(self.names[n]) and n != "k"] or "k")
    size = self.names[name].shape[0]
    if not size:
        return None
    note = self.noted.get(name, Noted())
    found = self.keep(f"{name}[np.abs(k) % {size}]")
    return (
        None
        if found is None
        else Operand(
            found.text,
            found.value,
            note.is_exact or found.kind in "biu",
            max(found.scale, note.scale),
        )
    )


def write_masked_reduction(self: Expressions, depth: int) -> Operand | None:
    """The sum of the elements where a condition holds."""
    operand = self.leaf()
    condition = self.make(depth)
    if not operand.ndim or condition.kind != "b" or condition.value.shape != operand.value.shape:
        return None
    name = self.choose.choice(("sum", "max", "min", "any", "mean"))
    if operand.kind == "c" and name != "sum":
        return None
    if name == "any" and not operand.is_exact:
        return None
    is_exact = name in ("max", "min", "any")
    found = self.keep(f"({operand.text})[{condition.text}].{name}()", operand, is_exact=is_exact)
    if found is None or found.is_exact:
        return found
    return Operand(
        found.text,
        found.value,
        False,
        operand.scale * max(1, operand.value.size) * largest(operand.value),
    )


def write_selection(self: Expressions, depth: int) -> Operand | None:
    """As many elements as there are: where a condition holds, that differ, that are not zero."""
    operand = self.make(depth)
    if not operand.ndim:
        return None
    condition = self.make(depth)
    axes = condition.ndim
    selects = condition.kind == "b" and 0 < axes <= operand.ndim
    if selects and condition.value.shape == operand.value.shape[:axes]:
        whole = axes == operand.ndim
        forms = ["({0})[{1}]", "({0})[{1}]"] + [
            "np.extract({1}, {0})",
            "({0})[np.where({1})]",
        ] * whole
        form = self.choose.choice(forms)
        return self.keep(form.format(operand.text, condition.text), operand)
    if not operand.is_exact or operand.kind == "c":
        return None
    form = self.choose.choice(("np.unique({0})", "np.flatnonzero({0})", "np.nonzero({0})[0]"))
    return self.keep(form.format(operand.text), operand)


def write_creation(self: Expressions, depth: int) -> Operand | None:
    """An array that is made, like another or of its shape."""
    operand = self.make(depth)
    dtype = self.choose.choice(("", ', dtype="float32"', ", dtype=np.int16"))
    match self.choose.randint(0, 5):
        case 0:
            text = f"np.zeros({operand.value.shape}{dtype})"
        case 1:
            text = (
                f"np.full({operand.value.shape}, {self.choose.choice(('2', '0.5', 'True'))}{dtype})"
            )
        case 2:
            text = f"np.ones_like({operand.text})"
        case 3:
            text = f"np.arange({self.choose.choice(('4', '1, 6', '5, 0, -2', '0.5, 3'))}{dtype})"
        case 4:
            text = f"np.eye({self.choose.choice((2, 3))}{dtype})"
        case _:
            text = f"np.linspace(0, 2, {self.choose.choice((2, 3, 5))})"
    return self.keep(text)


WRITERS: tuple[Writer, ...] = (
    *(write_arithmetic,) * 5,
    *(write_number,) * 3,
    *(write_reduction,) * 4,
    *(write_function,) * 3,
    *(write_shape, write_part) * 3,
    *(write_where,) * 2,
    *(write_comparison,) * 2,
    *(write_extremum,) * 2,
    *(write_division,) * 2,
    *(write_bits, write_sign, write_clip, write_cast, write_product, write_gather),
    *(write_masked_reduction, write_creation),
)
