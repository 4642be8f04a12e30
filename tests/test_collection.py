"""Python's garbage collector rests while the compiler works, and is as it was after that."""

from __future__ import annotations

import gc
from collections.abc import Generator
from typing import Any

import numpy as np
import pytest

from hybridjit import Kernel, config
from hybridjit.collection import no_collection, no_collection_of_modules
from hybridjit.runtime import compiler


@pytest.fixture(autouse=True)
def _with_a_collector() -> Generator[None]:  # pyright: ignore[reportUnusedFunction]
    gc.enable()
    yield
    gc.enable()


@pytest.mark.parametrize("rest", [no_collection, no_collection_of_modules])
def test_it_is_as_it_was(rest: Any) -> None:
    with rest(), rest():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ValueError, match="meanwhile"), rest():
        raise ValueError("meanwhile")
    assert gc.isenabled()
    gc.disable()
    with rest():
        pass
    assert not gc.isenabled()


def doubled(a: Any) -> Any:
    return a * 2


@pytest.mark.parametrize("stage", ["parse", "optimize_program", "emit_kernel", "emit_object"])
def test_it_rests_while_a_script_is_compiled(stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    work, states = getattr(compiler, stage), list[bool]()

    def noting(*args: Any, **kwargs: Any) -> Any:
        states.append(gc.isenabled())
        return work(*args, **kwargs)

    monkeypatch.setattr(compiler, stage, noting)
    with config.scope(cache_enabled=False):
        assert Kernel(doubled)(np.arange(3.0))[2] == 4.0
    assert states == [False]
    assert gc.isenabled()
