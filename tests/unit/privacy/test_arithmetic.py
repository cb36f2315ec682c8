"""The exact arithmetic that models share."""

from decimal import Decimal
from fractions import Fraction
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.privacy import MODELS, Histogram, reference_of
from kohort.privacy.arithmetic import powers
from kohort.privacy.arithmetic.counting import at_most, sums, whole, whole_numbers
from kohort.privacy.arithmetic.parameters import decimal, rounded_down, rounded_up
from unit.privacy.tables import PARAMETERS, policy


@given(st.dictionaries(st.integers(1, 60), st.integers(-12, 12), min_size=1, max_size=6))
def test_products_of_powers_are_compared_exactly(exponents):
    product = prod(Fraction(base) ** exponent for base, exponent in exponents.items())
    assert powers.is_at_least_one(exponents) == (product >= 1)


@pytest.mark.parametrize("times", [1, 1001, 10**6])
def test_large_powers_are_compared_by_logarithms_or_reduced(times):
    assert powers.is_at_least_one({6: times, 2: -times, 3: -times})
    assert powers.is_at_least_one({1001: times, 1000: -times})
    assert not powers.is_at_least_one({1000: times, 1001: -times})


def test_equal_products_that_cannot_be_reduced():
    """Logarithms of any number of digits do not tell equal ones apart: then the numbers themselves do."""
    n = 30_000
    assert powers.is_at_least_one({4: n, 2: 1 - 2 * n, 3: 1, 6: -1})
    assert not powers.is_at_least_one({4: n, 2: -1 - 2 * n, 3: 1, 6: -1})


def test_exponentials_have_many_digits_or_are_exact():
    assert powers.exponential(Fraction(3), 2) == 8
    assert powers.exponential(Fraction(-1), 2) == Fraction(1, 2)
    root = powers.exponential(Fraction(1, 2), 2)
    assert abs(root**2 - 2) < Fraction(1, 10**50)
    e = Fraction(Decimal("2.71828182845904523536028747135266249775724709369995957496697"))
    assert abs(powers.exponential(Fraction(1)) - e) < Fraction(1, 10**50)
    assert abs(powers.logarithm(powers.exponential(Fraction(1, 3))) - Fraction(1, 3)) < Fraction(1, 10**50)


def test_numbers_that_do_not_fit_are_kept_whole():
    assert whole([1, -5]).dtype == np.int64
    assert whole([1, 2**62]).dtype == object
    numbers, factor = whole_numbers([Fraction("0.1"), Fraction("1e25"), Fraction(1, 3)])
    assert numbers.tolist() == [3, 3 * 10**26, 10]
    assert factor == 30
    assert sums(np.array([0, 1, 0]), numbers, 3).tolist() == [13, 3 * 10**26, 0]
    assert whole_numbers([])[0].tolist() == []
    assert at_most(np.array([1, 2]), np.array([3, 3]), Fraction(10**30, 3 * 10**30 - 1)).tolist() == [True, False]


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=10**6), st.integers(1, 4))
def test_rounding_goes_one_way_and_not_far(number, digits):
    down, up, above = rounded_down(number, digits), rounded_up(number, digits), rounded_up(number, digits, strict=True)
    assert down <= number <= up < above or down <= number < up == above
    assert above - down <= 2 * number / 10 ** (digits - 1)
    assert Fraction(decimal(down)) == down


def test_values_are_found_as_they_are_written():
    def found(values, text, **column):
        reference, _ = reference_of(policy(**column), {"s": values}, [1] * len(values))
        return reference.column.find(text)

    assert [found(["b", "a"], text) for text in ("a", "b", "c", "")] == [0, 1, None, None]
    assert [found(["b", None], text) for text in ("b", "")] == [0, 1]
    assert [found(["10", "2.50"], text) for text in ("2.5", "10.0", "3", "x")] == [0, 1, None, None]
    assert found(["2024-01-02"], "02.01.2024", type="date", format="%d.%m.%Y") == 0
    # a number is the same however it is written, also where the policy calls the column text
    assert [found(["01"], text, type="string") for text in ("1", "01", "10")] == [0, 0, None]
    assert found(["c", "a"], "a", hierarchy={"tree": {"x": ["c", "a"]}}) == 1


def test_some_records_of_a_table_have_some_of_its_values():
    reference, values = reference_of(policy(), {"s": ["b", "a", None, "c"]}, [1] * 4)
    some, numbers = reference.of_records(values[[0, 3, 3]])
    assert (some.column.texts, some.column.size, some.column.has_missing) == (("b", "c"), 2, False)
    assert numbers.tolist() == [0, 1, 1]
    assert some.column.find("a") is None


def test_numbers_of_any_size_are_scaled_for_a_search():
    reference, _ = reference_of(policy(), {"s": ["0", "1e300", "-5e299"]}, [1] * 3)
    numbers, factor = reference.column.scaled
    assert numbers.tolist() == sorted(numbers.tolist())
    assert 2**58 < numbers[2] <= 2**60
    assert abs(numbers[0] * 2 + numbers[2]) <= 2
    assert 0 < factor < 1


@pytest.mark.parametrize("name", PARAMETERS)
def test_no_classes_keep_any_promise(name):
    """As when all records of a file are suppressed."""
    about = {"columns": ["s"]} if name == "dissimilarity-plus" else {"column": "s"}
    tree = {"distance": "hierarchical"} if name == "t-closeness" else {}
    model = MODELS.make(name, about | PARAMETERS[name] | tree)
    nothing = np.empty(0, np.int64)
    for values in ([], ["1", "2", None]):
        table, _ = reference_of(policy(hierarchy={"tree": {"x": ["1", "2"]}}), {"s": values}, [1] * len(values))
        assert model.keeps(Histogram(nothing, nothing, nothing), table).shape == (0,)
