"""From a verified module to plans, and running them."""
