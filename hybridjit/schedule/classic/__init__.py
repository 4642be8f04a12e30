"""The classic schedule of tensors, and its stages."""
