"""A table in memory that is cut into partitions: the plainest engine, which the others are compared with."""

from __future__ import annotations

import polars as pl

from kohort.errors import InfeasibleError
from kohort.release.engines.features import DISK, refuse
from kohort.release.engines.frame import FrameScan, usable_of
from kohort.release.engines.job import KEY, PART
from kohort.release.engines.joining import Stock, joined, settled
from kohort.release.engines.lookups import COUNT, promised
from kohort.release.engines.partition import release_others, release_partition
from kohort.release.engines.sample import with_cuts
from kohort.release.engines.survey import survey
from kohort.release.plan import plan_of
from kohort.release.pseudonyms import read_key
from kohort.table import read_table


def surveyed(frame, policy):
    """The job of a table in memory, and the table with its numbers."""
    return survey(plan_of(policy), usable_of(read_table(frame), policy), read_key(policy))


def promise_of(model, frame, policy):
    """What a model promises about the records of a table."""
    scan = FrameScan.of(read_table(frame))
    [promise], lookups = promised(policy, [model], scan.distinct)
    return promise.of_records(scan.coded(lookups).numbers[promise.column].to_numpy())


def released_in_parts(frame, policy, parts):
    """All published rows of a table that is worked on in parts, in their order; and the job."""
    refuse(DISK, plan_of(policy))
    job, scan = surveyed(frame, policy)
    job = with_cuts(job, lambda condition: scan.counted(job.code_columns, condition), parts=parts)
    codes = scan.numbers.select(job.code_columns).to_numpy()
    leaves = scan.numbers.with_columns(pl.Series(PART, job.cuts.route(codes)))
    records = pl.concat([scan.source.frame[scan.kept].select(job.carried), scan.numbers], how="horizontal")
    stock = Stock.of(job, lambda columns: leaves.group_by(PART, *columns).agg(pl.len().alias(COUNT)))
    pieces = {}

    def trial(job, some):
        route = job.cuts.route(codes)
        faults = {}
        for part in some:
            try:
                pieces[part] = release_partition(records.filter(pl.Series(route == part)), job, part).released
            except InfeasibleError as error:
                faults[part] = error
        return faults

    job = settled(joined(job, stock), stock, trial)
    shown = [pieces[part] for part in job.cuts.parts]
    if policy.output.suppressed == "starred" and policy.privacy.missing == "suppress":
        others = frame.filter(pl.any_horizontal(pl.col(policy.quasi_identifiers).is_null()))
        shown.append(release_others(others, job, shown[0].drop(KEY)).select(shown[0].columns))
    return pl.concat(shown).sort(KEY).drop(KEY).rows(), job


def parts_of(frame, policy, job, column):
    """The part of each record that takes part, by the value that it has in a column."""
    scan = surveyed(frame, policy)[1]
    parts = job.cuts.route(scan.numbers.select(job.code_columns).to_numpy())
    return dict(zip(scan.source.frame[scan.kept][column].to_list(), parts.tolist(), strict=True))
