"""Other packages' names for what is here. Nothing in the rest of hybridjit knows of this."""
