"""The kernels of the bound, called once, so that they are compiled."""

from __future__ import annotations


def compile_kernels() -> None:
    """Compute the bound of a few records, for which every kernel of the bound is compiled, or found in the cache."""
    import numpy as np
    import polars as pl

    from kohort.codes.encode import encode
    from kohort.measures import MEASURES
    from kohort.measures.bounds.lower import lower_bound
    from kohort.policy import Policy

    policy = Policy.build(k=2, quasi_identifiers=["age", "sex"])
    codes = encode(pl.DataFrame({"age": [30, 31, 64, 70], "sex": ["f", "m", "f", "m"]}), policy)
    lower_bound(codes, MEASURES.make("ncp", {}), policy.privacy.k, np.random.default_rng(1), effort=1.0)
