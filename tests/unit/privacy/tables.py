"""Small tables and classes, written as lists of texts."""

import numpy as np

from kohort.policy import Policy
from kohort.privacy import MODELS, Histogram, reference_of

PARAMETERS = {
    "distinct-l-diversity": {"l": 3},
    "entropy-l-diversity": {"l": 2},
    "recursive-cl-diversity": {"c": 2, "l": 2},
    "frequency-l-diversity": {"l": 2},
    "alpha-k": {"alpha": 0.5},
    "k-e": {"k": 2, "e": 1},
    "variance-control": {"variance": 0.2},
    "epsilon-m": {"epsilon": 0.5, "m": 2},
    "dissimilarity": {"epsilon": 0.5, "delta": 0.5},
    "dissimilarity-plus": {"epsilon": 0.1, "delta": 0.5},
    "t-closeness": {"t": 0.3},
    "beta-likeness": {"beta": 1},
    "delta-disclosure": {"delta": 2},
}
"""Of every model about sensitive values, beside its column."""


def kept(model, *classes, table=(), **column):
    """Which classes keep the promise of a model.

    Parameters
    ----------
    classes : list
        Values of the records of each class.
    table : list
        Values of records in no class.
    column : mapping
        What the policy says of the column "s".
    """
    values = [value for group in classes for value in group]
    reference, numbers = reference_of(policy(**column), {"s": [*values, *table]}, [1] * (len(values) + len(table)))
    labels = np.repeat(np.arange(len(classes)), list(map(len, classes)))
    return model.keeps(Histogram.of(labels, numbers[: len(values)]), reference).tolist()


def refusal(model, values, counts=None, **column):
    """Why a model refuses a table; or None."""
    reference, _ = reference_of(policy(**column), {"s": values}, counts or [1] * len(values))
    return model.refuses_values(reference)


def policy(**column):
    return Policy(privacy={"k": 2}, columns={"q": "quasi", "s": {"role": "sensitive", **column}})


def make(name, **parameters):
    return MODELS.make(name, {"column": "s", **parameters})
