"""Paper 004: table 1.1 -> table 1.2, height loss, weighted hierarchical distance, definition 12."""

from fractions import Fraction

import numpy as np
import pytest

from kohort.algorithms.kaca import Levels
from kohort.codes.encode import encode
from kohort.kernels.costs import span_cost
from kohort.measures import MEASURES
from kohort.measures.compile import compile_costs
from kohort.measures.figures import Partition
from kohort.measures.figures.base import figures_of
from kohort.measures.figures.diversity import quasi_diversity
from kohort.policy.hierarchy import Taxonomy
from kohort.table import typed_columns

ROWS = [
    ("Male", 40, "23051"), ("Male", 32, "70825"), ("Female", 40, "23051"), ("Female", 38, "23038"),
    ("Female", 29, "81307"), ("Female", 34, "23038"), ("Male", 39, "23051"),
]  # fmt: skip
TABLE_1_2 = [0, 1, 0, 2, 1, 2, 0]
ZIP = {"prefix": [5, 4, 3, 2, 1]}


def rows():
    return [dict(zip(("gender", "age", "zip"), row, strict=True)) for row in ROWS]


def test_height_loss_of_table_1_2(example):
    seven = example(rows(), ["gender", "age", "zip"], {"gender": {"flat": True}, "zip": ZIP})
    loss = seven.loss("height", TABLE_1_2)
    assert loss.total == pytest.approx(0.40693, abs=1e-5)
    assert loss.total * 21 == pytest.approx(3.2727 + 4.5455 + 0.7273, abs=1e-3)


def test_distortion_of_table_1_2_is_9_3333(example):
    """The thesis prints 1.67 for the first record, the weight of step 2 -> 1; by its formula it is 1.3333."""
    ages = {"tree": {"[39,40]": ["39", "40"], "[29,32]": ["29", "32"], "[34,38]": ["34", "38"]}}
    text_rows = [row | {"age": str(row["age"])} for row in rows()]
    seven = example(text_rows, ["gender", "age", "zip"], {"gender": {"flat": True}, "age": ages, "zip": ZIP})
    loss = seven.loss("whd", TABLE_1_2, beta=1.0)
    assert loss.total * 21 == pytest.approx(9.3333, abs=1e-4)
    alone = [0, 1, 0, 2, 3, 4, 0]  # the first class as published, everybody else as they are
    first = seven.loss("whd", alone, beta=1.0)
    assert first.by_column["gender"] * 7 / 3 == pytest.approx(1)
    assert first.by_column["age"] * 7 / 3 == pytest.approx(1 / 3)
    assert first.by_column["zip"] == 0


def test_definition_8_gives_2_where_the_thesis_prints_1(example):
    """Edvin and Alva, records 1 and 3, differ in gender alone; each of them climbs to its root."""
    ages = {"tree": {"[39,40]": ["39", "40"], "[29,32]": ["29", "32"], "[34,38]": ["34", "38"]}}
    text_rows = [row | {"age": str(row["age"])} for row in rows()]
    seven = example(text_rows, ["gender", "age", "zip"], {"gender": {"flat": True}, "age": ages, "zip": ZIP})
    together = seven.loss("whd", [0, 1, 0, 2, 3, 4, 5], beta=1.0)
    assert together.total * 21 == pytest.approx(2)
    costs = compile_costs(Levels(1.0), seven.codes.axes)
    one, other = seven.codes.array[[0, 2]]
    alike = np.minimum(one, other), np.maximum(one, other)
    grown = [
        sum(int(span_cost(costs, axis, alike[0][axis], alike[1][axis])) - int(span_cost(costs, axis, code, code))
            for axis, code in enumerate(row))
        for row in (one, other)
    ]  # fmt: skip
    assert sum(grown) == 2 * int(costs.full[0])


def test_rounds_of_the_old_and_the_new_algorithm():
    """T_old = m(m - 1) / 2 and T_new = m(m - Nc) / (2 Nc), as sums over what is left in each round."""
    m = 2000
    assert sum(m - i for i in range(1, m)) == m * (m - 1) // 2 == 1_999_000
    for k, rounds in ((5, "4000"), (10, "9000"), (20, "19000"), (50, "49000")):
        clusters = m // k
        assert sum(m - i * clusters for i in range(1, k + 1)) == Fraction(m * (m - clusters), 2 * clusters)
        assert Fraction(m * (m - clusters), 2 * clusters) == Fraction(rounds)
    assert float(Fraction(m * (m - 133), 2 * 133)) == pytest.approx(14037.594, abs=1e-3)  # k = 15


@pytest.mark.parametrize(("stars", "distance"), [(1, 0.0876), (2, 0.1971), (3, 0.3431), (4, 0.5620), (5, 1.0)])
def test_whd_ladder_of_the_zip_code(stars, distance):
    path = ["23051"] + ["23051"[: 5 - n] + "*" * n for n in range(1, 5)] + ["*****"]
    tree = Taxonomy.from_paths([path], column="zip")
    whd = MEASURES.make("whd", {"beta": 1.0})
    node = tree.node_of(path[stars])
    assert whd.node_costs(tree)[node] == pytest.approx(distance, abs=1e-4)
    assert whd.cell_costs(tree, np.array([0]), np.array([node]))[0] == pytest.approx(distance, abs=1e-4)


def test_uniform_whd_is_the_height_ratio():
    tree = Taxonomy.from_tree({"a": ["x", "y"], "b": ["z"]}, column="c")
    uniform = MEASURES.make("whd", {"beta": 0})
    np.testing.assert_allclose(uniform.node_costs(tree), MEASURES.make("height", {}).node_costs(tree))


def test_definition_12():
    """Undergrad and postgrad are 1/2 apart, primary and undergrad 1."""
    tree = Taxonomy.from_tree(
        {"basic-edu": ["primary", "h-school"], "higher-edu": ["undergrad", "postgrad"]}, column="education"
    )
    height = MEASURES.make("height", {}).node_costs(tree)
    primary, undergrad, postgrad = tree.codes(["primary", "undergrad", "postgrad"])
    assert height[tree.lca(int(undergrad), int(postgrad))] == 0.5
    assert height[tree.lca(int(primary), int(undergrad))] == 1.0


# -- figures about classes ---------------------------------------------------------------------------

LSPW = [100, 200, 150, 170, 195, 200, 150]
DS = ["Cancer", "Flu", "Cancer", "Typhus", "Flu", "Typhus", "Cancer"]


@pytest.fixture
def table_1_2(example):
    """Table 1.2 as a partition: classes of 3, 2 and 2 records."""
    whole = [row | {"lspw": spent, "ds": ill} for row, spent, ill in zip(rows(), LSPW, DS, strict=True)]
    seven = example(whole, ["gender", "age", "zip"], {"gender": {"flat": True}, "zip": ZIP})
    boxes = seven.boxes(TABLE_1_2)
    sensitive = encode(typed_columns(seven.frame, seven.policy, "sensitive"), seven.policy, "sensitive")
    return Partition(np.array(TABLE_1_2), seven.codes.axes, boxes.lo, boxes.hi, sensitive, 2, 0)


def test_figures_of_table_1_2(table_1_2):
    figures = figures_of(table_1_2)
    assert figures["discernibility"] == {"total": 17, "least": 17}
    assert figures["classification"]["ds"] == 0
    assert figures["homogeneity"]["ds"] == 1
    assert figures["usefulness"]["mean"] == pytest.approx(1.40909, abs=1e-5)
    assert figures["protection"] == {"mean": pytest.approx(1.795881, abs=1e-6), "classes_without": 0}


def test_usefulness_of_the_classes_of_table_1_2(table_1_2):
    np.testing.assert_allclose(quasi_diversity(table_1_2), [1.3409, 1.7727, 1.1136], atol=1e-4)
