"""What `python -m hybridjit` can do, one command per file."""
