"""An example of a package with ops of its own dialect and a handler of custom calls."""
