"""k-anonymity as a transformer of scikit-learn: `KAnonymizer(k=5, quasi_identifiers=[...]).fit_transform(frame)`.

It needs ``kohort[sklearn]``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from kohort.audit.meaning.intervals import Interval
from kohort.audit.meaning.published import Exact, Mask, Node, PublishedColumn, Star, published_column
from kohort.errors import DataError, PolicyError
from kohort.policy import Policy
from kohort.release.run import anonymize
from kohort.reports.sets import refuse_sets
from kohort.table.frames import take_frame
from kohort.table.texts import as_texts
from kohort.table.write import same_kind

__all__ = ["KAnonymizer"]
_BLOCK = 1 << 16
"""Rows that are compared with all classes at once."""


class KAnonymizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Publish every record under the description of its class of k or more.

    Frames come back as frames of the same kind, with intervals and labels as text. Arrays of numbers come back as
    arrays: the middle of each interval. `fit_transform` is a verified release of the table, in its own order.
    `transform` of that table is the same release; a new record gets the narrowest published description that covers it,
    and is refused if none does: to widen one would reveal it. What a new record adds is not verified.

    Parameters
    ----------
    k : int
        Smallest class size.
    quasi_identifiers : sequence of str, optional
        Columns that are generalized; all when absent. Other columns stay as they are.
    hierarchies : mapping, optional
        Column to hierarchy, as in `kohort.Policy.build`.
    policy : mapping, optional
        Further arguments of `kohort.Policy.build`, such as ``{"suppression_limit": 0}`` or ``{"models": [...]}``.
    random_state : int, optional
        Seed of the clustering.

    Attributes
    ----------
    release_ : Release
        The release of the table that it was fitted to; private.
    policy_ : Policy
        What is promised.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [31, 35, 40, 44], "sex": ["F", "F", "M", "M"], "pay": [1, 2, 3, 4]})
    >>> anonymizer = KAnonymizer(k=2, quasi_identifiers=["age", "sex"], random_state=1)
    >>> anonymizer.fit_transform(frame).rows()[0]
    ('[31 - 35]', 'F', 1)
    >>> anonymizer.transform(pl.DataFrame({"age": [42], "sex": ["M"], "pay": [9]})).rows()
    [('[40 - 44]', 'M', 9)]
    """

    def __init__(
        self,
        k: int = 5,
        quasi_identifiers: Sequence[str] | None = None,
        hierarchies: Mapping[str, Any] | None = None,
        policy: Mapping[str, Any] | None = None,
        random_state: int | None = None,
    ) -> None:
        self.k = k
        self.quasi_identifiers = quasi_identifiers
        self.hierarchies = hierarchies
        self.policy = policy
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Make a release of a table, and remember its classes."""
        frame, _ = self._taken(X, reset=True)
        names = frame.columns if self.quasi_identifiers is None else list(self.quasi_identifiers)
        more: dict[str, Any] = {"output": {"order": "kept"}, "seed": self.random_state} | dict(self.policy or {})
        with_roles = {*names, *more.get("sensitive", ())}
        self.policy_ = Policy.build(
            k=self.k,
            quasi_identifiers=names,
            insensitive=[name for name in frame.columns if name not in with_roles],
            hierarchies=self.hierarchies,
            **more,
        )
        refuse_sets(self.policy_, "KAnonymizer")
        if self.policy_.output.order != "kept" or self.policy_.output.bounds:
            raise PolicyError("KAnonymizer: rows and columns stay in their order; leave 'order' and 'bounds' out.")
        self.release_ = anonymize(frame, self.policy_)
        if self.release_.table.height < frame.height:
            raise DataError("KAnonymizer: some records are suppressed, and every row needs a result; show them as '*'.")
        self._table = frame
        self._classes = self.release_.table.select(names).unique(maintain_order=True)
        self._readers = {
            name: published_column(name, self.policy_, self._classes[name], as_texts(frame[name].unique()))
            for name in names
        }
        return self

    def transform(self, X: Any) -> Any:
        """The published form of some records.

        Raises
        ------
        DataError
            When no published description covers a record; it is a ValueError, too.
        """
        check_is_fitted(self)
        frame, kind = self._taken(X, reset=False)
        if frame.equals(self._table):
            published = self.release_.table
        elif not frame.height:
            published = frame.with_columns(pl.col(name).cast(pl.String) for name in self._readers)
        else:
            found = self._classes[self._covering(frame)]
            published = frame.with_columns(found.get_columns())
        return self._middles(published, frame) if kind == "array" else same_kind(published, kind)

    def _taken(self, X: Any, *, reset: bool) -> tuple[pl.DataFrame, str]:
        """The table as one of polars, and what it came as."""
        try:
            frame, kind = take_frame(X)
        except DataError:
            array = validate_data(self, X, reset=reset, dtype="numeric", ensure_min_samples=2 if reset else 1)
            return pl.DataFrame(np.asarray(array, float), [f"x{place}" for place in range(array.shape[1])]), "array"
        if reset:
            self.n_features_in_, self.feature_names_in_ = frame.width, np.array(frame.columns, object)
        elif frame.columns != list(getattr(self, "feature_names_in_", frame.columns)):
            raise ValueError("The feature names should match those that were passed during fit.")
        return frame, kind

    def _covering(self, frame: pl.DataFrame) -> NDArray[np.int64]:
        """The narrowest class that covers each record; the first of several."""
        classes = self._classes.height
        widths = np.zeros(classes)
        tables, places = [], []
        for name, reader in self._readers.items():
            shown = self._classes[name].unique(maintain_order=True)
            values = as_texts(frame[name])
            given = values.unique(maintain_order=True)
            covers = np.array([[_covers(reader, value, text) for text in shown] for value in given], bool)
            of_class = _places(self._classes[name], shown)
            widths += np.array([_width(reader, text) for text in shown])[of_class]
            tables.append(covers[:, of_class])
            places.append(_places(values, given))
        found, lost = np.empty(frame.height, np.int64), 0
        for start in range(0, frame.height, step := max(1, _BLOCK // classes)):
            fits = np.ones((min(step, frame.height - start), classes), bool)
            for table, place in zip(tables, places, strict=True):
                fits &= table[place[start : start + step]]
            lost += int((~fits.any(axis=1)).sum())
            found[start : start + step] = np.where(fits, widths, np.inf).argmin(axis=1)
        if lost:
            raise NotCovered(f"{lost:,} of {frame.height:,} records are covered by no published class; fit with them.")
        return found

    def _middles(self, published: pl.DataFrame, frame: pl.DataFrame) -> NDArray[np.float64]:
        """The middle of each published interval; numbers that are not generalized stay as they are."""
        columns = []
        for name in frame.columns:
            reader = self._readers.get(name)
            if reader is None:
                columns.append(frame[name].to_numpy())
                continue
            texts = published[name]
            known = {text: _middle(reader, text, self._table[name]) for text in texts.unique()}
            columns.append(np.array([known[text] for text in texts], float))
        return np.column_stack(columns)


class NotCovered(DataError, ValueError):
    """No published class covers a record."""


def _places(values: pl.Series, of: pl.Series) -> NDArray[np.int64]:
    """Where each value stands among the distinct ones."""
    numbers = {value: place for place, value in enumerate(of)}
    return np.array([numbers[value] for value in values], np.int64)


def _covers(reader: PublishedColumn, value: str | None, text: str | None) -> bool:
    """Whether a published text says something true of a value."""
    if text is None:
        return value is None
    meaning = reader.read(text)
    if isinstance(meaning, Star) or value is None:
        return isinstance(meaning, Star)
    if isinstance(meaning, Interval):
        number = reader.value(value)
        return number is not None and meaning.covers(number)
    if isinstance(meaning, Node):
        node = None if reader.taxonomy is None else reader.taxonomy.node_of(value)
        leaf = None if reader.taxonomy is None or node is None else int(reader.taxonomy.first_leaf[node])
        return leaf is not None and meaning.first_leaf <= leaf <= meaning.last_leaf
    if isinstance(meaning, Mask):
        return value.startswith(meaning.prefix) and len(value) == meaning.length
    return isinstance(meaning, Exact) and meaning.text == value


def _width(reader: PublishedColumn, text: str | None) -> float:
    """How much a published text leaves open, 0 to 1."""
    meaning = None if text is None else reader.read(text)
    if isinstance(meaning, Interval) and reader.domain is not None:
        low, high = reader.domain
        return min(float((meaning.hi - meaning.lo) / (high - low)), 1.0) if high > low else 0.0
    if isinstance(meaning, Node) and reader.taxonomy is not None:
        return (meaning.leaves - 1) / reader.taxonomy.n_leaves
    if isinstance(meaning, Mask):
        return 1 - len(meaning.prefix) / max(meaning.length, 1)
    return float(isinstance(meaning, Star))


def _middle(reader: PublishedColumn, text: str | None, values: pl.Series) -> float:
    """The middle of an interval; of the whole column where the text says nothing."""
    meaning = None if text is None else reader.read(text)
    if isinstance(meaning, Interval) and meaning.lo.is_finite() and meaning.hi.is_finite():
        return float(meaning.lo + meaning.hi) / 2
    numbers = values.cast(pl.Float64).drop_nulls().to_numpy()
    return float(numbers.min() + numbers.max()) / 2
