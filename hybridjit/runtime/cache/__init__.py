"""The disk cache: compiled code that outlives the process."""
