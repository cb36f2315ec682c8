"""Small tables and classes, written as lists of texts."""

import numpy as np

from kohort.policy import Policy
from kohort.privacy import MODELS, Histogram, reference_of


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
