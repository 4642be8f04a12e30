"""Algebra on expressions: folding, simplification, linear forms."""
