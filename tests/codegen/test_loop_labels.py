"""Every jump back of emitted code says whether LLVM may make vectors of the loop."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import hybrid
from hybridjit.codegen.engine import optimize
from hybridjit.codegen.kernel import emit_kernel
from hybridjit.codegen.layout import ArrayLayout, Layout
from hybridjit.codegen.loop_labels import MAY_VECTORIZE
from hybridjit.codegen.target import host_target
from hybridjit.hybrid import parallel
from hybridjit.lower.pipeline import lower
from tests.corpus import CORPUS
from tests.corpus.case import Array
from tests.frontend.from_text import script_from_text
from tests.random_stencils import make_stencil

SCALAR = '!"llvm.loop.vectorize.enable", i1'
_BLOCK = re.compile(r'^"?([\w.]+)"?:')
_TARGET = re.compile(r'label %"?([\w.]+)"?')
_LABEL = re.compile(r"!llvm\.loop !(\d+)")


def emitted(kernel: Any, *specs: Any) -> str:
    """The LLVM text of a kernel, its arguments apart from each other."""
    func = lower(kernel.prim_func(*specs), host_target())
    layout = Layout(tuple(ArrayLayout() for _ in func.buffers), True)
    return emit_kernel(func, layout, host_target()).text


def jumps_back(text: str) -> Iterator[str]:
    """The lines of an LLVM text that end a loop, found without the package."""
    for function in re.split(r"^define ", text, flags=re.M)[1:]:
        yield from _jumps_back_of(function[: function.index("\n}")])


def _jumps_back_of(function: str) -> list[str]:
    blocks: dict[str, str] = {}
    name = ""
    for line in function.splitlines()[1:]:
        begin = _BLOCK.match(line)
        name = begin[1] if begin else name
        if name:
            blocks[name] = line if line.startswith("  br ") else blocks.get(name, "")
    found: list[str] = []
    _search(next(iter(blocks)), blocks, {}, found)
    return found


def _search(name: str, blocks: dict[str, str], state: dict[str, bool], found: list[str]) -> None:
    """Depth first; a state is True while the block is on the way."""
    state[name] = True
    for target in _TARGET.findall(blocks[name]):
        if target not in state:
            _search(target, blocks, state, found)
        elif state[target]:
            found.append(blocks[name])
    state[name] = False


def labels(text: str) -> list[str]:
    """What each loop of an LLVM text says about itself: the texts of its metadata."""
    nodes = dict(re.findall(r"^!(\d+) = (?:distinct )?(!\{.*\})$", text, flags=re.M))
    found: list[str] = []
    for line in jumps_back(text):
        label = _LABEL.search(line)
        parts = [] if label is None else re.findall(r"!(\d+)", nodes[label[1]])
        found.append(" ".join(nodes[part] for part in parts if label and part != label[1]))
    return found


def test_the_corpus_is_labelled() -> None:
    count = 0
    for case in CORPUS:
        arguments = case.arguments[0]
        func = lower(case.kernel.prim_func(*arguments.args, **arguments.kwargs), host_target())
        layout = Layout(tuple(ArrayLayout() for _ in func.buffers), True)
        for label in labels(emit_kernel(func, layout, host_target()).text):
            assert (SCALAR in label) != (MAY_VECTORIZE in label), case.kernel.__name__
            count += 1
    assert count > 200


SPECS = (hj.f64["n"], hj.f64["n"], hj.i64["n"])


def plain(a: Array, b: Array, k: Array) -> None:
    for i in range(a.shape[0]):
        a[i] = a[i] * 2 + b[i]


def roots_and_sines(a: Array, b: Array, k: Array) -> None:
    for i in range(a.shape[0]):
        a[i] = np.sqrt(a[i]) + np.sin(b[i]) + np.exp(b[i])


def either(a: Array, b: Array, k: Array) -> None:
    for i in range(a.shape[0]):
        a[i] = a[i] if b[i] > 0 else 1.0


def divided_elements(a: Array, b: Array, k: Array) -> None:
    for i in range(k.shape[0]):
        k[i] = k[i] // 3


@pytest.mark.parametrize("function", [plain, roots_and_sines, either, divided_elements])
def test_straight_lines_may_be_vectorized(function: Callable[..., Any]) -> None:
    assert any(MAY_VECTORIZE in label for label in labels(emitted(hybrid.script(function), *SPECS)))


def guarded(a: Array, b: Array, k: Array) -> None:
    for i in range(a.shape[0]):
        if b[i] > 0:
            a[i] = 1.0


def short_circuit(a: Array, b: Array, k: Array) -> None:
    for i in range(a.shape[0] - 1):
        a[i] = 1.0 if i > 2 and a[i - 2] > 1 else 2.0


def checked(a: Array, b: Array, k: Array) -> None:
    for i in range(a.shape[0]):
        a[i] = b[k[i]]


def asserted(a: Array, b: Array, k: Array) -> None:
    for i in range(a.shape[0]):
        assert b[i] > 0
        a[i] = 1.0


def left_early(a: Array, b: Array, k: Array) -> None:
    for i in range(a.shape[0]):
        a[i] = 1.0
        if b[i] > 0:
            break


def without_end(a: Array, b: Array, k: Array) -> None:
    i = 0
    while i < a.shape[0]:
        a[i] = 1.0
        i += 1


def quotient_in_index(a: Array, b: Array, k: Array) -> None:
    for i in range(a.shape[0]):
        a[i] = b[i // 3]


def rest_in_index(a: Array, b: Array, k: Array) -> None:
    for i in range(a.shape[0]):
        a[i] = b[i % 7 % b.shape[0]]


def rest_in_variable(a: Array, b: Array, k: Array) -> None:
    for i in range(a.shape[0]):
        place = i % 7
        place += i // 9
        a[i] = b[min(place, b.shape[0] - 1)]


def float_rest(a: Array, b: Array, k: Array) -> None:
    for i in range(a.shape[0]):
        a[i] = a[i] % b[i]


def integer_power(a: Array, b: Array, k: Array) -> None:
    for i in range(k.shape[0]):
        k[i] = 3 ** (k[i] & 7)


SCALARS = (
    *(guarded, short_circuit, checked, asserted, left_early, without_end),
    *(quotient_in_index, rest_in_index, rest_in_variable, float_rest, integer_power),
)


@pytest.mark.parametrize("function", SCALARS)
def test_other_loops_stay_scalar(function: Callable[..., Any]) -> None:
    text = emitted(hybrid.script(function), *SPECS)
    assert MAY_VECTORIZE not in text
    assert all(SCALAR in label for label in labels(text))
    assert "vector.body" not in str(optimize(text, host_target()))


def window(a: Array, b: Array, k: Array) -> None:
    for i in range(a.shape[0] - 2):
        for d in range(3):
            b[i + d] = a[i]


def test_a_loop_around_another_stays_scalar() -> None:
    """LLVM would unroll the inner one first, and make vectors of what is left."""
    found = labels(emitted(hybrid.script(window), *SPECS))
    assert [SCALAR in label for label in found] == [False, True]


def chunks(a: Array, b: Array, k: Array) -> None:
    for i in parallel(a.shape[0]):
        if b[i] > 0:
            a[i] = b[i]


def test_chunks_of_parallel_loops_are_labelled() -> None:
    found = labels(emitted(hybrid.script(chunks), *SPECS))
    assert found
    assert all(SCALAR in label for label in found)


@pytest.mark.parametrize("seed", range(8))
def test_labels_survive_what_llvm_does_to_loops(seed: int) -> None:
    """Unrolled, peeled and unswitched, a loop is kept from the vectoriser that another one has."""
    stencil = make_stencil(seed)
    other = "    for z in range(1000):\n        E[z] = E[z] + 1\n"
    source = stencil.text.replace(", K)", ", K, E)") + other
    for args in list(stencil.arguments())[:2]:
        text = emitted(script_from_text(source), *args, np.zeros(1000, np.int8))
        found = str(optimize(text, host_target()))
        vectors = re.findall(r"%(?:wide\.|predphi|vec\.phi)\S* = .*", found)
        assert vectors
        assert all("x i8>" in line for line in vectors), stencil.text


def mixed(a: Array, b: Array, k: Array) -> None:
    for i in range(k.shape[0]):
        k[i] += 1
    for i in range(a.shape[0]):
        if b[i] > 0:
            a[i] = b[i] * 2


def test_one_loop_of_a_kernel_may_and_another_may_not() -> None:
    text = str(optimize(emitted(hybrid.script(mixed), *SPECS), host_target()))
    assert "vector.body" in text
    assert not re.search(r"load <\d+ x double>|masked", text)
