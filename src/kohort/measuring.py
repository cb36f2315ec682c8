"""What a written release lost and what its classes are like, whoever wrote it: from the file and the original."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohort.audit.database import Database
from kohort.audit.intervals import Interval
from kohort.audit.load import load
from kohort.audit.published import Exact, Mask, Meaning, Node, PublishedColumn, Star, published_column, unquoted
from kohort.audit.table import Table
from kohort.bounds import lower_bound
from kohort.encode import Axis, Codes, LineAxis, TreeAxis, as_numbers, encode
from kohort.errors import DataError, PolicyError
from kohort.figures.base import Partition, figures_of
from kohort.measures import MEASURES, Measure
from kohort.measures.loss import Loss
from kohort.policy import Policy
from kohort.preparing import spelled
from kohort.table import read_table, typed_columns, typed_quasi_identifiers

ISO_DATES = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"


def measure(release: Any, original: Any, policy: Policy | str | Path, *, name: str | None = None) -> Loss:
    """Information loss of a release, read from its published values.

    Parameters
    ----------
    release, original
        Paths, or polars, pandas or pyarrow tables.
    policy : Policy or path
        Roles, hierarchies, weights, and the measure.
    name : str, optional
        Another measure than the policy's.

    Returns
    -------
    Loss
        A withheld record, and one whose quasi-identifiers are all `*`, loses everything.

    Notes
    -----
    A published label is charged what its node costs; measures that charge a value its own path
    (``path`` and ``whd`` on trees with leaves of different depth) are charged the longest one,
    because the rows of a release cannot be told apart.
    """
    policy = Policy.of(policy)
    how = _chosen(policy, name)
    with _published(release, original, policy) as published:
        return _loss(published, how)


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
    effort = policy.algorithm.bound_effort
    source = read_table(original, policy.input, policy.columns)
    k = policy.privacy.k
    if not effort or policy.privacy.anonymity != "classes" or k > source.frame.height:
        return None
    policy.check_columns(source.frame.columns, source.name)
    codes = encode(typed_quasi_identifiers(source.frame, policy), policy)
    rng = np.random.default_rng(policy.algorithm.seed)
    return lower_bound(codes, _chosen(policy, name), k, rng, effort).value


def describe(release: Any, original: Any, policy: Policy | str | Path) -> dict[str, dict[str, Any]]:
    """Figures about the classes of a release: sizes, diversity, discernibility and others.

    Parameters
    ----------
    release, original
        Paths, or polars, pandas or pyarrow tables.
    policy : Policy or path
        Roles, hierarchies, and k.

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
        return figures_of(_partition(published))


def measure_and_describe(
    release: Any, original: Any, policy: Policy, *, name: str | None = None
) -> tuple[Loss, dict[str, dict[str, Any]]]:
    """Both `measure` and `describe`, with the files read once."""
    how = _chosen(policy, name)
    with _published(release, original, policy) as published:
        return _loss(published, how), figures_of(_partition(published))


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
    rows: int
    """Of the original."""

    @cached_property
    def counts(self) -> dict[str, dict[str | None, int]]:
        """Rows of every published text, for each quasi-identifier."""
        return {axis.name: self.table.counts(axis.name) for axis in self.axes}

    def column(self, name: str) -> PublishedColumn:
        """How the texts of a quasi-identifier are read."""
        return _column(self.policy, name, self.counts[name])


@contextmanager
def _published(release: Any, original: Any, policy: Policy) -> Iterator[_Published]:
    source = read_table(original, policy.input, policy.columns)
    policy.check_columns(source.frame.columns, source.name)
    codes = encode(typed_quasi_identifiers(source.frame, policy), policy)
    rows = source.frame.height
    given = Path(release) if isinstance(release, str | Path) else read_table(release, known=policy.columns).frame
    with Database() as database:
        table = load(database, "release", given, policy, set(policy.having_role("quasi", "sensitive")))
        absent = [repr(axis.name) for axis in codes.axes if axis.name not in table.columns]
        if absent:
            raise PolicyError(f"the release lacks {', '.join(absent)}; it cannot be measured by this policy.")
        if not table.rows:
            raise DataError("release: it has a header but no rows; there is nothing to measure.")
        if table.rows > rows:
            raise DataError(
                f"the release has {table.rows} rows and the original {rows}; give the table it was made of."
            )
        yield _Published(policy, table, codes.axes, rows)


# -- what was lost ---------------------------------------------------------------------------------


def _loss(published: _Published, how: Measure) -> Loss:
    return loss_of_counts(published.policy, published.axes, published.counts, published.table.rows, published.rows, how)


def loss_of_counts(
    policy: Policy,
    axes: Sequence[Axis],
    counts: Mapping[str, Mapping[str | None, int]],
    released: int,
    rows: int,
    how: Measure,
) -> Loss:
    """Information loss of a release of which it is known how often each text is published.

    Parameters
    ----------
    axes : sequence of Axis
        Of the original.
    counts : mapping
        Rows of every published text, for each quasi-identifier.
    released, rows : int
        Rows of the release, and of the original; those withheld lose everything.
    """
    by_column: dict[str, float] = {}
    for axis in axes:
        column, texts = _column(policy, axis.name, counts[axis.name]), counts[axis.name]
        lost = sum(n * _cost(how, axis, _read(axis, column, text)) for text, n in texts.items() if text is not None)
        by_column[axis.name] = (lost + rows - released) / rows
    return Loss.of_columns(by_column, {axis.name: axis.weight for axis in axes}, how.name)


def _column(policy: Policy, name: str, counts: Mapping[str | None, int]) -> PublishedColumn:
    """How the texts of a quasi-identifier are read."""
    return published_column(name, policy, [text for text in counts if text is not None], None)


def _read(axis: Axis, column: PublishedColumn, text: str) -> Meaning:
    meaning = column.read(text)
    if meaning is None:
        raise DataError(f"column {axis.name!r}: a published value cannot be read; run verify to see how many.")
    if isinstance(axis, LineAxis) and not isinstance(meaning, Star | Interval):
        raise DataError(f"column {axis.name!r}: a published value is no number or interval; check the column's type.")
    return meaning


def _cost(how: Measure, axis: Axis, meaning: Meaning) -> float:
    if isinstance(meaning, Star):
        return 1.0 if isinstance(axis, LineAxis) else float(how.node_costs(axis.taxonomy)[0])
    if isinstance(axis, TreeAxis):
        return _tree_cost(how, axis, meaning)
    assert isinstance(meaning, Interval)
    return _line_cost(how, axis, meaning)


def _line_cost(how: Measure, axis: LineAxis, meaning: Interval) -> float:
    whole = axis.values.dtype.is_integer() or axis.values.dtype.is_temporal()
    low, high = float(meaning.lo), float(meaning.hi)
    if math.isinf(low):  # "<= 17" and the like end where the column does
        low = axis.low
    elif not meaning.lo_closed:
        low = low + 1 if whole else math.nextafter(low, math.inf)
    if math.isinf(high):
        high = axis.high
    elif not meaning.hi_closed:  # [20, 25[ of integers ends at 24
        high = high - 1 if whole else math.nextafter(high, -math.inf)
    return float(how.interval_cost(axis, low, high))


def _tree_cost(how: Measure, axis: TreeAxis, meaning: Meaning) -> float:
    tree = axis.taxonomy
    if isinstance(meaning, Node):
        return float(how.node_costs(tree)[meaning.node])
    return float(how.node_costs(tree)[tree.lca(*_leaves(axis, meaning))])


def _leaves(axis: TreeAxis, meaning: Meaning) -> tuple[int, int]:
    """The first and the last leaf that a published value covers."""
    if isinstance(meaning, Node):
        return meaning.first_leaf, meaning.last_leaf
    leaves = [leaf for leaf, label in enumerate(axis.taxonomy.leaf_labels) if _covers(meaning, label)]
    if not leaves:
        raise DataError(f"column {axis.name!r}: a published value covers no value of its hierarchy; run verify.")
    return leaves[0], leaves[-1]


def _covers(meaning: Meaning, label: str) -> bool:
    from kohort.audit.intervals import day, number

    if isinstance(meaning, Mask):
        return len(label) == meaning.length and label.startswith(meaning.prefix)
    if isinstance(meaning, Exact):
        return label == meaning.text
    if isinstance(meaning, Interval):
        value = number(label)
        value = day(label) if value is None else value
        return value is not None and meaning.covers(value)
    return False


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
        texts = table.database.rows(
            f"SELECT any_value({sql}), any_value(starred) FROM parts GROUP BY part ORDER BY part"
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
        meaning = Star() if text is None else _read(axis, column, text)
        if isinstance(meaning, Star):
            return 0, axis.size - 1
        if isinstance(axis, TreeAxis):
            return _leaves(axis, meaning)
        assert isinstance(meaning, Interval)
        low = int(np.searchsorted(numbers, float(meaning.lo), side="left" if meaning.lo_closed else "right"))
        high = int(np.searchsorted(numbers, float(meaning.hi), side="right" if meaning.hi_closed else "left")) - 1
        # What covers no value of the original, such as a mean, counts as the next one.
        low = min(low, max(len(numbers) - 1, 0))
        return low, max(low, high)

    return {text: ends(text) for text in texts}
