"""What definitions of operators are made of: shapes, windows, sums, arithmetic on elements."""
