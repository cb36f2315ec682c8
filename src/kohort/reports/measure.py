"""What a written release lost and what its classes are like, whoever wrote it; with or without its original."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohort.audit.meaning.intervals import Interval
from kohort.audit.meaning.published import STAR, PublishedColumn, Star, published_column, unquoted
from kohort.audit.read.database import Database
from kohort.audit.read.load import load
from kohort.audit.read.table import Table
from kohort.codes.encode import Axis, Codes, LineAxis, TreeAxis, as_numbers, encode
from kohort.errors import DataError, PolicyError
from kohort.measures import MEASURES, Measure
from kohort.measures.bounds.table import bound_of_codes
from kohort.measures.figures.base import Partition, figures_of
from kohort.measures.figures.epsilon import EPSILON
from kohort.measures.loss import Loss
from kohort.policy import Policy
from kohort.release.engines.frame import FrameScan
from kohort.release.prepare import spelled
from kohort.release.published_loss import Counted, exact_loss, leaves_of, public_axes, public_loss, read
from kohort.table import read_table, typed_columns, typed_quasi_identifiers
from kohort.table.databases import SqlTable, is_url

ISO_DATES = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"


def measure(release: Any, original: Any, policy: Policy | str | Path, *, name: str | None = None) -> Loss:
    """Information loss of a release, read from its published values.

    Parameters
    ----------
    release, original
        Paths, or polars, pandas or pyarrow tables. Without the original (None), the loss is relative to what the
        policy declares and the release shows, as in the public verdict: whoever has the release can compute it.
    policy : Policy or path
        Roles, hierarchies, weights, and the measure.
    name : str, optional
        Another measure than the policy's.

    Returns
    -------
    Loss
        A withheld record loses what one does whose quasi-identifiers are all `*`; without the original, nobody knows
        of it and it does not count. With the original, the figure is the one that `anonymize` reports; it may reveal
        what the release hides, so keep it as you keep the original.

    Notes
    -----
    A published label is charged what its node costs; measures that charge a value its own path
    (``path`` and ``whd`` on trees with leaves of different depth) are charged the longest one.
    """
    policy = Policy.of(policy)
    how = _chosen(policy, name)
    with _published(release, original, policy) as published:
        return published.loss(how)


def bound_of(original: Any, policy: Policy | str | Path, *, name: str | None = None) -> float | None:
    """What no release of a table in classes of k can lose less than, as `measure` counts it.

    Parameters
    ----------
    original
        Path, or polars, pandas or pyarrow table.
    policy : Policy or path
        Roles, hierarchies, weights, k, the measure, and the effort.
    name : str, optional
        Another measure than the policy's.

    Returns
    -------
    float or None
        None where the policy asks for no bound, or for releases of another kind.
    """
    policy = Policy.of(policy)
    source = read_table(original, policy.input, policy.columns)
    policy.check_columns(source.frame.columns, source.name)
    axes, scan = FrameScan.of(source).encoded(policy, "quasi")
    return bound_of_codes(scan.codes(axes), _chosen(policy, name), policy, source.frame.height, policy.algorithm.seed)


def describe(
    release: Any, original: Any, policy: Policy | str | Path, *, epsilon: float = EPSILON
) -> dict[str, dict[str, Any]]:
    """Figures about the classes of a release: sizes, diversity, discernibility and others.

    Parameters
    ----------
    release, original
        Paths, or polars, pandas or pyarrow tables. Without the original (None), a class is compared with what the
        policy declares and the release shows.
    policy : Policy or path
        Roles, hierarchies, and k.
    epsilon : float, optional
        Of the figure `epsilon`: the distance of sensitive values, 0 to 1, for which delta is reported.

    Returns
    -------
    dict
        The figures of docs/measures.md by name. Those that need a sensitive column are left out
        where the release has none.

    Examples
    --------
    >>> import kohort, polars as pl
    >>> people = pl.DataFrame({"age": [31, 30, 64, 66, 61], "ill": ["flu", "flu", "cold", "flu", "cold"]})
    >>> policy = kohort.Policy.build(k=2, quasi_identifiers=["age"], sensitive=["ill"], seed=1)
    >>> figures = kohort.describe(kohort.anonymize(people, policy).table, people, policy)
    >>> figures["discernibility"], figures["classification"]
    ({'total': 13, 'least': 13}, {'ill': 0.2})
    """
    policy = Policy.of(policy)
    with _published(release, original, policy) as published:
        return figures_of(_partition(published), {"epsilon": {"epsilon": epsilon}})


def measure_and_describe(
    release: Any, original: Any, policy: Policy, *, name: str | None = None, epsilon: float = EPSILON
) -> tuple[Loss, dict[str, dict[str, Any]]]:
    """Both `measure` and `describe`, with the files read once."""
    how = _chosen(policy, name)
    with _published(release, original, policy) as published:
        return published.loss(how), figures_of(_partition(published), {"epsilon": {"epsilon": epsilon}})


def _chosen(policy: Policy, name: str | None) -> Measure:
    chosen = policy.algorithm.measure
    return MEASURES.make(name, {}) if name else MEASURES.make(chosen.name, chosen.parameters)


# -- the two tables --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Published:
    """A release that fits its policy and its original."""

    policy: Policy
    table: Table
    axes: tuple[Axis, ...]
    """Of the original; without one, of what is declared and shown."""
    counts: dict[str, Counted]
    records: Codes | None
    """The original, if it was given."""

    @property
    def rows(self) -> int:
        """Rows of the original, as far as they are known."""
        return self.table.rows if self.records is None else len(self.records.array)

    def column(self, name: str) -> PublishedColumn:
        """How the texts of a quasi-identifier are read."""
        return published_column(name, self.policy, self.counts[name].texts, None)

    def loss(self, how: Measure) -> Loss:
        """What was lost."""
        if self.records is None:
            return public_loss(self.policy, self.counts, how)
        return exact_loss(self.policy, self.axes, self.counts, self.rows, how)


@contextmanager
def _published(release: Any, original: Any, policy: Policy) -> Iterator[_Published]:
    records = None
    if original is not None:
        source = read_table(original, policy.input, policy.columns)
        policy.check_columns(source.frame.columns, source.name)
        records = encode(typed_quasi_identifiers(source.frame, policy, source.zones), policy)
    given = release
    if is_url(release):
        given = SqlTable(release)
    elif isinstance(release, str | Path):
        given = Path(release)
    elif not isinstance(release, SqlTable):
        given = read_table(release, known=policy.columns).frame
    with Database() as database:
        table = load(database, "release", given, policy, set(policy.having_role("quasi", "sensitive")))
        absent = [repr(name) for name in policy.quasi_identifiers if name not in table.columns]
        if absent:
            raise PolicyError(f"the release lacks {', '.join(absent)}; it cannot be measured by this policy.")
        if not table.rows:
            raise DataError("release: it has a header but no rows; there is nothing to measure.")
        if records is not None and table.rows > len(records.array):
            raise DataError(
                f"the release has {table.rows} rows and the original {len(records.array)}; give the table it was made "
                "of."
            )
        counts = {name: Counted.of(table.dictionary(name)) for name in policy.quasi_identifiers}
        axes = public_axes(policy, counts) if records is None else records.axes
        yield _Published(policy, table, axes, counts, records)


# -- what its classes are like ---------------------------------------------------------------------


def _partition(published: _Published) -> Partition:
    """The classes: rows whose quasi-identifiers are written alike; rows of `*` may be suppressed ones."""
    table, axes, policy = published.table, published.axes, published.policy
    literals = ", ".join(table.literal(axis.name) for axis in axes)
    table.database.rows(
        f"CREATE OR REPLACE TEMP TABLE parts AS "
        f"SELECT *, dense_rank() OVER (ORDER BY {literals}) - 1 AS part FROM {table.name}"
    )
    starred, sides = [], []
    for axis in axes:
        sql = table.columns[axis.name]
        # a '*' that the policy reads as missing still says "any value"
        cell = f"CASE WHEN {table.literal(axis.name)} = '{STAR}' THEN '{STAR}' ELSE {sql} END"
        texts = table.database.rows(
            f"SELECT any_value({cell}), any_value(starred) FROM parts GROUP BY part ORDER BY part"
        )
        starred = [star for _, star in texts]
        column = published.column(axis.name)
        ends = _ends(axis, column, {text for text, _ in texts})
        sides.append(np.array([ends[text] for text, _ in texts], np.int32))
    labels, sensitive = _records(published)
    # As the auditor sees it: rows of `*` are a class only if suppressed records are withheld.
    rows_of_stars = np.array(starred)[labels]
    stars = int(rows_of_stars.sum())
    if policy.output.suppressed == "withheld" and stars >= policy.privacy.k:
        rows_of_stars[:] = False
    kept = ~rows_of_stars
    return Partition(
        labels=np.unique(labels[kept], return_inverse=True)[1].astype(np.int64),
        axes=axes,
        lo=np.column_stack([side[labels[kept], 0] for side in sides]),
        hi=np.column_stack([side[labels[kept], 1] for side in sides]),
        sensitive=None if sensitive is None else Codes(sensitive.array[kept], sensitive.axes),
        k=policy.privacy.k,
        suppressed=published.rows - int(kept.sum()),
        original=None if published.records is None else published.records.array,
    )


def _records(published: _Published) -> tuple[NDArray[np.int64], Codes | None]:
    """Class and sensitive values of each row."""
    table, policy = published.table, published.policy
    names = [name for name in policy.having_role("sensitive") if name in table.columns]
    rows = table.database.rows(f"SELECT {', '.join(['part', *(table.columns[name] for name in names)])} FROM parts")
    labels = np.fromiter((row[0] for row in rows), np.int64, len(rows))
    if not names:
        return labels, None
    texts = pl.DataFrame(
        {name: [row[j] for row in rows] for j, name in enumerate(names, 1)}, schema=dict.fromkeys(names, pl.String)
    )
    if policy.output.formulas == "neutralised":
        texts = texts.with_columns(pl.all().map_elements(unquoted, pl.String))
    texts = pl.DataFrame([spelled(texts[name], policy) for name in names])
    there = _with_these(policy, texts)
    return labels, encode(typed_columns(texts, there, "sensitive"), there, "sensitive")


def _with_these(policy: Policy, sensitive: pl.DataFrame) -> Policy:
    """The policy with the sensitive columns that are there; typed files write their dates in ISO."""
    columns = {name: column for name, column in policy.columns.items() if column.role == "quasi"}
    for name in sensitive.columns:
        column = policy.columns[name]
        iso = column.format is not None and sensitive[name].drop_nulls().str.contains(ISO_DATES).all()
        columns[name] = column.model_copy(update={"format": None}) if iso else column
    return policy.model_copy(update={"columns": columns})


def _ends(axis: Axis, column: PublishedColumn, texts: set[str | None]) -> dict[str | None, tuple[int, int]]:
    """Smallest and largest code of what each published text covers."""
    numbers = as_numbers(axis.values) if isinstance(axis, LineAxis) else np.empty(0)

    def ends(text: str | None) -> tuple[int, int]:
        if text is None and axis.has_missing:
            return axis.missing_code, axis.missing_code
        meaning = Star() if text is None else read(column, text, line=isinstance(axis, LineAxis))
        if isinstance(meaning, Star):
            return 0, axis.size - 1
        if isinstance(axis, TreeAxis):
            return leaves_of(axis, meaning)
        assert isinstance(meaning, Interval)
        low = int(np.searchsorted(numbers, float(meaning.lo), side="left" if meaning.lo_closed else "right"))
        high = int(np.searchsorted(numbers, float(meaning.hi), side="right" if meaning.hi_closed else "left")) - 1
        # What covers no value of the original, such as a mean, counts as the next one.
        low = min(low, max(len(numbers) - 1, 0))
        return low, max(low, high)

    return {text: ends(text) for text in texts}
