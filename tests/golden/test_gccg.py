"""Paper 000 (GCCG): information loss of tables 3, 7 and 8, and the figure 2 example."""

from fractions import Fraction

import pytest

from helpers.papers import FOUR_LEVELS, ROWS
from kohort.measures import MEASURES
from kohort.policy.hierarchy import Taxonomy

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


LOW = ["Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad"]
HIGH = ["Some-college", "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate"]
RACES = ["White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other"]


@pytest.mark.parametrize(
    ("records", "classes", "free", "counted"),
    [(10, TABLE_7, "0.326", "0.444125"), (8, TABLE_3, "0.2825", "0.4215625")],
    ids=["table 7", "table 3"],
)
def test_loss_with_all_values_of_adult(example, records, classes, free, counted):
    """The other reading: 16 educations below Low and High, 5 races; a bare value is free, or costs 1 / leaves."""
    some = example(
        [dict(zip(("education", "race", "sex", "age"), row, strict=True)) for row in ROWS[:records]],
        ["education", "race", "sex", "age"],
        {
            "education": {"tree": {"Low": LOW, "High": HIGH}},
            "race": {"tree": {"any": RACES}},
            "sex": {"tree": {"any": ["Male", "Female"]}},
        },
    )
    labels = some.labels("age", classes)
    for measure, loss in (("ncp", free), ("leaf", counted)):
        assert some.loss(measure, labels).total == pytest.approx(float(loss), abs=1e-12)
    assert by_definition(ROWS[:records], classes, bare=False) == Fraction(free)
    assert by_definition(ROWS[:records], classes, bare=True) == Fraction(counted)


def by_definition(rows, classes, *, bare):
    """Equations 1 to 3 in fractions; `bare` charges a value that is not generalized 1 over the leaves."""
    total = Fraction(0)
    for members in classes:
        education, race, sex, age = zip(*[row for row in rows if row[3] in members], strict=True)
        cost = Fraction(max(age) - min(age), 25)
        for values, sets in ((education, (LOW, HIGH, LOW + HIGH)), (race, (RACES,)), (sex, (["Male", "Female"],))):
            size = 1 if len(set(values)) == 1 else min(len(some) for some in sets if set(values) <= set(some))
            cost += Fraction(size if size > 1 or bare else 0, len(sets[-1]))
        total += len(members) * cost / 4
    return total / len(rows)


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
