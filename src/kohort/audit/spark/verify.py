"""Whether a table in Spark keeps the promise of its policy: the checks of the audit, counted by Spark.

Nothing of the maker is used. Rows have no order, so published values are compared with the originals column by column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F

from kohort.audit import promise
from kohort.audit.audit import facts_of
from kohort.audit.case import Case
from kohort.audit.checks import precision, truth
from kohort.audit.checks.classes import ClassSizes
from kohort.audit.checks.histograms import Judged
from kohort.audit.meaning.published import published_column
from kohort.audit.meaning.spelling import alike, written
from kohort.audit.spark.counted import STARRED, CountedTable, counted_table
from kohort.audit.verdict import Check, Verdict, hashes, versions
from kohort.errors import DataError, PolicyError
from kohort.policy import Policy
from kohort.privacy import Histogram, PopulationModel, Reference, SensitiveModel, SizeModel, models_of, reference_of

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame

    from kohort.audit.read.table import Table
    from kohort.audit.read.texts import Texts

VERDICTS = "classes long, failing long, rows long"


def verify(
    release: DataFrame,
    policy: Policy | str | Path,
    *,
    original: DataFrame | None = None,
    strict: bool = False,
) -> Verdict:
    """Check a release against the promise of its policy, in Spark.

    Give a table that was read from what was written. One that is still to be worked out would be worked out again for
    every check.

    Parameters
    ----------
    release : DataFrame
        The table that is to be handed over.
    policy : Policy or path
        What is promised.
    original : DataFrame, optional
        The table it was made of. With it, published values are also checked for truth, column by column.
    strict : bool
        Whether each privacy model must hold for somebody, too, who knows all other sensitive columns.

    Returns
    -------
    Verdict
        Its `passed` says whether the promise holds and its `reason` why.

    Raises
    ------
    DataError
        When a table cannot be used, or a hierarchy cannot be read.
    PolicyError
        When the policy promises what is not checked in Spark.
    """
    return examine(release, Policy.of(policy), original=original, strict=strict)[0]


def examine(
    release: DataFrame, policy: Policy, *, original: DataFrame | None = None, strict: bool = False
) -> tuple[Verdict, CountedTable]:
    """Do what `verify` does, and give the counted release along."""
    refuse_promises(policy)
    published = set(policy.columns) - set(policy.dropped)
    table = counted_table(release, "release", policy, published)
    source = None if original is None else counted_table(original, "original", policy, published)
    if not table.rows:
        raise DataError("release: it has no rows; there is nothing to check.")
    case = _case(policy, table, source)
    asked = [
        promise.columns(case),
        promise.k(case),
        promise.missing(case),
        promise.suppression(case),
        truth.rows(case),
        promise.domain(case),
        precision.precision(case),
        truth.coverage(case),
        truth.values(case),
        *(_model(case, table, model, strict=strict) for model in models_of(policy)[1:]),
    ]
    checks = [check for check in asked if check is not None]
    told = versions() | {"pyspark": version("pyspark")}
    return Verdict(tuple(checks), facts_of(case, checks), hashes(None, policy), told), table


def refuse_promises(policy: Policy) -> None:
    """Refuse what is not checked in Spark: silence would be a promise.

    Raises
    ------
    PolicyError
        With a sentence for each such promise.
    """
    privacy, instead = policy.privacy, "Spark does not check it; use the local engine."
    faults = []
    if privacy.anonymity != "classes":
        faults.append(policy.located(("privacy", "anonymity"), f"anonymity = {privacy.anonymity!r}: {instead}"))
    if privacy.missing == "wildcard":
        faults.append(policy.located(("privacy", "missing"), f"missing = 'wildcard': {instead}"))
    if privacy.person is not None:
        faults.append(policy.located(("privacy", "person"), f"k persons in every class: {instead}"))
    if policy.pseudonyms:
        faults.append(policy.located(("columns", policy.pseudonyms[0], "pseudonym"), f"pseudonyms: {instead}"))
    if policy.output.order == "kept":
        fault = "order = 'kept': rows have no order in Spark; remove it, or use the local engine."
        faults.append(policy.located(("output", "order"), fault))
    if policy.output.bounds:
        faults.append(policy.located(("output", "bounds"), f"bounds = true: {instead}"))
    for index, model in enumerate(models_of(policy)[1:]):
        if isinstance(model, PopulationModel):
            faults.append(policy.located(("privacy", "models", index), f"{model.name}: {instead}"))
    if faults:
        raise PolicyError(*faults)


def _case(policy: Policy, table: CountedTable, source: CountedTable | None) -> Case:
    """What the checks look at. They ask tables in Spark for counts alone, which these give like loaded ones."""
    columns = {
        name: published_column(name, policy, _texts(table, name) or (), _texts(source, name)) for name in table.quasi
    }
    return Case(
        policy=policy,
        release=cast("Table", table),
        original=cast("Table | None", source),
        columns=columns,
        classes=_classes(table) if len(columns) == len(policy.quasi_identifiers) else None,
        starred=table.starred,
        order=None,
        has_order=False,
    )


def _texts(table: CountedTable | None, name: str) -> Texts | None:
    return None if table is None or name not in table.columns else table.dictionary(name).values


def _classes(table: CountedTable) -> ClassSizes:
    """The sizes of all classes: how often each size occurs is all that leaves Spark."""
    counted = table.classes().groupBy(F.col("count").alias("size")).agg(F.count(F.lit(1)).alias("times"))
    found = sorted((row[0], row[1]) for row in counted.collect())
    sizes, times = (np.array([pair[j] for pair in found], np.int64) for j in range(2))
    # How a missing cell may match others is not asked in Spark.
    return ClassSizes(cast("Table", table), table.quasi, sizes, times, has_missing=False)


def _model(case: Case, table: CountedTable, model: Any, *, strict: bool) -> Check:
    if isinstance(model, SizeModel):
        return promise.sizes(case, model)
    if not isinstance(model, SensitiveModel):
        return Check(model.name, False, f"the policy asks for {model.name}, which this audit does not check.")
    if case.classes is None or any(column not in table.columns for column in model.columns):
        return Check(model.name, False, f"{model.name} cannot be checked, as the release lacks a column.")
    shown = table.frame if case.starred_class else table.frame.filter(~F.col(STARRED))
    check = promise.judgement(model, _judged(shown, table, model, case.policy), "class", "classes")
    others = [
        column
        for column in case.policy.having_role("sensitive")
        if column not in model.columns and column in table.columns
    ]
    if not strict or not others:
        return check
    return promise.also_strict(check, _judged(shown, table, model, case.policy, others), strict=strict)


def _judged(
    shown: DataFrame, table: CountedTable, model: SensitiveModel, policy: Policy, known: Sequence[str] = ()
) -> Judged:
    """Count the classes, those that do not keep what a model promises, and the rows in these.

    Spark counts the values of every class. Workers judge whole classes, exactly as the audit does.

    Parameters
    ----------
    known : sequence of str
        Further columns that tell records of a class apart.
    """
    values = [table.columns[column] for column in model.columns]
    found = shown.groupBy(*values).count().collect()
    if not found:
        return Judged(0, 0, 0)
    texts = {column: [written(policy, row[j]) for row in found] for j, column in enumerate(model.columns)}
    reference, numbers = reference_of(policy, texts, [row["count"] for row in found], alike)
    names = [f"v{j}" for j in range(len(values))]
    told = [(*row[: len(values)], int(number)) for row, number in zip(found, numbers, strict=True)]
    schema = ", ".join([*(f"{name} string" for name in names), "number long"])
    numbered = F.broadcast(shown.sparkSession.createDataFrame(told, schema))
    groups = [*map(table.literal, table.quasi), *(table.columns[column] for column in known)]
    same = F.lit(True)
    for value, name in zip(values, names, strict=True):
        same = same & F.col(value).eqNullSafe(F.col(name))
    pairs = shown.groupBy(*{*groups, *values}).agg(F.count(F.lit(1)).alias("times")).join(numbered, same)
    classes = pairs.groupBy(*groups).agg(F.collect_list(F.struct("number", "times")).alias("pairs")).select("pairs")
    verdicts = classes.mapInArrow(_judge(model, reference), VERDICTS)
    [total] = verdicts.agg(*(F.coalesce(F.sum(name), F.lit(0)) for name in ("classes", "failing", "rows"))).collect()
    return Judged(int(total[0]), int(total[1]), int(total[2]))


def _judge(model: SensitiveModel, table: Reference) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Judge batches of whole classes."""

    def judge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if not batch.num_rows:
                continue
            pairs = batch.column(0)
            entries = pc.list_flatten(pairs)
            groups = np.repeat(np.arange(len(pairs)), pc.list_value_length(pairs).to_numpy(zero_copy_only=False))
            number, times = (pc.struct_field(entries, [j]).to_numpy(zero_copy_only=False) for j in range(2))
            found = Histogram.of_pairs(groups, number, times)
            keeps = model.keeps(found, table)
            failing, rows = int((~keeps).sum()), int(found.sizes[~keeps].sum())
            yield pa.RecordBatch.from_pydict({"classes": [len(keeps)], "failing": [failing], "rows": [rows]})

    return judge
