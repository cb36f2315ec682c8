"""Loops over sets of items."""
