"""Numbers with types, as scripts, tensor expressions and calls have them in common."""
