"""Read programs: from paths, bytes, archives and objects of frameworks."""
