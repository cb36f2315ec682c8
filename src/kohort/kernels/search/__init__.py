"""Kernels of the search: orders, cuts, steps, merging, withholding."""
