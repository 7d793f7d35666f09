"""What custom_call does for targets that exporters emit: one module for each library that they belong to."""
