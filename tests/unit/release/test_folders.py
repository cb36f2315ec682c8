"""A folder of files, or a pattern, is one table in memory, too."""

import polars as pl
import pytest

import kohort
from kohort.errors import DataError
from kohort.reports.propose import propose

POLICY = kohort.Policy.build(
    k=3, identifiers=["name"], quasi_identifiers=["age", "town"], sensitive=["ill"], seed=1
).with_changes("output", shuffle_seed=2)
PEOPLE = pl.DataFrame(
    {
        "name": [f"p{row}" for row in range(40)],
        "age": [20 + row * 7 % 31 for row in range(40)],
        "town": [["Köln", "Bonn", "Trier"][row % 3] for row in range(40)],
        "ill": [["flu", "cold"][row % 2] for row in range(40)],
    }
)


def written(frame, path, encoding="utf-8"):
    path.parent.mkdir(exist_ok=True)
    if path.suffix == ".csv":
        path.write_bytes(frame.write_csv().encode(encoding))
    else:
        frame.write_parquet(path)
    return path


@pytest.fixture(params=["csv", "parquet"])
def tables(request, tmp_path):
    """One file, and the same rows in a folder of three."""
    kind = request.param
    one = written(PEOPLE, tmp_path / f"all.{kind}")
    for name, rows in (("a", PEOPLE[:15]), ("b", PEOPLE[15:16]), ("c", PEOPLE[16:])):
        written(rows, tmp_path / "in" / f"{name}.{kind}")
    (tmp_path / "in" / "_SUCCESS").touch()
    return one, tmp_path / "in", f"{tmp_path}/in/*.{kind}"


def test_many_files_give_the_release_of_one(tables, tmp_path):
    one, folder, pattern = tables
    out = [tmp_path / f"{place}{one.suffix}" for place in range(3)]
    verdicts = [
        kohort.anonymize(table, POLICY, output=path).verdict
        for table, path in zip((one, folder, pattern), out, strict=True)
    ]
    assert out[0].read_bytes() == out[1].read_bytes() == out[2].read_bytes()
    assert all(verdict.passed and verdict.facts.rows_original == 40 for verdict in verdicts)


def test_reports_read_folders(tables):
    one, folder, pattern = tables
    for table in (folder, pattern):
        assert kohort.explain(table, POLICY) == kohort.explain(one, POLICY)
        [there], [here] = (kohort.compare(source, POLICY, algorithms=["fast"]) for source in (table, one))
        assert (there.loss, there.classes) == (here.loss, here.classes)
    assert propose(folder).text.splitlines()[1:] == propose(one).text.splitlines()[1:]


def test_columns_of_parquet_files_may_be_in_any_order(tmp_path):
    written(PEOPLE[:20], tmp_path / "in/a.parquet")
    written(PEOPLE[20:].select("ill", "age", "town", "name"), tmp_path / "in/b.parquet")
    release = kohort.anonymize(tmp_path / "in", POLICY)
    assert release.table.equals(kohort.anonymize(PEOPLE, POLICY).table)


def test_files_in_other_encodings(tmp_path):
    policy = POLICY.with_changes("input", encoding="latin-1")
    written(PEOPLE[:20], tmp_path / "in/a.csv", "latin-1")
    written(PEOPLE[20:], tmp_path / "in/b.csv", "latin-1")
    release = kohort.anonymize(tmp_path / "in", policy, output=tmp_path / "out.csv")
    assert release.verdict.passed
    assert release.verdict.facts.rows_original == 40


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        (PEOPLE.drop("age"), r"b\.(csv|parquet): (its header has 3 columns|lacks column 'age')"),
        (PEOPLE.rename({"age": "years"}), r"b\.(csv|parquet): (its header differs|lacks column 'age')"),
    ],
)
def test_files_that_do_not_fit_are_named(tables, tmp_path, more, fault):
    one, folder, _ = tables
    written(more, folder / f"b{one.suffix}")
    with pytest.raises(DataError, match=fault):
        kohort.anonymize(folder, POLICY, output=tmp_path / f"out{one.suffix}")
    assert not (tmp_path / f"out{one.suffix}").exists()


def test_types_that_differ_are_refused_and_an_output_inside_is_too(tmp_path):
    written(PEOPLE[:20], tmp_path / "in/a.parquet")
    written(PEOPLE[20:].cast({"age": pl.String}), tmp_path / "in/b.parquet")
    with pytest.raises(
        DataError, match=r"b\.parquet: column 'age' is of type VARCHAR, and of type BIGINT in a\.parquet"
    ):
        kohort.anonymize(tmp_path / "in", POLICY)
    with pytest.raises(kohort.PolicyError, match="is the input itself"):
        kohort.anonymize(tmp_path / "in", POLICY, output=tmp_path / "in/a.parquet")
