"""What a written release lost, whoever wrote it: from the file and the original."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from kohort.audit.intervals import Interval
from kohort.audit.load import Database, load
from kohort.audit.published import Exact, Mask, Meaning, Node, PublishedColumn, Star, published_column
from kohort.encode import Axis, LineAxis, TreeAxis, encode
from kohort.errors import DataError, PolicyError
from kohort.measures import MEASURES, Measure
from kohort.measures.loss import Loss
from kohort.policy import Policy
from kohort.table import read_table, typed_quasi_identifiers


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
    chosen = policy.algorithm.measure
    how = MEASURES.make(name, {}) if name else MEASURES.make(chosen.name, chosen.parameters)
    source = read_table(original, policy.input)
    policy.check_columns(source.frame.columns, source.name)
    codes = encode(typed_quasi_identifiers(source.frame, policy), policy)
    rows = source.frame.height
    given = Path(release) if isinstance(release, str | Path) else read_table(release).frame
    by_column: dict[str, float] = {}
    with Database() as database:
        table = load(database, "release", given, policy, set(policy.quasi_identifiers))
        absent = [repr(axis.name) for axis in codes.axes if axis.name not in table.columns]
        if absent:
            raise PolicyError(f"the release lacks {', '.join(absent)}; it cannot be measured by this policy.")
        if not table.rows:
            raise DataError("release: it has a header but no rows; there is nothing to measure.")
        if table.rows > rows:
            raise DataError(
                f"the release has {table.rows} rows and the original {rows}; give the table it was made of."
            )
        for axis in codes.axes:
            counts = table.counts(axis.name)
            texts = [text for text in counts if text is not None]
            column = published_column(axis.name, policy, texts, None)
            lost = sum(n * _cost(how, axis, column, text) for text, n in counts.items() if text is not None)
            by_column[axis.name] = (lost + rows - table.rows) / rows
    return Loss.of_columns(by_column, {axis.name: axis.weight for axis in codes.axes}, how.name)


def _cost(how: Measure, axis: Axis, column: PublishedColumn, text: str) -> float:
    meaning = column.read(text)
    if meaning is None:
        raise DataError(f"column {axis.name!r}: a published value cannot be read; run verify to see how many.")
    if isinstance(meaning, Star):
        return 1.0 if isinstance(axis, LineAxis) else float(how.node_costs(axis.taxonomy)[0])
    return _line_cost(how, axis, meaning) if isinstance(axis, LineAxis) else _tree_cost(how, axis, meaning)


def _line_cost(how: Measure, axis: LineAxis, meaning: Meaning) -> float:
    if not isinstance(meaning, Interval):
        raise DataError(f"column {axis.name!r}: a published value is no number or interval; check the column's type.")
    whole = axis.values.dtype.is_integer() or axis.values.dtype.is_temporal()
    low, high = float(meaning.lo), float(meaning.hi)
    if not meaning.lo_closed:
        low = low + 1 if whole else math.nextafter(low, math.inf)
    if not meaning.hi_closed:  # [20, 25[ of integers ends at 24
        high = high - 1 if whole else math.nextafter(high, -math.inf)
    if math.isinf(low):  # "<= 17" and the like end where the column does
        low = axis.low
    if math.isinf(high):
        high = axis.high
    return how.interval_cost(axis, low, high)


def _tree_cost(how: Measure, axis: TreeAxis, meaning: Meaning) -> float:
    tree = axis.taxonomy
    if isinstance(meaning, Node):
        return float(how.node_costs(tree)[meaning.node])
    leaves = [leaf for leaf, label in enumerate(tree.leaf_labels) if _covers(meaning, label)]
    if not leaves:
        raise DataError(f"column {axis.name!r}: a published value covers no value of its hierarchy; run verify.")
    node = int(tree.lca(np.array(leaves[:1]), np.array(leaves[-1:]))[0])
    return float(how.node_costs(tree)[node])


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
