"""Engines: the same work on other machinery."""
