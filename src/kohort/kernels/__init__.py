"""Hot loops: the only place that imports numba. Arrays in, arrays out."""
