"""`tvm.target`: what code is made for, by name."""

from __future__ import annotations

from hybridjit.record import record


@record
class Kind:
    """The first word of a target."""

    name: str


@record
class Target:
    """A target: only "llvm", this processor, can be built for; options are not looked at."""

    text: str = "llvm"
    host: str | None = None

    @property
    def kind(self) -> Kind:
        """What it is."""
        return Kind(self.text.split()[0])

    def __str__(self) -> str:
        return self.text

    def __enter__(self) -> Target:
        return self

    def __exit__(self, *details: object) -> None:
        return


def create(text: str) -> Target:
    """The target of that name."""
    return Target(text)
