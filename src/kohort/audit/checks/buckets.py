"""The checks of a release in buckets: two tables that are linked by the number of a bucket.

The first table has the quasi-identifiers of every record and its bucket. The second has, for every
bucket, its sensitive values and how many records have each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

from kohort.audit.case import LoadedCase
from kohort.audit.checks import promise
from kohort.audit.checks.histograms import Histograms, counted
from kohort.audit.meaning.published import BUCKET
from kohort.audit.meaning.values import comparison
from kohort.audit.read.table import Table
from kohort.audit.verdict import Check
from kohort.audit.words import count, listed
from kohort.errors import PolicyError
from kohort.policy import Policy
from kohort.privacy import PrivacyModel, SensitiveModel

COUNT = "count"
TABLE = "sensitive_table"
"""The second table: its name in the database and in messages."""

_WHOLE = "[1-9][0-9]{0,8}"
"""A count, as it must be written: short enough that no sum overflows."""


def sensitive_column(policy: Policy) -> str:
    """Name the only sensitive column.

    Raises
    ------
    PolicyError
        When there is none or are several, or a column has the name of one that links the tables.
    """
    names = policy.having_role("sensitive")
    faults = [
        policy.located(("columns", name), f"column {name!r} has the name of a column that links the tables; rename it.")
        for name in (BUCKET, COUNT)
        if name in policy.columns
    ]
    if len(names) != 1:
        fault = f"a release in buckets has one sensitive column, and the policy has {len(names)}; give one the role."
        faults.append(policy.located(("privacy", "anonymity"), fault))
    PolicyError.refuse(faults)
    return names[0]


def columns(case: LoadedCase) -> Check:
    """Ask whether both tables have their columns, and no others."""
    sensitive = sensitive_column(case.policy)
    first = promise.columns(case, also=(BUCKET,), apart=(sensitive,))
    faults = [] if first.passed else [first.sentence.removesuffix(".")]
    header, wanted = _second(case).header, (BUCKET, sensitive, COUNT)
    unknown = [name for name in header if name not in wanted]
    absent = [name for name in wanted if name not in header]
    if len(absent) == len(wanted):
        # without a header its names would be somebody's data: they are not repeated
        faults.append("the first line of the second table names none of its columns; add its header")
    else:
        if unknown:
            faults.append(f"{listed(unknown)} of the second table may identify people; drop all but its own three")
        if absent:
            faults.append(f"{listed(absent)} {'is' if len(absent) == 1 else 'are'} not in the second table")
    figures = {**first.figures, "second.strange": len(unknown), "second.absent": len(absent)}
    sentence = "; ".join(faults) or "both tables have the columns that the policy publishes and no others"
    return Check("columns", not faults, sentence if sentence.endswith("?") else f"{sentence}.", figures)


def k(case: LoadedCase) -> Check:
    """Ask whether every bucket has enough records, and as many sensitive values."""
    wanted, second = case.policy.privacy.k, _second(case)
    figures: dict[str, int | float | str] = {"k": wanted}
    if not _is_linked(case):
        return Check("k", False, "k cannot be checked, as a column that links the tables is not there.", figures)
    first, bucket = case.release, case.release.columns[BUCKET]
    link, times = second.columns[BUCKET], second.columns[COUNT]
    value = second.columns[sensitive_column(case.policy)]
    ask = first.database.rows
    [(lost,)] = ask(f"SELECT count(*) FROM release WHERE {bucket} IS NULL")
    [(homeless,)] = ask(f"SELECT count(*) FROM {TABLE} WHERE {link} IS NULL")
    [(unreadable,)] = ask(f"SELECT count(*) FROM {TABLE} WHERE NOT {_readable(times)}")
    [(twice,)] = ask(
        f"SELECT count(*) FROM (SELECT 1 FROM {TABLE} GROUP BY {link}, {value} HAVING count(*) > 1) AS pairs"
    )
    [(buckets, smallest, under, without_values, without_records, unequal)] = ask(
        f"WITH here AS (SELECT {bucket} AS name, count(*) AS size FROM release WHERE {bucket} IS NOT NULL GROUP BY 1), "
        f"there AS (SELECT {link} AS name, sum({_number(times)}) AS size FROM {TABLE} WHERE {link} IS NOT NULL GROUP "
        "BY 1) SELECT count(here.name), coalesce(min(here.size), 0), coalesce(sum(here.size) FILTER (here.size < "
        f"{wanted}), 0), count(*) FILTER (there.name IS NULL), count(*) FILTER (here.name IS NULL), count(*) FILTER "
        "(here.size <> there.size) FROM here FULL JOIN there ON here.name = there.name"
    )
    faults = []
    if under:
        lie = "lies" if under == 1 else "lie"
        faults.append(f"{count(under, 'record')} {lie} in buckets smaller than k = {wanted} (smallest {smallest:,})")
    for number, noun, what in (
        (lost, "record", "no bucket"),
        (without_values, "bucket", "records and no sensitive values"),
        (without_records, "bucket", "sensitive values and no records"),
        (unequal, "bucket", "more or fewer sensitive values than records"),
        (twice, "sensitive value", "more than one row in its bucket"),
        (homeless, "sensitive value", "no bucket"),
        (unreadable, "sensitive value", "no whole number of records, 1 or more"),
    ):
        if number:
            has = "has" if number == 1 else "have"
            faults.append(f"{count(number, noun)} {has} {what}")
    figures |= {
        "smallest_class": smallest,
        "classes": buckets,
        "rows_under_k": int(under),
        "without_bucket": lost + homeless,
        "in_one_table": without_values + without_records,
        "unequal": unequal,
        "twice": twice,
        "unreadable": unreadable,
    }
    every = f"every one of {count(buckets, 'bucket')} has at least {wanted} records (smallest {smallest:,})"
    return Check("k", not faults, f"{'; '.join(faults) or every}.", figures)


def diversity(case: LoadedCase) -> Check:
    """Ask whether no sensitive value has more than a share of 1/k of a bucket."""
    wanted, found = case.policy.privacy.k, _histogram(case)
    if found is None:
        return Check("diversity", False, "diversity cannot be checked, as the second table cannot be read.")
    judged = found.judged(lambda values, _: values.largest * wanted <= values.sizes)
    number, share = judged.failing, f"more than 1/{wanted} of"
    figures = {"buckets_failing": number, "records_in_them": judged.records}
    if number:
        have = "has" if number == 1 else "have"
        sentence = f"{number:,} of {count(judged.classes, 'bucket')} {have} a sensitive value with {share} the records"
    else:
        sentence = f"no sensitive value has {share} the records of a bucket"
    return Check("diversity", not number, f"{sentence}.", figures)


def sensitive(case: LoadedCase) -> Check | None:
    """Ask whether the sensitive values of the buckets are those of the original."""
    if case.original is None:
        return None
    name = sensitive_column(case.policy)
    if name not in case.original.columns:
        sentence = f"sensitive values cannot be checked, as {listed([name])} is not in the original."
        return Check("sensitive", False, sentence)
    if not _is_linked(case):
        return Check("sensitive", False, "sensitive values cannot be checked, as a column is not there.")
    if case.keeps_order and not case.order_known:
        return Check("sensitive", False, f"sensitive values cannot be checked, as {case.order_unknown}.")
    wrong = _wrong_values(case, _second(case), case.original, name)
    figures = {"method": "bucket by bucket" if case.order_known else "all together", f"not_original.{name}": wrong}
    if wrong:
        are = "is not one" if wrong == 1 else "are not those"
        of = "its bucket" if case.order_known else "the original"
        sentence = f"column {name!r}: {wrong:,} of {count(case.release.rows, 'sensitive value')} {are} of {of}"
    elif case.order_known:
        sentence = "every bucket has the sensitive values of its records"
    else:
        sentence = "all buckets together have the sensitive values of the original; which has which was not checked"
    return Check("sensitive", not wrong, f"{sentence}.", figures)


def model(case: LoadedCase, model: PrivacyModel) -> Check:
    """Ask whether every bucket keeps what a further privacy model promises of it."""
    found = _histogram(case)
    column = sensitive_column(case.policy)
    if found is None or not isinstance(model, SensitiveModel) or model.columns != (column,):
        return Check(model.name, False, f"{model.name} cannot be checked in buckets.")
    return promise.judgement(model, found.judged(model.keeps), "bucket", "buckets")


def _second(case: LoadedCase) -> Table:
    assert case.sensitive is not None
    return case.sensitive


def _is_linked(case: LoadedCase) -> bool:
    """Whether all columns are there that link the tables."""
    wanted = (BUCKET, sensitive_column(case.policy), COUNT)
    return BUCKET in case.release.columns and all(name in _second(case).columns for name in wanted)


def _histogram(case: LoadedCase) -> Histograms | None:
    """Count the values of every bucket by the second table; None when that cannot be read."""
    second = _second(case)
    wanted = (BUCKET, sensitive_column(case.policy), COUNT)
    if not second.rows or any(name not in second.columns for name in wanted):
        return None
    bucket, value, times = wanted
    readable = _readable(second.columns[times])
    [(unreadable,)] = second.database.rows(f"SELECT count(*) FROM {TABLE} WHERE NOT {readable}")
    if unreadable:
        return None
    return counted(second, [second.text(bucket)], [value], case.policy, f"sum({_number(second.text(times))})")


def _wrong_values(case: LoadedCase, second: Table, original: Table, name: str) -> int:
    """Count the sensitive values that the records of their bucket, or all records in any order, do not have."""
    value, there = second.columns[name], original.columns[name]
    if case.order_known:
        bucket, link = f"r_{case.release.columns[BUCKET]}", second.columns[BUCKET]
        record, records = f"o_{there}", "paired"
    else:
        bucket, link, record, records = "NULL", "NULL", there, "original"
    different = second.database.streamed(
        f"SELECT bucket, value, sum(times) FROM (SELECT CAST({link} AS VARCHAR) AS bucket, {value} AS value, "
        f"{_number(second.columns[COUNT])} AS times FROM {TABLE} UNION ALL SELECT CAST({bucket} AS VARCHAR), {record}, "
        f"-1 FROM {records}) AS both_sides GROUP BY bucket, value HAVING sum(times) <> 0"
    )
    alike = comparison(case.policy, name)
    surplus: Counter[tuple[str | None, Hashable]] = Counter()
    for bucket, text, times in different:
        surplus[bucket, alike(text)] += times
    return sum(times for times in surplus.values() if times > 0)


def _readable(times: str) -> str:
    """SQL: whether a cell holds a count."""
    return f"coalesce(regexp_full_match({times}, '{_WHOLE}'), false)"


def _number(times: str) -> str:
    """SQL: the count of a cell, 0 where it holds none."""
    return f"CASE WHEN {_readable(times)} THEN CAST({times} AS BIGINT) ELSE 0 END"
