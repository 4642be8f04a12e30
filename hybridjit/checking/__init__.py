"""Native code held against plain Python: `kernel.check(...)` and HYBRIDJIT_CHECK=1."""
