"""Kernels of the lower bound."""
