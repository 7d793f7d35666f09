"""How each dialect encodes its attributes and types, in both directions: one module per dialect."""
