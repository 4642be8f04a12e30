"""The corpus: kernels that together use every feature of the language, with arguments to try.

Each module holds one theme and ends in its CASES; its docstring says which part of DESIGN.md it
covers. Whatever runs, prints or rewrites kernels is tried on all of them:

    from tests.corpus import CORPUS
    for case in CORPUS:
        for arguments in case.arguments:
            run_plain_and_interpreted(case.kernel, arguments.args, arguments.kwargs, ulp=case.ulp)

tests/frontend/test_corpus_coverage.py asserts that every name of the language, every operator and
every kind of statement stands in some kernel.
"""

from tests.corpus import (
    algorithms,
    bare_names,
    blocks,
    brought,
    brought_arguments,
    captures,
    casts,
    complex_numbers,
    control,
    externs,
    extrema,
    functions,
    images,
    integers,
    linear_algebra,
    lists,
    loops,
    mathematics,
    memory,
    parameters,
    results,
    scalars,
    scans,
    statements,
)
from tests.corpus.case import Case

THEMES = (
    statements,
    bare_names,
    loops,
    control,
    scalars,
    casts,
    integers,
    extrema,
    mathematics,
    complex_numbers,
    memory,
    functions,
    captures,
    parameters,
    results,
    lists,
    scans,
    blocks,
    externs,
    linear_algebra,
    images,
    algorithms,
    brought,
    brought_arguments,
)

CORPUS: tuple[Case, ...] = tuple(case for theme in THEMES for case in theme.CASES)
