"""A release as reports look at it: any tool's file, with or without a policy, with or without its original.

The file is read by the auditor's reader, and means what the auditor takes it for. Its classes are rows whose
quasi-identifiers are written alike, and the box of a class is what its texts cover: codes on the axes of the original
if that is given, else on axes that everybody who has the release can make.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohort.audit.beside import stated_beside
from kohort.audit.fitted import fitted
from kohort.audit.meaning.intervals import Interval
from kohort.audit.meaning.published import BUCKET, STAR, PublishedColumn, Star, published_column, unquoted
from kohort.audit.quick import policy_in_words
from kohort.audit.read.database import Database
from kohort.audit.read.load import load
from kohort.audit.read.table import Table
from kohort.codes.boxes import Boxes
from kohort.codes.encode import Axis, Codes, LineAxis, TreeAxis, as_numbers, encode, encode_column
from kohort.errors import DataError, PolicyError
from kohort.measures import Measure
from kohort.measures.figures.base import Partition
from kohort.measures.loss import Loss
from kohort.policy import Column, Policy
from kohort.release.prepare import spelled
from kohort.release.published_loss import (
    Counted,
    exact_loss,
    leaves_as_far_as_known,
    leaves_of,
    public_axes,
    public_loss,
    read,
)
from kohort.release.sets import counted_sets
from kohort.reports.ordered import Ordered
from kohort.table import Table as Source
from kohort.table import read_table, typed_quasi_identifiers
from kohort.table.databases import SqlTable, is_url
from kohort.table.texts import as_texts
from kohort.table.types import typed_column

Kind: TypeAlias = Literal["release", "original"]
KINDS: tuple[Kind, ...] = ("release", "original")
ISO_DATES = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_COARSE = ("snap", "bottom", "top", "min_width")
_NONE = 1, 0
"""First and last code of what covers nothing."""


def policy_for(
    release: Any,
    policy: Policy | str | Path | None = None,
    *,
    k: int | None = None,
    quasi_identifiers: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    original: Any = None,
) -> Policy:
    """What a file is read by: a policy, a few names of columns, or else the verdict beside it.

    Parameters
    ----------
    release : path, or polars, pandas or pyarrow table
        The file.
    policy : Policy or path, optional
        Roles, hierarchies and k.
    k : int, optional
        Smallest size of a class, instead of the policy's; needed with `quasi_identifiers`.
    quasi_identifiers, sensitive : sequence of str, optional
        Without a policy: columns by role; one text may hold several, with commas between. All others may be published.
    original : optional
        The table that the file was made of; without a policy, its other columns were dropped.

    Raises
    ------
    PolicyError
        When both or too little is given, or a column is not in the file.
    """
    if policy is not None:
        if quasi_identifiers or sensitive:
            raise PolicyError("the policy says which columns are which; leave out --qi and --sensitive.")
        chosen = fitted(Policy.of(policy), _given(release), None if original is None else _given(original))
        return chosen if k is None else chosen.with_changes("privacy", k=k)
    if quasi_identifiers:
        if k is None:
            raise PolicyError("--qi names the quasi-identifiers, and nothing says how many share them; give --k.")
        _, header = next(_headers(release))
        quick = policy_in_words(header, k=k, quasi_identifiers=quasi_identifiers, sensitive=sensitive)
        return quick if original is None else _with_dropped(quick, original)
    if k is not None or sensitive:
        raise PolicyError("nothing says which columns are quasi-identifiers; give the policy, or name them with --qi.")
    stated = stated_beside(release, None).policy
    return stated if original is None else _with_dropped(stated, original)


def _with_dropped(policy: Policy, original: Any) -> Policy:
    """A policy that also has a role for every column of the original, and none for columns that it lacks."""
    with Database() as database:
        header = load(database, "original", _given(original, policy), policy, ()).header
    PolicyError.refuse(
        f"column {name!r} is not in the original; give the table that the file was made of."
        for name in policy.quasi_identifiers
        if name not in header
    )
    columns = {name: column for name, column in policy.columns.items() if name in header}
    dropped = {name: Column(role="identifier") for name in header if name not in columns}
    return policy.model_copy(update={"columns": columns | dropped})


@dataclass(frozen=True)
class Original:
    """The table that a release was made of. What is found with it is private."""

    source: Source
    typed: pl.DataFrame
    """The quasi-identifiers of every record, numbers and dates as such."""
    codes: Codes
    """The same as integers."""
    sets: Mapping[str, Counted] = field(default_factory=dict)
    """The texts of the columns of sets."""

    @property
    def rows(self) -> int:
        """Number of records."""
        return len(self.codes.array)

    @property
    def frame(self) -> pl.DataFrame:
        """Its records as they were read."""
        return self.source.frame


@dataclass(frozen=True)
class Published:
    """A release that fits its policy and its original. Make one with `opened`."""

    policy: Policy
    ordered: Ordered
    """Its table, the rows in an order of their own: no figure depends on that of a file."""
    counts: dict[str, Counted]
    original: Original | None
    known: tuple[Axis, ...] | None = None
    """Some of the axes of the original, if no more is known of its records."""
    lenient: bool = False
    """Whether a published value that no axis has is one that covers nothing, rather than a fault."""

    # -- rows and columns --------------------------------------------------------------------------

    @property
    def table(self) -> Table:
        """As the auditor reads it."""
        return self.ordered.table

    @property
    def rows(self) -> int:
        """Rows of the release, those of `*` included."""
        return self.table.rows

    @property
    def records(self) -> int:
        """Records of the original; rows of the release where that is not known."""
        return self.rows if self.original is None else self.original.rows

    @property
    def withheld(self) -> int:
        """Records that are not in the release at all, as far as they are known."""
        return self.records - self.rows

    @property
    def names(self) -> tuple[str, ...]:
        """The quasi-identifiers that classes are made of."""
        return self.policy.quasi_identifiers if self.known is None else tuple(axis.name for axis in self.known)

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The same with their values: of the original; without one, of what is declared and shown."""
        if self.known is not None:
            return self.known
        return public_axes(self.policy, self.counts) if self.original is None else self.original.codes.axes

    @cached_property
    def as_is(self) -> tuple[str, ...]:
        """Columns that are published as they are and were asked for, in the order of the file."""
        quasi = self.policy.quasi_identifiers
        others = {*quasi, *self.policy.sets}
        return tuple(name for name in self.table.header if name in self.table.columns and name not in others)

    @property
    def in_both(self) -> tuple[str, ...]:
        """Those of them that the original has, too; all of them without one."""
        return tuple(name for name in self.as_is if self.original is None or name in self.original.frame.columns)

    def column(self, name: str) -> PublishedColumn:
        """How the texts of a quasi-identifier are read."""
        return published_column(name, self.policy, self.counts[name].texts, None)

    def numbers(self, name: str) -> NDArray[np.int32]:
        """A number for each row, 0, 1, 2, ...: equal where a column, of whatever role, is written alike."""
        if name in self.policy.quasi_identifiers:
            return self.ordered.codes(name)
        return self._value_numbers(name).astype(np.int32)

    def beside(self, people: Original) -> Published:
        """The same release with another table beside it; see `original_of` and `population_of`."""
        return replace(self, original=people)

    @property
    def original_codes(self) -> Codes:
        """The quasi-identifiers of the table beside it."""
        assert self.original is not None
        return self.original.codes

    def texts(self, name: str) -> tuple[pl.Series, NDArray[np.int64]]:
        """The distinct texts of a column that is published as it is, null for missing, and the number of each row's."""
        order = self.ordered.texts[name]
        found = self.table.dictionary(name).values.whole().gather(order).alias(name)
        if self.policy.output.formulas == "neutralised":
            found = found.map_elements(unquoted, pl.String)
        return found, self.ordered.codes(name).astype(np.int64)

    def typed(self, name: str) -> pl.Series:
        """A column that is published as it is, a value for each row, with the type that the policy gives it."""
        texts, numbers = self.texts(name)
        return _typed(texts, self.policy).gather(numbers)

    def values(self, names: Collection[str]) -> NDArray[np.int64]:
        """Columns that are published as they are, by numbers: equal values have equal ones; shape (rows, names)."""
        found = [self._value_numbers(name) for name in names]
        return np.column_stack(found) if found else np.empty((self.rows, 0), np.int64)

    def of_original(self, name: str) -> pl.Series:
        """The same column in the original."""
        assert self.original is not None
        return _typed(self.original.frame[name], self.policy)

    def values_of_both(self, name: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The same of one column, for the rows of the release and the records of the original, numbered alike."""
        texts, numbers = self.texts(name)
        ours, theirs = _typed(texts, self.policy), self.of_original(name)
        if ours.dtype != theirs.dtype:
            ours, theirs = as_texts(ours), as_texts(theirs)
        both = pl.concat([ours.alias(name), theirs]).rank("dense").fill_null(0).to_numpy().astype(np.int64)
        return both[: len(ours)][numbers], both[len(ours) :]

    @cached_property
    def sensitive(self) -> Codes | None:
        """Sensitive values of each row, if there are any."""
        names = [name for name in self.policy.having_role("sensitive") if name in self.table.columns]
        if not names:
            return None
        coded = [encode_column(self.typed(name), self.policy.columns[name], self.policy) for name in names]
        return Codes(
            np.ascontiguousarray(np.column_stack([codes for _, codes in coded])), tuple(axis for axis, _ in coded)
        )

    def _value_numbers(self, name: str) -> NDArray[np.int64]:
        texts, numbers = self.texts(name)
        return texts.rank("dense").fill_null(0).to_numpy().astype(np.int64)[numbers]

    # -- classes -----------------------------------------------------------------------------------

    @cached_property
    def _written(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Class of each row, and the numbers of the texts of each class."""
        labels, places = self.ordered.classes(self.names)
        texts = [self.ordered.texts[name][places[:, j]] for j, name in enumerate(self.names)]
        return labels, np.column_stack(texts).astype(np.int32)

    @property
    def labels(self) -> NDArray[np.int64]:
        """Class of each row, 0, 1, 2, ...: rows whose quasi-identifiers are written alike."""
        return self._written[0]

    @property
    def class_texts(self) -> NDArray[np.int32]:
        """What each class is published as: numbers of texts, shape (classes, axes)."""
        return self._written[1]

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Rows of each class."""
        return np.bincount(self.labels).astype(np.int64)

    @cached_property
    def kept_classes(self) -> NDArray[np.int64]:
        """The classes of rows that are not suppressed, ascending."""
        return np.unique(self.labels[~self.suppressed])

    @cached_property
    def boxes(self) -> Boxes:
        """What each class covers: smallest and largest code of every axis; the smallest is larger if it covers none."""
        written = self._written[1]
        lo, hi = np.empty_like(written), np.empty_like(written)
        for j in range(len(self.axes)):
            lo[:, j], hi[:, j] = self.ends(j)[written[:, j]].T
        return Boxes(lo, hi)

    def ends(self, axis: int) -> NDArray[np.int32]:
        """Smallest and largest code of what each distinct text of a quasi-identifier covers, shape (texts, 2)."""
        found = self.axes[axis]
        return _ends(found, self.column(found.name), self.counts[found.name].texts, lenient=self.lenient)

    @cached_property
    def suppressed(self) -> NDArray[np.bool_]:
        """Rows of nothing but `*` that stand for suppressed records.

        As the auditor sees it: they are a class only if suppressed records are withheld, and there are at least k.
        """
        stars = [self.table.dictionary(name).star for name in self.names]
        starred = np.all(self._written[1] == [-1 if star is None else star for star in stars], axis=1)[self.labels]
        if self.policy.output.suppressed == "withheld" and starred.sum() >= self.policy.privacy.k:
            starred[:] = False
        return np.asarray(starred)

    @property
    def kept(self) -> NDArray[np.bool_]:
        """The other rows."""
        return ~self.suppressed

    # -- what it is worth --------------------------------------------------------------------------

    def loss(self, how: Measure) -> Loss:
        """What was lost."""
        if self.original is None:
            return public_loss(self.policy, self.counts, how)
        return exact_loss(
            self.policy,
            self.axes,
            self.counts,
            self.records,
            how,
            lenient=self.lenient,
            original_sets=self.original.sets,
        )

    @cached_property
    def partition(self) -> Partition:
        """The classes, as figures take them; suppressed rows are left out."""
        kept = self.kept
        labels, sensitive = self.labels[kept], self.sensitive
        # What covers no value of the original, such as a mean, counts as the next one.
        last = np.array([max(axis.size - 1 - axis.has_missing, 0) for axis in self.axes], np.int32)
        lo = np.where(self.boxes.lo > self.boxes.hi, np.minimum(self.boxes.lo, last), self.boxes.lo)
        return Partition(
            labels=np.unique(labels, return_inverse=True)[1].astype(np.int64),
            axes=self.axes,
            lo=lo[labels],
            hi=np.maximum(lo, self.boxes.hi)[labels],
            sensitive=None if sensitive is None else Codes(sensitive.array[kept], sensitive.axes),
            k=self.policy.privacy.k,
            suppressed=self.records - len(labels),
            original=None if self.original is None else self.original.codes.array,
        )


@contextmanager
def opened(
    release: Any,
    policy: Policy,
    original: Any = None,
    *,
    as_is: bool = False,
    precise: bool = False,
    lenient: bool = False,
    what: Kind = "release",
    with_sets: bool = False,
) -> Iterator[Published]:
    """Open a release, made by any tool.

    Parameters
    ----------
    release, original
        Paths, or polars, pandas or pyarrow tables.
    policy : Policy
        See `policy_for`.
    as_is : bool
        Whether all columns that are published as they are will be asked for; sensitive ones always may be.
    precise : bool
        Whether the original is encoded by its own values, even where the policy does not distinguish some of them:
        what an attacker knows is precise.
    lenient : bool
        Whether a label that no hierarchy explains is one that covers nothing known, rather than a fault: for files of
        other tools that are read without a policy.
    with_sets : bool
        Whether whoever asks looks at sets, too; a release that has some is refused otherwise.
    what : str
        An original may be opened like a release: every value of it is published as it is.

    Raises
    ------
    DataError, PolicyError
        When a table cannot be read, or does not fit the policy or the other one.
    """
    policy = fitted(policy, _given(release, policy), None if original is None else _given(original, policy))
    if policy.sets and not with_sets:
        fault = "this report does not look at sets, and the release has some; leave the column out of file and policy."
        raise PolicyError(policy.located(("columns", policy.sets[0]), fault))
    with Database() as database:
        table = load(database, what, _given(release, policy), policy, _wanted(policy, everything=as_is))
        absent = [repr(name) for name in (*policy.quasi_identifiers, *policy.sets) if name not in table.columns]
        if absent:
            raise PolicyError(f"the {what} lacks {', '.join(absent)}; it cannot be measured by this policy.")
        if not table.rows:
            raise DataError(f"{what}: it has a header but no rows; there is nothing to measure.")
        beside = None if original is None else original_of(read_beside(original, policy), policy, precise=precise)
        refuse_other(table.rows, beside)
        counts = {name: Counted.of(table.dictionary(name)) for name in (*policy.quasi_identifiers, *policy.sets)}
        yield Published(policy, Ordered(table), counts, beside, lenient=lenient)


def header_of(release: Any, policy: Policy) -> list[str]:
    """The names of the columns of a release."""
    with Database() as database:
        return list(load(database, "release", _given(release, policy), policy, ()).header)


def refuse_other(rows: int, original: Original | None) -> None:
    """Refuse an original with fewer records than a release has rows."""
    if original is not None and rows > original.rows:
        raise DataError(
            f"the release has {rows:,} rows and the original {original.rows:,}; give the table it was made of."
        )


def _given(release: Any, policy: Policy | None = None) -> Any:
    """A release in the form that the auditor's reader takes."""
    if is_url(release):
        return SqlTable(release)
    if isinstance(release, str | Path):
        return Path(release)
    if isinstance(release, SqlTable):
        return release
    return read_table(release, known=() if policy is None else policy.columns).frame


class _Everything(Collection[str]):
    """The names of all columns of a file that say something by themselves."""

    def __init__(self, policy: Policy) -> None:
        self.quasi = policy.quasi_identifiers
        # beside a generalized column are the ends of its intervals, which say the same; identifiers and random numbers
        # are never known
        ends = (name + end for name in self.quasi for end in ("_lo", "_hi", "_mid"))
        drawn = {BUCKET} if policy.privacy.anonymity == "buckets" else ()
        self.others = {*ends, *drawn, *policy.having_role("identifier")} - {
            *policy.having_role("sensitive", "insensitive")
        }

    def __contains__(self, name: object) -> bool:
        return name in self.quasi or name not in self.others

    def __iter__(self) -> Iterator[str]:
        return iter(self.quasi)

    def __len__(self) -> int:
        return len(self.quasi)


def _wanted(policy: Policy, *, everything: bool) -> Collection[str]:
    return _Everything(policy) if everything else {*policy.having_role("quasi", "sensitive"), *policy.sets}


def read_beside(table: Any, policy: Policy) -> Source:
    """Read an original, or another table of people, as the policy says."""
    return read_table(table, policy.input, policy.columns)


def original_of(source: Source, policy: Policy, *, precise: bool = False) -> Original:
    """Encode the quasi-identifiers of a table that was read; see `opened`."""
    policy.check_columns(source.frame.columns, source.name)
    frame = typed_quasi_identifiers(source.frame, policy, source.zones)
    codes = encode(frame, precise_policy(policy) if precise else policy)
    sets = {name: counted_sets(source.frame[name], policy) for name in policy.sets}
    return Original(source, frame.select(policy.quasi_identifiers), codes, sets)


def precise_policy(policy: Policy) -> Policy:
    """The policy without what makes values less precise."""
    keys: dict[str, Any] = dict.fromkeys(_COARSE)
    columns = {name: column.model_copy(update=keys) for name, column in policy.columns.items()}
    return policy.model_copy(update={"columns": columns})


def kind_of(table: Any, policy: Policy) -> Kind:
    """Whether a table is an original: it has identifiers that a release drops, or can only be read as one."""
    for what, header in _headers(table, policy):
        if set(header) >= set(policy.quasi_identifiers):
            return "original" if set(header) & set(policy.dropped) else what
    return "release"


def _headers(table: Any, policy: Policy | None = None) -> Iterator[tuple[Kind, tuple[str, ...]]]:
    """The columns of a table as a release, then as an original, as far as it can be read as such."""
    given, chosen = _given(table, policy), policy or Policy.build(k=2, quasi_identifiers=["any"])
    faults: list[DataError] = []
    for what in KINDS:
        try:
            with Database() as database:
                header = load(database, what, given, chosen, ()).header
        except DataError as error:
            faults.append(error)
        else:
            yield what, header
    if len(faults) == len(KINDS):
        raise faults[0]


def population_of(table: Any, policy: Policy) -> Original:
    """Read a table of people, of whom the records may be a sample; only its quasi-identifiers are looked at."""
    quasi = policy.quasi_identifiers
    source = read_beside(table, policy)
    DataError.refuse(
        f"population: quasi-identifier {name!r} is not in it; add the column, or give another table."
        for name in quasi
        if name not in source.frame.columns
    )
    there = policy.model_copy(update={"columns": {name: policy.columns[name] for name in quasi}})
    return original_of(replace(source, frame=source.frame.select(quasi)), there, precise=True)


# -- what cells mean -------------------------------------------------------------------------------


def _typed(texts: pl.Series, policy: Policy) -> pl.Series:
    """Values with their type; texts that the policy does not name stay texts."""
    if texts.name not in policy.columns:
        return texts
    column = policy.columns[texts.name]
    if column.role == "sensitive":
        texts = spelled(texts, policy)
    if column.format is not None and texts.dtype == pl.String and texts.drop_nulls().str.contains(ISO_DATES).all():
        # typed files write their dates in ISO
        column = column.model_copy(update={"format": None})
    return typed_column(texts, policy.model_copy(update={"columns": {texts.name: column}}))


def _ends(axis: Axis, column: PublishedColumn, texts: pl.Series, *, lenient: bool) -> NDArray[np.int32]:
    """Smallest and largest code of what each published text covers, shape (texts, 2)."""
    is_missing = texts.is_null().to_numpy()
    found = np.empty((len(texts), 2), np.int32)
    # a missing cell where the original has none stands for any value
    found[is_missing] = (axis.missing_code,) * 2 if axis.has_missing else (0, axis.size - 1)
    said = np.flatnonzero(~is_missing)
    some = texts.gather(said)
    if isinstance(axis, LineAxis):
        found[said] = _line_ends(axis, column, some)
    else:
        found[said] = [_tree_ends(axis, column, text, lenient=lenient) for text in some] or np.empty((0, 2), np.int32)
    return found


def _line_ends(axis: LineAxis, column: PublishedColumn, texts: pl.Series) -> NDArray[np.int32]:
    numbers = as_numbers(axis.values)
    found = np.empty((len(texts), 2), np.int32)
    rest = np.ones(len(texts), bool)
    if column.has_ends:
        ends = column.ends(texts)
        rest = ~ends.plain
        found[:, 0] = np.searchsorted(numbers, ends.lo, side="left")
        found[:, 1] = np.searchsorted(numbers, ends.hi, side="right") - 1
    for place in np.flatnonzero(rest).tolist():
        meaning = read(column, texts[place], line=True)
        if isinstance(meaning, Interval):
            low = np.searchsorted(numbers, float(meaning.lo), side="left" if meaning.lo_closed else "right")
            high = np.searchsorted(numbers, float(meaning.hi), side="right" if meaning.hi_closed else "left") - 1
            found[place] = low, high
        else:
            found[place] = 0, axis.size - 1
    return found


def _tree_ends(axis: TreeAxis, column: PublishedColumn, text: str, *, lenient: bool) -> tuple[int, int]:
    tree, plain = axis.taxonomy, column.plain(text)
    if plain == STAR:  # which may stand for a missing value, too
        return 0, axis.size - 1
    node = tree.node_of(plain)
    if node is not None:
        return int(tree.first_leaf[node]), int(tree.last_leaf[node])
    meaning = read(column, text)
    if isinstance(meaning, Star):
        return 0, axis.size - 1
    return (leaves_as_far_as_known(axis, meaning) or _NONE) if lenient else leaves_of(axis, meaning)
