"""A native call holds its arrays: nobody can take their memory away while it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.hybrid import output_tensor
from tests.runtime.native_calls import hits, warm
from tests.support.own_process import run_program

pytestmark = pytest.mark.usefixtures("unchecked")

CALLS = 4


def test_resize_in_another_thread_is_refused(tmp_path: Path) -> None:
    program = """
        import threading
        import numpy as np
        from hybridjit import hybrid

        @hybrid.script
        def work(a, rounds):
            s = 0.0
            for k in range(rounds):
                for i in range(a.shape[0]):
                    s += a[i]
            return s

        for _ in range(4):
            work(np.ones(10**6), 1)
        items = (np.ones(10**6), 300)
        thread = threading.Thread(target=lambda: print(work(*items)))
        thread.start()
        refused = 0
        while thread.is_alive():
            try:
                items[0].resize((1,))
            except ValueError:
                refused += 1
            thread.join(0.001)
        print(refused > 0)
    """
    assert run_program(tmp_path, program) == "300000000.0\nTrue\n"


def test_resize_in_a_callback_is_refused() -> None:
    items: tuple[Any, ...] = ()

    def find() -> Any:
        return items[0] if hasattr(items[0], "resize") else items[0][0]

    def resize() -> None:
        find().resize((1,))

    packed_resize = hybrid.packed(resize)

    @hybrid.script
    def plain(a: Any, b: Any) -> None:
        packed_resize()
        b[0] = a[a.shape[0] - 1]

    @hybrid.script
    def in_tuple(pair: Any, b: Any) -> None:
        packed_resize()
        b[0] = pair[0][999]

    for kernel, make in (
        (plain, lambda: (np.ones(1000), np.zeros(1))),
        (in_tuple, lambda: ((np.ones(1000), 2.0), np.zeros(1))),
    ):
        for _ in range(CALLS):
            items = make()
            with pytest.raises(ValueError, match="cannot resize"):
                kernel(*items)


def test_keyword_only_parameter_is_never_positional() -> None:
    @hybrid.script
    def kernel(a: Any, *, k: Any) -> None:
        a[0] = k

    call: Any = kernel
    warm(kernel, np.zeros(1), k=1.0)
    with pytest.raises(TypeError, match="too many positional arguments"):
        call(np.zeros(1), 1.0)
    assert hits(kernel) == 1


# out=


def make_filler(change: Any) -> Any:
    packed_change = hybrid.packed(change, name="change")

    @hybrid.script
    def kernel(a: Any) -> Any:
        b = output_tensor((4,), "float64")
        packed_change()
        for i in range(4):
            b[i] = a[i] + 1
        return b

    return kernel


@pytest.mark.parametrize("native", [False, True])
def test_out_that_becomes_read_only_is_not_written(native: bool) -> None:
    out: Any = np.zeros(4)
    is_on = False

    def freeze() -> None:
        if is_on:
            out.flags.writeable = False

    kernel = make_filler(freeze)
    if native:
        warm(kernel, np.zeros(4), out=np.zeros(4))
    is_on = True
    with pytest.raises(ValueError, match="out= is read-only"):
        kernel(np.zeros(4), out=out)
    assert out.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("native", [False, True])
def test_out_that_shrinks_is_not_written_outside(native: bool) -> None:
    out: Any = np.zeros(4)
    is_on = False

    def shrink() -> None:
        if is_on:
            out.resize((1,), refcheck=False)

    kernel = make_filler(shrink)
    if native:
        warm(kernel, np.zeros(4), out=np.zeros(4))
    is_on = True
    with pytest.raises(ValueError, match=r"out= must be a float64 array of shape \(4,\)"):
        kernel(np.zeros(4), out=out)
