"""Elementary functions of f64 that are rounded correctly, and so have the same results on every machine."""
