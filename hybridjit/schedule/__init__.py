"""Schedules: checked rewriting of the loops of a function."""
