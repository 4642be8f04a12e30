"""Where the time of a kernel goes: `kernel.profile(...)`.

`choose.py` says which loops get counters, `measure.py` makes a second copy of the code with them
and runs it in turns with the first, `limits.py` measures what the machine can do, `roofline.py`
holds the two against each other, and `profile.py` is what is said of it.
"""
