"""Modules: built functions, in the process or as a shared library."""
