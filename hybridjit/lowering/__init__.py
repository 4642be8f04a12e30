"""Lowering: from blocks to the loops that code is made of, one pass per file."""
