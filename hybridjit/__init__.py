"""hybridjit: Python functions over NumPy arrays, as loops that can be inspected and scheduled.

import hybridjit as hj
from hybridjit import hybrid

@hybrid.script
def double(a):
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[i] = 2 * a[i]
    return b
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hybridjit.collection import no_collection_of_modules
from hybridjit.lazy import lazy_names

with no_collection_of_modules():
    from hybridjit import config, errors, hybrid
    from hybridjit.errors import (
        ArgumentError,
        HybridError,
        InternalError,
        ParseError,
        PassError,
        ScheduleError,
        TuneError,
        TypeMismatch,
    )
    from hybridjit.kernel import Kernel
    from hybridjit.runtime.cache import disk_cache as cache
    from hybridjit.scalars.builtins import TYPES
    from hybridjit.script import intrinsic, script

if TYPE_CHECKING:
    from hybridjit import stdlib, te, tir
    from hybridjit.frontend.parse import parse_text as parse
    from hybridjit.ir.equal import structural_equal
    from hybridjit.ir.func import PrimFunc
    from hybridjit.lowering.entry import lower
    from hybridjit.processor import host_target
    from hybridjit.runtime.modules.loaded_module import load_module
    from hybridjit.runtime.modules.module import Module
    from hybridjit.runtime.pool import get_num_threads, set_num_threads, threads
    from hybridjit.schedule.schedule import Schedule
    from hybridjit.schedule.trace import Trace
    from hybridjit.tuning.builds import build
    from hybridjit.tuning.entry import tune
else:
    # Loaded when they are used.
    __getattr__ = lazy_names(
        __name__,
        {
            "Module": "hybridjit.runtime.modules.module:Module",
            "PrimFunc": "hybridjit.ir.func:PrimFunc",
            "Schedule": "hybridjit.schedule.schedule:Schedule",
            "Trace": "hybridjit.schedule.trace:Trace",
            "stdlib": "hybridjit.stdlib",
            "te": "hybridjit.te",
            "tir": "hybridjit.tir",
            "build": "hybridjit.tuning.builds:build",
            "host_target": "hybridjit.processor:host_target",
            "get_num_threads": "hybridjit.runtime.pool:get_num_threads",
            "load_module": "hybridjit.runtime.modules.loaded_module:load_module",
            "lower": "hybridjit.lowering.entry:lower",
            "parse": "hybridjit.frontend.parse:parse_text",
            "set_num_threads": "hybridjit.runtime.pool:set_num_threads",
            "structural_equal": "hybridjit.ir.equal:structural_equal",
            "threads": "hybridjit.runtime.pool:threads",
            "tune": "hybridjit.tuning.entry:tune",
        },
    )

__version__ = "0.2.0"

i8 = TYPES["int8"]
i16 = TYPES["int16"]
i32 = TYPES["int32"]
i64 = TYPES["int64"]
u8 = TYPES["uint8"]
u16 = TYPES["uint16"]
u32 = TYPES["uint32"]
u64 = TYPES["uint64"]
f16 = TYPES["float16"]
bf16 = TYPES["bfloat16"]
f32 = TYPES["float32"]
f64 = TYPES["float64"]
c64 = TYPES["complex64"]
c128 = TYPES["complex128"]

int8 = TYPES["int8"]
int16 = TYPES["int16"]
int32 = TYPES["int32"]
int64 = TYPES["int64"]
uint8 = TYPES["uint8"]
uint16 = TYPES["uint16"]
uint32 = TYPES["uint32"]
uint64 = TYPES["uint64"]
float16 = TYPES["float16"]
bfloat16 = TYPES["bfloat16"]
float32 = TYPES["float32"]
float64 = TYPES["float64"]
complex64 = TYPES["complex64"]
complex128 = TYPES["complex128"]

__all__ = [
    "ArgumentError",
    "HybridError",
    "InternalError",
    "Kernel",
    "Module",
    "ParseError",
    "PassError",
    "PrimFunc",
    "Schedule",
    "ScheduleError",
    "Trace",
    "TuneError",
    "TypeMismatch",
    "__version__",
    "bf16",
    "bfloat16",
    "build",
    "c64",
    "c128",
    "cache",
    "complex64",
    "complex128",
    "config",
    "errors",
    "f16",
    "f32",
    "f64",
    "float16",
    "float32",
    "float64",
    "get_num_threads",
    "host_target",
    "hybrid",
    "i8",
    "i16",
    "i32",
    "i64",
    "int8",
    "int16",
    "int32",
    "int64",
    "intrinsic",
    "load_module",
    "lower",
    "parse",
    "script",
    "set_num_threads",
    "stdlib",
    "structural_equal",
    "te",
    "threads",
    "tir",
    "tune",
    "u8",
    "u16",
    "u32",
    "u64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]


def __dir__() -> list[str]:
    """What is for users, loaded or not: `__all__`."""
    return __all__
