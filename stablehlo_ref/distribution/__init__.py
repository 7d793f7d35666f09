"""How programs are distributed over processes: process groups, meshes, shardings."""
