"""A second reader of the written files, by the standard library alone, that counts everything itself."""

from __future__ import annotations

import csv
import datetime as dt
import math
from collections import Counter
from fractions import Fraction

import numpy as np

import kohort
from kohort.algorithms.anatomy import BUCKET, COUNT
from kohort.codes.encode import LineAxis, encode
from kohort.table import typed_quasi_identifiers
from kohort.table.targets import table_path
from oracles.promises import possible_rows


def rows_of(path):
    """The records of a CSV file, as texts."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def classes_of_csv(path, quasi):
    """Class sizes of a written CSV file."""
    return Counter(tuple(row[name] for name in quasi) for row in rows_of(path))


def verified_again(path, release, original, policy):
    """Verdicts on the written files alone, one for each table that can be judged for itself."""
    if policy.privacy.anonymity == "buckets":
        quasi, sensitive = (table_path(path, name) for name in release.tables)
        return [kohort.verify(quasi, policy, original=original, sensitive_table=sensitive)]
    if list(release.tables) == [""]:
        return [kohort.verify(path, policy, original=original)]
    return [
        kohort.verify(table_path(path, name), promise_of_table(name, release, policy), original=original)
        for name in release.tables
    ]


def promise_of_table(name, release, policy):
    """The promise about one table of several: its own columns, and the k that its verdict names."""
    [k] = [check.figures["k"] for check in release.verdict.checks if (check.name, check.table) == ("k", name)]
    return policy.of_columns(release.tables[name].columns, k=k)


def broken_files(path, release, frame, policy):
    """Sentences on what the written files do not keep; none for a sound release.

    Parameters
    ----------
    frame : DataFrame
        The original.
    """
    if policy.privacy.anonymity == "buckets":
        return _buckets(*(rows_of(table_path(path, name)) for name in release.tables), frame, policy)
    if list(release.tables) == [""]:
        rows = rows_of(path)
        judge = {"classes": _classes, "matchings": _matchings}[policy.privacy.anonymity]
        truth = Truth(frame, policy).uncovered(rows, release.row_order)
        return [*truth, *_count(rows, frame, policy), *judge(rows, release, frame, policy)]
    faults = []
    for name in release.tables:
        rows, promise = rows_of(table_path(path, name)), promise_of_table(name, release, policy)
        faults += _count(rows, frame, policy) + _classes(rows, release, frame, promise)
    return faults


def _count(rows, frame, policy):
    """Nobody is there who may not be, and few enough are missing."""
    allowed = math.floor(Fraction(str(policy.privacy.suppression_limit)) * frame.height)
    fine = frame.height - allowed <= len(rows) <= frame.height
    faults = [] if fine else [f"{len(rows)} rows of {frame.height}, and {allowed} may be suppressed"]
    if set(rows[0]) & set(policy.having_role("identifier")):
        faults.append("an identifier is published")
    return faults


def _classes(rows, release, frame, policy):
    del release, frame
    quasi = policy.quasi_identifiers
    members = {}
    for row in rows:
        members.setdefault(tuple(row[name] for name in quasi), []).append(row)
    smallest = min(map(len, members.values()))
    faults = [] if smallest >= policy.privacy.k else [f"a class has {smallest} rows, and not {policy.privacy.k}"]
    for model in policy.privacy.models:
        assert model["model"] == "frequency-l-diversity", "teach this reader to count the model"
        column, most = model["column"], model["l"]
        if any(max(Counter(row[column] for row in some).values()) * most > len(some) for some in members.values()):
            faults.append(f"a value of {column} has more than one in {most} of a class")
    return faults


def _matchings(rows, release, frame, policy):
    truth = Truth(frame, policy)
    fits = np.array([[truth.covers(row, record) for row in rows] for record in release.row_order])
    fewest = possible_rows(fits).sum(axis=1).min()
    return [] if fewest >= policy.privacy.k else [f"a record can be {fewest} of the rows only"]


def _buckets(rows, values, frame, policy):
    """Records as they were; the values of a bucket are those of its records, none of them too frequent."""
    k, [sensitive] = policy.privacy.k, policy.having_role("sensitive")
    faults = _count(rows, frame, policy)
    if sensitive in rows[0]:
        faults.append("the sensitive column stands beside the quasi-identifiers")
    truth = Truth(frame, policy)
    if any(text == "*" or (text.startswith("[") and name in truth.lines) for row in rows for name, text in row.items()):
        faults.append("a quasi-identifier is generalized")
    members = Counter(row[BUCKET] for row in rows)
    there, most = Counter(), Counter()
    for row in values:
        there[row[BUCKET]] += int(row[COUNT])
        most[row[BUCKET]] = max(most[row[BUCKET]], int(row[COUNT]))
    if members != there:
        faults.append("the two tables do not count the same records in every bucket")
    if min(members.values()) < k:
        faults.append(f"a bucket has fewer than {k} records")
    if any(most[bucket] * k > size for bucket, size in members.items()):
        faults.append(f"a value has more than one in {k} of its bucket")
    return faults


class Truth:
    """What each published cell covers of the original."""

    def __init__(self, frame, policy):
        self.frame, self.quasi = frame, policy.quasi_identifiers
        codes = encode(typed_quasi_identifiers(frame, policy), policy)
        self.codes = dict(zip(self.quasi, codes.array.T.tolist(), strict=True))
        self.lines = {axis.name for axis in codes.axes if isinstance(axis, LineAxis)}
        self.spans = {
            axis.name: dict(
                zip(
                    axis.taxonomy.labels,
                    zip(axis.taxonomy.first_leaf.tolist(), axis.taxonomy.last_leaf.tolist(), strict=True),
                    strict=True,
                )
            )
            for axis in codes.axes
            if axis.name not in self.lines
        }
        self.values = {name: frame[name].to_list() for name in self.quasi}

    def uncovered(self, rows, order):
        """The first row that does not cover the record it is about."""
        wrong = [
            number for number, (row, record) in enumerate(zip(rows, order, strict=True)) if not self.covers(row, record)
        ]
        return [f"row {wrong[0]} does not cover its record"] if wrong else []

    def covers(self, row, record):
        """Whether a row can be about a record."""
        return all(self._cell(name, row[name], record) for name in self.quasi)

    def _cell(self, name, text, record):
        value = self.values[name][record]
        if text == "*":
            return True
        if text == "" or value is None:
            return text == "" and value is None
        if name in self.lines:
            low, high = text[1:-1].split(" - ") if text.startswith("[") else (text, text)
            return _like(value, low) <= value <= _like(value, high)
        first, last = self.spans[name][text]
        return first <= self.codes[name][record] <= last


def _like(value, text):
    return dt.date.fromisoformat(text) if isinstance(value, dt.date) else type(value)(text)
