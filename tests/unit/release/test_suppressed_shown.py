"""Suppressed records that are shown, or not: every number of them, whatever columns the table has, in every form."""

import polars as pl
import pytest

import kohort
from kohort import Policy

AGES = [31, 33, 60, 62, 35, 64, 32, 61]
COLUMNS = {
    "one quasi-identifier": ["age"],
    "quasi-identifiers alone": ["age", "sex"],
    "with a sensitive column": ["age", "sex", "ill"],
    "with an insensitive column": ["age", "note"],
}


def people(columns, suppressed):
    """Eight people, of whom some do not say how old they are."""
    table = pl.DataFrame(
        {
            "age": pl.Series([None] * suppressed + AGES[suppressed:], dtype=pl.Int64),
            "sex": ["f", "f", "m", "m"] * 2,
            "ill": ["flu", "acne"] * 4,
            "note": ["a", "b"] * 4,
        }
    )
    return table.select(columns)


def policy_of(columns, shown, **output):
    policy = Policy.build(
        k=2,
        quasi_identifiers=[name for name in columns if name in ("age", "sex")],
        sensitive=[name for name in columns if name == "ill"],
        insensitive=[name for name in columns if name == "note"],
        missing="suppress",
        suppression_limit=0.8,
        seed=1,
        input={"missing": ["NA"]},
    )
    policy = policy.with_changes("output", suppressed=shown, shuffle_seed=1, **output)
    return policy.with_changes("algorithm", bound_effort=0.0, name="fast")


def expected(frame, columns, suppressed, shown):
    """How often everything but an age that is known must occur."""
    rows = frame.height if shown == "starred" else frame.height - suppressed
    kept = frame if shown == "starred" else frame[suppressed:]
    others = {name: sorted(kept[name].to_list(), key=repr) for name in columns if name in ("ill", "note")}
    return rows, suppressed if shown == "starred" else 0, others


def assert_as_expected(published, columns, expectation):
    rows, stars, others = expectation
    quasi = [name for name in columns if name in ("age", "sex")]
    assert published.columns[: len(columns)] == list(columns)
    assert published.height == rows
    assert published.filter(pl.all_horizontal(pl.col(quasi) == "*")).height == stars
    assert {name: sorted(published[name].to_list(), key=repr) for name in others} == others


@pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS)
@pytest.mark.parametrize(
    ("shown", "suppressed"), [("starred", 0), ("starred", 1), ("starred", 2), ("starred", 6), ("withheld", 2)]
)
def test_any_number_of_suppressed_records(columns, shown, suppressed, tmp_path):
    frame, policy = people(columns, suppressed), policy_of(columns, shown)
    expectation = expected(frame, columns, suppressed, shown)
    frame.write_csv(tmp_path / "in.csv", null_value="NA")
    frame.write_parquet(tmp_path / "in.parquet")
    release = kohort.anonymize(frame, policy)
    assert_as_expected(release.table, columns, expectation)
    for kind, read in (("csv", pl.read_csv), ("parquet", pl.read_parquet)):
        out = tmp_path / f"out.{kind}"
        kohort.anonymize(tmp_path / f"in.{kind}", policy, output=out)
        assert_as_expected(read(out), columns, expectation)
        assert kohort.verify(out, policy, original=tmp_path / f"in.{kind}").passed


@pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS)
@pytest.mark.parametrize("suppressed", [0, 2])
def test_suppressed_records_beyond_memory(columns, suppressed, tmp_path):
    frame, policy = people(columns, suppressed), policy_of(columns, "starred")
    for kind, read in (("csv", pl.read_csv), ("parquet", pl.read_parquet)):
        if kind == "csv":
            frame.write_csv(tmp_path / "in.csv", null_value="NA")
        else:
            frame.write_parquet(tmp_path / "in.parquet")
        out = tmp_path / f"out.{kind}"
        kohort.anonymize(tmp_path / f"in.{kind}", policy, output=out, memory=300_000_000)
        assert_as_expected(read(out), columns, expected(frame, columns, suppressed, "starred"))


def test_outliers_of_quasi_identifiers_alone_beyond_memory(tmp_path):
    """Suppressed by the search itself, and not for what they miss."""
    ages = pl.DataFrame({"age": [20, 21, 22, 30, 31, 32, 40, 41, 42, 900, 2000, -700]})
    ages.write_parquet(tmp_path / "in.parquet")
    rows = {}
    for shown in ("starred", "withheld"):
        policy = policy_of(["age"], shown).with_changes("algorithm", name="auto").with_changes("privacy", k=3)
        out = tmp_path / f"{shown}.parquet"
        kohort.anonymize(tmp_path / "in.parquet", policy, output=out, memory=300_000_000)
        rows[shown] = pl.read_parquet(out)["age"].to_list()
    stars = rows["starred"].count("*")
    assert stars > 1
    assert (len(rows["starred"]), len(rows["withheld"])) == (12, 12 - stars)


@pytest.mark.parametrize("order", ["kept", "shuffled"])
def test_ends_of_intervals_beside_stars(order):
    columns = ["age"]
    release = kohort.anonymize(people(columns, 3), policy_of(columns, "starred", bounds=True, order=order))
    assert release.table.filter(pl.col("age") == "*").select("age_lo", "age_hi").rows() == [(None, None)] * 3
    assert release.table.schema["age_lo"] == pl.Int64


def test_nobody_is_left():
    for shown in ("starred", "withheld"):
        with pytest.raises(kohort.KohortError):
            kohort.anonymize(people(["age"], 8), policy_of(["age"], shown).with_changes("privacy", suppression_limit=1))
