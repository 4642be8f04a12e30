"""Tensor intrinsics: declared with tensor expressions, put into programs by schedules."""
