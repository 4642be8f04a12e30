"""Why steps are refused: two iterations, in words and in a picture."""

from __future__ import annotations

import pickle
import xml.etree.ElementTree as ElementTree
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.analysis import dependence
from hybridjit.errors import ScheduleError
from hybridjit.schedule.witness import End, Witness

SVG = "{http://www.w3.org/2000/svg}"


def refusal(kernel: Any, step: str, *args: Any) -> ScheduleError:
    with pytest.raises(ScheduleError, match=r"cannot|would|there is no") as caught:
        getattr(kernel.schedule(np.ones((9, 9)), np.ones(40)), step)(*args)
    return caught.value


@hybrid.script
def swept(a: Any, b: Any) -> None:
    for i in range(1, 9):
        for j in range(8):
            a[i, j] = a[i - 1, j + 1] + 1


@hybrid.script
def distant(a: Any, b: Any) -> None:
    for i in range(9, 40):
        b[i] = b[i - 9] + 1


@hybrid.script
def two_loops(a: Any, b: Any) -> None:
    for i in range(8):
        b[i] = a[i, 0]
    for j in range(8):
        a[j, 1] = b[7 - j]


@hybrid.script
def printed(a: Any, b: Any) -> None:
    for i in range(8):
        print(i)


@hybrid.script
def squares(a: Any, b: Any) -> None:
    for i in range(6):
        b[i * i] = i


@hybrid.script
def far_apart(a: Any, b: Any) -> None:
    for i in range(6):
        b[i + 10] = b[i * i % 12] + 1


@hybrid.script
def all_equal(a: Any, b: Any) -> None:
    for i in range(6):
        b[i * i * 0] = i


@hybrid.script
def looked_up(a: Any, b: Any) -> None:
    for i in range(6):
        b[int(a[i, i])] = i


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        (squares, "`b[i * i]` at line {0} is another element in every iteration"),
        (far_apart, "are other elements in other iterations"),
    ],
)
def test_what_was_not_shown_to_happen_is_not_said_to_happen(kernel: Any, text: str) -> None:
    line = kernel.py_func.__code__.co_firstlineno + 3
    error = refusal(kernel, "parallel", "i")
    assert "cannot be parallel, as far as is known: it could not be proved that " in error.message
    assert text.format(line) in error.message
    assert error.witness is None
    kernel.schedule(np.ones((9, 9)), np.ones(40)).parallel("i", unsafe=True)


@pytest.mark.parametrize("kernel", [all_equal, looked_up])
def test_what_can_happen_is_an_example(kernel: Any) -> None:
    error = refusal(kernel, "parallel", "i")
    assert error.witness.first.iteration != error.witness.later.iteration
    assert error.witness.element == ("b[0]" if kernel is all_equal else "b[39]")
    assert str(error.witness) in error.message


def test_the_two_iterations() -> None:
    found = refusal(swept, "reorder", "j", "i").witness
    assert found.element == "a[1, 1]"
    assert (found.first.is_write, found.first.iteration) == (True, (("i", 1), ("j", 1)))
    assert (found.later.is_write, found.later.iteration) == (False, (("i", 2), ("j", 0)))
    assert str(found) in refusal(swept, "reorder", "j", "i").message
    assert list(found.legend()) == ["i=1, j=1 writes a[1, 1] first", "i=2, j=0 reads it later"]


def test_an_example_that_is_hard_to_find_need_not_be_small(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """isl gives up looking for small sizes and early iterations: then it is any two iterations."""
    monkeypatch.setattr(dependence, "_EXAMPLE_OPERATIONS", 1)
    found = refusal(swept, "reorder", "j", "i").witness
    first, later = dict(found.first.iteration), dict(found.later.iteration)
    assert (first["i"], first["j"]) == (later["i"] - 1, later["j"] + 1)
    assert found.element == f"a[{first['i']}, {first['j']}]"


def test_it_is_kept_with_the_error() -> None:
    error = refusal(swept, "parallel", "i")
    assert str(pickle.loads(pickle.dumps(error)).witness) == str(error.witness)


def test_other_refusals_have_none() -> None:
    assert refusal(swept, "parallel", "k").witness is None


def drawn(witness: Witness) -> ElementTree.Element:
    return ElementTree.fromstring(
        witness.draw().replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    )


def labels(picture: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in picture.iter(f"{SVG}text")]


CASES: dict[str, tuple[Any, str, tuple[str, ...], list[str]]] = {
    "two loops": (swept, "reorder", ("j", "i"), ["i=1", "i=2", "j=0", "j=1"]),
    "one loop": (distant, "parallel", ("i",), ["i=9", "...", "b[i]", "b[i - 9]"]),
    "two nests": (two_loops, "merge", ("i", "j"), ["b[i]", "b[7 - j]"]),
    "effects": (printed, "parallel", ("i",), ["i=0", "i=1"]),
}


@pytest.mark.parametrize("case", CASES)
def test_a_picture(case: str) -> None:
    kernel, step, args, expected = CASES[case]
    witness = refusal(kernel, step, *args).witness
    picture = drawn(witness)
    assert picture.get("role") == "img"
    assert picture.findtext(f"{SVG}title") == str(witness)
    assert len([path for path in picture.iter(f"{SVG}path") if path.get("class") == "arrow"]) == 1
    assert len([dot for dot in picture.iter(f"{SVG}circle") if dot.get("r") == "6"]) == 2
    assert set(expected) <= set(labels(picture))
    assert set(witness.legend()) <= set(labels(picture))


def test_nothing_is_drawn_outside_of_the_picture() -> None:
    for kernel, step, args, _ in CASES.values():
        picture = drawn(refusal(kernel, step, *args).witness)
        _, _, width, height = map(float, picture.get("viewBox", "").split())
        for dot in picture.iter(f"{SVG}circle"):
            assert 0 < float(dot.get("cx", "")) < width
            assert 0 < float(dot.get("cy", "")) < height


def test_texts_are_escaped() -> None:
    end = End("a<b>", 3, True, (("i", 0),))
    witness = Witness(end, End("c", None, False, ()), "a<b>", {})
    assert "a<b>" in (drawn(witness).findtext(f"{SVG}title") or "")


def test_a_notebook_shows_the_last_refusal() -> None:
    s: Any = swept.schedule(np.ones((9, 9)), np.ones(40))
    with pytest.raises(ScheduleError, match="cannot be parallel"):
        s.parallel("i")
    assert "refused: s.parallel('i')" in s._repr_html_()
    assert "<svg" in s._repr_html_()
    s.vectorize("j")
    assert "<svg" not in s._repr_html_()
