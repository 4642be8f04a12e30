"""Scripts in notebooks: errors name the cell, show one frame and the right place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hybridjit.errors import Span, shown_path
from hybridjit.notebooks import cell_name

interactiveshell: Any = pytest.importorskip("IPython.core.interactiveshell")
capture: Any = pytest.importorskip("IPython.utils.capture")


class Notebook:
    """Cells, run one after the other."""

    def __init__(self) -> None:
        self.shell: Any = interactiveshell.InteractiveShell.instance(colors="nocolor")
        self.run("import numpy as np\nfrom hybridjit import hybrid")

    def run(self, text: str) -> str:
        """What a cell prints, or the traceback that is shown below it."""
        with capture.capture_output() as shown:
            self.last = self.shell.run_cell(text, store_history=True)
        return str(shown.stdout)

    def formats(self) -> dict[str, str]:
        """How the value of the last cell is shown."""
        return self.shell.display_formatter.format(self.last.result)[0]


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Notebook]:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)  # another than ours is warned of
    made = Notebook()
    yield made
    interactiveshell.InteractiveShell.clear_instance()


SHIFTED = """@hybrid.script
def shifted(a):
    b = np.empty_like(a)
    for i in range(a.shape[0]):
        b[i] = a[i + 1]
    return b"""
WRONG = """@hybrid.script
def wrong(a):
    return {1: a}"""


def frames(traceback: str) -> list[str]:
    return [line for line in traceback.splitlines() if line.startswith(("File ", "Cell In"))]


def test_an_error_while_running(notebook: Notebook) -> None:
    notebook.run(SHIFTED)
    shown = notebook.run("shifted(np.ones(3))")
    assert frames(shown) == ["Cell In[3], line 1"]
    assert "IndexError: Cell In[2]:5:16: error: index 3 is out of bounds" in shown
    line, carets = shown[shown.index("    5 |") :].splitlines()[:2]
    assert line[carets.index("^") : carets.rindex("^") + 1] == "a[i + 1]"


def test_an_error_in_the_text_of_a_script(notebook: Notebook) -> None:
    notebook.run(WRONG)
    shown = notebook.run("wrong(np.ones(3))")
    assert frames(shown) == ["Cell In[3], line 1"]
    assert "ParseError: Cell In[2]:3:12: error: dicts are not supported" in shown
    assert "<string>" not in shown


def test_a_cell_that_is_no_python_is_shown_as_ever(notebook: Notebook) -> None:
    notebook.run(WRONG)
    notebook.run("wrong(np.ones(3))")
    assert "SyntaxError: invalid syntax" in notebook.run("1 +* 2")


def test_handlers_of_users_stay(notebook: Notebook) -> None:
    def own(shell: Any, kind: Any, error: Any, trace: Any, tb_offset: Any = None) -> None:
        print("my own")

    notebook.shell.set_custom_exc((KeyError,), own)
    notebook.run(WRONG)
    notebook.run("wrong(np.ones(3))")
    assert "my own" in notebook.run("{}[1]")


def test_kernels_are_shown_with_their_text(notebook: Notebook) -> None:
    notebook.run(SHIFTED)
    notebook.run("shifted")
    formats = notebook.formats()
    assert formats["text/plain"] == "hybridjit kernel 'shifted' at Cell In[2]:1"
    assert "b[i] = a[i + 1]" in formats["text/html"]


def test_elsewhere_files_have_their_names() -> None:
    assert cell_name("kernel.py") is None
    assert shown_path("<stdin>") == "<stdin>"
    assert shown_path(Span("/a/kernel.py", 1, 0, 1, 1).file, "short") == "kernel.py"
