"""Computing with whole arrays, in NumPy's style."""
