"""The line end after the header is lost, so cells of the first record are taken for names: none of them is told."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pytest

import kohort
from kohort.errors import KohortError
from kohort.reports.propose import propose

CELLS = ("Q31xanadu", "Z88erewhon")
POLICY = kohort.Policy.build(k=2, quasi_identifiers=["age", "town"], algorithm="fast", seed=1)


def broken(*, rows=4):
    """`town` and the first cell of row 1 have become one name, and the others of row 1 are names as they are."""
    names = ["age", f"town{CELLS[0]}", CELLS[1]]
    return pl.DataFrame({name: [str(i // 2) for i in range(rows)] for name in names})


@pytest.fixture
def files(tmp_path):
    """The same table in many forms, one of them with a type that cannot be published."""
    frame = broken()
    frame.write_csv(tmp_path / "a.csv")
    frame.write_parquet(tmp_path / "a.parquet")
    lists = frame.with_columns(pl.col(CELLS[1]).str.split(""))
    lists.write_parquet(tmp_path / "lists.parquet")
    good = pl.DataFrame({"age": ["1", "1"], "town": ["x", "x"]})
    good.write_csv(tmp_path / "good.csv")
    several = tmp_path / "several"
    several.mkdir()
    good.write_parquet(several / "1.parquet")
    frame.write_parquet(several / "2.parquet")
    return tmp_path


def told(action):
    """All that is said: the sentences of an error, or those of a verdict."""
    try:
        found = action()
    except KohortError as error:
        chain, said = error, []
        while chain is not None:
            said.append(str(chain))
            chain = chain.__cause__ or chain.__context__
        return "\n".join(said)
    return found.to_json() if hasattr(found, "to_json") else ""


SOURCES = {
    "csv": lambda folder: folder / "a.csv",
    "parquet": lambda folder: folder / "a.parquet",
    "lists": lambda folder: folder / "lists.parquet",
    "files": lambda folder: folder / "several",
    "polars": lambda folder: broken(),
    "pandas": lambda folder: broken().to_pandas(),
    "objects": lambda folder: pd.DataFrame({"age": ["1"], CELLS[0]: [object()]}),
    "twice": lambda folder: pd.DataFrame([["1", "2", "3"]], columns=["age", CELLS[0], CELLS[0]]),
    "pyarrow": lambda folder: broken().to_arrow(),
}


@pytest.mark.promise("4.2")
@pytest.mark.parametrize("form", SOURCES)
def test_no_cell_is_told_as_a_name(files, form):
    source, good = SOURCES[form](files), files / "good.csv"
    actions = {
        "anonymize": lambda: kohort.anonymize(source, POLICY),
        "in parts": lambda: kohort.anonymize(source, POLICY, output=files / "out.parquet", memory="300MB"),
        "verify": lambda: kohort.verify(source, POLICY),
        "original": lambda: kohort.verify(good, POLICY, original=source),
        "measure": lambda: kohort.measure(source, good, POLICY),
        "against": lambda: kohort.measure(good, source, POLICY),
        "compare": lambda: kohort.compare(source, POLICY, algorithms=["fast"]),
        "explain": lambda: kohort.explain(source, POLICY),
    }
    for name, action in actions.items():
        said = told(action)
        assert said or form == "files", name
        assert not any(cell in said for cell in CELLS), name


@pytest.mark.parametrize("form", ["lists", "objects", "twice"])
def test_init_tells_positions(files, form):
    said = told(lambda: propose(SOURCES[form](files)))
    assert "column" in said
    assert not any(cell in said for cell in CELLS)
