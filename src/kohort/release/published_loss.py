"""The loss of a release, read from its published values: the one definition that every command reports.

What is lost is a function of the texts of each column, of how often each is published, and of an axis that says what a
text is a share of. With the axes of the original it is the steward's figure. With axes that are made of the policy and
of the published texts alone, it is a figure that everybody who has the release can compute: the public one.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import chain
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohort.audit.meaning.intervals import Interval, day, number
from kohort.audit.meaning.published import STAR, Exact, Mask, Meaning, Node, PublishedColumn, Star, published_column
from kohort.audit.meaning.sets import SetTexts, set_texts
from kohort.audit.read.dictionary import Dictionary
from kohort.codes.encode import Axis, LineAxis, TreeAxis
from kohort.errors import DataError, KohortError
from kohort.measures.base import Measure
from kohort.measures.loss import Loss, RelativeTo, star_cost
from kohort.policy import Column, Policy
from kohort.policy.hierarchy import Taxonomy, bins, dates, prefixes
from kohort.policy.hierarchy.items import group_items, is_grouped, item_taxonomy

_EPOCH = date(1970, 1, 1).toordinal()
_INT64 = 2**63


@dataclass(frozen=True)
class Counted:
    """The distinct published texts of a column, null where a value is missing, and the rows of each."""

    texts: pl.Series
    times: NDArray[np.int64]

    @classmethod
    def of(cls, dictionary: Dictionary) -> Counted:
        """Take them as the audit counted them; a `*` that the policy reads as missing still says "any value"."""
        texts = dictionary.values.whole()
        if dictionary.star is not None:
            texts = texts.scatter(dictionary.star, STAR)
        return cls(texts, np.asarray(dictionary.times, np.int64))

    @property
    def rows(self) -> int:
        """Rows of the release."""
        return int(self.times.sum())


Counts: TypeAlias = Mapping[str, Counted]
"""The published texts of every quasi-identifier."""


def exact_loss(
    policy: Policy,
    axes: Sequence[Axis],
    counts: Counts,
    rows: int,
    how: Measure,
    *,
    lenient: bool = False,
    original_sets: Mapping[str, Counted] = MappingProxyType({}),
) -> Loss:
    """Loss relative to the original; for its steward.

    Parameters
    ----------
    axes : sequence of Axis
        Of the original, with the values of all its records.
    rows : int
        Rows of the original; those that are not in the release lose what `*` does.
    lenient : bool
        Whether a label that no hierarchy explains is as good as `*`, rather than a fault.
    original_sets : mapping
        The texts of the columns of sets in the original.
    """
    by_column = {}
    for axis in axes:
        counted = counts[axis.name]
        withheld = (rows - counted.rows) * star_cost(how, axis)
        by_column[axis.name] = (
            _lost(how, axis, _reader(policy, axis.name, counted), counted, lenient=lenient) + withheld
        ) / rows
    for name, there in original_sets.items():
        by_column[name] = sets_loss(policy, name, counts[name], there, how)
    return Loss.of_columns(by_column, _weights(policy), how.name, _declared(policy, how))


def public_loss(policy: Policy, counts: Counts, how: Measure) -> Loss:
    """Loss relative to what the policy declares and the release shows; withheld records do not count.

    It depends on the release and the policy alone, so it reveals nothing that these do not.
    """
    by_column = {}
    declared = _declared(policy, how)
    relative_to: dict[str, RelativeTo] = {}
    for name, counted in counts.items():
        if name in policy.sets:
            by_column[name] = sets_loss(policy, name, counted, None, how)
            relative_to[name] = declared.get(name, "published")
            continue
        reader = _reader(policy, name, counted)
        axis = _axis(policy, reader, counted)
        by_column[name] = _lost(how, axis, reader, counted) / counted.rows
        relative_to[name] = declared.get(name, "published")
    return Loss.of_columns(by_column, _weights(policy), how.name, relative_to)


def public_axes(policy: Policy, counts: Counts) -> tuple[Axis, ...]:
    """What the published texts are shares of, from the policy and the texts alone."""
    return tuple(
        _axis(policy, _reader(policy, name, counted), counted)
        for name, counted in counts.items()
        if name not in policy.sets
    )


def _weights(policy: Policy) -> dict[str, float]:
    return {name: policy.columns[name].weight for name in (*policy.quasi_identifiers, *policy.sets)}


def _declared(policy: Policy, how: Measure) -> dict[str, RelativeTo]:
    """The columns whose loss is a share of something that the policy declares."""
    return {
        name: "declared"
        for name in (*policy.quasi_identifiers, *policy.sets)
        if _is_declared(policy.columns[name], how)
    }


def _is_declared(column: Column, how: Measure) -> bool:
    """Whether the policy says all that a loss is a share of: a whole hierarchy, or a domain if its ends are enough."""
    if column.hierarchy is not None:
        return column.hierarchy.file is not None or column.hierarchy.tree is not None
    return column.domain is not None and how.by_width


# -- what sets lose ---------------------------------------------------------------------------------


def sets_loss(policy: Policy, name: str, counted: Counted, original: Counted | None, how: Measure) -> float:
    """Mean over the items of the original of what each loses, one published label standing for one of them.

    Items of the original for which no label is left, because they are left out or another item of the record has the
    same label, are lost. Without the original, what published labels lose: nobody knows of others.
    """
    published, there = _set_texts(policy, name, counted), None
    tree = item_tree(policy, name, published.labels, published.labels)
    total = 0
    if original is not None:
        there = set_texts(original.texts, policy.columns[name].separator, published=False)
        tree = item_tree(policy, name, there.labels, published.labels)
        total = int((np.diff(there.starts) * original.times).sum())
    times = np.bincount(published.codes, np.repeat(counted.times, np.diff(published.starts)), len(published.labels))
    nodes = [tree.node_of(label) or 0 for label in published.labels]
    labels = int(times.sum())
    lost = math.fsum(how.node_costs(tree)[nodes] * times) + max(total - labels, 0)
    return lost / max(total, labels, 1)


def _set_texts(policy: Policy, name: str, counted: Counted) -> SetTexts:
    return set_texts(counted.texts, policy.columns[name].separator, published=True)


def item_tree(policy: Policy, name: str, items: Sequence[str], published: Sequence[str]) -> Taxonomy:
    """The tree of the items; of published labels where there are no others, each mask stands for two codes."""
    spec = policy.columns[name].hierarchy
    if is_grouped(policy, name):
        return item_taxonomy(policy, name, [item for label in items for item in group_items(label)], published)
    if spec is not None and (spec.file is not None or spec.tree is not None):
        return item_taxonomy(policy, name, ())
    codes = [code for label in items for code in _codes_of_label(label)]
    return item_taxonomy(policy, name, codes)


def _codes_of_label(label: str) -> tuple[str, ...]:
    if label == STAR:
        return ()
    return (f"{label[:-1]}0", f"{label[:-1]}1") if label.endswith(STAR) else (label,)


# -- what is lost -----------------------------------------------------------------------------------


def _reader(policy: Policy, name: str, counted: Counted) -> PublishedColumn:
    """How the texts of a quasi-identifier are read."""
    return published_column(name, policy, counted.texts, None)


def _lost(how: Measure, axis: Axis, reader: PublishedColumn, counted: Counted, *, lenient: bool = False) -> float:
    """What all rows of a column lose; the sum does not depend on the order of the texts."""
    said = counted.texts.is_not_null()
    texts = counted.texts.filter(said)
    if isinstance(axis, LineAxis):
        costs = _line_costs(how, axis, reader, texts)
    else:
        costs = _tree_costs(how, axis, reader, texts, lenient=lenient)
    return math.fsum(costs * counted.times[said.to_numpy()])


def _line_costs(how: Measure, axis: LineAxis, reader: PublishedColumn, texts: pl.Series) -> NDArray[np.float64]:
    low, high, star = line_ends(axis, reader, texts)
    return np.where(star, star_cost(how, axis), how.interval_cost(axis, low, high))


def line_ends(
    axis: LineAxis, reader: PublishedColumn, texts: pl.Series
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Read published numbers, dates and intervals.

    Returns
    -------
    low, high : ndarray of float
        Smallest and largest value that each may stand for; 0 where it says nothing.
    star : ndarray of bool
        Which say nothing.
    """
    low, high, star = np.zeros(len(texts)), np.zeros(len(texts)), np.zeros(len(texts), bool)
    rest = np.ones(len(texts), bool)
    if reader.has_ends:
        found = reader.ends(texts)
        low, high, rest = found.lo.copy(), found.hi.copy(), ~found.plain
    for place in np.flatnonzero(rest).tolist():
        meaning = read(reader, texts[place], line=True)
        if isinstance(meaning, Interval):
            low[place], high[place] = _ends_on(axis, meaning)
        else:
            star[place], low[place], high[place] = True, 0.0, 0.0
    return low, high, star


def _ends_on(axis: LineAxis, meaning: Interval) -> tuple[float, float]:
    """Ends of an interval as numbers; half-lines such as `<= 17` end where the column does."""
    whole = axis.values.dtype.is_integer() or axis.values.dtype.is_temporal()
    low, high = (float(end) for end in _closed(meaning, whole=whole))
    return axis.low if math.isinf(low) else low, axis.high if math.isinf(high) else high


def _closed(meaning: Interval, *, whole: bool) -> tuple[Decimal, Decimal]:
    """The ends that belong to it: [20, 25[ of whole numbers ends at 24."""
    low, high = meaning.lo, meaning.hi
    if low.is_finite() and not meaning.lo_closed:
        low = low + 1 if whole else Decimal(repr(math.nextafter(float(low), math.inf)))
    if high.is_finite() and not meaning.hi_closed:
        high = high - 1 if whole else Decimal(repr(math.nextafter(float(high), -math.inf)))
    return low, high


def _tree_costs(
    how: Measure, axis: TreeAxis, reader: PublishedColumn, texts: pl.Series, *, lenient: bool
) -> NDArray[np.float64]:
    nodes = [_node(axis, reader, text, lenient=lenient) for text in texts]
    return how.node_costs(axis.taxonomy)[np.array(nodes, np.int64)]


def _node(axis: TreeAxis, reader: PublishedColumn, text: str, *, lenient: bool) -> int:
    """The lowest node above all that a published text covers."""
    tree = axis.taxonomy
    meaning = read(reader, text)
    if isinstance(meaning, Star):
        return 0
    if isinstance(meaning, Node):
        return meaning.node
    known = tree.node_of(reader.plain(text))
    if known is not None:
        return known
    leaves = leaves_as_far_as_known(axis, meaning) if lenient else leaves_of(axis, meaning)
    return 0 if leaves is None else int(tree.lca(*leaves))


def read(reader: PublishedColumn, text: str, *, line: bool = False) -> Meaning:
    """Read a published text, which must mean something.

    Parameters
    ----------
    line : bool
        Whether it must be a number, a date, or an interval of such.
    """
    meaning = reader.read(text)
    if meaning is None:
        raise DataError(f"column {reader.name!r}: a published value cannot be read; run verify to see how many.")
    if line and not isinstance(meaning, Star | Interval):
        raise DataError(f"column {reader.name!r}: a published value is no number or interval; check the column's type.")
    return meaning


def leaves_of(axis: TreeAxis, meaning: Meaning) -> tuple[int, int]:
    """The first and the last leaf that a published value covers."""
    found = covered_leaves(axis, meaning)
    if found is None:
        raise DataError(
            f"column {axis.name!r}: a published value covers no value of its hierarchy; give a policy that has it, "
            "or run verify."
        )
    return found


def leaves_as_far_as_known(axis: TreeAxis, meaning: Meaning) -> tuple[int, int] | None:
    """The same where no hierarchy was given: a masked code covers those that begin alike; None for other labels."""
    if isinstance(meaning, Exact) and meaning.text.endswith(STAR):
        meaning = Mask(meaning.text.rstrip(STAR), len(meaning.text))
    return covered_leaves(axis, meaning)


def covered_leaves(axis: TreeAxis, meaning: Meaning) -> tuple[int, int] | None:
    """The same; None if it covers none."""
    if isinstance(meaning, Node):
        return meaning.first_leaf, meaning.last_leaf
    leaves = [leaf for leaf, label in enumerate(axis.taxonomy.leaf_labels) if _covers(meaning, label)]
    return (leaves[0], leaves[-1]) if leaves else None


def _covers(meaning: Meaning, label: str) -> bool:
    if isinstance(meaning, Mask):
        return len(label) == meaning.length and label.startswith(meaning.prefix)
    if isinstance(meaning, Exact):
        return label == meaning.text
    if isinstance(meaning, Interval):
        value = number(label)
        value = day(label) if value is None else value
        return value is not None and meaning.covers(value)
    return False


# -- what it is a share of, for everybody --------------------------------------------------------------


def _axis(policy: Policy, reader: PublishedColumn, counted: Counted) -> Axis:
    """The axis that the policy declares, or the least one that holds what is published."""
    column = policy.columns[reader.name]
    texts, missing = counted.texts.drop_nulls(), counted.texts.null_count() > 0
    if reader.taxonomy is not None:
        return TreeAxis(reader.name, column.weight, reader.taxonomy, missing)
    if column.hierarchy is None and reader.has_ends:
        return _line(column, reader, texts, missing=missing)
    tree = _tree(column, reader, texts)
    if tree is None:  # nothing but `*` and missing cells
        return LineAxis(reader.name, column.weight, pl.Series([], dtype=pl.Int64), 0.0, 0.0, missing)
    return TreeAxis(reader.name, column.weight, tree, missing)


def _line(column: Column, reader: PublishedColumn, texts: pl.Series, *, missing: bool) -> LineAxis:
    """Numbers or dates: the declared domain, or from the smallest to the largest published end."""
    found = reader.ends(texts)
    others = [meaning for meaning in _meanings(reader, texts.filter(~found.plain)) if isinstance(meaning, Interval)]
    finite = [end for meaning in others for end in (meaning.lo, meaning.hi) if end.is_finite()]
    # A half-line ends at the border that the policy gives it, if nothing is published beyond.
    finite += [
        _border(border)
        for border, open_end in ((column.bottom, -math.inf), (column.top, math.inf))
        if border is not None and any(open_end in (meaning.lo, meaning.hi) for meaning in others)
    ]
    ends = np.concatenate([found.lo[found.plain], found.hi[found.plain], np.array(finite, np.float64)])
    ends = np.unique(ends)
    values = pl.Series(reader.name, ends, dtype=pl.Float64)
    if (ends == np.rint(ends)).all() and np.abs(ends).max(initial=0.0) < _INT64:
        values = values.cast(pl.Int64)
        values = values.cast(pl.Int32).cast(pl.Date) if reader.kind == "date" else values
    low, high = column.domain or ((ends[0], ends[-1]) if len(ends) else (0.0, 0.0))
    return LineAxis(reader.name, column.weight, values, float(low), float(high), missing)


def _border(border: float | str) -> Decimal:
    """A border of the policy: a number, or a date as days since 1970."""
    return Decimal(date.fromisoformat(border).toordinal() - _EPOCH if isinstance(border, str) else str(border))


def _meanings(reader: PublishedColumn, texts: Iterable[str]) -> Iterator[Meaning]:
    return (read(reader, text) for text in texts)


def _tree(column: Column, reader: PublishedColumn, texts: pl.Series) -> Taxonomy | None:
    """A hierarchy over the published values, and over the two ends of every interval, label or mask."""
    name, spec = reader.name, column.hierarchy
    if reader.kind in ("text", "prefix"):
        codes = set(chain.from_iterable(map(_codes, _meanings(reader, texts))))
        if not codes:
            return None
        if spec is not None and spec.prefix is not None:
            return prefixes(sorted(codes), lengths=spec.prefix, column=name)
        return Taxonomy.flat(sorted(codes), column=name)
    assert spec is not None
    said = {text: meaning for text in texts for meaning in (read(reader, text),) if isinstance(meaning, Interval)}
    if not said:
        return None
    if spec.dates is not None:
        days = {int(end) for meaning in said.values() for end in _inside(meaning, whole=True)}
        return dates([date.fromordinal(one + _EPOCH) for one in sorted(days)], levels=spec.dates, column=name)
    whole = column.type == "integer" or (
        column.type != "number" and not any("." in text or text.endswith("[") for text in said)
    )
    try:
        return _bins(column, name, said, whole=whole)
    except KohortError:  # the texts do not say whether the column holds whole numbers
        return _bins(column, name, said, whole=not whole)


def _codes(meaning: Meaning) -> tuple[str, ...]:
    """A published text itself, or two texts that a mask may stand for."""
    if isinstance(meaning, Mask):
        rest = "0" * (meaning.length - len(meaning.prefix) - 1)
        return meaning.prefix + "0" + rest, meaning.prefix + "1" + rest
    return (meaning.text,) if isinstance(meaning, Exact) else ()


def _inside(meaning: Interval, *, whole: bool) -> tuple[Decimal, Decimal]:
    """Two values of an interval, as far apart as can be; a half-line has its end and the next one."""
    low, high = _closed(meaning, whole=whole)
    if not low.is_finite():
        low = high - 1
    if not high.is_finite():
        high = low + 1
    return low, high


def _bins(column: Column, name: str, said: Mapping[str, Interval], *, whole: bool) -> Taxonomy:
    """Bins over the published numbers and the ends of the published bins."""
    spec = column.hierarchy
    assert spec is not None
    kind = int if whole else float
    largest = Decimal(_INT64 - 1 if whole else sys.float_info.max)  # no value lies beyond, though a bin may
    ends = (max(-largest, min(largest, end)) for meaning in said.values() for end in _inside(meaning, whole=whole))
    written = {kind(end): str(end) for end in ends}
    written |= {kind(meaning.lo): text for text, meaning in said.items() if meaning.lo == meaning.hi}
    numbers = sorted(written)
    texts = [written[one] for one in numbers]
    values: NDArray[np.int64] | NDArray[np.float64] = np.array(numbers, np.float64)
    if whole:
        values = np.array(numbers, np.int64)
    return bins(spec, values, integers=whole, column=name, text=texts)
