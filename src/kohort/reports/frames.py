"""A release as a pandas table with types: intervals as `pandas.Interval`, labels as categories."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from kohort.audit.meaning.intervals import Interval
from kohort.audit.meaning.published import PublishedColumn, Star
from kohort.errors import DataError
from kohort.policy import Policy
from kohort.policy.promise import policy_of_promise
from kohort.release.release import Release
from kohort.reports.published import Published, opened, policy_for
from kohort.table import read_table

_SECONDS = 86_400


def to_pandas(release: Any, policy: Policy | str | Path | None = None) -> Any:
    """A release as a pandas table, its published forms as values of pandas.

    Numbers and dates that are generalized become intervals, closed on both sides: a single value is one from itself to
    itself, an end that is not there is infinite, and so are both of `*`. Labels, codes and texts become categories, in
    the order of the hierarchy. A missing value is missing. A column stays text where pandas has no such values: dates
    with an open end or `*`, and forms that are no closed interval.

    Parameters
    ----------
    release : Release, path, or polars, pandas or pyarrow table
        What was published.
    policy : Policy or path, optional
        What it was made under; when absent, what the release itself or the verdict beside the file says.

    Examples
    --------
    >>> import kohort, polars as pl
    >>> people = pl.DataFrame({"age": [31, 30, 64, 66], "ward": ["a", "a", "b", "b"]})
    >>> policy = kohort.Policy.build(k=2, quasi_identifiers=["age", "ward"], seed=1, output={"order": "kept"})
    >>> frame = kohort.to_pandas(kohort.anonymize(people, policy))
    >>> frame["age"].array.mid.tolist(), frame["ward"].cat.categories.tolist()
    ([30.5, 30.5, 65.0, 65.0], ['a', 'b'])
    """
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise DataError("to_pandas: pandas is not installed; install kohort[frames].") from None
    table = release
    if isinstance(release, Release):
        table = release.table
        policy = policy_of_promise(release.verdict.promise, Path("the verdict")) if policy is None else policy
    frame = read_table(table).frame
    with opened(table, policy_for(table, policy)) as published:
        made = {name: _column(pandas, frame[name], published) for name in frame.columns}
    return pandas.DataFrame(made)


def _column(pandas: Any, texts: pl.Series, published: Published) -> Any:
    if texts.name not in published.policy.quasi_identifiers:
        return texts.to_pandas()
    reader = published.column(texts.name)
    shown = texts.cast(pl.String).to_list()
    if not reader.has_ends:
        return pandas.Categorical(shown, categories=_in_order(reader, {text for text in shown if text is not None}))
    read = {text: _interval(pandas, reader, text) for text in set(shown) if text is not None}
    found = {text: ends for text, ends in read.items() if ends is not None}
    if len(found) < len(read):
        return texts.to_pandas()
    kind = "datetime64[s]" if reader.kind == "date" else "float64"
    nothing = pandas.NaT if reader.kind == "date" else float("nan")
    lows, highs = ([nothing if text is None else found[text][end] for text in shown] for end in (0, 1))
    ends = (pandas.array(side, dtype=kind) if reader.kind == "date" else side for side in (lows, highs))
    return pandas.arrays.IntervalArray.from_arrays(*ends, closed="both")


def _interval(pandas: Any, reader: PublishedColumn, text: str) -> tuple[Any, Any] | None:
    """The ends of what a text says; None if pandas has no such interval."""
    meaning = reader.read(text)
    if isinstance(meaning, Star) and reader.kind == "number":
        return float("-inf"), float("inf")
    if not isinstance(meaning, Interval):
        return None
    open_ended = [
        end for end, closed in ((meaning.lo, meaning.lo_closed), (meaning.hi, meaning.hi_closed)) if not closed
    ]
    if any(end.is_finite() for end in open_ended):
        return None
    if reader.kind == "number":
        return float(meaning.lo), float(meaning.hi)
    if open_ended:
        return None
    low, high = (pandas.Timestamp(int(end) * _SECONDS, unit="s") for end in (meaning.lo, meaning.hi))
    return low, high


def _in_order(reader: PublishedColumn, texts: set[str]) -> list[str]:
    """Labels in the order of the hierarchy, wider ones after what is below them; texts in their own."""

    def place(text: str) -> tuple[int, int, str]:
        node = None if reader.taxonomy is None else reader.taxonomy.node_of(reader.plain(text))
        if node is None or reader.taxonomy is None:
            return (0, 0, text)
        return int(reader.taxonomy.last_leaf[node]), -int(reader.taxonomy.first_leaf[node]), text

    return sorted(texts, key=place)
