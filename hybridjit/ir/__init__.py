"""TIR, the loop IR: immutable trees of expressions and statements inside a `PrimFunc`."""
