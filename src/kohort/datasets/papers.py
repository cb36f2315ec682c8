"""The tables that the papers on k-anonymity use: Adult and Census-Income of UCI (CC BY 4.0).

They are read where they lie (see `data_directory`); Adult is downloaded when it lies nowhere.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from kohort.datasets._sources import (
    VARIABLE,
    Opener,
    cache_directory,
    check,
    fetch,
    find,
    missing,
    open_https,
    store,
)
from kohort.errors import DataError

__all__ = ["adult", "adult_hierarchies", "adult_hierarchy", "adult_uci", "census_income"]


class Source(NamedTuple):
    """A csv file, and the `digest` of the only content that is accepted for it."""

    name: str
    file: str
    separator: str
    sha256: str
    url: str | None = None


_ADULT = Source(
    name="Adult",
    file="adult/adult.csv",
    separator=";",
    sha256="2dc6b45aa5244ac8f8b471859d30d851375c4006059442ddddc8b0c8dc17339e",
)
_ADULT_UCI = Source(
    name="Adult (UCI)",
    file="adult/adult_uci.csv",
    separator=",",
    sha256="c30ce1e55a965b04950321870db74c19f4aa437120a692f32e72f6a4fa31c418",
    url="https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.data",
)
_CENSUS_INCOME = "census_income/census_income.parquet"

_ADULT_COLUMNS = (
    *("sex", "age", "race", "marital-status", "education"),
    *("native-country", "workclass", "occupation", "salary-class"),
)
_UCI_COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
    *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week"),
    *("native-country", "income-per-year"),
)
_UCI_NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")


def adult(columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Load Adult as most papers use it: without incomplete rows, nine columns.

    Parameters
    ----------
    columns : sequence of str, optional
        The columns to return, in this order; all if absent.

    Returns
    -------
    polars.DataFrame
        30,162 rows; `age` is an integer, the rest are strings.

    Raises
    ------
    DataError
        If there is no such column, or the table is absent and cannot be downloaded, or differs
        from the published one.
    """
    unknown = sorted(set(columns or ()) - set(_ADULT_COLUMNS))
    if unknown:
        raise DataError(f"Adult has no column {', '.join(unknown)}; it has {', '.join(_ADULT_COLUMNS)}.")
    path = find(_ADULT.file)
    texts = _read(path, _ADULT.separator) if path else _without_missing(_uci_texts())
    table = check(texts, _ADULT.name, _ADULT.sha256).with_columns(pl.col("age").cast(pl.Int64))
    return table if columns is None else table.select(columns)


def adult_uci() -> pl.DataFrame:
    """Load the training set of Adult as UCI publishes it.

    Returns
    -------
    polars.DataFrame
        32,561 rows and 15 columns; missing cells hold the text `?`.

    Raises
    ------
    DataError
        If the table is absent and cannot be downloaded, or differs from the published one.
    """
    return _uci_texts().with_columns(pl.col(_UCI_NUMBERS).cast(pl.Int64))


def census_income() -> pl.DataFrame:
    """Load Census-Income (KDD), training and test set together, as the Parquet file has it.

    There is no download: UCI's archive leaves types and column names open, so a conversion could
    not be checked.

    Returns
    -------
    polars.DataFrame
        299,285 rows and 42 columns.

    Raises
    ------
    DataError
        If the file is absent or unreadable.
    """
    path = find(_CENSUS_INCOME)
    if path is None:
        raise missing(_CENSUS_INCOME)
    try:
        return pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(f"The file {path} cannot be read as Parquet ({type(error).__name__}).") from error


def adult_hierarchy(column: str) -> Path:
    """Find the taxonomy of one column of `adult`, a csv file in ARX layout: leaf;parent;...;root.

    The taxonomies are ARX's (Apache-2.0). That of `age` is off by one at the borders of its
    intervals (20 lies in "15-19"): rather build one.

    Raises
    ------
    DataError
        If there is no such column, or its file is absent.
    """
    if column not in _ADULT_COLUMNS:
        raise DataError(f"Adult has no column {column}; it has {', '.join(_ADULT_COLUMNS)}.")
    file = f"adult/hierarchies/{column}.csv"
    path = find(file)
    if path is None:
        raise missing(file)
    return path


def adult_hierarchies() -> dict[str, Path]:
    """Find the taxonomies of all columns of `adult`, in the order of the columns.

    Raises
    ------
    DataError
        If a file is absent.
    """
    return {column: adult_hierarchy(column) for column in _ADULT_COLUMNS}


def _read(path: Path, separator: str) -> pl.DataFrame:
    """Read a csv file as strings: what they mean is decided only once the content is checked."""
    try:
        return pl.read_csv(path, separator=separator, infer_schema=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(f"The file {path} cannot be read as csv ({type(error).__name__}).") from error


def _uci_texts(opener: Opener = open_https) -> pl.DataFrame:
    path = find(_ADULT_UCI.file)
    if path is not None:
        return check(_read(path, _ADULT_UCI.separator), _ADULT_UCI.name, _ADULT_UCI.sha256)
    if VARIABLE in os.environ or _ADULT_UCI.url is None:
        # Who says where the data are does not want the network to be asked.
        raise missing(_ADULT_UCI.file)
    table = _convert_uci(fetch(_ADULT_UCI.url, opener))
    check(table, _ADULT_UCI.name, _ADULT_UCI.sha256)
    store(table, cache_directory() / _ADULT_UCI.file)
    return table


def _convert_uci(content: bytes) -> pl.DataFrame:
    """Turn UCI's file, without header and with blanks after the commas, into a table of strings."""
    lines = content.decode("utf-8", errors="replace").splitlines()
    rows = [[cell.strip() for cell in line.split(",")] for line in lines if line.strip()]
    if any(len(row) != len(_UCI_COLUMNS) for row in rows):
        raise DataError(f"The download of {_ADULT_UCI.name} is not a table of {len(_UCI_COLUMNS)} columns.")
    return pl.DataFrame(rows, schema=dict.fromkeys(_UCI_COLUMNS, pl.String), orient="row")


def _without_missing(texts: pl.DataFrame) -> pl.DataFrame:
    """Arrange UCI's table as ARX does."""
    complete = texts.filter(pl.all_horizontal(pl.all() != "?"))
    return complete.rename({"income-per-year": "salary-class"}).select(_ADULT_COLUMNS)
