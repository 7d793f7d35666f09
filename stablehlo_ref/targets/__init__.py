"""Handlers for the custom_call targets that exporters emit, one module per library or family of targets."""
