"""What is loaded when: the compiler comes late, and nobody notices."""

import subprocess
import sys
import types
from pathlib import Path

import pytest

import hybridjit
from hybridjit.lazy import lazy_module, lazy_names

ROOT = Path(__file__).parent.parent
# What a warm start does without.
COMPILER = (
    *("hybridjit.frontend.parse", "hybridjit.frontend.values", "hybridjit.ir.stmt"),
    *("hybridjit.ir.printer", "hybridjit.lowering.pipeline", "hybridjit.codegen.kernel"),
    *("hybridjit.schedule.schedule", "hybridjit.runtime.compiler", "islpy", "numpy.ma"),
    "ml_dtypes",
)
# What the first compilation of a loop over elements does without.
FAMILIES = (
    *("hybridjit.frontend.calls", "hybridjit.frontend.messages", "hybridjit.frontend.item_loops"),
    *(
        "hybridjit.ir.printer",
        "hybridjit.codegen.dispatcher.layout",
        "hybridjit.codegen.pool.words",
    ),
    *("hybridjit.lowering.ordered_sums", "hybridjit.lowering.split_histograms", "hashlib"),
    *("hybridjit.optimize.mark_sums", "hybridjit.optimize.sink_loops", "islpy", "ml_dtypes"),
    *(
        f"hybridjit.frontend.{name}"
        for name in (
            *("agreeing_returns", "aliases", "branches", "call_arguments", "comprehensions"),
            *("expansion_size", "list_methods", "live_names", "nested_results", "object_methods"),
            *("operands", "options", "patterns", "printed_sizes", "records", "recursion_places"),
            *("refusals", "resized", "tuple_variables", "arrays.choices", "arrays.elementwise"),
            *("arrays.extents", "arrays.gather", "arrays.lists", "arrays.names"),
            *("arrays.refusals", "arrays.shapes"),
        )
    ),
    *(
        f"hybridjit.lowering.{name}"
        for name in (
            *("blocks", "check_kinds", "chunks", "compact_buffers", "expand_intrinsics"),
            *("hand_out_blocks", "hoist_divisions"),
            *("hoist_inits", "keep_in_registers", "parallelize", "plan_storage"),
            *("privatize_reductions", "serialize_loops", "sum_in_lanes", "unroll_loops"),
            *("unwrap_indices", "version_guards", "write_out_windows"),
        )
    ),
    *(
        f"hybridjit.codegen.emit.{name}"
        for name in (
            *("conversions", "externs", "half", "interrupt", "intrinsics", "quick_index"),
            *("packed_stores", "parallel", "prefetch", "source_lines", "timers"),
        )
    ),
    *("hybridjit.analysis.order", "hybridjit.analysis.tiled_indices"),
    *("hybridjit.analysis.first_writes", "hybridjit.analysis.counting_nest"),
    *("hybridjit.codegen.llvm_functions", "hybridjit.schedule.arrays.marks"),
    *("hybridjit.analysis.value_intervals", "hybridjit.interp.script_names"),
    *("hybridjit.schedule.arrays.sum_tiles", "hybridjit.schedule.arrays.unroll_and_jam"),
)
SCRIPT = """
from hybridjit import hybrid
@hybrid.script
def double(a):
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[i] = 2 * a[i]
    return b
"""


def run(program: str, folder: Path) -> str:
    """What a new process that runs `program` prints; it can import the script."""
    (folder / "doubling.py").write_text(SCRIPT, encoding="utf-8")
    paths = f"sys.path[:0] = [{str(ROOT)!r}, {str(folder)!r}]"
    text = f"import os, sys\n{paths}\nos.environ['HYBRIDJIT_CACHE_DIR'] = {str(folder)!r}\n"
    text += program
    return subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True
    ).stdout


def test_import_loads_no_compiler(tmp_path: Path) -> None:
    program = f"import hybridjit\nprint([name for name in {COMPILER!r} if name in sys.modules])"
    assert run(program, tmp_path) == "[]\n"


@pytest.mark.usefixtures("unchecked")
def test_a_kernel_from_the_disk_loads_no_compiler(tmp_path: Path) -> None:
    program = f"""
import numpy as np
import doubling
assert doubling.double(np.ones(3)).tolist() == [2.0, 2.0, 2.0]
print([name for name in {COMPILER!r} if name in sys.modules])
"""
    assert "hybridjit.runtime.compiler" in run(program, tmp_path)
    assert run(program, tmp_path) == "[]\n"


@pytest.mark.usefixtures("unchecked")
def test_types_that_are_loaded_late_are_known_when_they_come(tmp_path: Path) -> None:
    program = """
import ml_dtypes
import numpy as np
import doubling
result = doubling.double(np.ones(3, ml_dtypes.bfloat16))
print(result.dtype == ml_dtypes.bfloat16, result.tolist())
"""
    expected = "True [2.0, 2.0, 2.0]\n"
    assert run(program, tmp_path) == expected
    assert run(program, tmp_path) == expected  # from the disk
    # By name, before anybody loaded it.
    program = "import numpy as np\nfrom hybridjit import bf16\nprint(np.zeros(1, bf16.dtype).dtype)"
    assert run(program, tmp_path) == "bfloat16\n"


def test_nothing_is_collected_while_modules_are_loaded(tmp_path: Path) -> None:
    """Neither then nor as soon as they are there: the next collection is one of a few objects.

    Before there is `lazy`, the collector may find some work.
    """
    program = """
import numpy as np
import gc
seen = []
gc.callbacks.append(lambda phase, info: seen.append(phase))
import hybridjit
from hybridjit import PrimFunc
assert gc.isenabled()
print(len(seen) <= 2, len(gc.get_objects(0)) < 1000, gc.get_freeze_count())
"""
    assert run(program, tmp_path) == "True True 0\n"


def test_who_froze_objects_keeps_them_frozen(tmp_path: Path) -> None:
    program = """
import gc
import hybridjit
gc.freeze()
frozen = gc.get_freeze_count()
from hybridjit import PrimFunc
print(frozen > 1000, gc.get_freeze_count() > 0.9 * frozen, gc.isenabled())
"""
    assert run(program, tmp_path) == "True True True\n"


def test_who_wants_no_collections_gets_none(tmp_path: Path) -> None:
    program = "import gc\ngc.disable()\nfrom hybridjit import PrimFunc\nprint(gc.isenabled())"
    assert run(program, tmp_path) == "False\n"


@pytest.mark.usefixtures("unchecked")
def test_a_plain_loop_loads_no_families_of_others(tmp_path: Path) -> None:
    (tmp_path / "adding.py").write_text(
        "from hybridjit import hybrid\n"
        "@hybrid.script\n"
        "def add(a, b, c):\n"
        "    for i in range(a.shape[0]):\n"
        "        c[i] = a[i] + b[i]\n",
        encoding="utf-8",
    )
    program = f"""
import numpy as np
before = set(sys.modules)
import adding
c = np.empty(3)
adding.add(np.ones(3), np.ones(3), c)
assert c.tolist() == [2.0, 2.0, 2.0]
assert "hybridjit.runtime.compiler" in sys.modules
print([name for name in {FAMILIES!r} if name in sys.modules and name not in before])
"""
    assert run(program, tmp_path) == "[]\n"


def test_every_public_name_is_there(tmp_path: Path) -> None:
    program = "import hybridjit\nprint(all(hasattr(hybridjit, n) for n in hybridjit.__all__))"
    assert run(program, tmp_path) == "True\n"


def test_names_that_come_late_are_listed(tmp_path: Path) -> None:
    program = "import hybridjit\nprint(set(hybridjit.__all__) <= set(dir(hybridjit)))"
    assert run(program, tmp_path) == "True\n"


def test_a_name_that_does_not_exist_is_refused() -> None:
    with pytest.raises(AttributeError, match="module 'hybridjit' has no attribute 'sprict'"):
        _ = hybridjit.sprict  # type: ignore[attr-defined] # pyright: ignore


def test_a_lazy_name_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    owner = types.ModuleType("owner")
    monkeypatch.setitem(sys.modules, "owner", owner)
    find = lazy_names("owner", {"root": "math:sqrt"})
    assert find("root")(4.0) == 2.0
    assert vars(owner)["root"] is find("root")


def test_a_lazy_module_is_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    lazy = lazy_module("colorsys")
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    assert lazy.rgb_to_hsv(0.0, 0.0, 0.0) == (0.0, 0.0, 0.0)
    assert lazy.rgb_to_hsv is sys.modules["colorsys"].rgb_to_hsv
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = lazy.nothing


@pytest.mark.parametrize("module", [hybridjit, hybridjit.hybrid, hybridjit.te, hybridjit.tir])
def test_dir_shows_what_is_for_users_and_nothing_else(module: types.ModuleType) -> None:
    assert dir(module) == sorted(module.__all__)
    assert all(hasattr(module, name) for name in dir(module))


def test_dir_of_a_kernel_shows_what_is_for_users() -> None:
    shown = [name for name in dir(kernel_of_nothing) if not name.startswith("__")]
    assert {"schedule", "report", "auto_schedule", "check", "inspect", "py_func"} <= {*shown}
    assert not any(name.startswith("_") for name in shown)
    assert "native_calls" not in shown


@hybridjit.script
def kernel_of_nothing(n: int) -> int:
    return n
