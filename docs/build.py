"""Build the site: `python -m docs.build [folder]`, or `make docs`. No network is needed.

Pages are Markdown files beside this one. Their Python blocks are run by the tests. The reference of
names is made of docstrings, and the pictures of schedules of the schedules themselves.
"""

from __future__ import annotations

import html
import inspect
import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent
from typing import Any

from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

import hybridjit as hj
from docs import steps
from docs.pictures import draw_orders, draw_refusal
from hybridjit import hybrid, te, tir
from hybridjit.catalogue.entry import Entry
from hybridjit.catalogue.find import PAGES as PAGES_OF_ERRORS

HERE = Path(__file__).parent
PAGES = {
    "index": "Tour",
    "language": "The language",
    "numpy": "NumPy style",
    "schedules": "Schedules",
    "steps": "Every step",
    "te": "Tensor expressions",
    "story": "Two products",
    "tuning": "Search",
    "performance": "Speed",
    "numba": "Coming from Numba",
    "tvm": "Coming from TVM",
    "safety": "Safety and numerics",
    "debugging": "Finding errors",
    "examples": "Pictures",
    "architecture": "How it is built",
    "errors": "Errors",
    "reference": "Reference",
}
MODULES = {"hj": hj, "hybrid": hybrid, "te": te, "tir": tir}


def build(folder: Path) -> list[Path]:
    """Write every page; say which files were made."""
    folder.mkdir(parents=True, exist_ok=True)
    made = [folder / "style.css"]
    made[0].write_text(_style(), encoding="utf-8")
    for name, title in PAGES.items():
        path = folder / f"{name}.html"
        path.write_text(_page(name, title), encoding="utf-8")
        made.append(path)
    return [*made, *draw_examples(folder)]


def _style() -> str:
    light = HtmlFormatter(style="default").get_style_defs("pre")
    dark = HtmlFormatter(style="github-dark").get_style_defs("pre")
    own = (HERE / "style.css").read_text(encoding="utf-8")
    return f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n{own}"


def _page(name: str, title: str) -> str:
    made = {
        "reference": _reference,
        "errors": _errors,
        "steps": _steps,
        "examples": _examples,
    }
    body = made[name]() if name in made else _rendered((HERE / f"{name}.md").read_text("utf-8"))
    links = "\n".join(
        f'<a href="{other}.html"{_current(other == name)}>{html.escape(text)}</a>'
        for other, text in PAGES.items()
    )
    layout = (HERE / "layout.html").read_text(encoding="utf-8")
    for mark, text in {"title": html.escape(title), "links": links, "body": body}.items():
        layout = layout.replace(f"<!--{mark}-->", text)
    return layout


def _current(is_here: bool) -> str:
    return ' aria-current="page"' if is_here else ""


def _rendered(text: str) -> str:
    markdown = MarkdownIt("commonmark", {"html": True, "highlight": _highlighted}).enable("table")
    body: str = markdown.render(text)
    body = _with_anchors(body)
    if "<!-- pictures -->" in body:
        body = body.replace("<!-- pictures -->", draw_orders())
    if "<!-- refusal -->" in body:
        body = body.replace("<!-- refusal -->", f'<div class="change">{draw_refusal()}</div>')
    return body


def _highlighted(code: str, language: str, _: str) -> str:
    lexer = get_lexer_by_name(language if language != "text" else "output")
    return highlight(code, lexer, HtmlFormatter(nowrap=True))


def _with_anchors(body: str) -> str:
    def anchored(found: re.Match[str]) -> str:
        label = re.sub(r"<.*?>|[^\w -]", "", found[2]).strip().lower().replace(" ", "-")
        return f'<h{found[1]} id="{label}">{found[2]}</h{found[1]}>'

    return re.sub(r"<h([23])>(.*?)</h\1>", anchored, body)


# steps and examples


def _steps() -> str:
    intro = """# Every step

Each step, on a small program: a box is a loop, what is in it runs in every iteration. Loops on
threads are brown, loops in lanes green, loops that are written out violet. `i = ...` says which
element an iteration works on. The programs are scheduled while this page is built. How steps are
taken, and what happens to those that would change results, is told in [Schedules](schedules.html).
"""
    return _rendered(intro) + steps.draw_steps()


EXAMPLES = {
    "heat": "Heat flow on a plate with a hot edge and a warm patch.",
    "edges": "An image, and its edges.",
    "mandelbrot": "How soon points escape.",
    "attention": "Which word looks at which: softmax of a product.",
}


def _examples() -> str:
    parts = [
        "# Pictures\n\nThey are computed while this page is built, by files in `examples/`. "
        "`python examples/heat.py heat.png` writes one, with nothing but the standard library."
    ]
    for name, text in EXAMPLES.items():
        code = (HERE.parent / "examples" / f"{name}.py").read_text(encoding="utf-8")
        parts += [f"## {name}", f"![{text}]({name}.png)", text, f"```python\n{code}```"]
    return _rendered("\n\n".join(parts))


def draw_examples(folder: Path) -> list[Path]:
    """Write the pictures that the examples compute."""
    source = HERE.parent / "examples"
    sys.path.insert(0, str(source))  # they share a file
    try:
        made: list[Path] = []
        for name in EXAMPLES:
            example = runpy.run_path(str(source / f"{name}.py"))
            made.append(folder / f"{name}.png")
            made[-1].write_bytes(
                runpy.run_path(str(source / "_picture.py"))["png"](example["picture"]())
            )
        return made
    finally:
        sys.path.remove(str(source))


# the catalogue of errors


def _errors() -> str:
    intro = """# Errors

The last line of an error is its code. `python -m hybridjit explain HJ101` prints what stands here.
Examples begin with `import numpy as np`, `import hybridjit as hj` and
`from hybridjit import hybrid, te, tir`.
"""
    parts = [
        intro,
        *(f"- [{code}](#{code.lower()}): {e.title}" for code, e in PAGES_OF_ERRORS.items()),
    ]
    body = _rendered("\n".join(parts))
    return body + "\n".join(map(_error, PAGES_OF_ERRORS.values()))


def _error(entry: Entry) -> str:
    page = f"""{entry.text.strip()}

Wrong:

```python
{entry.wrong.strip()}
```

Right:

```python
{entry.right.strip()}
```
"""
    title = html.escape(f"{entry.code}: {entry.title}")
    return f'<h2 id="{entry.code.lower()}">{title}</h2>\n{_rendered(page)}'


# the reference


def _reference() -> str:
    parts = ["<h1>Reference</h1>"]
    for prefix, module in MODULES.items():
        parts.append(f'<h2 id="{prefix}">{prefix}</h2>')
        parts += _entries(prefix, module, getattr(module, "__all__", dir(module)))
    for cls in (hj.Kernel, hj.Schedule, hj.Module):
        name = cls.__name__
        parts.append(f'<h2 id="{name}">{name}</h2>{_documentation(cls)}')
        parts += _entries(name, cls, dir(cls))
    return "\n".join(parts)


def _entries(prefix: str, owner: Any, names: list[str]) -> Iterator[str]:
    for name in sorted(names):
        value = getattr(owner, name, None)
        is_shown = callable(value) or isinstance(value, property)
        if name.startswith("_") or not is_shown or not inspect.getdoc(value):
            continue
        label = html.escape(f"{prefix}.{name}")
        signature = html.escape(_signature(value))
        yield f'<dl><dt id="{label}"><code>{label}{signature}</code></dt>'
        yield f"<dd>{_documentation(value)}</dd></dl>"


def _signature(value: Any) -> str:
    if isinstance(value, property) or inspect.isclass(value):
        return ""
    try:
        text = str(inspect.signature(value))
    except (TypeError, ValueError):
        return ""
    return text.replace("(self, ", "(").replace("(self)", "()").replace("'", "")


def _documentation(value: Any) -> str:
    """Paragraphs, with names in them; what is indented, or an example, as it is written."""
    parts = (inspect.getdoc(value) or "").split("\n\n")
    text = "\n\n".join(indent(p, "    ") if p.startswith(">>>") else p for p in parts)
    return str(MarkdownIt("zero").enable(["code", "backticks"]).render(text))


def main() -> None:
    """Build the site in the folder that is named, or in docs/site."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "site"
    made = build(folder)
    print(f"{len(made)} files in {folder}: open {folder / 'index.html'}")


if __name__ == "__main__":
    main()
