"""Whose function a script calls: Python's, NumPy's or the language's own."""

from enum import Enum


class Style(Enum):
    """Functions differ in what they make of a Python number."""

    LANGUAGE = "hybridjit"  # a Python float stays one
    NUMPY = "numpy"  # the result is a NumPy scalar
    MATH = "math"  # computed in double precision, the result is a Python number
