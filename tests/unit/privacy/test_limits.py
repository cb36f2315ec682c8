"""Each model just at its limit, and just beyond: no luck of rounding decides."""

import numpy as np
import pytest

from kohort.privacy import MODELS, Histogram
from unit.privacy.tables import kept, make

TREE = {"tree": {"Lung": ["flu", "asthma"], "Skin": ["acne", {"Deep": ["burns"]}]}}


def words(**counts):
    return [value for value, count in counts.items() for _ in range(count)]


@pytest.mark.parametrize(
    ("model", "at", "beyond"),
    [
        (make("distinct-l-diversity", l=3), words(a=5, b=1, c=1), words(a=5, b=2)),
        (make("entropy-l-diversity", l=3), words(a=7, b=7, c=7), words(a=8, b=7, c=7)),
        (make("entropy-l-diversity", l=4), words(a=4, b=1, c=1, d=1, e=1), words(a=5, b=1, c=1, d=1)),
        (make("recursive-cl-diversity", c=2, l=2), words(a=5, b=2, c=1), words(a=6, b=2, c=1)),
        (make("recursive-cl-diversity", c=0.3, l=2), words(a=3, b=3, c=3, d=3, e=2), words(a=3, b=3, c=3, d=3, e=1)),
        (make("recursive-cl-diversity", c=100, l=3), words(a=99, b=1, c=1), words(a=1, b=1)),
        (make("frequency-l-diversity", l=3), words(a=2, b=2, c=2), words(a=3, b=2, c=2)),
        (make("alpha-k", alpha=0.1), [str(i) for i in range(10)], [str(i) for i in range(9)]),
        (make("alpha-k", alpha=0.3), words(a=3, b=3, c=3, d=1), words(a=4, b=3, c=3)),
        (make("k-e", k=2, e=0.3), ["0.6", "0.9"], ["0.6", "0.8999999999999999999"]),
        (make("k-e", k=3, e=1), ["1", "1.5", "2"], ["1", "1.0", "2"]),
        (make("variance-control", variance=0.01), ["0.1", "0.3"], ["0.1", "0.29999999999999999999"]),
        (make("variance-control", variance=2), ["1", "2", "3", "4", "5"], ["1", "2", "3", "4", "4.99999999999999999"]),
        (make("epsilon-m", epsilon=0.1, m=2), ["0.2", "0.30000000000000000001"], ["0.2", "0.3"]),
        (make("epsilon-m", epsilon=0.1, m=2, relative=True), ["-98.999999999", "-110"], ["-99", "-110"]),
        (make("epsilon-m", epsilon=0, m=3), ["1", "2", "3"], ["1", "2", "2.0"]),
        (make("t-closeness", t=0), words(a=2, b=1), words(a=2, b=2)),
        (make("beta-likeness", beta=0.5, enhanced=False), words(a=1, b=2, c=1), words(a=1, b=3, c=1)),
        (make("dissimilarity", epsilon=0.1, delta=1), ["0.2", "0.30000000000000000001"], ["0.2", "0.3"]),
        (make("dissimilarity", epsilon=1, delta=0.5), ["1", "2", "3", "5", "9"], ["1", "2", "3", "2", "9"]),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_the_limit_itself(model, at, beyond):
    # Two models compare with a table: here one of shares 2/3 and 1/3, and one of three equal shares.
    rest = {"t-closeness": words(a=98, b=49), "beta-likeness": words(a=11, b=10, c=11)}.get(model.name, ())
    assert kept(model, at, table=rest) == [True]
    assert kept(model, beyond, table=rest) == [False]


@pytest.mark.parametrize(
    ("distance", "group", "rest", "at", "below"),
    [
        ("equal", ["flu", "flu"], ["asthma", "asthma"], 0.5, 0.499999999999),
        ("equal", ["flu"] * 3 + ["acne"], ["flu"] * 3 + ["acne"] * 3, 0.15, 0.149999999999),
        ("ordered", ["flu"], ["asthma", "acne", "burns"], 0.5, 0.499999999999),
        ("ordered", [None], ["acne", "burns"], 0.5, 0.499999999999),
        ("hierarchical", ["flu"], ["asthma"], 0.16666666666667, 0.16666666666666),
        ("hierarchical", ["flu"], ["acne"], 0.5, 0.499999999999),
        ("hierarchical", ["acne"], ["burns"], 0.33333333333334, 0.33333333333333),
        ("hierarchical", ["flu"], [None], 0.5, 0.499999999999),
        ("hierarchical", ["flu", None], ["flu", "flu"], 0.25, 0.249999999999),
    ],
)
def test_t_closeness_at_its_limit(distance, group, rest, at, below):
    """The tree has height 3: an ancestor of height 1 is a third, one of height 2 two thirds, and missing is 1 away."""
    assert kept(make("t-closeness", t=at, distance=distance), group, table=rest, hierarchy=TREE) == [True]
    assert kept(make("t-closeness", t=below, distance=distance), group, table=rest, hierarchy=TREE) == [False]


@pytest.mark.parametrize(
    ("group", "beta", "basic", "enhanced"),
    [
        (words(a=84, b=16), 0.68, True, True),  # the share of a grows from 0.5 by 0.68
        (words(a=84, b=16), 0.67, False, False),
        (words(a=85, b=15), 5, True, False),  # by 0.7, which is more than -ln 0.5 = 0.693
        (words(a=50, b=45, c=5), 4, True, True),  # that of c from 0.01 by 4, which is less than -ln 0.01 = 4.6
        (words(a=50, b=45, c=5), 3.99, False, False),
        (words(a=50, b=44, c=6), 10, True, False),
    ],
)
def test_enhanced_beta_is_the_smaller_of_both_for_each_value_by_itself(group, beta, basic, enhanced):
    table = {"a": 5000, "b": 4900, "c": 100}
    rest = words(**{value: count - group.count(value) for value, count in table.items()})
    assert kept(make("beta-likeness", beta=beta, enhanced=False), group, table=rest) == [basic]
    assert kept(make("beta-likeness", beta=beta), group, table=rest) == [enhanced]


@pytest.mark.parametrize("zeros", ["count", "skip"])
def test_delta_disclosure_is_strict(zeros):
    """Twice as frequent as in the table: log2 is 1 exactly, and ln is 0.6931..."""
    group, rest = words(a=2, b=2), words(a=1, b=7)
    for log, delta, expected in [("2", 1, False), ("2", 1.0000001, True), ("e", 0.6931, False), ("e", 0.6932, True)]:
        assert kept(make("delta-disclosure", delta=delta, log=log, zeros=zeros), group, table=rest) == [expected]


def test_delta_disclosure_of_values_that_a_class_has_not():
    assert kept(make("delta-disclosure", delta=1000), words(a=2), table=words(b=1)) == [False]
    assert kept(make("delta-disclosure", delta=1000, zeros="skip"), words(a=2), table=words(b=1)) == [True]


def test_skipping_zeros_two_classes_may_break_it_as_one():
    """Half of the table has a: shares of 2/3 and 1 are within a factor of e^0.7 of it, but b has 1/5 of both."""
    model = make("delta-disclosure", delta=0.7, zeros="skip")
    one, other, rest = words(a=4, b=2), words(a=4), words(b=6)
    assert (model.monotone, make("delta-disclosure", delta=0.7).monotone) == (False, True)
    assert kept(model, one, other, table=rest) == [True, True]
    assert kept(model, [*one, *other], table=rest) == [False]


def test_entropy_of_many_records_at_its_limit():
    """Whole numbers of millions of digits would be needed; logarithms of many digits decide, unless both are equal."""
    size = 3_000_017
    classes = Histogram(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([size, size, size, size - 1]))
    assert make("entropy-l-diversity", l=2).keeps(classes, None).tolist() == [True, False]


def test_distances_of_numbers_too_long_for_a_machine():
    model = MODELS.make("dissimilarity-plus", {"columns": ["s"], "epsilon": 0.1, "delta": 1})
    tiny = "00000000000000000000000000"
    assert kept(model, [f"0.0{tiny}7", f"0.1{tiny}7"], table=["0", "1"]) == [False]
    assert kept(model, [f"0.0{tiny}7", f"0.1{tiny}8"], table=["0", "1"]) == [True]
    assert kept(model, [f"0.0{tiny}7", f"0.1{tiny}6"], table=["0", "1"]) == [False]


@pytest.mark.parametrize("zeros", ["", "000000000000000000000000000000"])
def test_numbers_of_any_size(zeros):
    """The same with 30 more digits, where 64 bits do not do."""

    def large(*numbers):
        return [f"{number}{zeros}" for number in numbers]

    factor = int(f"1{zeros}")
    assert kept(make("k-e", k=2, e=3 * factor), large(1, 4), large(1, 3)) == [True, False]
    assert kept(make("variance-control", variance=4 * factor**2), large(1, 5), large(1, 4)) == [True, False]
    assert kept(make("epsilon-m", epsilon=2 * factor, m=2), large(1, 4), large(1, 3)) == [True, False]
    assert kept(make("dissimilarity", epsilon=2 * factor, delta=1), large(1, 4), large(1, 3)) == [True, False]


@pytest.mark.promise("6.1")
@pytest.mark.parametrize("delta", [5e-324, 1e-300, 1e-46, 1e-44])
def test_the_whole_table_keeps_any_delta_disclosure(delta):
    """A delta of more digits than are computed was a strict limit of nothing: all requests were refused."""
    whole = ["flu", "flu", "flu", "cold", "cold"]
    assert kept(make("delta-disclosure", delta=delta), whole, whole) == [True, True]
    assert kept(make("delta-disclosure", delta=delta), whole, whole[:4]) == [False, False]
