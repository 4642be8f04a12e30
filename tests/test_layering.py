"""Imports only go down: a module may import its own layer and those below it."""

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.support.rows import check_each, in_each
from tests.support.walk_source import walk_statements

PACKAGE = Path(__file__).parents[1] / "hybridjit"

# From the bottom up. The rooms named together in one layer may import each other.
LAYERS: tuple[tuple[str, ...], ...] = (
    (
        "brief_locks",
        "catalogue",
        "collection",
        "errors",
        "html_text",
        "source",
        "source_identity",
        "syntax",
        "config",
        "fresh_stack",
        "kept_property",
        "lazy",
        "notebooks",
        "record",
        "target",
    ),
    ("processor", "feature_probe"),
    ("ir",),
    ("arith",),
    ("analysis",),
    ("interp",),
    ("scalars",),
    ("frontend", "intrinsics"),
    ("tensors",),
    ("schedule",),
    ("optimize",),
    ("lowering",),
    ("codegen",),
    ("runtime",),
    ("checking",),
    ("profiling",),
    ("tuning",),
    ("viewing",),
    ("plain_function",),
    ("kernel", "ufuncs"),
    ("script",),
    ("hybrid", "te", "tir", "tools", "stdlib", "compat", "__init__", "__main__"),
)
RANK = {room: rank for rank, layer in enumerate(LAYERS) for room in layer}

Import = ast.Import | ast.ImportFrom
_LAZY = ("lazy_module", "lazy_names")


def find_violations(room: str, source: str) -> list[str]:
    """What the module text `source`, which stands in `room`, imports against the rules."""
    if room not in RANK:
        return [f"room '{room}' is not in LAYERS"]
    tree = ast.parse(source)
    stmts = list(walk_statements(tree))
    inside_functions = [
        range(node.lineno, (node.end_lineno or 0) + 1)
        for node in stmts
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    found: list[str] = []
    for node in stmts:
        if not isinstance(node, Import):
            continue
        problems = [*find_bad_forms(node), *find_upward_imports(room, node)]
        if any(imported_rooms(node)) and any(node.lineno in lines for lines in inside_functions):
            problems.append("imports hybridjit inside a function")
        found += [f"line {node.lineno}: {problem}" for problem in problems]
    for line, target in find_lazy_imports(tree) if any(name in source for name in _LAZY) else ():
        found += [f"line {line}: {problem}" for problem in find_upward_rooms(room, [target])]
    return found


def find_bad_forms(node: Import) -> Iterator[str]:
    """Relative imports and `import *`, whatever they import."""
    if not isinstance(node, ast.ImportFrom):
        return
    if node.level > 0:
        yield "relative import"
    if any(alias.name == "*" for alias in node.names):
        yield "import *"


def find_lazy_imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The rooms of modules that are loaded when they are used (see lazy.py), with their lines."""
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            continue
        if call.func.id not in _LAZY:
            continue
        for node in ast.walk(call):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                module = node.value.partition(":")[0]
                if is_ours(module):
                    yield node.lineno, room_of(module)


def find_upward_imports(room: str, node: Import) -> Iterator[str]:
    """Imports from a layer above that of `room`, or from a room without a layer."""
    yield from find_upward_rooms(room, imported_rooms(node))


def find_upward_rooms(room: str, targets: Iterable[str]) -> Iterator[str]:
    """What is wrong with importing `targets` in `room`."""
    for target in targets:
        if target not in RANK:
            yield f"imports '{target}', which is not in LAYERS"
        elif RANK[target] > RANK[room]:
            yield f"'{room}' imports '{target}', which is above it"


def imported_rooms(node: Import) -> Iterator[str]:
    """The rooms of hybridjit that an import statement names."""
    if isinstance(node, ast.Import):
        yield from (room_of(alias.name) for alias in node.names if is_ours(alias.name))
    elif node.module == "hybridjit":
        # `from hybridjit import ir` names a room; any other name comes out of __init__.
        yield from (alias.name if alias.name in RANK else "__init__" for alias in node.names)
    elif node.module is not None and is_ours(node.module):
        yield room_of(node.module)


def is_ours(module: str) -> bool:
    return module.partition(".")[0] == "hybridjit"


def room_of(module: str) -> str:
    """The room a dotted module name lies in: `ir` for hybridjit.ir.expr."""
    names = module.split(".")
    return names[1] if len(names) > 1 else "__init__"


MODULES = sorted(PACKAGE.rglob("*.py"))


def room_of_file(path: Path) -> str:
    """The folder of the package that a file lies in, or its own name."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


OPERATORS = sorted((PACKAGE.parent / "stdlib").rglob("*.py"))


@pytest.mark.parametrize("room", sorted({room_of_file(path) for path in MODULES}))
def test_modules_import_only_from_below(room: str) -> None:
    check_each(
        [path for path in MODULES if room_of_file(path) == room], assert_imports_only_go_down
    )


def assert_imports_only_go_down(path: Path) -> None:
    room = room_of_file(path)
    assert find_violations(room, path.read_text(encoding="utf-8")) == []


@in_each("path", OPERATORS)
def test_operators_import_only_from_below(path: Path) -> None:
    assert find_violations("stdlib", path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("room", "source"),
    [
        ("ir", "from hybridjit.errors import HybridError"),
        ("ir", "from hybridjit.ir.expr import Add"),
        ("source", "from hybridjit import errors"),
        ("script", "import hybridjit.codegen.engine as engine, numpy as np"),
        ("__init__", "from hybridjit.kernel import Kernel"),
        ("arith", "def convert():\n    import islpy"),
        ("config", "import hybridjit_plugin"),
    ],
)
def test_downward_imports_are_accepted(room: str, source: str) -> None:
    assert find_violations(room, source) == []


@pytest.mark.parametrize(
    ("room", "source", "violation"),
    [
        ("ir", "from hybridjit.arith import simplify", "'ir' imports 'arith', which is above it"),
        ("ir", "import hybridjit.tensors.tensor", "'ir' imports 'tensors', which is above it"),
        ("ir", "from hybridjit import arith", "'ir' imports 'arith', which is above it"),
        (
            "tensors",
            "from hybridjit import build",
            "'tensors' imports '__init__', which is above it",
        ),
        ("tensors", "import hybridjit", "'tensors' imports '__init__', which is above it"),
        ("script", "import hybridjit.stdlib", "'script' imports 'stdlib', which is above it"),
        ("ir", "import hybridjit.attic.old", "imports 'attic', which is not in LAYERS"),
        ("tensors", "from . import tensor", "relative import"),
        ("tensors", "from .tensor import Tensor", "relative import"),
        ("tensors", "from numpy import *", "import *"),
    ],
)
def test_planted_violation_is_caught(room: str, source: str, violation: str) -> None:
    assert find_violations(room, source) == [f"line 1: {violation}"]


@pytest.mark.parametrize("prefix", ["def", "async def"])
def test_import_inside_a_function_is_caught(prefix: str) -> None:
    source = f"class Lazy:\n    {prefix} load(self):\n        from hybridjit import ir\n"
    assert find_violations("tensors", source) == ["line 3: imports hybridjit inside a function"]


def test_import_for_type_checking_counts() -> None:
    source = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import hybridjit.lowering\n"
    assert find_violations("tensors", source) == [
        "line 3: 'tensors' imports 'lowering', which is above it"
    ]


@pytest.mark.parametrize(
    "source",
    [
        'schedules = lazy_module("hybridjit.schedule.schedule")',
        '__getattr__ = lazy_names(__name__, {"Trace": "hybridjit.schedule.trace:Trace"})',
    ],
)
def test_lazy_import_counts(source: str) -> None:
    found = find_violations("tensors", source)
    assert found == ["line 1: 'tensors' imports 'schedule', which is above it"]


def test_room_without_a_layer_is_caught() -> None:
    assert find_violations("attic", "") == ["room 'attic' is not in LAYERS"]


# Files and classes


def find_circles(imports: Mapping[str, Collection[str]]) -> list[list[str]]:
    """Groups of modules that import each other, by one another or directly."""
    below: dict[str, set[str]] = {}
    for start in imports:
        seen: set[str] = set()
        stack = [start]
        while stack:
            for target in imports.get(stack.pop(), ()):
                if target not in seen:
                    seen.add(target)
                    stack.append(target)
        below[start] = seen
    circles = {tuple(sorted(b for b in below if a in below[b] and b in below[a])) for a in below}
    return sorted(list(circle) for circle in circles if circle)


def imports_of(path: Path, modules: Collection[str]) -> set[str]:
    """The modules of ours that a file imports when it is loaded."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: set[str] = set()
    for node in tree.body:  # not what stands under `if TYPE_CHECKING:`
        if isinstance(node, ast.ImportFrom) and node.module is not None and is_ours(node.module):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found.update(name if name in modules else node.module for name in names)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names if is_ours(alias.name))
    return found & set(modules)


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_no_files_import_each_other() -> None:
    modules = {module_name(path): path for path in MODULES}
    assert find_circles({name: imports_of(path, modules) for name, path in modules.items()}) == []


def test_circles_are_found() -> None:
    imports = {"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}
    assert find_circles(imports) == [["b", "c"]]


# An object that is sliced into a tower of classes is a circle that imports do not show: each class
# calls what others define, through self. Kinds of nodes and of errors call nothing, however many.
MAX_DEPTH = 3


def find_towers(sources: Iterable[str]) -> dict[str, int]:
    """The classes that stand on too many others, with the number of classes that call on self."""
    bases: dict[str, list[str]] = {}
    weights: dict[str, int] = {}
    for source in sources:
        for node in walk_statements(ast.parse(source)) if "class " in source else ():
            if isinstance(node, ast.ClassDef):
                bases[node.name] = [base.id for base in node.bases if isinstance(base, ast.Name)]
                weights[node.name] = int(calls_on_self(node))

    def depth(name: str) -> int:
        below = (depth(base) for base in bases[name] if base in bases)
        return weights[name] + max(below, default=0)

    depths = {name: depth(name) for name in bases}
    return {name: count for name, count in depths.items() if count > MAX_DEPTH}


def calls_on_self(node: ast.ClassDef) -> bool:
    """Whether a method calls another one: `self.x(...)` or `super().x(...)`."""
    callees = (call.func for call in ast.walk(node) if isinstance(call, ast.Call))
    owners = (callee.value for callee in callees if isinstance(callee, ast.Attribute))
    names = (owner.func if isinstance(owner, ast.Call) else owner for owner in owners)
    return any(isinstance(name, ast.Name) and name.id in ("self", "super") for name in names)


ROOMS = sorted({path.relative_to(PACKAGE).parts[0] for path in MODULES})


@pytest.mark.parametrize("room", ROOMS)
def test_no_towers_of_classes(room: str) -> None:
    paths = [path for path in MODULES if path.relative_to(PACKAGE).parts[0] == room]
    assert find_towers(path.read_text(encoding="utf-8") for path in paths) == {}


def test_towers_are_found() -> None:
    """A class that only adds a name does not count."""
    method = "    def run(self):\n        self.walk()\n"
    floors = [f"class F{i + 1}(F{i}):\n{method}" for i in range(4)]
    kind = "class Kind(F3):\n    pass\n"
    assert find_towers(["class F0:\n    pass\n", *floors, kind]) == {"F4": 4}
