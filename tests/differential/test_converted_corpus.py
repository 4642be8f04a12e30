"""The part of the corpus that depends most on the processor: types that are converted a lot.

tests/test_processors.py runs it for processors other than the host's, which runs the whole corpus.
"""

from __future__ import annotations

import re

import pytest

from hybridjit import config
from tests.corpus import CORPUS
from tests.corpus.case import Arguments, Case
from tests.differential.test_corpus import assert_every_way_agrees
from tests.support.rows import check_each

pytestmark = pytest.mark.skipif(
    config.current().cpu is None, reason="compiles for the host, as test_corpus.py does"
)
# What the label of a call has, by dtype; of the layouts, no second one.
LABELS = {"float16": "float16", "uint32": "uint32", "complex64": "complex64", "int8": "int8-C-7"}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", LABELS)
def test_every_way_agrees(dtype: str) -> None:
    wanted = re.compile(rf"\b{LABELS[dtype]}\b")
    calls = [
        (case, arguments)
        for case in CORPUS
        for arguments in case.arguments
        if wanted.search(arguments.label) and "strided" not in arguments.label
    ]
    check_each(calls, lambda call: assert_every_way_agrees(*call), _label)


def _label(call: tuple[Case, Arguments]) -> str:
    case, arguments = call
    return f"{case.name}-{arguments.label}"
