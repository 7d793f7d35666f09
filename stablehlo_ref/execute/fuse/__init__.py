"""Fast paths: loops as generated Python, and chains of elementwise ops block by block; `fast=False` takes none."""
