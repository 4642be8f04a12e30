"""The dispatcher: the native function that a call of a kernel enters."""
