"""Releases in buckets: two tables that fit, and every way in which they may not."""

import polars as pl
import pytest

import kohort
from helpers.cli import called
from kohort import verify
from kohort.errors import DataError, PolicyError
from kohort.policy import Policy

ORIGINAL = pl.DataFrame(
    {
        "name": ["Ann", "Bob", "Cyd", "Dan", "Eve", "Flo"],
        "age": [21, 29, 40, 45, 50, 55],
        "town": ["Ulm", "Bonn", "Ulm", None, "Rom", "Rom"],
        "visit": [1, 2, 3, 4, 5, 6],
        "ill": ["flu", "cold", "flu", "cough", "cold", None],
    }
)
QUASI = pl.DataFrame(
    {
        "age": ["21", "29", "40", "45", "50", "55"],
        "town": ["Ulm", "Bonn", "Ulm", None, "Rom", "Rom"],
        "visit": [1, 2, 3, 4, 5, 6],
        "bucket": [1, 1, 2, 2, 2, 1],
    }
)
SENSITIVE = pl.DataFrame(
    {
        "bucket": [1, 1, 1, 2, 2, 2],
        "ill": ["cold", "flu", None, "cold", "cough", "flu"],
        "count": [1, 1, 1, 1, 1, 1],
    }
)
ORDER = [0, 1, 2, 3, 4, 5]


def policy(k=3, **sections):
    columns = {
        "name": "identifier",
        "age": {"role": "quasi", "type": "integer"},
        "town": "quasi",
        "visit": "insensitive",
        "ill": "sensitive",
    } | sections.pop("columns", {})
    privacy = {"k": k, "anonymity": "buckets"} | sections.pop("privacy", {})
    return Policy(privacy=privacy, columns=columns, **sections)


def audit(quasi=QUASI, sensitive=SENSITIVE, rules=None, original=ORIGINAL, order=ORDER):
    return verify(quasi, rules or policy(), original=original, row_order=order, sensitive_table=sensitive)


def failed(verdict):
    return {check.name: check.sentence for check in verdict.checks if not check.passed}


def changed(frame, row, **cells):
    """A table with some cells of one row changed."""
    return frame.with_columns(
        pl.when(pl.int_range(pl.len()) == row).then(pl.lit(value)).otherwise(pl.col(name)).alias(name)
        for name, value in cells.items()
    )


# -- what holds ---------------------------------------------------------------------------------


def test_a_sound_release():
    verdict = audit()
    assert failed(verdict) == {}
    assert verdict.reason == (
        "every one of 2 buckets has at least 3 records (smallest 3); no sensitive value has more than 1/3 of the "
        "records of a bucket; nothing suppressed; every published value covers the original, row by row."
    )
    assert [check.name for check in verdict.checks] == [
        "columns", "k", "diversity", "missing", "suppression", "rows", "domain", "coverage", "values", "sensitive",
    ]  # fmt: skip
    assert (verdict.facts.classes, verdict.facts.smallest_class) == (2, 3)
    assert verdict.check("sensitive").sentence == "every bucket has the sensitive values of its records."


def test_without_the_order_and_without_the_original():
    mixed, sorted_otherwise = QUASI[[3, 0, 5, 1, 4, 2]], SENSITIVE[::-1]
    verdict = audit(mixed, sorted_otherwise, order=None)
    assert failed(verdict) == {}
    assert verdict.check("sensitive").sentence == (
        "all buckets together have the sensitive values of the original; which has which was not checked."
    )
    alone = audit(original=None, order=None)
    assert failed(alone) == {}
    assert alone.check("sensitive") is None
    assert "truth was not checked" in alone.reason


def test_counts_above_one():
    """Six records of two values in one bucket, k = 2."""
    quasi, sensitive = QUASI.with_columns(bucket=pl.lit(7)), pl.DataFrame(
        {"bucket": [7, 7], "ill": ["a", "b"], "count": [3, 3]}
    )  # fmt: skip
    original = ORIGINAL.with_columns(ill=pl.Series(list("ababab")))
    assert failed(audit(quasi, sensitive, policy(k=2), original)) == {}
    assert failed(audit(quasi, sensitive, policy(k=3), original)) == {
        "diversity": "1 of 1 bucket has a sensitive value with more than 1/3 of the records."
    }


def test_a_generalized_quasi_identifier_is_true_too():
    assert failed(audit(changed(QUASI, 0, age="[20 - 29]", town="*"))) == {}


def test_buckets_may_have_any_name():
    quasi = QUASI.with_columns(bucket=pl.col("bucket").replace_strict({1: "left", 2: ""}, return_dtype=pl.String))
    sensitive = SENSITIVE.with_columns(bucket=pl.lit("left"))
    assert "k" in failed(audit(quasi, sensitive)), "an empty name is none"
    named = QUASI.with_columns(bucket="b" + pl.col("bucket").cast(pl.String))
    assert failed(audit(named, SENSITIVE.with_columns(bucket="b" + pl.col("bucket").cast(pl.String)))) == {}


def test_texts_for_missing_do_not_concern_buckets_and_counts():
    rules = policy(input={"missing": ["1", "2", "none"]})
    sensitive = SENSITIVE.with_columns(pl.col("ill").fill_null("none"))
    assert failed(audit(sensitive=sensitive, rules=rules, order=None, original=None)) == {}


def test_values_are_compared_as_what_they_are():
    numbers = ORIGINAL.with_columns(ill=pl.Series([1.5, 2.0, 1.5, 3.0, 2.0, None]))
    texts = SENSITIVE.with_columns(ill=pl.Series(["2", "1.50", None, "2.0", "3e0", "1.5"]))
    assert failed(audit(sensitive=texts, original=numbers)) == {}
    assert failed(audit(sensitive=texts, original=numbers, order=None)) == {}


def test_formulas_that_were_neutralised(tmp_path):
    frame = pl.DataFrame({"age": range(12), "ill": ["=1+1", "@x", "flu"] * 4})
    rules = Policy.build(
        k=3, quasi_identifiers=["age"], sensitive=["ill"], algorithm="anatomy", output={"formulas": "neutralised"}
    ).with_changes("privacy", anonymity="buckets")
    kohort.anonymize(frame, rules, output=tmp_path / "out.csv")
    assert "'=1+1" in (tmp_path / "out.sensitive.csv").read_text()
    both = tmp_path / "out.quasi.csv", tmp_path / "out.sensitive.csv"
    assert failed(verify(both[0], rules, original=frame, sensitive_table=both[1])) == {}


def test_models_are_checked_in_every_bucket():
    def model(share):
        entry = {"model": "frequency-l-diversity", "column": "ill", "l": share}
        return policy(k=2, privacy={"models": [entry]})

    assert failed(audit(rules=model(3))) == {}
    assert failed(audit(rules=model(4))) == {
        "frequency-l-diversity": "frequency-l-diversity of column 'ill': 2 of 2 buckets do not keep it."
    }
    broken = changed(SENSITIVE.cast({"count": pl.String}), 0, count="many")
    assert failed(audit(sensitive=broken, rules=model(3)))["frequency-l-diversity"] == (
        "frequency-l-diversity cannot be checked in buckets."
    )


# -- broken pairs -------------------------------------------------------------------------------

COUNTS = SENSITIVE.cast({"count": pl.String})


@pytest.mark.parametrize(
    ("quasi", "sensitive", "check", "words"),
    [
        # columns
        (
            QUASI.rename({name: f"zeta{name}" for name in QUASI.columns}),
            SENSITIVE,
            "columns",
            "the first line names no column of the policy; is the header there?",
        ),
        (
            QUASI.with_columns(ill=ORIGINAL["ill"]),
            SENSITIVE,
            "columns",
            "column 'ill' stands beside the quasi-identifiers and belongs into the other table alone.",
        ),
        (
            QUASI.with_columns(name=ORIGINAL["name"]),
            SENSITIVE,
            "columns",
            "column 'name' identifies people by the policy's own word; drop it.",
        ),
        (
            QUASI.with_row_index("row"),
            SENSITIVE,
            "columns",
            "column 1 has no role in the policy, so it may identify people; drop it.",
        ),
        (QUASI.drop("town"), SENSITIVE, "columns", "column 'town' of the policy is not in the release."),
        (QUASI.drop("bucket"), SENSITIVE, "columns", "column 'bucket' of the policy is not in the release."),
        (
            QUASI,
            SENSITIVE.with_columns(age=QUASI["age"]),
            "columns",
            "column 'age' of the second table may identify people; drop all but its own three.",
        ),
        (QUASI, SENSITIVE.drop("count"), "columns", "column 'count' is not in the second table."),
        (QUASI, SENSITIVE.drop("bucket", "ill"), "columns", "columns 'bucket' and 'ill' are not in the second table."),
        (
            QUASI,
            SENSITIVE.rename({"bucket": "1", "ill": "zeta", "count": "2"}),
            "columns",
            "the first line of the second table names none of its columns; add its header.",
        ),
        # k, and that the tables fit
        (
            QUASI.drop("bucket"),
            SENSITIVE,
            "k",
            "k cannot be checked, as a column that links the tables is not there.",
        ),
        (
            QUASI,
            SENSITIVE.drop("count"),
            "k",
            "k cannot be checked, as a column that links the tables is not there.",
        ),
        (
            changed(QUASI, 0, bucket=2),
            SENSITIVE,
            "k",
            "2 records lie in buckets smaller than k = 3 (smallest 2); "
            "2 buckets have more or fewer sensitive values than records.",
        ),
        (
            changed(QUASI, 0, bucket=None),
            SENSITIVE,
            "k",
            "2 records lie in buckets smaller than k = 3 (smallest 2); 1 record has no bucket; "
            "1 bucket has more or fewer sensitive values than records.",
        ),
        (
            QUASI,
            SENSITIVE.filter(pl.col("bucket") == 1),
            "k",
            "1 bucket has records and no sensitive values.",
        ),
        (
            QUASI,
            pl.concat([SENSITIVE, pl.DataFrame({"bucket": [3], "ill": ["flu"], "count": [1]})]),
            "k",
            "1 bucket has sensitive values and no records.",
        ),
        (
            QUASI,
            changed(SENSITIVE, 0, count=2),
            "k",
            "1 bucket has more or fewer sensitive values than records.",
        ),
        (
            QUASI,
            changed(SENSITIVE, 1, ill="cold"),
            "k",
            "1 sensitive value has more than one row in its bucket.",
        ),
        (
            QUASI,
            pl.concat([SENSITIVE, SENSITIVE[2:3]]),
            "k",
            "1 bucket has more or fewer sensitive values than records; "
            "1 sensitive value has more than one row in its bucket.",
        ),
        (
            QUASI,
            changed(SENSITIVE, 0, bucket=None),
            "k",
            "1 bucket has more or fewer sensitive values than records; 1 sensitive value has no bucket.",
        ),
        *(
            (
                QUASI,
                changed(COUNTS, 0, count=text),
                "k",
                "1 bucket has more or fewer sensitive values than records; "
                "1 sensitive value has no whole number of records, 1 or more.",
            )
            for text in ("0", "-1", "1.0", "01", " 1", "one", None, "1e0", "9" * 30)
        ),
        (
            QUASI,
            SENSITIVE[:0],
            "k",
            "2 buckets have records and no sensitive values.",
        ),
        # diversity
        (
            QUASI,
            changed(SENSITIVE, 1, ill="cold"),
            "diversity",
            "1 of 2 buckets has a sensitive value with more than 1/3 of the records.",
        ),
        (
            QUASI,
            SENSITIVE.with_columns(ill=pl.lit("flu")),
            "diversity",
            "2 of 2 buckets have a sensitive value with more than 1/3 of the records.",
        ),
        (
            QUASI,
            SENSITIVE.drop("ill"),
            "diversity",
            "diversity cannot be checked, as the second table cannot be read.",
        ),
        (
            QUASI,
            changed(COUNTS, 0, count="x"),
            "diversity",
            "diversity cannot be checked, as the second table cannot be read.",
        ),
        # truth
        (
            changed(QUASI, 0, age="22"),
            SENSITIVE,
            "coverage",
            "column 'age': 1 of 6 published values does not cover the original value.",
        ),
        (
            changed(QUASI, 3, town="Ulm"),
            SENSITIVE,
            "coverage",
            "column 'town': 1 of 6 published values does not cover the original value.",
        ),
        (
            changed(QUASI, 0, visit=9),
            SENSITIVE,
            "values",
            "column 'visit': 1 of 6 published values is not one of the original.",
        ),
        (
            QUASI,
            changed(SENSITIVE, 0, ill="zeta"),
            "sensitive",
            "column 'ill': 1 of 6 sensitive values is not one of its bucket.",
        ),
        (
            changed(changed(QUASI, 0, bucket=2), 3, bucket=1),
            SENSITIVE,
            "sensitive",
            "column 'ill': 2 of 6 sensitive values are not those of its bucket.",
        ),
        (
            QUASI,
            SENSITIVE.drop("ill"),
            "sensitive",
            "sensitive values cannot be checked, as a column is not there.",
        ),
    ],
)
def test_broken(quasi, sensitive, check, words):
    verdict = audit(quasi, sensitive)
    assert failed(verdict)[check] == words
    for text in (verdict.to_json(), repr(verdict), verdict.reason):
        assert not [value for value in ("zeta", "cold", "cough", "Ulm", "Ann") if value in text]


def test_values_of_the_wrong_bucket_are_seen_by_the_order_alone():
    swapped = SENSITIVE.with_columns(bucket=3 - pl.col("bucket"))
    assert failed(audit(sensitive=swapped, order=None)) == {}
    assert failed(audit(sensitive=swapped)) == {
        "sensitive": "column 'ill': 2 of 6 sensitive values are not those of its bucket."
    }


def test_values_that_the_original_does_not_have_are_seen_in_any_order():
    assert failed(audit(sensitive=changed(SENSITIVE, 0, ill="zeta"), order=None)) == {
        "sensitive": "column 'ill': 1 of 6 sensitive values is not one of the original."
    }
    assert failed(audit(original=ORIGINAL.drop("ill")))["sensitive"] == (
        "sensitive values cannot be checked, as column 'ill' is not in the original."
    )


def test_withheld_records():
    quasi, sensitive = QUASI.filter(pl.col("bucket") == 1), SENSITIVE.filter(pl.col("bucket") == 1)
    assert set(failed(audit(quasi, sensitive, order=[0, 1, 5]))) == {"suppression"}
    half = policy(privacy={"suppression_limit": 0.5})
    assert failed(audit(quasi, sensitive, half, order=[0, 1, 5])) == {}
    assert failed(audit(quasi, sensitive, half, order=None)) == {}


# -- what cannot be read ------------------------------------------------------------------------


def test_both_tables_or_none():
    with pytest.raises(DataError, match="is two tables; give both"):
        verify(QUASI, policy())
    classes = policy().with_changes("privacy", anonymity="classes")
    with pytest.raises(DataError, match="only a release with anonymity = 'buckets' has one"):
        verify(QUASI, classes, sensitive_table=SENSITIVE)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"visit": "sensitive"}, "one sensitive column, and the policy has 2"),
        ({"ill": "insensitive"}, "one sensitive column, and the policy has 0"),
        ({"bucket": "quasi"}, "column 'bucket' has the name of a column that links the tables"),
        ({"count": "identifier"}, "column 'count' has the name of a column that links the tables"),
    ],
)
def test_a_policy_that_cannot_be_about_buckets(columns, words):
    with pytest.raises(PolicyError, match=words):
        audit(rules=policy(columns=columns))


def test_a_damaged_second_table(write, tmp_path):
    quasi = tmp_path / "quasi.csv"
    QUASI.write_csv(quasi)
    with pytest.raises(DataError, match=r"sensitive_table gone.csv: cannot be opened"):
        verify(quasi, policy(), sensitive_table=tmp_path / "gone.csv")
    short = write("bucket,ill,count", "1,zeta,1", "1,zeta", name="short.csv")
    with pytest.raises(DataError, match=r"sensitive_table short.csv: line 3 does not have as many cells") as damaged:
        verify(quasi, policy(), sensitive_table=short)
    assert "zeta" not in str(damaged.value)
    twins = write("bucket,ill,ill", "1,a,1", name="twins.csv")
    with pytest.raises(DataError, match="'ill' heads more than one column"):
        verify(quasi, policy(), sensitive_table=twins)


def test_the_second_table_is_read_as_a_release_and_not_as_the_input(tmp_path):
    """[input] says how the original is written; a release has a delimiter of its own."""
    rules = policy(input={"delimiter": ";"})
    paths = [tmp_path / f"{name}.csv" for name in ("quasi", "sensitive", "original")]
    for frame, path in zip((QUASI, SENSITIVE, ORIGINAL), paths, strict=True):
        frame.write_csv(path, separator=";" if path.stem == "original" else ",")
    verdict = verify(paths[0], rules, original=paths[2], sensitive_table=paths[1])
    assert failed(verdict) == {}
    assert {"release", "sensitive_table", "policy"} <= set(verdict.hashes)
    assert verdict.hashes["release"] != verdict.hashes["sensitive_table"]


# -- the command line ---------------------------------------------------------------------------


@pytest.mark.slow
def test_commands(tmp_path):
    rules = policy(algorithm={"name": "anatomy"})
    (tmp_path / "policy.toml").write_text(rules.to_toml())
    ORIGINAL.write_csv(tmp_path / "data.csv")
    made = called("anonymize", "data.csv", "-p", "policy.toml", "-o", "out.csv", folder=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "written to out.quasi.csv, out.sensitive.csv" in made.stdout
    both = ["verify", "out.quasi.csv", "-p", "policy.toml", "--sensitive-table", "out.sensitive.csv"]
    assert called(*both, folder=tmp_path).returncode == 0
    sound = called(*both, "--original", "data.csv", folder=tmp_path)
    assert sound.returncode == 0
    assert "every one of 2 buckets has at least 3 records" in sound.stdout
    (tmp_path / "out.sensitive.csv").write_text("bucket,ill,count\n1,flu,3\n2,flu,3\n")
    broken = called(*both, "--original", "data.csv", folder=tmp_path)
    assert broken.returncode == 1
    assert "2 of 2 buckets have a sensitive value with more than 1/3 of the records" in broken.stdout
    assert called(*both[:4], folder=tmp_path).returncode == 2
