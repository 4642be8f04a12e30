"""What a program does: its reductions, and how its iterations depend on each other."""
