"""Functions of NumPy written in the language itself."""
