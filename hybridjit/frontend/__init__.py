"""AST → TIR."""
