"""How much any k-anonymous release of a table must lose at least, with a certificate that can be checked."""

from kohort.measures.bounds.lower import Bound, lower_bound

__all__ = ["Bound", "lower_bound"]
