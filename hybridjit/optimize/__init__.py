"""The automatic schedule: what makes a program fast without being asked."""
