"""Programs on which wrong schedules show, each named after what is special about it."""

from __future__ import annotations

TWO_LOOPS = """
def two_loops(a: float32[7, 4], c: float32[7, 4]):
    for i in range(7):
        for j in range(4):
            c[i, j] = a[i, j] + 1.0
"""
BLUR = """
def blur(a: float32["n"], c: float32["n"]):
    t = allocate((a.shape[0],), "float32")
    for i in range(a.shape[0]):
        t[i] = a[i] * 0.5
    for j in range(1, a.shape[0] - 1):
        c[j] = t[j - 1] + t[j] + t[j + 1]
"""
ACCUMULATED = """
def accumulated(t: float32[8], a: float32[8], c: float32[8]):
    for i in range(8):
        t[i] = t[i] + a[i]
    for j in range(7):
        c[j] = t[j] + t[j + 1]
"""
CHANGED = """
def changed(a: float32[8], c: float32[8]):
    t = allocate((8,), "float32")
    for i in range(8):
        t[i] = a[i] * 0.5
    for k in range(8):
        a[k] = 3.0
    for j in range(8):
        c[j] = t[j] + 1.0
"""
PARTLY = """
def partly(a: float32[8], c: float32[8]):
    for i in range(4):
        c[2 * i] = a[i] + 1.0
"""
HALF_STORED = """
def half_stored(a: float32[8], c: float32[8]):
    t = allocate((8,), "float32")
    for i in range(4):
        t[i] = a[i] * 0.5
    for j in range(8):
        c[j] = t[j] + 1.0
"""
WINDOW = """
def window(a: float32[9], c: float32[9]):
    t = allocate((9,), "float32")
    for i in range(9):
        t[i] = a[i] * 0.5
        if i >= 2:
            c[i] = t[i] + t[i - 2]
"""
SUM = """
def sum_rows(a: float32[5, 4], c: float32[5]):
    for i in range(5):
        for k in range(4):
            with block("c", i, reduce(k)):
                with init():
                    c[i] = 0.5
                c[i] = c[i] + a[i, k]
"""
FILLED = """
def filled(a: float32[5, 4], c: float32[5, 4]):
    for i in range(5):
        t = allocate((4,), "float32")
        for j in range(4):
            t[j] = a[i, j] * 0.5
        for k in range(4):
            c[i, k] = t[3 - k]
"""
READ_BACK = """
def read_back(a: float32[8], c: float32[8]):
    for i in range(8):
        a[i] = a[i] + 1.0
        c[i] = a[i] * 2.0
"""
LATE = """
def late(a: float32[8], b: float32[8]):
    t = allocate((8,), "float32")
    for i in range(8):
        t[i] = a[i] * 0.5
    for j in range(7):
        b[j] = t[j + 1]
"""
WAITS = """
def waits(a: float32[8]):
    t = allocate((8,), "float32")
    for i in range(8):
        t[i] = (a[i - 1] if i > 0 else 0.0) * 0.5
    for j in range(8):
        a[j] = t[j]
"""
DOWN = """
def down(a: float32[5, 5]):
    for i in range(3, -1, -1):
        for j in range(4):
            a[i, j] = a[i + 1, j + 1] * 0.5
"""
MIXED = """
def mixed(a: int64[5], s: int64[1]):
    for i in range(5):
        s[0] = min(s[0], 9)
        s[0] = s[0] + a[i]
"""
OFFSET = """
def offset(a: float32[5], c: float32[5]):
    for i in range(4):
        a[i] = a[i] * 0.5
    for j in range(1, 5):
        c[j] = c[j] + 1.0
"""
WRAPS = """
def wraps(a: float32[5], c: float32[5]):
    for i in range(5):
        a[i] = a[i] * 0.5
        c[i] = a[i - 1]
"""
TOTAL = """
def total(a: float32[5, 5], c: float32[1]):
    for i in range(5):
        for j in range(5):
            c[0] = c[0] + a[i, j]
"""
SCAN = """
def scanned(a: float32[8]):
    for i in scan(8):
        a[i] = a[i] + 1.0
"""
STRIDE = """
def stride(a: int64["n"], n: int, k: int):
    if k > 0:
        for i in range(n):
            a[i * k] = i
"""
LEAVES = """
def leaves(a: float32[8]):
    for i in range(8):
        if a[i] > 9.0:
            break
        a[i] = a[i] + 1.0
"""
WAITS_FOR_ALL = """
def waits_for_all(a: float64["n"]):
    t = allocate((a.shape[0],), "float64")
    for i in range(a.shape[0]):
        t[i] = a[i] + a[a.shape[0] - 1 - i]
    for j in range(a.shape[0]):
        a[j] = t[j] * 2.0
"""
