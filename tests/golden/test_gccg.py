"""Paper 000 (GCCG): information loss of tables 3, 7 and 8, and the figure 2 example."""

import pytest

from helpers.papers import FOUR_LEVELS, ROWS
from kohort.hierarchy import Taxonomy
from kohort.measures import MEASURES

TABLE_7 = [(39, 42), (50, 52), (38, 37), (31, 28), (53, 49)]
TABLE_8 = [(39, 42), (50, 38, 37), (52, 53), (31, 28, 49)]
TABLE_3 = [(39, 50), (38, 52), (53, 49), (28, 37)]


@pytest.fixture
def ten(example):
    return example(
        [dict(zip(("education", "race", "sex", "age"), row, strict=True)) for row in ROWS],
        ["education", "race", "sex", "age"],
        {"education": {"tree": FOUR_LEVELS}, "race": {"flat": True}, "sex": {"flat": True}},
    )


@pytest.fixture
def eight(example):
    return example(
        [dict(zip(("education", "race", "sex", "age"), row, strict=True)) for row in ROWS[:8]],
        ["education", "race", "sex", "age"],
        {"education": {"tree": FOUR_LEVELS}, "race": {"flat": True}, "sex": {"flat": True}},
    )


@pytest.mark.parametrize(
    ("measure", "classes", "loss"),
    [("ncp", TABLE_7, 0.316), ("leaf", TABLE_7, 0.501), ("ncp", TABLE_8, 0.49), ("leaf", TABLE_8, 0.65)],
)
def test_loss_of_tables_7_and_8(ten, measure, classes, loss):
    assert ten.loss(measure, ten.labels("age", classes)).total == pytest.approx(loss, abs=1e-12)


@pytest.mark.parametrize(("measure", "loss"), [("ncp", 0.27), ("leaf", 0.4825)])
def test_loss_of_table_3(eight, measure, loss):
    assert eight.loss(measure, eight.labels("age", TABLE_3)).total == pytest.approx(loss, abs=1e-12)


def test_published_values_of_table_3(eight):
    released = eight.published(eight.labels("age", TABLE_3))
    assert released.filter(released["age"] == "[38 - 52]").rows() == [("HS-grad", "White", "Male", "[38 - 52]")] * 2
    assert released.filter(released["age"] == "[49 - 53]").rows() == [("Low", "Black", "*", "[49 - 53]")] * 2
    assert released.filter(released["age"] == "[28 - 37]").rows() == [("High", "*", "Female", "[28 - 37]")] * 2
    assert released.height == 8


def test_figure_2():
    """e -> c costs 2/3, and the distance of e and f is 1/2: depths count edges."""
    tree = Taxonomy.from_tree({"b": ["d"], "c": ["e", "f"]}, column="x", root="a")
    c = tree.node_of("c")
    assert MEASURES.make("leaf", {}).node_costs(tree)[c] == pytest.approx(2 / 3)
    assert MEASURES.make("height", {}).node_costs(tree)[c] == pytest.approx(1 / 2)
