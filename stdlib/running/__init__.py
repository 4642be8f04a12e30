"""How an operator runs on arrays: its operands, its schedule, and the code made for them."""
