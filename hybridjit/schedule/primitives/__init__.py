"""One file per primitive: a pure function that checks, builds and replaces."""
