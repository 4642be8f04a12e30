"""Scripts that read names around them, and what changes these."""

import numpy as np

from hybridjit import hybrid

WEIGHTS = np.array([1.0, 2.0])
LIST = [1.0, 2.0]
SCALE = 2.0


def change(name):
    """Add 1 to what the name holds: in place, where it can be."""
    global SCALE
    if name == "SCALE":
        SCALE += 1.0
    elif name == "LIST":
        LIST[0] += 1.0
    else:
        WEIGHTS[0] += 1.0


@hybrid.script
def read_weights(a):
    return WEIGHTS[0] + a[0]


@hybrid.script
def read_list(a):
    return LIST[0] + a[0]


@hybrid.script
def read_scale(a):
    return SCALE + a[0]


@hybrid.script
def unused_output(a):
    b = output_tensor(a.shape)
