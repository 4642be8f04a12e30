"""One table against NumPy, Numba, XLA and onnxruntime: every row beside its own roofline.

    make bench-peers                      # all rows, one thread and all of them
    python -m benchmarks.peers matmul     # those whose names hold a word

Peers that are not installed are left out. Each way of a row is checked against float64 first.
"""
