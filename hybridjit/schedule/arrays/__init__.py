"""Array statements as plain loops: what is asked of them, and what is built in their place."""
