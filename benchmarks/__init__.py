"""Measurements, kept apart from the tests: nothing here passes or fails."""

import os

# Before NumPy is imported: everything here is measured on one thread, or says on how many.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
