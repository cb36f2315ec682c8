"""Help for the worked examples of the papers: a table, a policy, and the classes a paper prints."""

import numpy as np
import polars as pl
import pytest

from kohort.codes.boxes import boxes_of_labels
from kohort.codes.encode import encode
from kohort.codes.publish import publish
from kohort.measures import MEASURES
from kohort.measures.loss import loss_of_boxes
from kohort.policy import Policy
from kohort.table import typed_quasi_identifiers


class Example:
    """A small table with its policy."""

    def __init__(self, rows, quasi, hierarchies):
        self.frame = pl.DataFrame(rows)
        rest = [name for name in self.frame.columns if name not in quasi]
        self.policy = Policy.build(k=2, quasi_identifiers=quasi, sensitive=rest, hierarchies=hierarchies, seed=0)
        self.codes = encode(typed_quasi_identifiers(self.frame, self.policy), self.policy)

    def boxes(self, labels):
        return boxes_of_labels(self.codes.array, np.asarray(labels, np.int32))

    def labels(self, column, classes):
        """Label each row by the class that its (unique) value of a column stands in."""
        of_value = {value: label for label, members in enumerate(classes) for value in members}
        return [of_value[value] for value in self.frame[column]]

    def loss(self, measure, labels, **parameters):
        boxes = self.boxes(labels)
        return loss_of_boxes(MEASURES.make(measure, parameters), self.codes, boxes.lo, boxes.hi)

    def published(self, labels):
        return publish(self.frame, self.codes, self.boxes(labels), (), bounds=False)


@pytest.fixture
def example():
    return Example
