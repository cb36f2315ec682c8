"""Tables of many columns: the work grows with their number and not faster, and every column is still looked at."""

import polars as pl
import pytest

import kohort

ROWS = 20


def wide(columns, role="insensitive", **privacy):
    """A table of few rows and many columns, and its policy."""
    cells = {f"c{j}": [(row * (j + 3)) % 7 for row in range(ROWS)] for j in range(columns)}
    frame = pl.DataFrame({"age": [20 + row // 5 for row in range(ROWS)], **cells})
    roles = {"age": {"role": "quasi"}} | {name: {"role": role} for name in cells}
    policy = kohort.Policy.model_validate(
        {
            "privacy": {"k": 2, **privacy},
            "algorithm": {"name": "mondrian", "seed": 1},
            "output": {"order": "kept"},
            "columns": roles,
        }
    )
    return frame, policy


def changed(release, column):
    """A copy of a file with another value in one cell."""
    path, first = release.with_name("changed.csv"), pl.int_range(pl.len()) == 0
    pl.read_csv(release).with_columns(pl.when(first).then(99).otherwise(column).alias(column)).write_csv(path)
    return path


def differing(verdict):
    """The columns that do not hold the values of the original."""
    figures = dict(verdict.check("values").figures)
    figures.pop("method")
    return {name: cells for name, cells in figures.items() if cells}


@pytest.mark.slow
def test_more_than_a_thousand_columns(tmp_path):
    """A statement about all columns at once took minutes with 500 of them, and failed with 1,000."""
    frame, policy = wide(1200)
    frame.write_csv(tmp_path / "in.csv")
    release = kohort.anonymize(tmp_path / "in.csv", policy, output=tmp_path / "out.csv")
    assert release.verdict.passed
    assert len(release.verdict.check("values").figures) == 1201
    other = changed(tmp_path / "out.csv", "c1077")
    for order in (None, range(ROWS)):
        verdict = kohort.verify(other, policy, original=tmp_path / "in.csv", row_order=order)
        assert not verdict.passed
        assert differing(verdict) == {"not_original.c1077": 1}


@pytest.mark.slow
def test_more_than_a_thousand_columns_on_disk(tmp_path):
    frame, policy = wide(1200)
    frame.write_csv(tmp_path / "in.csv")
    release = kohort.anonymize(tmp_path / "in.csv", policy, output=tmp_path / "out.csv", memory="1GB")
    assert release.verdict.passed
    assert len(release.verdict.check("values").figures) == 1201


@pytest.mark.slow
def test_many_columns_that_are_written_otherwise(tmp_path):
    """Texts that differ are compared by what they mean, of many columns, too."""
    frame, policy = wide(60)
    frame.write_csv(tmp_path / "in.csv")
    release = kohort.anonymize(tmp_path / "in.csv", policy).table
    decimals = release.with_columns(pl.col(f"c{j}").cast(pl.Float64) for j in range(60))
    verdict = kohort.verify(decimals, policy, original=frame, row_order=range(ROWS))
    assert verdict.passed
    wrong = decimals.with_columns(c59=pl.col("c59").reverse())
    verdict = kohort.verify(wrong, policy, original=frame, row_order=range(ROWS))
    assert not verdict.passed
    assert verdict.check("values").figures["not_original.c58"] == 0
    assert verdict.check("values").figures["not_original.c59"] > 0


def test_many_sensitive_columns_and_a_model():
    frame, policy = wide(
        80, "sensitive", models=[{"model": "distinct-l-diversity", "column": "c0", "l": 2}], suppression_limit=0.0
    )
    verdict = kohort.anonymize(frame, policy).verdict
    check = verdict.check("distinct-l-diversity")
    assert check.passed
    few = policy.model_copy(update={"columns": {n: c for n, c in policy.columns.items() if n in ("age", "c0", "c1")}})
    fewer = kohort.verify(frame.select("age", "c0", "c1"), few).check("distinct-l-diversity")
    assert check.figures["classes_failing"] == fewer.figures["classes_failing"] == 0
    # who knows all other columns tells every record apart that differs in one of them
    assert check.figures["strict_classes"] == frame.unique().height


def test_many_quasi_identifiers():
    """Classes are told apart by all of them, whether texts are numbered or compared as they are."""
    frame, policy = wide(40, "quasi")
    frame = pl.concat([frame, frame])
    verdict = kohort.verify(frame.cast(pl.String), policy)
    assert verdict.passed
    assert verdict.facts.classes == frame.unique().height
    assert verdict.facts.smallest_class == 2
    other = frame.cast(pl.String).with_columns(
        c39=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("6")).otherwise("c39")
    )
    assert not kohort.verify(other, policy).check("k").passed
    stars = frame.cast(pl.String).with_columns(
        pl.when(pl.int_range(pl.len()) % ROWS == 1).then(pl.lit("*")).otherwise(pl.all()).name.keep()
    )
    assert kohort.verify(stars, policy).check("k").figures["classes"] == verdict.facts.classes


def test_many_quasi_identifiers_with_missing_cells():
    """A missing cell is a wildcard, and a null is not an empty text, of many columns as of few."""
    names = [f"q{j}" for j in range(16)]
    whole = pl.DataFrame({name: ["1", "1", "2", "2"] for name in names})
    policy = kohort.Policy.build(k=2, quasi_identifiers=names).with_changes("privacy", missing="wildcard")
    some = whole.with_columns(q3=pl.Series(["1", None, "2", "2"]))
    assert kohort.verify(some, policy).passed
    assert not kohort.verify(some.with_columns(q4=pl.Series(["1", "3", "2", "2"])), policy).passed
    empty = whole.with_columns(q3=pl.Series(["", None, "2", "2"]))
    assert not kohort.verify(empty, policy.with_changes("privacy", missing="own-value")).check("k").passed


def test_a_model_over_many_columns():
    names = [f"s{j}" for j in range(14)]
    frame = pl.DataFrame({"age": [30] * 4} | {name: [0, 0, 9, 9] for name in names})
    model = {"model": "dissimilarity-plus", "columns": names, "epsilon": 0.1, "delta": 0.5}
    policy = kohort.Policy.build(k=2, quasi_identifiers=["age"], sensitive=names)
    policy = policy.with_changes("privacy", models=[model])
    assert kohort.verify(frame, policy).check("dissimilarity-plus").passed
    same = frame.with_columns(pl.lit(0).alias(name) for name in names)
    assert not kohort.verify(same, policy).check("dissimilarity-plus").passed
