"""Making one nest of loops of several, without the arrays in between."""
