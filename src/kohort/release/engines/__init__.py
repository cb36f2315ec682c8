"""Ways to run beyond memory and beyond one machine: the table is cut into parts, and each part is worked on alone."""
