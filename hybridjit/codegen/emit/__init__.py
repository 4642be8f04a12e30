"""Emitting LLVM for expressions, statements, vectors and parallel loops."""
