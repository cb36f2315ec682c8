"""Whether a table in Spark keeps the promise of its policy: the checks of the audit, counted by Spark.

Nothing of the maker is used. Rows have no order, so published values are compared with the originals column by column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F

from kohort.audit.as_is import as_is_of
from kohort.audit.asked import texts_of
from kohort.audit.audit import facts_of
from kohort.audit.case import Case
from kohort.audit.checklist import Need, Question, answers, refuse_unanswerable
from kohort.audit.checks.histograms import Judged
from kohort.audit.fitted import fitted_to_release
from kohort.audit.meaning.published import published_column
from kohort.audit.meaning.spelling import alike, written
from kohort.audit.spark.counted import STARRED, SparkTable, counted_table
from kohort.audit.verdict import Verdict, hashes, versions
from kohort.errors import DataError
from kohort.policy import Policy
from kohort.policy.promise import promise_of
from kohort.privacy import Histogram, Reference, SensitiveModel, reference_of

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame

VERDICTS = "classes long, failing long, rows long"
_LACKING = ~Need.ORIGINAL
"""What checks may need and there is not in Spark."""


def verify(
    release: DataFrame,
    policy: Policy | str | Path,
    *,
    original: DataFrame | None = None,
    strict: bool = False,
) -> Verdict:
    """Check a release against the promise of its policy, in Spark.

    Give a table that was read from what was written. One that is still to be computed would be computed again for
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
        Whether each privacy model must also hold against someone who knows all other sensitive columns.

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
    given = Policy.of(policy)
    fitting = fitted_to_release(given, release.columns) if original is None else given.for_columns(original.columns)
    return examine(release, fitting, original=original, strict=strict)[0]


def examine(
    release: DataFrame, policy: Policy, *, original: DataFrame | None = None, strict: bool = False
) -> tuple[Verdict, SparkTable]:
    """Do what `verify` does, and give the counted release along."""
    refuse_unanswerable(policy, _LACKING, _why)
    published = set(policy.columns) - set(policy.dropped)
    table = counted_table(release, "release", policy, published)
    source = None if original is None else counted_table(original, "original", policy, set(policy.columns))
    if not table.rows:
        raise DataError("release: it has no rows; there is nothing to check.")
    case = SparkCase.of(policy, table, source)
    checks = answers(case, strict=strict)
    libraries = versions() | {"pyspark": version("pyspark")}
    found = hashes(None, policy)
    verdict = Verdict(
        tuple(checks), facts_of(case, checks), found, libraries, promise=promise_of(policy), as_is=as_is_of(case)
    )
    return verdict, table


def _why(question: Question) -> str:
    if Need.ROWS not in question.needs:
        return ": rows have no order in Spark; remove it, or use the local engine."
    return ": Spark does not check it; use the local engine."


@dataclass(frozen=True)
class SparkCase(Case):
    """A case that Spark counts. Rows have no order there, and nothing but counts leaves it."""

    release: SparkTable
    original: SparkTable | None

    @classmethod
    def of(cls, policy: Policy, table: SparkTable, source: SparkTable | None) -> SparkCase:
        """Read the published values of a release, and count its classes."""
        columns = {
            name: published_column(name, policy, texts_of(table, name) or (), texts_of(source, name))
            for name in table.quasi
        }
        classes = table.class_sizes() if len(columns) == len(policy.quasi_identifiers) else None
        return cls(policy, table, source, columns, classes, table.starred)

    def judged(self, model: SensitiveModel, known: Sequence[str] = ()) -> Judged:
        """Judge every class by a privacy model.

        Spark counts the values of every class. Workers judge whole classes, exactly as the audit does.
        """
        table = self.release
        shown = table.frame if self.starred_class else table.frame.filter(~F.col(STARRED))
        values = [table.columns[column] for column in model.columns]
        found = shown.groupBy(*values).count().collect()
        if not found:
            return Judged(0, 0, 0)
        texts = {
            column: [written(self.policy, column, row[j]) for row in found] for j, column in enumerate(model.columns)
        }
        reference, numbers = reference_of(self.policy, texts, [row["count"] for row in found], alike)
        names = [f"v{j}" for j in range(len(values))]
        rows = [(*row[: len(values)], int(number)) for row, number in zip(found, numbers, strict=True)]
        schema = ", ".join([*(f"{name} string" for name in names), "number long"])
        numbered = F.broadcast(shown.sparkSession.createDataFrame(rows, schema))
        groups = [*map(table.literal, table.quasi), *(table.columns[column] for column in known)]
        same = F.lit(True)
        for value, name in zip(values, names, strict=True):
            same = same & F.col(value).eqNullSafe(F.col(name))
        pairs = shown.groupBy(*{*groups, *values}).agg(F.count(F.lit(1)).alias("times")).join(numbered, same)
        classes = pairs.groupBy(*groups).agg(F.collect_list(F.struct("number", "times")).alias("pairs")).select("pairs")
        counted = classes.mapInArrow(_judge(model, reference), VERDICTS)
        [total] = counted.agg(*(F.coalesce(F.sum(name), F.lit(0)) for name in ("classes", "failing", "rows"))).collect()
        return Judged(int(total[0]), int(total[1]), int(total[2]), len(numbers) - reference.size)


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
