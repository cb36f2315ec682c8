"""Before any work: whether a table fits its policy, what is new in it since an earlier one, and what work will take."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from kohort.audit.words import are, count
from kohort.errors import DataError, KohortError
from kohort.policy import Policy
from kohort.release.engines.frame import FrameScan, loaded, solution_of, suitable, usable_of
from kohort.release.engines.survey import Usable
from kohort.release.plan import Plan, plan_of
from kohort.release.sets import SetsOf
from kohort.search.effort import steps_of
from kohort.table import Table, read_table
from kohort.table.types import typed_column, with_nulls

SAMPLE = 3000
"""Records that are clustered to see how long all would take."""
BYTES_PER_RECORD, BYTES_AT_LEAST = 2500, 300_000_000
"""Memory that a release in memory takes for each record, and for itself, about."""
FEW = 0.5
"""A text column repeats itself if it has fewer distinct values than this share of its records."""
MORE_MISSING = 0.05
"""A column misses more if its share of missing cells has grown by this much."""
LIKELY_MISSING = frozenset(
    ("?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "-", ".", "unknown", "Unknown", "-9", "-99", "-999")
)
"""Texts that often stand for a missing value."""


@dataclass(frozen=True)
class Forecast:
    """What a release in memory will take, about: a sample was clustered to see it."""

    records: int
    seconds: float
    """Of the clustering; reading, writing and verifying take some more."""
    bytes: int
    partitions: int
    """In memory, each clustered by itself."""


@dataclass(frozen=True)
class Checked:
    """Whether a table can be anonymized, what is new in it, and what that would take; without any value of it."""

    faults: tuple[str, ...]
    """Why it would be refused; empty if it would not."""
    changes: tuple[str, ...]
    """What somebody should look at before a release."""
    forecast: Forecast | None
    """None if it would be refused."""
    exit_code: int
    """0 if there is nothing to say, 1 if there are changes, 2 or 3 if it would be refused."""
    see: str | None = None
    """Where there is more about faults of the kind that were found."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def check(table: Any, policy: Policy | str | Path, *, earlier: Any = None) -> Checked:
    """Check a table against its policy before any work, and against an earlier extract of the same table.

    Everything that `anonymize` refuses before it works is found, in the same words. Nothing is published.

    Parameters
    ----------
    table
        Path of a file, a folder or a pattern, or a polars, pandas or pyarrow table.
    policy : Policy or path
        What would be promised.
    earlier : optional
        A table of the same kinds that has been released before: new values, types, missing columns and more missing
        cells are changes.

    Returns
    -------
    Checked
        Its sentences name columns and counts, and no value.

    Examples
    --------
    >>> import kohort, polars as pl
    >>> policy = kohort.Policy.build(k=2, quasi_identifiers=["age", "sex"], seed=1)
    >>> before = pl.DataFrame({"age": [31, 35, 40, 44], "sex": ["F", "M", "F", "M"]})
    >>> now = pl.DataFrame({"age": [31, 35, 40, 44], "sex": ["F", "M", "F", "x"]})
    >>> kohort.check(now, policy, earlier=before).changes
    ("column 'sex': 1 value (1 record) was not there before.",)
    """
    policy = Policy.of(policy)
    faults: tuple[str, ...] = ()
    changes: list[str] = []
    forecast, exit_code, see = None, 0, None
    try:
        source = read_table(table, policy.input, policy.columns)
        policy = policy.for_columns(source.frame.columns)
        changes += _likely_missing(source.frame, policy)
        if earlier is not None:
            changes += _changes(source, read_table(earlier, policy.input, policy.columns), policy)
        plan, usable = _ready(source, policy)
        forecast = _forecast(plan, usable)
    except KohortError as error:
        if error.exit_code not in (2, 3):
            raise
        faults, exit_code, see = error.faults, error.exit_code, error.see
    return Checked(faults, tuple(changes), forecast, exit_code or int(bool(changes)), see)


def _ready(source: Table, policy: Policy) -> tuple[Plan, Usable[FrameScan]]:
    """What the work begins with; faults of the policy and of the table are found together."""
    faults: list[str] = []
    try:
        plan = plan_of(policy)
    except KohortError as error:
        faults += error.faults
    try:
        usable = usable_of(source, policy)
        if not faults:
            SetsOf.of(source.frame, plan)
    except KohortError as error:
        if error.exit_code == 3 and not faults:
            raise
        faults += error.faults
    DataError.refuse(faults)
    return plan, usable


# -- what is new ---------------------------------------------------------------------------------


def _likely_missing(frame: pl.DataFrame, policy: Policy) -> Iterator[str]:
    """Cells that look as if they stood for a missing value, and are read as values."""
    texts = LIKELY_MISSING - set(policy.input.missing)
    for name in policy.quasi_identifiers:
        if name in frame.columns and frame[name].dtype == pl.String:
            cells = int(frame[name].str.strip_chars().is_in(list(texts)).sum())
            if cells:
                yield (
                    f"column {name!r}: {count(cells, 'cell')} {are(cells)} a text that often stands for a missing "
                    "value; list it in [input] missing if it does."
                )


def _changes(now: Table, before: Table, policy: Policy) -> Iterator[str]:
    """What is new in a table."""
    for name in policy.columns:
        there = name in now.frame.columns, name in before.frame.columns
        if there == (True, False):
            yield f"column {name!r}: it was not there before."
        elif there == (False, True):
            yield f"column {name!r}: it is not there any more."
        elif all(there):
            yield from _changed(with_nulls(now.frame[name], policy), with_nulls(before.frame[name], policy), policy)


def _changed(now: pl.Series, before: pl.Series, policy: Policy) -> Iterator[str]:
    """What is new in a column."""
    name = now.name
    shares = [one.null_count() / len(one) for one in (now, before)]
    if shares[0] - shares[1] > MORE_MISSING:
        yield f"column {name!r}: {shares[0]:.1%} of its cells are missing, and were {shares[1]:.1%} before."
    try:
        now, before = (typed_column(one, policy) for one in (now, before))
    except DataError:
        return  # if it is one of this table, that is refused anyway
    kinds = [_kind(one.dtype) for one in (now, before)]
    if kinds[0] != kinds[1] and now.null_count() < len(now) and before.null_count() < len(before):
        yield f"column {name!r}: it holds {kinds[0]}, and held {kinds[1]} before."
    elif kinds[0] != kinds[1] or policy.columns[name].role == "identifier":
        return
    elif kinds[0] == "texts":
        yield from _new(now, before)
    elif before.null_count() < len(before):
        beyond = int(((now < before.min()) | (now > before.max())).sum())
        if beyond:
            yield f"column {name!r}: {count(beyond, 'record')} {are(beyond)} beyond the range of before."


def _kind(dtype: pl.DataType) -> str:
    """What a column holds, in the words of messages."""
    if dtype.is_integer():
        return "whole numbers"
    if dtype.is_numeric():
        return "numbers"
    return "dates" if dtype.is_temporal() else "texts"


def _new(now: pl.Series, before: pl.Series) -> Iterator[str]:
    """Texts that an earlier column did not have, where it repeats itself."""
    if before.n_unique() <= FEW * len(before):
        new = ~now.is_in(before.drop_nulls().unique().implode()) & now.is_not_null()
        values, records = now.filter(new).n_unique(), int(new.sum())
        if records:
            what = f"{count(values, 'value')} ({count(records, 'record')}) {'was' if values == 1 else 'were'}"
            yield f"column {now.name!r}: {what} not there before."


# -- what it will take ---------------------------------------------------------------------------


def _forecast(plan: Plan, usable: Usable[FrameScan]) -> Forecast:
    """Cluster a sample, and say what all records would take."""
    whole = loaded(plan, usable)
    if not whole.codes.axes:  # nothing but sets: there is nothing to cluster
        return Forecast(usable.records, 0.0, BYTES_AT_LEAST + BYTES_PER_RECORD * usable.records, 1)
    records, columns = len(whole.codes.array), len(whole.codes.axes)
    held = BYTES_AT_LEAST + BYTES_PER_RECORD * usable.records
    return Forecast(records, _seconds(plan, usable, records, columns), held, suitable(whole))


def _seconds(plan: Plan, usable: Usable[FrameScan], records: int, columns: int) -> float:
    """Seconds of the clustering of all records, from those of samples."""
    most = min(records, max(SAMPLE, 20 * plan.k))
    few = max(2 * plan.k, most // 4)
    if plan.policy.algorithm.seconds is not None:
        return plan.policy.algorithm.seconds
    _clustered(plan, usable, few)  # it may have to be compiled first
    first, second = _clustered(plan, usable, few), _clustered(plan, usable, most)
    if plan.algorithm.searches or plan.policy.algorithm.refine:
        work, sampled = (n * steps_of(n, columns, plan.k) for n in (records, most))
        return second * work / sampled
    # Of other algorithms, none is slower than quadratic in the size of the table.
    power = np.clip(np.log(second / max(first, 1e-4)) / np.log(most / few), 1.0, 2.0) if most > few else 1.0
    return float(second * (records / most) ** power)


def _clustered(plan: Plan, usable: Usable[FrameScan], records: int) -> float:
    """Seconds that a sample takes."""
    frame = usable.scan.source.frame
    source = Table(frame.sample(min(records, frame.height), seed=plan.seed % 2**32), "polars")
    some = usable_of(source, _unlimited(plan.policy))
    start = time.perf_counter()
    with suppress(KohortError):  # a sample may be too small for a promise that the table keeps
        solution_of(loaded(plan, some), some.records, 1)
    return time.perf_counter() - start


def _unlimited(policy: Policy) -> Policy:
    """The policy for a sample, which may hold more of the records that are suppressed."""
    return policy.with_changes("privacy", suppression_limit=1.0)
