"""Whether a release in two tables, quasi-identifiers and sensitive values by bucket, keeps its promise.

Nothing of kohort is used here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from .judge import Fault, Release, domain, pseudonyms, suppression, truth
from .judge_files import Cell, Table
from .judge_models import sensitive_value
from .judge_pairs import assignment

BUCKET, COUNT = "bucket", "count"


def judge_buckets(release: Release, values: Table) -> list[Fault]:
    """Every promise that a release in buckets does not keep.

    Parameters
    ----------
    release : Release
        The table of the quasi-identifiers.
    values : Table
        The sensitive values of each bucket.
    """
    [sensitive] = release.having("sensitive")
    expected = [n for n in release.original.names if release.specs[n]["role"] in ("quasi", "insensitive")]
    shown = [n for n in release.table.names if n not in release.having("identifier")]
    found, wanted = (shown, list(values.names)), ([*expected, BUCKET], [BUCKET, sensitive, COUNT])
    if not release.strict:
        found, wanted = tuple(map(sorted, found)), tuple(map(sorted, wanted))
    if found != wanted:
        return [Fault("columns", "the two tables do not have the columns of buckets")]
    if any(not re.fullmatch("[1-9][0-9]{0,8}", cell.text) for cell in values.column(COUNT)):
        return [Fault("k", "a count is no whole number of records")]
    plain = replace(release, original=_without(release.original, sensitive))
    faults = [*suppression(plain), *domain(release), *pseudonyms(plain), *(() if release.strict else truth(plain))]
    return [
        *faults,
        *_sizes(release, values, sensitive),
        *_truth(plain, release.original.column(sensitive), values, sensitive),
    ]


def _without(table: Table, name: str) -> Table:
    at = table.names.index(name)

    def cut(items: Any) -> Any:
        return (*items[:at], *items[at + 1 :])

    return Table(cut(table.names), tuple(map(cut, table.rows)), table.types and cut(table.types))


def _counted(release: Release, values: Table, sensitive: str) -> dict[str, Counter[Any]]:
    found: dict[str, Counter[Any]] = {}
    cells = zip(values.column(BUCKET), values.column(sensitive), values.column(COUNT), strict=True)
    for bucket, cell, count in cells:
        value = sensitive_value(cell, release.missing)
        found.setdefault(bucket.text, Counter())[value] += int(count.text)
    return found


def _sizes(release: Release, values: Table, sensitive: str) -> Iterator[Fault]:
    members = Counter(cell.text for cell in release.table.column(BUCKET))
    counted = _counted(release, values, sensitive)
    if "" in members or "" in counted:
        yield Fault("k", "a record or value has no bucket")
    rows = [(b.text, v.raw) for b, v in zip(values.column(BUCKET), values.column(sensitive), strict=True)]
    if len(set(rows)) < len(rows):
        yield Fault("k", "a value has two rows in its bucket")
    if members != Counter({bucket: sum(one.values()) for bucket, one in counted.items()}):
        yield Fault("k", "the two tables count other records in a bucket")
    for bucket, size in members.items():
        if size < release.k:
            yield Fault("k", f"a bucket has {size} records, and k is {release.k}")
        if max(counted.get(bucket, Counter([0])).values()) * release.k > size:
            yield Fault("diversity", "a value has more than one in k of its bucket")


def _truth(plain: Release, originals: list[Cell], values: Table, sensitive: str) -> Iterator[Fault]:
    """Every row is a record, and the values of a bucket are those of its records, in some assignment."""
    if not plain.strict and (len(plain.table.rows) > len(plain.original.rows) or not plain.order_is_known):
        yield from _all_together(plain, originals, values, sensitive)
        return
    rows = range(len(plain.table.rows))
    fits = [[plain.fits(row, record) for record in range(len(plain.original.rows))] for row in rows]
    owners = list(rows) if plain.order_is_known and all(fits[row][row] for row in rows) else assignment(fits)
    if owners is None:
        yield Fault("truth", "there is no way to give every row a record that it is true of")
        return
    if plain.strict and any(text == "*" for texts in plain.texts for text in texts):
        yield Fault("truth", "a quasi-identifier is generalized")
    counted = _counted(plain, values, sensitive)
    own: dict[str, Counter[Any]] = {}
    for row, bucket in enumerate(plain.table.column(BUCKET)):
        value = sensitive_value(originals[owners[row]], plain.missing)
        own.setdefault(bucket.text, Counter())[value] += 1
    exact = plain.order_is_known or plain.is_tagged
    if exact and own != counted:
        yield Fault("truth", "a bucket has other values than its records")
    if not exact:
        yield from _all_together(plain, originals, values, sensitive)


def _all_together(plain: Release, originals: list[Cell], values: Table, sensitive: str) -> Iterator[Fault]:
    """Without the order of rows nobody knows which bucket has which values, but all of them are known."""
    counted = sum(_counted(plain, values, sensitive).values(), Counter())
    if counted - Counter(sensitive_value(cell, plain.missing) for cell in originals):
        yield Fault("truth", "a value occurs more often than in the original")
