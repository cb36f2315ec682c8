"""The loaders of the papers' data: on the real files where they are, on small ones everywhere."""

import polars as pl
import pytest

from kohort.datasets import (
    _sources,
    adult,
    adult_hierarchies,
    adult_hierarchy,
    adult_uci,
    census_income,
    papers,
)
from kohort.errors import DataError


def needs(file):
    """Skip where a file is absent, so that no test asks the network."""
    return pytest.mark.skipif(_sources.find(file) is None, reason=f"{file} is not here (set KOHORT_DATA)")


class TestRealData:
    @needs(papers._ADULT.file)
    def test_adult(self):
        table = adult()
        assert table.shape == (30_162, 9)
        assert table.columns[:2] == ["sex", "age"]
        assert dict(table.schema) == {name: pl.Int64 if name == "age" else pl.String for name in table.columns}
        assert table.null_count().sum_horizontal().item() == 0

    @needs(papers._ADULT.file)
    def test_adult_columns_in_the_order_asked_for(self):
        table = adult(["race", "age"])
        assert table.columns == ["race", "age"]
        assert table.equals(adult().select("race", "age"))

    @needs(papers._ADULT_UCI.file)
    def test_adult_uci_keeps_question_marks(self):
        table = adult_uci()
        assert table.shape == (32_561, 15)
        assert (table["workclass"] == "?").sum() == 1836
        assert table["fnlwgt"].dtype == table["age"].dtype == pl.Int64
        assert table.null_count().sum_horizontal().item() == 0

    @needs(papers._ADULT_UCI.file)
    def test_adult_follows_from_adult_uci(self, tmp_path, monkeypatch):
        uci = tmp_path / papers._ADULT_UCI.file
        uci.parent.mkdir(parents=True)
        adult_uci().write_csv(uci)
        expected = adult()
        monkeypatch.setenv("KOHORT_DATA", str(tmp_path))
        assert adult().equals(expected)

    @needs(papers._CENSUS_INCOME)
    def test_census_income(self):
        assert census_income().shape == (299_285, 42)

    @needs("adult/hierarchies/sex.csv")
    def test_hierarchies_cover_the_columns(self):
        paths = adult_hierarchies()
        assert list(paths) == adult().columns
        for column, path in paths.items():
            leaves = {line.split(";")[0] for line in path.read_text().splitlines()}
            assert set(adult()[column].cast(pl.String).unique()) <= leaves, column

    @needs(papers._ADULT_UCI.file)
    @pytest.mark.parametrize(("loader", "source"), [(adult, papers._ADULT), (adult_uci, papers._ADULT_UCI)])
    def test_a_changed_table_is_refused(self, loader, source, tmp_path, monkeypatch):
        table = loader()
        path = tmp_path / source.file
        path.parent.mkdir(parents=True)
        monkeypatch.setenv("KOHORT_DATA", str(tmp_path))
        table.write_csv(path, separator=source.separator)
        assert loader().equals(table)
        one_older = pl.when(pl.int_range(pl.len()) == 12_345).then(pl.col("age") + 1).otherwise("age")
        table.with_columns(age=one_older).write_csv(path, separator=source.separator)
        with pytest.raises(DataError, match="checksum"):
            loader()


class TestFaults:
    def test_unknown_columns(self):
        with pytest.raises(DataError, match="no column height; it has sex, age"):
            adult(["age", "height"])
        with pytest.raises(DataError, match="no column height"):
            adult_hierarchy("height")

    @pytest.mark.parametrize(
        ("loader", "file"),
        [
            (adult, "adult/adult_uci.csv"),
            (adult_uci, "adult/adult_uci.csv"),
            (census_income, "census_income/census_income.parquet"),
            (adult_hierarchies, "adult/hierarchies/sex.csv"),
        ],
    )
    def test_empty_directory_names_the_file_and_asks_no_network(self, loader, file, tmp_path, monkeypatch):
        monkeypatch.setenv("KOHORT_DATA", str(tmp_path))
        monkeypatch.setattr(papers, "fetch", lambda *_: pytest.fail("asked the network"))
        with pytest.raises(DataError, match=f"KOHORT_DATA names has no file {file}"):
            loader()

    @pytest.mark.parametrize("loader", [adult, adult_uci, census_income])
    def test_garbage_is_refused(self, loader, tmp_path, monkeypatch):
        for file in (papers._ADULT.file, papers._ADULT_UCI.file, papers._CENSUS_INCOME):
            (tmp_path / file).parent.mkdir(exist_ok=True)
            (tmp_path / file).write_bytes(b"\x00\xff;,\n1,2,3\n")
        monkeypatch.setenv("KOHORT_DATA", str(tmp_path))
        with pytest.raises(DataError):
            loader()
