"""Native calls give exactly what calls through Python give, and are taken only where they may."""

from __future__ import annotations

import pickle
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from hybridjit import config, hybrid
from hybridjit.codegen.dispatcher.object_layout import Offsets
from hybridjit.ir.dtype import DTYPES
from hybridjit.runtime.dispatch import facts as dispatch_facts
from hybridjit.runtime.dispatch import functions as dispatch_functions
from hybridjit.runtime.dispatch.objects import native_class
from tests.runtime.native_calls import (
    agrees,
    arrays,
    hits,
    make_add,
    misaligned,
    read_only,
    warm,
)

pytestmark = [
    pytest.mark.usefixtures("unchecked"),
    pytest.mark.skipif(
        native_class() is None, reason="native calls are not possible on this interpreter"
    ),
]


# Which calls run natively


def test_second_call_makes_a_table_and_the_third_uses_it() -> None:
    add = make_add()
    found: list[tuple[int, int]] = []
    for _ in range(4):
        add(*arrays())
        found.append((len(add.native_calls.tables), hits(add)))
    assert found == [(0, 0), (1, 0), (1, 1), (1, 2)]


def test_native_call_writes_what_it_should() -> None:
    add = make_add()
    warm(add, *arrays())
    a, b, c = arrays()
    assert add(a, b, c) is None
    np.testing.assert_array_equal(c, a + b)
    assert hits(add) == 2


CHANGES: list[tuple[int, Callable[[Any], Any]]] = [
    (0, lambda a: a.astype(np.float32)),
    (0, lambda a: a.astype(np.int64)),
    (0, lambda a: a.astype(">f8")),
    (0, lambda a: a.reshape(2, 4)),
    (0, lambda a: a[0]),
    (0, lambda a: a[:4]),
    (0, lambda a: a[:0]),
    (0, lambda a: np.repeat(a, 2)),
    (0, lambda a: np.repeat(a, 2)[::2]),
    (0, lambda a: a[::-1]),
    (0, lambda a: np.broadcast_to(a[:1], (8,))),
    (0, lambda a: list(a)),
    (0, lambda a: None),
    (0, lambda a: "text"),
    (0, lambda a: 3),
    (0, lambda a: a.view(np.recarray)),
    (0, lambda a: np.ma.masked_array(a)),
    (0, lambda a: a.astype(object)),
    (0, lambda a: a.astype([("x", "f8")])),
    (0, lambda a: misaligned(a)),
    (2, lambda c: read_only(c)),
    (2, lambda c: misaligned(c)),
    (2, lambda c: np.lib.stride_tricks.as_strided(c, (8,), (0,))),
    (2, lambda c: c.astype(np.float32)),
]


@pytest.mark.parametrize(("position", "change"), CHANGES)
def test_other_arguments_do_not_use_the_table(position: int, change: Any) -> None:
    add = make_add()
    warm(add, *arrays())
    table = add.native_calls.tables[0]
    args = arrays()
    args[position] = change(args[position])
    before = table.hits
    agrees(add, *args)
    assert table.hits == before


def test_read_only_input_is_fine() -> None:
    add = make_add()
    warm(add, *arrays())
    a, b, c = arrays()
    assert agrees(add, read_only(a), b, c)


def test_dtype_object_does_not_have_to_be_the_usual_one() -> None:
    """Unpickled arrays have a dtype object of their own; long and long long are one type."""
    add = make_add()
    warm(add, *arrays())
    a, b, c = arrays()
    again = pickle.loads(pickle.dumps(a))
    assert agrees(add, again, b, c)

    integers = make_add()
    warm(integers, *arrays(dtype=np.int64))
    a, b, c = arrays(dtype=np.int64)
    assert agrees(integers, a.view(np.longlong), b.view(np.int_), c)


@pytest.mark.parametrize("name", DTYPES)
def test_every_element_type(name: str) -> None:
    dtype = ml_dtypes.bfloat16 if name == "bfloat16" else np.dtype(name)

    @hybrid.script
    def pick(a: Any, x: Any, b: Any) -> Any:
        for i in range(a.shape[0]):
            b[i] = a[i] if i > 2 else x
        return a[1], x

    a = np.arange(5).astype(dtype)
    x, b = a[3], np.zeros(5, dtype)
    for _ in range(3):
        assert agrees(pick, a, x, b) in (True, False)
    assert agrees(pick, a, x, b)


def test_strided_arguments_have_tables_of_their_own() -> None:
    add = make_add()
    base = np.arange(64.0)
    views = [base[:16:2], base[16:32:2], base[40:32:-1]]
    for _ in range(4):
        agrees(add, *views)
    assert agrees(add, *views)


def test_stride_of_an_axis_with_one_element_means_nothing() -> None:
    @hybrid.script
    def copy_rows(a: Any, b: Any) -> Any:
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                b[i, j] = a[i, j]

    wide: Any = np.ones((4, 8))
    a, b = wide[:1, ::2], np.zeros((1, 4))
    for _ in range(3):
        copy_rows(a, b)
    odd = np.lib.stride_tricks.as_strided(a, a.shape, (12345, a.strides[1]))
    before = hits(copy_rows)
    copy_rows(odd, b)
    assert hits(copy_rows) == before + 1
    np.testing.assert_array_equal(a, b)


# Run-time sizes


def test_promoted_sizes_run_natively() -> None:
    add = make_add()
    for size in (3, 4, 5):
        for _ in range(3):
            add(*arrays(size=size))
    for size in (0, 1, 2, 17, 1000, 5000):
        assert agrees(add, *arrays(size=size))
    args = [*arrays(2, 6), np.zeros(7)]
    assert not agrees(add, *args)


def test_promoted_sizes_of_written_views() -> None:
    @hybrid.script
    def fill(c: Any) -> Any:
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                c[i, j] = i * 10 + j

    for size in (3, 5, 6):
        for _ in range(2):
            fill(np.zeros((size, 4 * size))[:, ::2])
    before = hits(fill)
    c = np.zeros((7, 20))[:, ::2]
    fill(c)
    assert hits(fill) > before
    np.testing.assert_array_equal(c, np.arange(7.0)[:, None] * 10 + np.arange(10))
    overlapping = np.lib.stride_tricks.as_strided(np.zeros(100), (7, 10), (16, 16))
    with pytest.raises(ValueError, match="share memory"):
        fill(overlapping)


# Aliasing


def test_aliased_arrays_run_code_made_for_that() -> None:
    @hybrid.script
    def shift(a: Any, b: Any) -> Any:
        for i in range(a.shape[0]):
            b[i] = a[i] + 1

    a, b = np.zeros(6), np.zeros(6)
    warm(shift, a, b)
    base = np.zeros(8)
    for _ in range(4):
        base[...] = 0
        shift(base[:6], base[1:7])
        np.testing.assert_array_equal(base, [0, 1, 2, 3, 4, 5, 6, 0])
    disjoint, shared = sorted(table.hits for table in shift.native_calls.tables)
    assert (disjoint, shared) == (1, 2)
    assert agrees(shift, a, b)
    assert agrees(shift, base[:6], base[1:7]) in (True, False)
    assert agrees(shift, base[2:8], base[2:8]) in (True, False)


# Settings


def test_interpret_setting_is_obeyed() -> None:
    add = make_add()
    warm(add, *arrays())
    before = hits(add)
    with config.scope(interpret=True):
        add(*arrays())
        assert hits(add) == before
        with config.scope(interpret=False):
            add(*arrays())
        assert hits(add) == before + 1
    add(*arrays())
    assert hits(add) == before + 2


# Facts about the interpreter


def test_interpreter_is_known() -> None:
    assert dispatch_facts.is_known_interpreter()
    assert dispatch_functions.find_functions() is not None


@pytest.mark.parametrize("field", ["ARRAY_DATA", "ARRAY_FLAGS", "TUPLE_ITEMS", "FLOAT_VALUE"])
def test_wrong_guess_about_an_object_is_noticed(
    field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Wrong:
        def __getattr__(self, name: str) -> int:
            return getattr(Offsets, name) - (8 if name == field else 0)

    monkeypatch.setattr(dispatch_facts, "Offsets", Wrong())
    assert not dispatch_facts.is_known_interpreter.__wrapped__()


def test_kernels_work_where_native_calls_do_not(tmp_path: Path) -> None:
    program = """
        import sys
        import numpy as np
        sys.implementation.name = "another"
        from hybridjit import hybrid
        from hybridjit.runtime.dispatch.objects import native_class
        sys.path.insert(0, {path!r})
        import slow_kernel
        assert native_class() is None
        for _ in range(4):
            assert slow_kernel.first(np.ones(3)) == 1.0
        assert slow_kernel.first.native_calls.tables == ()
    """
    module = "from hybridjit import hybrid\n@hybrid.script\ndef first(a):\n    return a[0]\n"
    (tmp_path / "slow_kernel.py").write_text(module)
    text = textwrap.dedent(program).format(path=str(tmp_path))
    subprocess.run([sys.executable, "-c", text], check=True)
