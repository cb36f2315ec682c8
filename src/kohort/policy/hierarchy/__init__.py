"""Taxonomies: what a value may be generalized to.

`Taxonomy` is the checked tree; `read` and its kin read it from files; `intervals`, `cuts`, `prefixes` and
`dates` build it from the values of a column; `draw` shows it in the terminal.
"""

from kohort.policy.hierarchy.builders import bins, cuts, dates, intervals, prefixes
from kohort.policy.hierarchy.draw import draw
from kohort.policy.hierarchy.readers import read, read_csv, read_toml
from kohort.policy.hierarchy.taxonomy import Taxonomy

__all__ = [
    "Taxonomy",
    "bins",
    "cuts",
    "dates",
    "draw",
    "intervals",
    "prefixes",
    "read",
    "read_csv",
    "read_toml",
]
