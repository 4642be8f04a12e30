"""Texts with values in them: f-strings, `%`, `.format`, and texts put together with `+`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from string import Formatter

from hybridjit.frontend.arrays.memory import as_it_was, evaluate_all
from hybridjit.frontend.arrays.refusals import element_of
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.values import Array, ElementType, Items, Text, Value, describe
from hybridjit.ir.dtype import FLOAT64, ScalarType
from hybridjit.ir.expr import Add, Const
from hybridjit.ir.texts import Message, Written, text_of
from hybridjit.scalars.conversion import convert
from hybridjit.scalars.functions import apply
from hybridjit.scalars.operators import binary
from hybridjit.scalars.scalar import Scalar
from hybridjit.scalars.style import Style

Parts = Iterator[str | Written]
# A conversion of `%`: flags, width, precision and letter. `%(name)s` and `*` are none of these.
_CONVERSION = re.compile(
    r"%(?P<flags>[#0\- +]*)(?P<size>\d*)(?P<digits>\.\d+)?(?P<letter>[a-zA-Z%])"
)
_INTEGER, _AS_PRINTED = "diu", "rsa"


def is_text(node: ast.expr | None) -> bool:
    """Whether an expression is a text that is put together from parts."""
    match node:
        case ast.JoinedStr():
            return True
        case ast.BinOp(left, ast.Mod(), _):
            return _is_string(left)
        case ast.BinOp(left, ast.Add(), right):
            return any(_is_string(side) or is_text(side) for side in (left, right))
        case ast.Call(ast.Attribute(value, "format")):
            return _is_string(value)
        case ast.Call(ast.Name("str"), [_], []):
            return True
        case _:
            return False


def _is_string(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def read_text(build: Builder, node: ast.expr) -> Message:
    """The message that an expression means for which `is_text` is true."""
    return text_of(*in_order(build, text_parts(build, node)))


def in_order(build: Builder, parts: Parts) -> list[str | Written]:
    """Parts of a text that are evaluated one after the other: each has its value as it was then."""
    found: list[tuple[str | Written, int]] = [(part, len(build.body)) for part in parts]
    done = [_as_it_was(build, *each) for each in reversed(found)]
    return done[::-1]


def _as_it_was(build: Builder, part: str | Written, mark: int) -> str | Written:
    if isinstance(part, str):
        return part
    value = as_it_was(build, Scalar(part.value, ScalarType(part.value.dtype)), mark)
    assert isinstance(value, Scalar)
    return Written(value.expr, part.style)


def text_parts(build: Builder, node: ast.expr) -> Parts:
    """The parts of a text; a value stands as it prints."""
    match node:
        case ast.JoinedStr(values):
            for value in values:
                yield from text_parts(build, value)
        case ast.FormattedValue(value, -1, None) if is_text(value):
            yield from text_parts(build, value)
        case ast.FormattedValue(value, conversion, spec):
            style = "" if conversion == -1 else f"!{chr(conversion)}"
            yield from _written(build, build.evaluate(value), style + _spec(build, spec), value)
        case ast.BinOp(ast.Constant(str(template)), ast.Mod(), right):
            yield from _converted(build, template, right, node)
        case ast.BinOp(left, ast.Add(), right) if is_text(node):
            yield from text_parts(build, left)
            yield from text_parts(build, right)
        case ast.Call(ast.Attribute(ast.Constant(str(template)), "format")):
            yield from _formatted(build, template, node)
        case ast.Call(ast.Name("str"), [value], []):
            yield from _written(build, build.evaluate(value), "!s", value)
        case _:
            yield from value_parts(build, build.evaluate(node), node)


def value_parts(build: Builder, value: Value, node: ast.expr) -> Parts:
    """A value as `print` shows it."""
    return _written(build, value, "!s", node)


def _spec(build: Builder, spec: ast.expr | None) -> str:
    """What stands after the colon."""
    match spec:
        case None:
            return ""
        case ast.JoinedStr([ast.Constant(str(text))]):
            return f":{text}"
        case ast.JoinedStr([]):
            return ""
        case _:
            raise build.refuse(
                "a format that is computed is not supported",
                spec,
                help="write the width and the digits as they are, as in {x:8.3f}",
            )


def _written(build: Builder, value: Value, style: str, node: ast.expr) -> Parts:
    """A value and how it is written, which must fit each other."""
    match value:
        case Text(text):
            yield _tried(build, text, style, node)
        case ElementType():
            yield _tried(build, value.dtype.name, style, node)
        case Items(items, is_list=is_list) if style in ("", "!s", "!r") and _looks_plain(value):
            yield "[" if is_list else "("
            for place, item in enumerate(items):
                yield ", " if place else ""
                yield from _written(build, item, "!r", node)
            yield "]" if is_list else ",)" if len(items) == 1 else ")"
        case _:
            yield _number(build, value, style, node)


def _looks_plain(value: Value) -> bool:
    """Whether `repr` of a value is known: numbers of NumPy's have their type in it."""
    if isinstance(value, Items):
        return not value.fields and all(map(_looks_plain, value.items))
    return isinstance(value, Scalar) and value.type.weak


def _number(build: Builder, value: Value, style: str, node: ast.expr) -> Written:
    scalar = printed(build, value, node)
    type = scalar.type
    if style[:2] in ("!r", "!a") and not type.weak:
        raise build.refuse(
            f"how {type.dtype} looks by repr is not known inside a script",
            node,
            help="write the value as it prints, as in {x} or %s",
        )
    example = type.dtype.numpy.type(1)
    _tried(build, example.item() if type.weak else example, style, node)
    return Written(convert(scalar, type.dtype, build.span(node)), style)


def printed(build: Builder, value: Value, node: ast.expr) -> Scalar:
    """A number in a message; nothing else can be printed."""
    match value:
        case Array():
            raise build.mismatch(
                f"{describe(value)} cannot be printed as a whole",
                node,
                help=f"print its elements in a loop, as in print({element_of(value)})",
            )
        case Items():
            raise build.mismatch(
                f"{describe(value)} cannot be printed as a whole",
                node,
                help="give its items one by one",
            )
        case _:
            return build.as_scalar(value, node, "a string or a number")


def _tried(build: Builder, value: object, style: str, node: ast.expr) -> str:
    try:
        return f"{{{style}}}".format(value)
    except (TypeError, ValueError) as error:
        raise build.mismatch(
            f"the format '{style.lstrip(':')}' does not fit: {error}", node
        ) from None


# `%`


def _converted(build: Builder, template: str, right: ast.expr, node: ast.expr) -> Parts:
    """`"%d of %5.2f" % (n, x)`."""
    nodes = right.elts if isinstance(right, ast.Tuple) else [right]
    values = list(zip(evaluate_all(build, nodes), nodes, strict=True))
    match values:
        case [(Items(items), each)]:
            values = [(item, each) for item in items]
        case _:
            pass
    left, end = iter(values), 0
    for found in _CONVERSION.finditer(template):
        yield _plain(build, template[end : found.start()], node)
        end = found.end()
        if found["letter"] == "%":
            yield "%"
            continue
        value, each = next(left, (None, node))
        if value is None:
            raise build.mismatch("not enough values for the conversions of the text", node)
        yield from _conversion(build, value, found, each)
    yield _plain(build, template[end:], node)
    if next(left, None) is not None:
        raise build.mismatch("not all values are converted by the text", node)


def _plain(build: Builder, text: str, node: ast.expr) -> str:
    if "%" in text:
        raise build.refuse(
            f"the conversion in {text!r} is not supported",
            node,
            help="write it as in %d, %5.2f or %s",
        )
    return text


def _conversion(build: Builder, value: Value, found: re.Match[str], node: ast.expr) -> Parts:
    """One conversion of `%` as `str.format` writes it."""
    flags, size, letter = found["flags"], found["size"], found["letter"]
    digits = found["digits"] or ""
    if letter in _AS_PRINTED:
        align = ":" if not size else f":{'<' if '-' in flags else '>'}{size}"
        return _written(build, value, f"!{letter}{align}{digits}".rstrip(":"), node)
    if isinstance(value, Text) or (digits and letter in _INTEGER):
        raise build.mismatch(f"'{found[0]}' does not fit {describe(value)}", node)
    if letter in _INTEGER:
        value, letter = _truncated(build, value, node)
    fill = "<" if "-" in flags else "0" if "0" in flags else ">"
    sign = "+" if "+" in flags else " " if " " in flags else ""
    other = "#" if "#" in flags else ""
    before, after = ("", "0") if fill == "0" else (fill, "")
    return _written(build, value, f":{before}{sign}{other}{after}{size}{digits}{letter}", node)


def _truncated(build: Builder, value: Value, node: ast.expr) -> tuple[Value, str]:
    """What `%d` writes, and the format that writes it: a float without its fraction."""
    scalar, span = build.as_scalar(value, node), build.span(node)
    if not scalar.type.dtype.is_float:
        return scalar, "d"
    whole = apply("trunc", Style.LANGUAGE, [scalar], span)
    zero = Scalar(Const(0.0, FLOAT64, span=span), whole.type)  # which makes -0.0 a zero
    return binary(Add, whole, zero, span), ".0f"


# .format


def _formatted(build: Builder, template: str, node: ast.Call) -> Parts:
    """`"{} of {n:5d}".format(x, n=n)`."""
    named = {word.arg: word.value for word in node.keywords if word.arg is not None}
    given: dict[str, ast.expr] = {str(k): arg for k, arg in enumerate(node.args)} | named
    values = dict(zip(given, evaluate_all(build, list(given.values())), strict=True))
    count = 0
    for literal, field, spec, conversion in _fields(build, template, node):
        yield literal
        if field is None:
            continue
        name, count = (field, count) if field else (str(count), count + 1)
        if name not in values:
            raise build.mismatch(f"the text has no value for {{{field}}}", node)
        style = (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "")
        yield from _written(build, values[name], style, given[name])


def _fields(
    build: Builder, template: str, node: ast.Call
) -> Sequence[tuple[str, str | None, str | None, str | None]]:
    try:
        found = list(Formatter().parse(template))
    except ValueError as error:
        raise build.mismatch(f"{template!r} is no format: {error}", node) from None
    if any("{" in (spec or "") for _, _, spec, _ in found):
        raise build.refuse("a format that is computed is not supported", node)
    return found
