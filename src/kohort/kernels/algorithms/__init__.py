"""Kernels of algorithms, one file each."""
