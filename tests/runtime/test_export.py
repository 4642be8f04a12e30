"""Libraries for C: sizes of results, and names that mean something in C."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import hybrid, te
from hybridjit import stdlib as hs

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")

HALVED = """
def kernel(a: float64["m"], n: int64):
    r = output_tensor(({size},), "float64")
    for i in range({size}):
        r[i] += n
    return r
"""
# Guards on both sides of the result: what the wrapper clears besides it shows.
CALLER = """
#include <stdio.h>
#include "library.h"

int main(void) {{
    double a[64] = {{0}}, r[96];
    for (int k = 0; k < 96; k++) r[k] = 7;
    int32_t status = kernel(a, 5, {size}, r + 16);
    if (status != 0) {{ printf("%s\\n", kernel_message(status)); return 0; }}
    int first = 0, last = 95;
    while (first < 96 && r[first] == 7) first++;
    while (last > first && r[last] == 7) last--;
    for (int k = first; k <= last; k++) if (r[k] != 5) return 1;
    printf("%d %d\\n", first - 16, last - first + (first < 96));
    return 0;
}}
"""


def call_from_c(folder: Path, text: str, caller: str) -> str:
    hj.build(hj.parse(text)).export_library(folder / "library.so")
    (folder / "main.c").write_text(caller)
    command = ["cc", "-Wall", "-Werror", "main.c", "library.so", "-Wl,-rpath,.", "-o", "main"]
    subprocess.run(command, cwd=folder, check=True)
    done = subprocess.run(["./main"], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ("a.shape[0] * 2", {10: 20, 1: 2}),
        ("(a.shape[0] - 9) // 4 + 4", {10: 4, 1: 2}),
        ("(a.shape[0] - 9) % 4 + 1", {10: 2, 7: 3}),
        ("max(a.shape[0], 4)", {10: 10, 1: 4}),
        ("min(a.shape[0], 4)", {10: 4, 1: 1}),
        ("-(-a.shape[0] // 4)", {10: 3, 1: 1}),
        ("ceil_div(a.shape[0], n)", {10: 2, 11: 3}),
        ("abs(a.shape[0] - 7)", {10: 3, 1: 6}),
        ("a.shape[0] if a.shape[0] > 3 else n", {10: 10, 1: 5}),
        ("(a.shape[0] & 6) + (n << 1) + (a.shape[0] >> 2)", {10: 14, 1: 10}),
        ("int(a.shape[0] / 4) + (n > 4)", {10: 3, 1: 1}),
    ],
)
def test_results_have_the_size_that_the_script_says(
    tmp_path: Path, size: str, expected: dict[int, int]
) -> None:
    text = HALVED.format(size=size)
    for given, found in expected.items():
        assert call_from_c(tmp_path, text, CALLER.format(size=given)) == f"0 {found}"


class Pair(NamedTuple):
    """A result with names."""

    first: int
    second: int


@hybrid.script
def as_a_pair(a: Any) -> Any:
    return Pair(a[0], a[1])


def test_a_result_that_a_library_cannot_make(tmp_path: Path) -> None:
    module = hj.build({"pair": as_a_pair.prim_func(hj.i64[2])})
    with pytest.raises(ValueError, match=r"'pair' has what .*: a result of the class Pair"):
        module.export_library(tmp_path / "library.so")


def test_negative_size_of_a_result_is_an_error(tmp_path: Path) -> None:
    text = HALVED.format(size="a.shape[0] - 5")
    answer = call_from_c(tmp_path, text, CALLER.format(size=2))
    assert answer == "negative dimensions are not allowed"


def test_header_calls_everything_by_one_name(tmp_path: Path) -> None:
    """Words of C, letters that C lacks, and names that become the same one."""
    text = """
def kernel(größe: float64["int"], gr__e: float64["double"], n_re: float64, n: complex128,
           result_0: int64):
    r = output_tensor((größe.shape[0] + gr__e.shape[0],), "float64")
    for i in range(größe.shape[0]):
        r[i] = größe[i] + n_re
    return r, n_re * 2
"""
    module = hj.build(hj.parse(text))
    module.export_library(tmp_path / "library.so")
    header = (tmp_path / "library.h").read_text()
    assert header.isascii()
    prototype = next(line for line in header.splitlines() if line.startswith("int32_t kernel("))
    names = [part.split()[-1].strip("*") for part in prototype[15:-2].split(",")]
    assert len(set(names)) == len(names) == 10
    described = [
        line.split(":")[0][2:].strip() for line in header.splitlines() if "float64 [" in line
    ]
    assert set(described) <= set(names)
    loaded = hj.load_module(tmp_path / "library.so")
    arguments = (np.ones(3), np.ones(2), 2.0, 1j, 4)
    for ours, theirs in zip(module(*arguments), loaded(*arguments), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("compiler", [["cc"], ["cc", "-std=c99", "-pedantic"], ["c++"]])
def test_names_that_compilers_know(tmp_path: Path, compiler: list[str]) -> None:
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"needs {compiler[0]}")
    names = [
        "unix",
        "linux",
        "typeof",
        "bitand",
        "static_cast",
        "_Bool",
        "__GNUC__",
        "INT64_MAX",
        "größe__",
        "_",
    ]
    params = ", ".join(f"{name}: int64" for name in names)
    text = f"def and_eq({params}):\n    return {' + '.join(names)}\n"
    module = hj.build(hj.parse(text))
    module.export_library(tmp_path / "library.so")
    source = "main.cc" if compiler == ["c++"] else "main.c"
    (tmp_path / source).write_text('#include "library.h"\n')
    subprocess.run([*compiler, "-Wall", "-Werror", "-c", source], cwd=tmp_path, check=True)
    numbers = range(len(names))
    assert hj.load_module(tmp_path / "library.so")(*numbers) == sum(numbers)


def test_name_that_ends_a_comment(tmp_path: Path) -> None:
    func = hj.parse(HALVED.format(size="a.shape[0]"))
    module = hj.build(func, name="*/ int x; /*")
    module.export_library(tmp_path / "library.so")
    header = (tmp_path / "library.h").read_text()
    assert "* / int x; /*" in header
    (tmp_path / "main.c").write_text('#include "library.h"\nint x(void) { return 0; }\n')
    command = ["cc", "-Wall", "-Werror", "-Wno-comment", "-c", "main.c"]
    subprocess.run(command, cwd=tmp_path, check=True)


def test_functions_that_would_be_called_by_our_own_code(tmp_path: Path) -> None:
    text = HALVED.format(size="a.shape[0]").replace("def kernel", "def free")
    hj.build(hj.parse(text)).export_library(tmp_path / "library.so")
    assert "int32_t free_(" in (tmp_path / "library.h").read_text()


def test_two_functions_with_one_symbol(tmp_path: Path) -> None:
    func: Any = hj.parse(HALVED.format(size="a.shape[0]"))
    module = hj.build({"f": func, "f_message": func})
    with pytest.raises(ValueError, match="two functions have the same name in C"):
        module.export_library(tmp_path / "library.so")


def test_messages_with_control_characters(tmp_path: Path) -> None:
    text = """
def kernel(a: float64["m"]):
    if a[0] == 0:
        raise ValueError("naïve \\r\\t\\"quoted\\" ??/ \\x01")
    a[0] = 1
"""
    caller = """
#include <stdio.h>
#include "library.h"
int main(void) { double a[1] = {0}; printf("%s", kernel_message(kernel(a, 1))); return 0; }
"""
    hj.build(hj.parse(text)).export_library(tmp_path / "library.so")
    (tmp_path / "main.c").write_text(caller)
    command = ["cc", "-trigraphs", "main.c", "library.so", "-Wl,-rpath,.", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run(["./main"], cwd=tmp_path, check=True, capture_output=True)
    assert done.stdout.decode().endswith('naïve \r\t"quoted" ??/ \x01')


SORTED_TYPES = ("float64", "float32", "float16", "int64", "uint8", "bool", "complex128")


def unordered(dtype: str, size: int) -> Any:
    """Numbers with equals, and NaNs and zeros of both signs where there are any."""
    numbers: Any = np.random.default_rng(size).integers(-9, 10, size).astype(dtype)
    if numbers.dtype.kind == "c":
        numbers += 1j * np.random.default_rng(1).integers(-3, 3, size)
    if numbers.dtype.kind in "fc":
        numbers[::7], numbers[3::9] = np.nan, -0.0
    return numbers


def test_a_library_sorts_without_numpy(tmp_path: Path) -> None:
    """Its own functions give what NumPy gives, with equals in their order."""
    functions: dict[str, Any] = {}
    for dtype in SORTED_TYPES:
        n = te.var("n")
        a = te.placeholder((n,), dtype, name="a")
        functions[dtype] = hj.lower([a, hs.sort(a), hs.argsort(a)], name=dtype)
    path = tmp_path / "library.so"
    hj.build(functions).export_library(path)
    loaded = hj.load_module(path)
    for dtype in SORTED_TYPES:
        for size in (0, 1, 2, 9, 64, 100):
            numbers = unordered(dtype, size)
            ordered, places = np.zeros_like(numbers), np.zeros(size, np.int64)
            loaded[dtype](numbers, ordered, places)
            np.testing.assert_array_equal(ordered, np.sort(numbers, kind="stable"))
            np.testing.assert_array_equal(places, np.argsort(numbers, kind="stable"))


_TYPES = {"float32": hj.f32, "float64": hj.f64, "complex64": hj.c64, "complex128": hj.c128}


def spectra_of(dtype: str) -> Any:
    """A script with all transforms, of rows that are cut and filled."""

    def spectra(rows: Any, whole: Any, back: Any, even: Any, odd: Any, real: Any) -> None:
        whole[:] = np.fft.fft(rows)
        back[:] = np.fft.ifft(rows, 12, norm="ortho")
        even[:] = np.fft.rfft(rows.real, 8)
        odd[:] = np.fft.rfft(rows.real, 11)
        real[:] = np.fft.irfft(rows, 13)

    real = "float32" if dtype == "complex64" else "float64"
    sizes = [(dtype, 10), (dtype, 10), (dtype, 12), (dtype, 5), (dtype, 6), (real, 13)]
    return hybrid.script(spectra).prim_func(*(_TYPES[kind]["n", size] for kind, size in sizes))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_a_library_transforms_without_numpy(dtype: str, tmp_path: Path) -> None:
    path = tmp_path / "library.so"
    hj.build({"spectra": spectra_of(dtype)}).export_library(path)
    spectra = hj.load_module(path)["spectra"]
    rng = np.random.default_rng(3)
    for count in (0, 1, 5):
        rows: Any = (rng.random((count, 10)) + 1j * rng.random((count, 10))).astype(dtype)
        wanted = [
            np.fft.fft(rows),
            np.fft.ifft(rows, 12, norm="ortho"),
            np.fft.rfft(rows.real, 8),
            np.fft.rfft(rows.real, 11),
            np.fft.irfft(rows, 13),
        ]
        found = [np.zeros_like(array) for array in wanted]
        spectra(rows, *found)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
