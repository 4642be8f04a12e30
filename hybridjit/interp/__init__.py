"""The oracle: an interpreter that runs the IR as it is written, at any stage of compilation.

`scalars` and `special` say what each operator, cast and intrinsic means, on NumPy scalars;
`expressions` and `statements` turn each node into a Python closure, once; `run` binds the
arguments, runs the closures and gathers the results. Loops run serially, in order, every index
is checked, and reading an element that was never set is an error.
"""
