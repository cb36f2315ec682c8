"""Numbers are exact: what differs stays apart, and what cannot be told is refused."""

from contextlib import suppress
from decimal import Decimal

import polars as pl
import pytest

import kohort
from kohort.errors import DataError, PolicyError


def policy(**column):
    columns = {"v": {"role": "quasi", **column}, "n": "insensitive"}
    return kohort.Policy(
        privacy={"k": 2}, columns=columns, output={"order": "kept"}, algorithm={"name": "mondrian", "bound_effort": 0}
    )


def published(values, **column):
    table = pl.DataFrame({"v": values, "n": 1})
    return kohort.anonymize(table, policy(**column)).table["v"].to_list()


def test_a_number_of_32_bits_is_published_as_it_is_written():
    values = pl.Series([0.1, 0.1, 1 / 3, 1 / 3, 1e-40, 1e-40, 3.4e38, 3.4e38], dtype=pl.Float32)
    assert published(values) == ["0.1"] * 2 + ["0.33333334"] * 2 + ["1e-40"] * 2 + ["3.4e+38"] * 2


def test_numbers_of_16_bits_are_verified():
    assert published(pl.Series([0.1, 0.1, 2.5, 2.5], dtype=pl.Float32).cast(pl.Float16))[2:] == ["2.5", "2.5"]


@pytest.mark.parametrize("memory", [None, "300MB"])
def test_long_decimals_stay_apart(tmp_path, memory):
    """They are one float: 0.12345678901234568."""
    texts = ["0.12345678901234567890"] * 2 + ["0.12345678901234567891"] * 2 + ["5"] * 2
    (tmp_path / "in.csv").write_text("v,n\n" + "".join(f"{text},1\n" for text in texts))
    kohort.anonymize(tmp_path / "in.csv", policy(), output=tmp_path / "out.csv", memory=memory)
    found = pl.read_csv(tmp_path / "out.csv", infer_schema=False)["v"].unique()
    assert {Decimal(text) for text in found} == {Decimal(text) for text in texts}


@pytest.mark.parametrize("text", ["1e-400", "1e30", "0." + "1" * 60, "-1e-99999999999"])
def test_digits_that_no_type_holds_are_refused(text):
    values = [text, text, "0.12345678901234567891", "5"]
    with pytest.raises(DataError, match=r"its numbers need [0-9]+ digits, and at most 38 are kept apart"):
        published(values, type="number")


@pytest.mark.parametrize("text", ["1e999", "-1e999", "inf", "nan", "1e99999999999"])
def test_what_is_no_finite_number_is_refused(text):
    with pytest.raises(DataError, match="finite number"):
        published([text, text, "1", "1"], type="number")


def test_zeros_and_the_smallest_numbers():
    assert published([0.0, -0.0, 5e-324, 5e-324]) == ["0.0", "0.0", "5e-324", "5e-324"]


def test_a_domain_is_compared_exactly():
    """As floats both are 9007199254740992."""
    values = [1, 1, 2**53 + 1, 2**53 + 1]
    with pytest.raises(DataError, match="1 distinct value lies outside its declared domain"):
        published(values, domain=[0, 2**53])


def test_a_range_wider_than_any_number_is_refused():
    with pytest.raises(DataError, match="its range is wider than any number of 64 bits"):
        published([-1.7e308, -1.7e308, 1.7e308, 1.7e308])


@pytest.mark.parametrize(
    ("value", "keys"),
    [(1e30, {"snap": 5}), (1e22, {"snap": 3}), (1.7e308, {"min_width": 1e308}), (1.7e308, {"snap": 1e308})],
)
def test_an_end_that_no_number_is_is_refused(value, keys):
    with pytest.raises(DataError, match="an end would"):
        published([1.0, 1.0, value, value], **keys)


def test_ends_of_decimals_have_room():
    most = Decimal("9" * 38)
    with pytest.raises(DataError, match="an end would have too many digits"):
        published(pl.Series([most] * 4, dtype=pl.Decimal(38, 0)), snap=10)


EXTREME = ["1e999", "1e30", "1e308", "5e-324", "inf", "nan", str(10**400), str(2**64), "0", "-0.0"]
POLICY = """
[privacy]
k = 2
[algorithm]
name = "mondrian"
bound_effort = 0
[columns.n]
role = "insensitive"
[columns.v]
role = "quasi"
"""


def works_or_is_refused(line):
    """Whatever else is raised ends the test."""
    table = pl.DataFrame({"v": [1.0, 2.0, 3.0, 40.0], "n": 1})
    with suppress(PolicyError, DataError):
        assert kohort.anonymize(table, kohort.Policy.from_toml(POLICY + line)).verdict.passed


@pytest.mark.parametrize("number", EXTREME)
def test_an_extreme_setting_works_or_is_refused(number):
    for key in ("snap", "top", "bottom", "min_width", "weight"):
        works_or_is_refused(f"{key} = {number}")


@pytest.mark.parametrize("number", EXTREME)
def test_an_extreme_hierarchy_works_or_is_refused(number):
    for bins in ("intervals = {{ width = {} }}", "intervals = {{ width = 5, origin = {} }}", "cuts = [[1, {}]]"):
        works_or_is_refused(f"hierarchy = {{ {bins.format(number)} }}")


def test_a_border_off_the_grid_is_said_however_large():
    with pytest.raises(PolicyError, match="'top' must be a multiple of 'snap'"):
        policy(snap=3.0, top=1e300)
