"""Exact arithmetic that privacy models share."""
