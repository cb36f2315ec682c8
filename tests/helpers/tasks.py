"""Small tasks for the tests of single algorithms; what all algorithms keep is asked in `contract`."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from kohort.algorithms import ALGORITHMS
from kohort.codes.encode import encode
from kohort.measures import MEASURES, compile
from kohort.measures.compile import compile_costs
from kohort.policy import Policy
from kohort.search.task import Task
from kohort.table import typed_quasi_identifiers

SHORT = {"best": {"patience": 1.0}}
"""Parameters of algorithms that would search for a second, however small a table is: the same searches, shorter."""


def encoded(frame, policy):
    """The quasi-identifiers of a table as codes."""
    return encode(typed_quasi_identifiers(frame, policy), policy)


def numbers(array):
    """Codes of a table of whole numbers."""
    array = np.asarray(array)
    frame = pl.DataFrame(array, schema=[f"c{j}" for j in range(array.shape[1])], orient="row")
    return encoded(frame, Policy.build(k=2, quasi_identifiers=frame.columns))


def costs_of(codes, measure="ncp", *, wide=False):
    """The compiled measure; `wide` as if every taxonomy were a large one."""
    with pytest.MonkeyPatch.context() as patch:
        if wide:
            patch.setattr(compile, "TABLE_LIMIT", 0)
        return compile_costs(MEASURES.make(measure, {}), codes.axes)


def cluster(name, codes, k, *, seed=3, measure="ncp", costs=None, shares=None, **parameters):
    """The labels that an algorithm gives; `shares` collects the progress that it tells."""
    task = Task(
        codes=codes,
        measure=MEASURES.make(measure, {}),
        costs=costs_of(codes, measure) if costs is None else costs,
        k=k,
        rng=np.random.default_rng(seed),
        progress=[].append if shares is None else shares.append,
    )
    return ALGORITHMS.make(name, parameters).cluster(task)


def rows_by_class(array, labels):
    """The rows of every class; for classes that are the same although records are numbered otherwise."""
    return sorted(sorted(map(tuple, array[labels == label].tolist())) for label in np.unique(labels))


def assert_only_the_seed_decides(name, k=5, **parameters):
    """The order of the rows does not matter to the classes; the seed does."""
    array = np.random.default_rng(2).integers(0, 9, (300, 4))
    mixed = np.random.default_rng(3).permutation(array)
    one, again, other = (
        rows_by_class(rows, cluster(name, numbers(rows), k, seed=seed, **parameters))
        for rows, seed in ((array, 1), (mixed, 1), (array, 2))
    )
    assert one == again
    assert one != other


def assert_steps_do_not_matter(monkeypatch, name, steps, k=5, **parameters):
    """Many small calls of a kernel give what few large ones do, and tell their progress.

    Parameters
    ----------
    steps : mapping
        Constants of the algorithm's module that say how much is done at once, and small values for them.
    """
    codes = numbers(np.random.default_rng(3).integers(0, 30, (700, 3)))
    whole, shares = cluster(name, codes, k, **parameters), []
    for constant, value in steps.items():
        monkeypatch.setattr(f"{ALGORITHMS[name].__module__}.{constant}", value)
    np.testing.assert_array_equal(cluster(name, codes, k, shares=shares, **parameters), whole)
    assert len(shares) > 10
    assert shares == sorted(shares)
    assert shares[-1] == 1
