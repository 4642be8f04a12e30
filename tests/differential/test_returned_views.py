"""Views that are returned, of arguments and locals: NumPy's memory, base, strides, writeability."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import Kernel, hybrid
from hybridjit.errors import HybridError
from tests.support.oracle import fresh, run_interpreted, run_native, run_plain

np: Any = numpy


@hybrid.script
def several(a: Any) -> Any:
    return a[1:], (a.T, a[::-1, 1]), a[1], a[:, None, ::2]


@hybrid.script
def by_paths(a: Any, k: Any = 2) -> Any:
    if k > 2:
        return a[k:, ::-1]
    return a[:k, ::-1]


@hybrid.script
def after_writing(a: Any, k: Any = 1) -> Any:
    part = a[k or None :]
    total = part.sum()
    return part, total


def assert_same_view(found: Any, wanted: Any) -> None:
    """Two results are the same memory, seen in the same way."""
    if isinstance(wanted, tuple):
        items: Any = wanted  # pyright: ignore[reportUnknownVariableType]
        for pair in zip(found, items, strict=True):
            assert_same_view(*pair)
        return
    if not isinstance(wanted, numpy.ndarray):
        assert np.isclose(found, wanted)
        return
    expected: Any = wanted  # pyright: ignore[reportUnknownVariableType]
    assert found.base is expected.base
    for name in ("shape", "strides", "dtype"):
        assert getattr(found, name) == getattr(expected, name)
    assert found.ctypes.data == expected.ctypes.data or found.size == 0
    assert found.flags.writeable == expected.flags.writeable


def _arrays() -> dict[str, Any]:
    plain = np.arange(12.0).reshape(3, 4).copy()
    locked = plain.copy()
    locked.flags.writeable = False
    return {"C": plain, "read-only": locked, "F": np.asfortranarray(plain), "view": plain[:, ::-1]}


@pytest.mark.parametrize("layout", list(_arrays()))
def test_parts_are_views(layout: str, unchecked: None) -> None:
    array = _arrays()[layout]
    calls = [(several,), (by_paths, 0), (by_paths, 3), (by_paths, 1), (after_writing, 0)]
    for kernel, *args in calls:
        wanted = run_plain(kernel, array, *args)
        for way in (run_interpreted, run_native, run_native):
            assert_same_view(way(kernel, array, *args), wanted)


@pytest.mark.parametrize("kernel", [several, after_writing], ids=lambda kernel: kernel.__name__)
def test_what_is_printed_parses_back(kernel: Kernel[..., Any]) -> None:
    func = kernel.prim_func(np.ones((3, 4)))
    assert "view_of(a, " in str(func)
    assert hj.structural_equal(func, hj.parse(str(func)))


def test_from_the_disk(unchecked: None) -> None:
    """What is kept of a translation says how the view is made."""
    array = np.arange(12.0).reshape(3, 4)
    assert_same_view(run_native(fresh(several), array), run_plain(several, array))
    assert_same_view(run_native(fresh(several), array), run_plain(several, array))


@hybrid.script
def arranged(a: Any) -> Any:
    named = a.T.reshape(4, 3)
    return a.reshape(4, 3), named, (a.ravel(), a[1].ravel(), a.reshape(2, -1, 1)), a[1:].reshape(-1)


@hybrid.script
def one_after_the_other(a: Any) -> Any:
    return np.ascontiguousarray(a), np.ascontiguousarray(a.T), np.ascontiguousarray(a[1])


@hybrid.script
def reshaped_by_paths(a: Any, k: Any = 2) -> Any:
    if k > 2:
        return a.reshape(k, -1)
    return a.reshape(-1, 6)


def assert_same_array(found: Any, wanted: Any, argument: Any) -> None:
    """Two results are the same memory of the argument, or both are copies."""
    if isinstance(wanted, tuple):
        items: Any = wanted  # pyright: ignore[reportUnknownVariableType]
        for pair in zip(found, items, strict=True):
            assert_same_array(*pair, argument)
        return
    np.testing.assert_array_equal(found, wanted)
    is_view = np.may_share_memory(wanted, argument)
    assert np.may_share_memory(found, argument) == is_view
    assert (found.ctypes.data == wanted.ctypes.data) == is_view
    assert (found.base is None) == (wanted.base is None)
    assert found.strides == wanted.strides
    assert found.flags.writeable == wanted.flags.writeable


@pytest.mark.parametrize("layout", list(_arrays()))
def test_what_is_a_view_where_strides_allow(layout: str, unchecked: None) -> None:
    array = _arrays()[layout]
    calls = [(arranged,), (one_after_the_other,), (reshaped_by_paths, 2), (reshaped_by_paths, 3)]
    for kernel, *args in calls:
        wanted = run_plain(kernel, array, *args)
        for way in (run_interpreted, run_native, run_native):
            assert_same_array(way(kernel, array, *args), wanted, array)
    with pytest.raises(ValueError, match="reshape"):
        reshaped_by_paths(array, 5)


def test_arranged_arrays_are_printed_and_kept(unchecked: None) -> None:
    array = np.arange(12.0).reshape(3, 4)
    func = arranged.prim_func(array)
    assert "view_of(a, (0, 1), 2, 'reshape', " in str(func)
    assert hj.structural_equal(func, hj.parse(str(func)))
    for _ in range(2):
        assert_same_array(run_native(fresh(arranged), array), run_plain(arranged, array), array)


@hybrid.script
def of_one_local(a: Any) -> Any:
    t = a * 2
    pair = (t + 1, t.shape[0])
    return t, t[1:], t[::-1].T, t.reshape(-1), (t, pair[0][:, 1], pair[0]), t[0, None]


@hybrid.script
def first_ones(a: Any) -> Any:
    kept = np.empty(a.size)
    count = 0
    for x in a.ravel():
        if x % 2:
            kept[count] = x
            count += 1
    return kept[:count]


@hybrid.script
def a_view_or_not(a: Any, k: Any) -> Any:
    t = a * 2
    if k > 1:
        return t[1:]
    if k > 0:
        return t[:1, ::-1]
    return a + 1


def _memory(results: Any) -> list[Any]:
    """Which results share memory, whose base is another one, and how large the base is."""
    found = _flat(results)
    shared = [[np.may_share_memory(one, other) for other in found] for one in found]
    bases = [[array.base is other for other in found] for array in found]
    sizes = [None if array.base is None else array.base.size for array in found]
    return [shared, bases, sizes, [array.flags.writeable for array in found]]


def _flat(results: Any) -> list[Any]:
    if not isinstance(results, tuple):
        return [results]
    items: Any = results  # pyright: ignore[reportUnknownVariableType]
    return [array for item in items for array in _flat(item)]


@pytest.mark.parametrize("shape", [(3, 4), (1, 2), (5, 3)])
def test_views_of_locals(shape: tuple[int, ...], unchecked: None) -> None:
    array = np.arange(float(np.prod(shape))).reshape(shape)
    for kernel in (of_one_local, first_ones):
        wanted = run_plain(kernel, array)
        for way in (run_interpreted, run_native, run_native):
            found = way(kernel, array)
            for got, want in zip(_flat(found), _flat(wanted), strict=True):
                np.testing.assert_array_equal(got, want)
            assert _memory(found) == _memory(wanted)


def test_paths_that_return_no_views_return_arrays_of_their_own(unchecked: None) -> None:
    array = np.arange(12.0).reshape(3, 4)
    for k in (0, 1, 2):
        for way in (run_interpreted, run_native):
            found = way(a_view_or_not, array, k)
            np.testing.assert_array_equal(found, run_plain(a_view_or_not, array, k))
            assert found.flags.writeable


def test_a_view_of_an_argument_or_of_a_local_is_refused() -> None:
    @hybrid.script
    def one_of_two(a: Any, k: Any) -> Any:
        t = a * 2
        if k:
            return a[1:]
        return t[1:]

    with pytest.raises(HybridError, match="copy"):
        one_of_two(np.ones(3), 1)


def test_what_the_library_makes_is_no_view(unchecked: None) -> None:
    """Memory that a function of NumPy needs on the way is not kept alive."""

    @hybrid.script
    def selected(a: Any) -> Any:
        found = np.unique(a)
        return found, a[a > 1], np.flatnonzero(a)

    for array in selected(np.array([2.0, 2.0, 2.0, 1.0])):
        assert array.base.nbytes == array.nbytes


def test_copies_that_would_change_are_refused() -> None:
    @hybrid.script
    def written_meanwhile(a: Any) -> Any:
        b = a.reshape(4, 3)
        a[0, 0] = 7.0
        return b

    with pytest.raises(HybridError, match="copy"):
        written_meanwhile(np.ones((3, 4)))


def test_views_of_what_may_be_a_copy_are_refused() -> None:
    @hybrid.script
    def reshaped(a: Any) -> Any:
        return a.reshape(4, 3)[1:]

    with pytest.raises(HybridError, match="copy"):
        reshaped(np.ones((3, 4)))
