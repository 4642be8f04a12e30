"""`tvm.target`: what code is made for, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, cast

from hybridjit.record import record


@record
class Kind:
    """The first word of a target."""

    name: str


class Target:
    """A target: only "llvm", this processor, can be built for; options are not looked at."""

    _entered: ClassVar[list[Target]] = []

    def __init__(self, target: Any = "llvm", host: Any = None) -> None:
        self.text = _text(target)
        self.attrs = _attributes(target)
        self.host = None if host is None else Target(host)

    @property
    def kind(self) -> Kind:
        """What it is."""
        return Kind(self.text.split()[0])

    @property
    def mcpu(self) -> str:
        """The processor that was named. Code is made for the one that runs this."""
        return self.attrs.get("mcpu", "")

    @property
    def keys(self) -> tuple[str, ...]:
        """What it is like."""
        return ("cpu",)

    @staticmethod
    def current(allow_none: bool = True) -> Target | None:
        """The target of the innermost `with`."""
        if Target._entered:
            return Target._entered[-1]
        return None if allow_none else Target()

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Target({self.text!r})"

    def __enter__(self) -> Target:
        Target._entered.append(self)
        return self

    def __exit__(self, *details: object) -> None:
        Target._entered.pop()


def create(text: str) -> Target:
    """The target of that name."""
    return Target(text)


def _attributes(target: Any) -> dict[str, str]:
    """The options, `-mcpu=core-avx2` or `{"mcpu": "core-avx2"}`."""
    if isinstance(target, Target):
        return dict(target.attrs)
    if isinstance(target, Mapping):
        given = cast("Mapping[str, Any]", target)
        return {key: str(value) for key, value in given.items() if key != "kind"}
    options = [word[1:].partition("=") for word in str(target).split() if word.startswith("-")]
    return {name: value for name, _, value in options}


def _text(target: Any) -> str:
    if isinstance(target, Mapping):
        return str(target["kind"])  # pyright: ignore[reportUnknownArgumentType]
    return str(target)
