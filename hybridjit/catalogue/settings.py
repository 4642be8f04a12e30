"""HJ7xx: settings, passes of one's own, search and checks; HJ9xx: faults of ours."""

from __future__ import annotations

from hybridjit.catalogue.entry import Entry

ENTRIES = (
    Entry(
        "HJ701",
        "a setting is malformed",
        """
A variable HYBRIDJIT_* of the environment, or a setting of `hj.config`, has a value that it cannot
have. The message lists those that it can.
""",
        wrong="""
from hybridjit import config

config.scope(traceback="long")
""",
        right="""
from hybridjit import config

config.scope(traceback="full")
""",
        kind="ConfigError",
    ),
    Entry(
        "HJ702",
        "a pass of your own broke the program",
        """
A pass takes a PrimFunc and returns one, with the same parameters and results. What it returns is
verified before it is compiled.
""",
        wrong="""
@hybrid.script
def doubled(a):
    return 2 * a

doubled.with_passes([lambda func: None])(np.ones(3))
""",
        right="""
@hybrid.script
def doubled(a):
    return 2 * a

doubled.with_passes([lambda func: func])(np.ones(3))
""",
        kind="PassError",
    ),
    Entry(
        "HJ703",
        "a search found nothing",
        """
No candidate of a search compiled, ran and gave the results of the plain program, or the settings
of the search cannot be met. The message says what happened to the candidates.
""",
        wrong="""
raise hj.TuneError("no candidate ran")
""",
        right="""
@hybrid.script
def doubled(a):
    return 2 * a

doubled(np.ones(3))
""",
        kind="TuneError",
    ),
    Entry(
        "HJ704",
        "native code and the plain function differ",
        """
`kernel.check(...)`, or HYBRIDJIT_CHECK=1, has found another result than that of the plain
function: a fault of ours, unless the function depends on something else than its arguments. The
message names a file that repeats the call.
""",
        wrong="""
calls = [0]

@hybrid.script
def counted(a):
    return a + 1

counted.__dict__["py_func"] = lambda a: a + 2
counted.check(np.ones(3))
""",
        right="""
@hybrid.script
def counted(a):
    return a + 1

counted.check(np.ones(3))
""",
        kind="CheckError",
    ),
    Entry(
        "HJ900",
        "an internal error",
        """
The fault is ours: please report it, with the code that led to it.
""",
        wrong="""
from hybridjit.errors import InternalError

raise InternalError("what must not happen")
""",
        right="""
@hybrid.script
def doubled(a):
    return 2 * a

doubled(np.ones(3))
""",
        kind="InternalError",
    ),
    Entry(
        "HJ000",
        "something is wrong",
        """
An error that a user can fix, of a kind that has no page of its own. The message says what it is.
""",
        wrong="""
from hybridjit.errors import HybridError

raise HybridError("something is wrong")
""",
        right="""
@hybrid.script
def doubled(a):
    return 2 * a

doubled(np.ones(3))
""",
        kind="HybridError",
    ),
)
