"""The sensitive values of a table, in an order that means something, and how often each occurs.

The maker of a release builds it from the records that it publishes, the audit from the file that it reads. Each has a
form of its own in which all spellings of a value are one, and counts by it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kohort.policy import Policy
from kohort.policy.formats import dated
from kohort.policy.hierarchy import Taxonomy, read
from kohort.policy.sections import Column

Form: TypeAlias = Callable[[str], str]
"""Writes all spellings of a value in one way."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
_MOST_EXACT = 2**40
"""Numbers that need more than this as a common denominator are rounded for a search; the judgement stays exact."""
_LARGEST = 2**60
"""Numbers are scaled down beyond it: the difference of any two must fit into 64 bits."""


def _alike(text: str) -> str:
    """The maker's form, which is loaded when it is first used: the auditor has one of its own."""
    from kohort.table.spelling import alike

    return alike(text)


@dataclass(frozen=True)
class SensitiveColumn:
    """The different values of a sensitive column; a missing value is the last one."""

    name: str
    size: int
    """Number of values, with the missing one."""
    has_missing: bool
    numbers: tuple[Fraction, ...] | None
    """The known values, ascending; dates in days; None where they are no numbers."""
    taxonomy: Taxonomy | None
    """The tree of the known values, where the policy has one."""
    leaves: NDArray[np.int64] | None
    """Leaf of each known value, ascending unless they are numbers."""
    texts: tuple[str, ...] = ()
    """The known values in their one form, where they are no numbers."""
    spec: Column | None = None
    """What the policy says of the column."""
    form: Form = _alike
    """How a text is brought into that form."""

    @property
    def known(self) -> int:
        """Number of values without the missing one."""
        return self.size - self.has_missing

    @property
    def is_numeric(self) -> bool:
        """Whether all known values are numbers or dates."""
        return self.numbers is not None or not self.known

    def of_values(self, used: NDArray[np.int64]) -> SensitiveColumn:
        """The same column with some of its values only."""
        known = used[used < self.known]
        return replace(
            self,
            size=len(used),
            has_missing=len(known) < len(used),
            numbers=None if self.numbers is None else tuple(self.numbers[value] for value in known),
            leaves=None if self.leaves is None else self.leaves[known],
            texts=tuple(self.texts[value] for value in known) if self.texts else (),
        )

    def find(self, text: str) -> int | None:
        """The number of the value that is written so, the empty text being the missing one; None if it is not there."""
        form = self.form(text)
        if not form:
            return self.known if self.has_missing else None
        if self.numbers is None:
            return self.texts.index(form) if form in self.texts else None
        numbers = None if self.spec is None else _numbers(self.spec, {text: form})
        return self.numbers.index(numbers[text]) if numbers and numbers[text] in self.numbers else None

    @cached_property
    def scaled(self) -> tuple[NDArray[np.int64], Fraction]:
        """The numbers times a factor, whole unless that takes too large a one; and the factor."""
        assert self.numbers is not None
        common = 1
        for number in self.numbers:
            common = lcm(common, number.denominator) if common < _MOST_EXACT else common
        factor = Fraction(min(common, _MOST_EXACT))
        largest = max(map(abs, self.numbers), default=Fraction(0)) * factor
        if largest > _LARGEST:
            factor *= Fraction(_LARGEST, int(largest) + 1)
        return np.array([round(number * factor) for number in self.numbers], np.int64), factor


@dataclass(frozen=True)
class Reference:
    """The sensitive values of all published records: what a class is compared with.

    For one column a value is one of its values. For several it is a vector: one value of each.
    """

    columns: tuple[SensitiveColumn, ...]
    vectors: NDArray[np.int64]
    """Value of each column, shape (values, columns)."""
    counts: NDArray[np.int64]
    """Records of each value; at least 1."""

    @property
    def column(self) -> SensitiveColumn:
        """The only column."""
        [only] = self.columns
        return only

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.counts)

    @cached_property
    def total(self) -> int:
        """Number of records."""
        return int(self.counts.sum())

    def of_records(self, values: NDArray[np.int64]) -> tuple[Reference, NDArray[np.int64]]:
        """What it is for records with these values alone; and the new numbers of their values."""
        there, index, counts = np.unique(values, return_inverse=True, return_counts=True)
        vectors = self.vectors[there]
        columns = []
        for place, column in enumerate(self.columns):
            used, vectors[:, place] = np.unique(vectors[:, place], return_inverse=True)
            columns.append(column.of_values(used))
        return Reference(tuple(columns), vectors, counts.astype(np.int64)), index.reshape(-1).astype(np.int64)


def reference_of(
    policy: Policy,
    columns: Mapping[str, Sequence[str | None]],
    counts: Sequence[int] | NDArray[np.integer],
    form: Form = _alike,
) -> tuple[Reference, NDArray[np.int64]]:
    """The values of some sensitive columns, and the number of the value of each row.

    Parameters
    ----------
    columns : mapping of str to sequence
        The columns as texts, None where missing; rows may repeat each other.
    counts : sequence of int
        Records that each row stands for.
    form : callable
        Writes all spellings of a value in one way; texts that it leaves nothing of are missing.
    """
    described, codes = [], []
    for name, texts in columns.items():
        column, code = _described(policy, name, texts, form)
        described.append(column)
        codes.append(code)
    table = np.stack(codes, axis=1)
    vectors, index = np.unique(table, axis=0, return_inverse=True)
    index = index.reshape(-1)
    totals = np.zeros(len(vectors), np.int64)
    np.add.at(totals, index, np.asarray(counts, np.int64))
    return Reference(tuple(described), vectors.astype(np.int64), totals), index.astype(np.int64)


def _described(
    policy: Policy, name: str, texts: Sequence[str | None], form: Form
) -> tuple[SensitiveColumn, NDArray[np.int64]]:
    """One column, and the number of each text's value in it."""
    spec = policy.columns[name]
    absent = {"", *map(form, policy.input.missing)}
    forms = {text: form(text) for text in set(texts) if text is not None}
    forms = {text: spelled for text, spelled in forms.items() if spelled not in absent}
    numbers = _numbers(spec, forms)
    taxonomy = taxonomy_of(policy, name)
    leaf_of = {form(label): leaf for leaf, label in reversed([*enumerate(taxonomy.leaf_labels)])} if taxonomy else {}
    different: list[str] = sorted(set(forms.values()))
    index_of: dict[str | None, int]
    if numbers is not None:
        place = {number: index for index, number in enumerate(sorted(set(numbers.values())))}
        index_of = {text: place[number] for text, number in numbers.items()}
        values: tuple[Fraction, ...] | None = tuple(place)
    else:
        if taxonomy is not None:
            # A value that the tree does not know comes last; models that need the tree refuse it.
            different.sort(key=lambda spelled: leaf_of.get(spelled, taxonomy.n_leaves))
        rank = {spelled: index for index, spelled in enumerate(different)}
        index_of = {text: rank[spelled] for text, spelled in forms.items()}
        values = None
    known = len(set(index_of.values()))
    leaves = None
    if taxonomy is not None:
        leaves = np.full(known, -1, np.int64)
        for text, spelled in forms.items():
            leaves[index_of[text]] = leaf_of.get(spelled, -1)
    index = np.array([index_of.get(text, known) for text in texts], np.int64)
    has_missing = bool((index == known).any())
    written = () if values is not None else tuple(different)
    return SensitiveColumn(name, known + has_missing, has_missing, values, taxonomy, leaves, written, spec, form), index


def _numbers(spec: Column, forms: Mapping[str, str]) -> dict[str, Fraction] | None:
    """The texts as exact numbers, or None where they are none."""
    if spec.type == "string" or not forms:
        return None
    if spec.type == "date":
        days = {text: _day(text.strip(), spec.format) for text in forms}
        return None if None in days.values() else {text: Fraction(day) for text, day in days.items() if day is not None}
    if all(_NUMBER.fullmatch(spelled) for spelled in forms.values()):
        return {text: Fraction(spelled) for text, spelled in forms.items()}
    return None


def _day(text: str, written: str | None) -> int | None:
    """The day of a date as the policy writes it, or of an ISO date, as typed files give it."""
    for form in (written or "%Y-%m-%d", "%Y-%m-%d", "%Y-%m-%d %H:%M:%S"):
        if found := dated(text, form):
            return found.toordinal()
    return None


def refuses_few(parameter: str, wanted: int, column: SensitiveColumn) -> str:
    """Why that many different values are impossible."""
    values = f"{column.size} value{'s' if column.size != 1 else ''}"
    return (
        f"{parameter} = {wanted} is impossible for column {column.name!r}: it has {values}; "
        f"at most {parameter} = {column.size} can be kept"
    )


def taxonomy_of(policy: Policy, name: str) -> Taxonomy | None:
    """The tree of a sensitive column: one that is written down, not made from the values."""
    hierarchy = policy.columns[name].hierarchy
    if hierarchy is not None and hierarchy.file is not None:
        return read(policy.folder / hierarchy.file, column=name)
    if hierarchy is not None and hierarchy.tree is not None:
        return Taxonomy.from_tree(hierarchy.tree, column=name)
    return None
