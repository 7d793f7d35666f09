"""Results of `diff` for people and programs: an HTML page, JSON, node data of Model Explorer."""
