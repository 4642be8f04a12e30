"""Functions of elements, on whole arrays: `hybrid.vectorize`, `as_gufunc`, `hybrid.evaluate`.

Each writes a script, a loop nest around the function that it is given, and runs that as a kernel:
there is one way from a script to native code.
"""
