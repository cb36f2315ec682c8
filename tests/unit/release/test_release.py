"""What comes out of the seven steps: same release from any container, options, nothing that leaks."""

import csv
import io
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kohort


def texts(frame):
    """Cells as text, dates and floats alike, so that releases of different containers compare."""
    return frame.with_columns(
        pl.col(pl.Float64).map_elements(lambda x: f"{x:.2f}", return_dtype=pl.String),
        pl.col(pl.Date).cast(pl.String),
        pl.col(pl.String).replace("", None),
    ).rows()


@pytest.fixture
def reference(hospital, policy):
    return kohort.anonymize(hospital, policy)


def test_polars_in_polars_out(hospital, reference):
    assert isinstance(reference.table, pl.DataFrame)
    assert reference.table.height == hospital.height
    assert reference.table.columns == [name for name in hospital.columns if name != "name"]


def test_pandas_in_pandas_out(hospital, policy, reference):
    frame = hospital.to_pandas()
    frame.index = [f"patient-{i}" for i in range(len(frame))]
    release = kohort.anonymize(frame, policy)
    assert isinstance(release.table, pd.DataFrame)
    assert list(release.table.index) == list(range(400))
    back = pl.from_pandas(release.table)
    quasi = list(policy.quasi_identifiers)
    assert back.select(quasi).rows() == reference.table.select(quasi).rows()


def test_whole_numbers_of_pandas_stay_whole_where_some_are_missing():
    """Floats would round them, after the release was verified."""
    large = 2**53 + 1
    frame = pd.DataFrame({"q": [large, large + 2, None, 4] * 3, "s": [None, large, large + 2, 5] * 3}, dtype="Int64")
    policy = kohort.Policy.build(k=3, quasi_identifiers=["q"], sensitive=["s"], seed=1)
    policy = policy.with_changes("output", bounds=True, order="kept")
    table = kohort.anonymize(frame, policy).table
    assert table["s"].tolist() == frame["s"].tolist()
    assert set(table["q_lo"].dropna()) == {large, large + 2, 4}
    assert kohort.verify(table, policy, original=frame).passed


def test_pyarrow_in_pyarrow_out(hospital, policy, reference):
    release = kohort.anonymize(hospital.to_arrow(), policy)
    assert isinstance(release.table, pa.Table)
    assert texts(pl.from_arrow(release.table)) == texts(reference.table)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz", "parquet"])
@pytest.mark.parametrize("out", ["csv", "tsv", "csv.gz", "parquet"])
def test_files_give_the_same_release(tmp_path, hospital, policy, reference, suffix, out):
    source = tmp_path / f"patients.{suffix}"
    if suffix == "parquet":
        hospital.write_parquet(source)
    elif suffix == "csv.gz":
        import gzip

        source.write_bytes(gzip.compress(hospital.write_csv().encode()))
    else:
        hospital.write_csv(source, separator="\t" if suffix == "tsv" else ",")
    release = kohort.anonymize(source, policy, output=tmp_path / f"out.{out}")
    quasi = list(policy.quasi_identifiers)
    assert release.table.select(quasi).rows() == reference.table.select(quasi).rows()
    written = (
        pl.read_parquet(release.path)
        if out == "parquet"
        else pl.read_csv(release.path, infer_schema=False, separator="\t" if "tsv" in (suffix, out) else ",")
    )
    assert written.select(quasi).rows() == reference.table.select(quasi).rows()
    assert sorted(map(str, written["diagnosis"])) == sorted(hospital["diagnosis"])


@pytest.mark.promise("5.1")
def test_same_seeds_same_bytes_and_fresh_order_without(tmp_path, hospital, policy):
    one, two = (kohort.anonymize(hospital, policy, output=tmp_path / name).path for name in ("1.csv", "2.csv"))
    assert one.read_bytes() == two.read_bytes()
    shuffled = policy.with_changes("output", shuffle_seed=None)
    three, four = (kohort.anonymize(hospital, shuffled, output=tmp_path / name).path for name in ("3.csv", "4.csv"))
    assert three.read_bytes() != four.read_bytes()
    assert sorted(three.read_text().splitlines()) == sorted(four.read_text().splitlines())


def test_keep_order(hospital, policy):
    kept = policy.with_changes("output", order="kept", shuffle_seed=None)
    release = kohort.anonymize(hospital, kept)
    assert release.row_order.tolist() == list(range(400))
    assert release.table["diagnosis"].equals(hospital["diagnosis"])


def test_input_is_untouched(hospital, policy):
    before = hospital.clone()
    kohort.anonymize(hospital, policy)
    assert hospital.equals(before)


@pytest.mark.promise("1.2")
def test_suppressing_records_with_missing_values(hospital, policy):
    strict = policy.with_changes("privacy", missing="suppress", suppression_limit=0.5)
    release = kohort.anonymize(hospital, strict)
    quasi = list(policy.quasi_identifiers)
    complete = hospital.drop_nulls(quasi).height
    assert 0 < complete < hospital.height
    assert release.table.height == complete
    assert release.verdict.facts.withheld == hospital.height - complete
    assert release.loss.total > kohort.anonymize(hospital, policy).loss.total
    starred = kohort.anonymize(hospital, strict.with_changes("output", suppressed="starred"))
    assert starred.table.height == hospital.height
    stars = starred.table.filter(pl.all_horizontal(pl.col(quasi) == "*"))
    assert stars.height == hospital.height - complete
    assert sorted(starred.table["diagnosis"]) == sorted(hospital["diagnosis"])
    with pytest.raises(kohort.InfeasibleError, match=r"suppression_limit is 0\.00 %"):
        kohort.anonymize(hospital, policy.with_changes("privacy", missing="suppress"))


def test_bounds(tmp_path, hospital, policy):
    wide = policy.with_changes("output", bounds=True)
    release = kohort.anonymize(hospital, wide, output=tmp_path / "out.parquet")
    written = pl.read_parquet(release.path)
    assert written.schema["birth_date_lo"] == pl.Date
    assert written.schema["length_of_stay_hi"] == pl.Int64
    assert written.schema["birth_date_mid"] == pl.Date
    middles = (written["length_of_stay_lo"] + written["length_of_stay_hi"]) / 2
    assert (written["length_of_stay_mid"] == middles).all()
    assert "zip_code_lo" not in written.columns
    originals = hospital[release.row_order]
    assert (written["birth_date_lo"] <= originals["birth_date"]).all()
    assert (written["length_of_stay_hi"] >= originals["length_of_stay"]).all()
    assert kohort.verify(release.path, wide).passed


def test_bounds_in_csv(tmp_path, hospital, policy):
    wide = policy.with_changes("output", bounds=True)
    release = kohort.anonymize(hospital, wide, output=tmp_path / "out.csv", verdict=tmp_path / "out.csv.verdict.json")
    written = pl.read_csv(release.path, try_parse_dates=True)
    assert written.schema["birth_date_lo"] == pl.Date
    originals = hospital[release.row_order]
    assert (written["birth_date_lo"] <= originals["birth_date"]).all()
    assert (written["length_of_stay_hi"] >= originals["length_of_stay"]).all()
    assert kohort.verify(release.path, wide, original=hospital).passed
    text = release.path.read_text()
    low = str(written["length_of_stay_lo"][0])
    line = text.splitlines()[1]
    release.path.write_text(text.replace(line, line.replace(f",{low},", ",-99,", 1), 1))
    assert not kohort.verify(release.path, wide).check("bounds").passed, "an end that the interval has not"


def test_neutralised_formulas(tmp_path, hospital, policy):
    hostile = hospital.with_columns(diagnosis=pl.Series(['=HYPERLINK("x")', "-2+3", "@x", "fine"] * 100))
    safe = policy.with_changes("output", formulas="neutralised")
    release = kohort.anonymize(hostile, safe, output=tmp_path / "out.csv")
    with release.path.open(newline="") as file:
        cells = {row["diagnosis"] for row in csv.DictReader(file)}
    assert cells == {'\'=HYPERLINK("x")', "'-2+3", "'@x", "fine"}
    assert kohort.verify(release.path, safe, original=hostile).passed


@pytest.mark.promise("4.1")
@pytest.mark.parametrize("compression", ["as written", "none"])
def test_parquet_bytes_hold_nothing_of_the_input(tmp_path, hospital, policy, compression, monkeypatch):
    """Names, and quasi-identifiers that are not published, are nowhere: pages, statistics, metadata."""
    if compression == "none":
        plain = pl.DataFrame.write_parquet
        monkeypatch.setattr(
            pl.DataFrame, "write_parquet", lambda self, path, **_: plain(self, path, compression="uncompressed")
        )
    hidden = hospital.with_columns(
        ethnicity=pl.col("ethnicity").cast(pl.Categorical), diagnosis=pl.col("diagnosis").cast(pl.Categorical)
    )
    release = kohort.anonymize(hidden, policy, output=tmp_path / "out.parquet")
    content = release.path.read_bytes()
    meta = pq.read_metadata(release.path)
    chunks = [meta.row_group(g).column(c) for g in range(meta.num_row_groups) for c in range(meta.num_columns)]
    statistics = str([chunk.statistics.to_dict() for chunk in chunks if chunk.statistics])
    searched = content + statistics.encode() + str(meta.metadata).encode()
    published = {cell for name in release.table.columns for cell in map(str, release.table[name])}
    _assert_hidden(hospital, policy, searched, published)


@pytest.mark.promise("4.1")
def test_csv_bytes_hold_nothing_of_the_input(tmp_path, hospital, policy):
    release = kohort.anonymize(hospital, policy, output=tmp_path / "out.csv")
    published = set(next(csv.reader(io.StringIO(release.path.read_text()))))
    with release.path.open(newline="") as file:
        published = {cell for row in csv.reader(file) for cell in row}
    _assert_hidden(hospital, policy, release.path.read_bytes(), published)


def _assert_hidden(hospital, policy, content, published):
    ends = {end for cell in published for end in re.split(r" - |\[|\]", cell)}
    for name in hospital["name"]:
        assert name.encode() not in content
    checked = 0
    for column in ("birth_date", "zip_code", "ethnicity", "education"):
        for value in hospital[column].drop_nulls().unique().cast(pl.String):
            if value not in published and value not in ends and not any(value in cell for cell in published):
                assert value.encode() not in content, column
                checked += 1
    assert checked > 50


@pytest.mark.promise("4.1")
def test_release_documents_hold_no_secret(hospital, policy):
    release = kohort.anonymize(hospital, policy)
    public, private = release.public_json(), release.private_json()
    assert '"seed"' not in public
    assert release.provenance.input_key not in public
    assert release.provenance.input_key in private
    assert '"seed": 3' in private
    values = set(hospital["name"]) | set(hospital["diagnosis"]) | set(map(str, hospital["birth_date"]))
    assert not [value for value in values if value in private]


@pytest.mark.promise("3.1")
def test_a_release_that_fails_its_audit_is_not_published(tmp_path, hospital, policy, monkeypatch):
    """A broken clustering is caught by the audit, and the old file stays."""
    from kohort.algorithms.kmember import KMember

    monkeypatch.setattr(KMember, "cluster", lambda self, task: np.arange(len(task.codes.array), dtype=np.int32))
    out = tmp_path / "out.csv"
    out.write_text("old")
    with pytest.raises(kohort.VerificationError, match="was not published"):
        kohort.anonymize(hospital, policy, output=out, overwrite=True)
    assert out.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


@pytest.mark.promise("3.1")
def test_a_box_that_does_not_cover_is_caught(hospital, policy, monkeypatch):
    import kohort.codes.boxes
    from kohort.codes.boxes import Boxes, boxes_of_labels

    def shifted(array, labels):
        boxes = boxes_of_labels(array, labels)
        lo = boxes.lo.copy()
        lo[:, 5] = boxes.hi[:, 5]  # length of stay: the upper end for both
        return Boxes(lo, boxes.hi)

    monkeypatch.setattr(kohort.codes.boxes, "boxes_of_labels", shifted)
    with pytest.raises(kohort.VerificationError, match="'length_of_stay'"):
        kohort.anonymize(hospital, policy)
