"""Hierarchies as dictionaries of levels, which anjana has."""

import pytest

from kohort.errors import DataError
from kohort.policy.hierarchy import Taxonomy


def test_there_and_back():
    tree = Taxonomy.from_tree({"Lung": ["Flu", {"Chronic": ["Asthma", "COPD"]}], "Skin": ["Acne"]}, "illness")
    levels = tree.to_levels()
    assert levels[0] == list(tree.leaf_labels)
    assert set(levels[len(levels) - 1]) == {"*"}
    again = Taxonomy.from_levels(levels, "illness")
    assert again.to_levels() == levels
    assert again.labels[again.lca(1, 2)] == "Chronic"


@pytest.mark.parametrize("levels", [{}, {0: ["a", "b"], 1: ["*"]}])
def test_levels_of_different_lengths_are_refused(levels):
    with pytest.raises(DataError, match="must be as long as level 0"):
        Taxonomy.from_levels(levels, "x")
