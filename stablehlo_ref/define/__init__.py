"""How ops are defined: members, roles, constraints, and the arguments of roles."""
