"""How programs show themselves: in a line, and in notebooks."""
