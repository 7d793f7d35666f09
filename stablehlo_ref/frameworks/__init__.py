"""Adapters of frameworks, each of which needs its optional extra; imported when they are asked for."""
