"""Calling kernels: what arguments are, and how they reach the code."""
