"""The audit: load, ask every question in the order of importance, and say what was found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kohort.audit import buckets, persons, precision, promise, pseudonyms, truth
from kohort.audit.case import Case, bound_names
from kohort.audit.classes import classes
from kohort.audit.consistency import consistency
from kohort.audit.coverage import pair
from kohort.audit.database import Database, Unreadable
from kohort.audit.intersection import intersection
from kohort.audit.invariance import invariance, is_comparable, people_of
from kohort.audit.load import Table, load
from kohort.audit.published import published_column
from kohort.audit.shown import sight_of
from kohort.audit.verdict import Check, Facts, Verdict, file_hash, hashes, versions
from kohort.errors import DataError, InternalError, PolicyError
from kohort.ledger import Ledger, People, PersonKey, Shown, read_ledger, refuse_other_persons
from kohort.policy import Policy

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from kohort.audit.load import Source


def verify(
    release: Any,
    policy: Policy | str | Path,
    *,
    original: Any = None,
    row_order: ArrayLike | None = None,
    sensitive_table: Any = None,
    strict: bool = False,
    against: str | Path | Ledger | None = None,
) -> Verdict:
    """Check a release, by whatever tool, against the promise of its policy.

    Parameters
    ----------
    release : path, or polars, pandas or pyarrow table
        The table that is to be handed over: CSV (any of ``; , | tab``, may be gzipped) or Parquet.
    policy : Policy or path
        What is promised.
    original : path, or polars, pandas or pyarrow table, optional
        The table it was made of. With it, published values are also checked for truth.
    row_order : array of int, optional
        The original row of each released row, both counted from 0. Without it, rows are compared in
        the order of the files if that fits, else every column is compared as a whole.
    sensitive_table : path, or polars, pandas or pyarrow table, optional
        The second table of a release in buckets: bucket, sensitive value, count.
    strict : bool
        Whether each privacy model must hold for somebody, too, who knows all other sensitive columns. How many
        classes fail then is told in any case.
    against : path or Ledger, optional
        Earlier releases: with them, it is also checked what all of them together tell. See docs/ledger.md.

    Returns
    -------
    Verdict
        Its `passed` says whether the promise holds and its `reason` why.

    Raises
    ------
    DataError
        When a table, a hierarchy or the ledger cannot be read.
    PolicyError
        When the policy asks for buckets and has not one sensitive column, or for what a ledger cannot compare.
    """
    return examine(
        release,
        policy,
        original=original,
        row_order=row_order,
        sensitive_table=sensitive_table,
        strict=strict,
        ledger=against if against is None or isinstance(against, Ledger) else read_ledger(against),
    ).verdict


@dataclass(frozen=True)
class Examination:
    """A verdict, and what the ledger keeps of the release; None without a ledger, or without the columns."""

    verdict: Verdict
    shown: Shown | None = None
    people: People | None = None


def examine(
    release: Any,
    policy: Policy | str | Path,
    *,
    original: Any = None,
    row_order: ArrayLike | None = None,
    sensitive_table: Any = None,
    strict: bool = False,
    ledger: Ledger | None = None,
    persons: PersonKey | None = None,
) -> Examination:
    """Do what `verify` does, and tell what a ledger keeps of the release.

    Parameters
    ----------
    persons : PersonKey, optional
        The column of the original that names the person, and a key. Then persons who were in earlier releases
        are recognised, and m-invariance is checked instead of guessing who may be in both. It needs the
        original and the order of its rows.
    """
    policy = Policy.of(policy)
    if ledger is not None:
        refuse_ledger(policy)
    release, original, sensitive_table = _source(release), _source(original), _source(sensitive_table)
    in_buckets = policy.privacy.anonymity == "buckets"
    if in_buckets != (sensitive_table is not None):
        raise DataError(
            "sensitive_table: a release with anonymity = 'buckets' is two tables; give both."
            if in_buckets
            else "sensitive_table: only a release with anonymity = 'buckets' has one; leave it out."
        )
    with Database() as database:
        try:
            case = _load(database, release, policy, original, row_order, sensitive_table, persons)
            checks = _checks(case, strict=strict)
            shown, people = None, None
            if ledger is not None:
                shown, people, more = _against(case, ledger, persons)
                checks += more
        except Unreadable:
            raise InternalError("A statement of the audit failed.") from None
    verdict = Verdict(tuple(checks), facts_of(case, checks), hashes(release, policy), versions())
    if isinstance(sensitive_table, str | Path):
        verdict = verdict.with_hashes(sensitive_table=file_hash(Path(sensitive_table)))
    return Examination(verdict, shown, people)


def refuse_ledger(policy: Policy) -> None:
    """Refuse a ledger for releases that are not in classes: it could not tell what somebody is left with."""
    if policy.privacy.anonymity != "classes":
        fault = "a ledger compares releases in classes only; set anonymity = 'classes', or leave the ledger out."
        raise PolicyError(policy.located(("privacy", "anonymity"), fault))


def _against(case: Case, ledger: Ledger, persons: PersonKey | None) -> tuple[Shown | None, People | None, list[Check]]:
    """Compare with earlier releases: person by person where persons are known, else class by class."""
    sight = sight_of(case)
    if sight is None:
        sentence = "earlier releases cannot be compared, as the release lacks a column of the policy."
        return None, None, [Check("intersection", False, sentence)]
    earlier, checks, people = ledger.releases, [], None
    if persons is not None:
        refuse_other_persons(earlier, persons)
        people = people_of(case, sight, persons)
        known = [entry for entry in earlier if is_comparable(entry, sight)]
        checks.append(invariance(people, known))
        earlier = tuple(entry for entry in earlier if not is_comparable(entry, sight))
    if persons is None or earlier:
        checks.append(intersection(sight, earlier, case.policy))
    return sight.shown, people, checks


def _source(given: Any) -> Any:
    """A path as it is, for the audit reads files itself; a table of any kind as a polars frame."""
    import polars as pl

    if given is None or isinstance(given, str | Path | pl.DataFrame):
        return given
    from kohort.table import read_table

    return read_table(given).frame


def _load(
    database: Database,
    release: Source,
    policy: Policy,
    original: Source | None,
    row_order: ArrayLike | None,
    sensitive_table: Source | None,
    persons: PersonKey | None,
) -> Case:
    published = set(policy.columns) - set(policy.dropped)
    added = {end for name in policy.quasi_identifiers for end in bound_names(name)}
    second = None
    if sensitive_table is not None:
        linking = {buckets.BUCKET, buckets.sensitive_column(policy), buckets.COUNT}
        second = load(database, buckets.TABLE, sensitive_table, policy, linking)
        added.add(buckets.BUCKET)
    table = load(database, "release", release, policy, published | added)
    if not table.rows:
        raise DataError("release: it has a header but no rows; there is nothing to check.")
    known = published | ({policy.privacy.person} if policy.privacy.person is not None else set())
    known |= set() if persons is None else {persons.column}
    source = None if original is None else load(database, "original", original, policy, known)
    order = None if row_order is None else _order(row_order, table, source)
    quasi = [name for name in policy.quasi_identifiers if name in table.columns]
    [(starred,)] = database.rows("SELECT count(*) FROM release WHERE starred")
    case = Case(
        policy=policy,
        release=table,
        original=source,
        columns={
            name: published_column(name, policy, _texts(table, name) or [], _texts(source, name)) for name in quasi
        },
        classes=classes(table, quasi) if second is None and len(quasi) == len(policy.quasi_identifiers) else None,
        starred=int(starred),
        order_given=order is not None,
        sensitive=second,
    )
    if case.original is not None and case.is_paired:
        pair(table, case.original, order)
    return case


def _checks(case: Case, *, strict: bool) -> list[Check]:
    in_buckets = case.sensitive is not None
    asked = [
        buckets.columns(case) if in_buckets else promise.columns(case),
        pseudonyms.pseudonyms(case),
        _K_CHECKS[case.policy.privacy.anonymity](case),
        persons.persons(case),
        buckets.diversity(case) if in_buckets else None,
        promise.missing(case),
        promise.suppression(case),
        truth.rows(case),
        promise.domain(case),
        precision.precision(case),
        truth.coverage(case),
        truth.values(case),
        buckets.sensitive(case) if in_buckets else None,
        truth.bounds(case),
        *(buckets.models(case) if in_buckets else promise.models(case, strict=strict)),
    ]
    return [check for check in asked if check is not None]


_K_CHECKS = {"classes": promise.k, "matchings": consistency, "buckets": buckets.k}


def facts_of(case: Case, checks: list[Check]) -> Facts:
    """Put the numbers of a release together."""
    [found] = [check.figures for check in checks if check.name == "k"]
    return Facts(
        k=case.policy.privacy.k,
        rows_released=case.release.rows,
        rows_original=case.original.rows if case.original else None,
        suppressed=case.suppressed,
        withheld=case.withheld,
        classes=int(found["classes"]) if "classes" in found else None,
        smallest_class=int(found["smallest_class"]) if "smallest_class" in found else None,
    )


def _texts(table: Table | None, name: str) -> list[str] | None:
    """List the distinct texts of a column, if there is such a table and column."""
    if table is None or name not in table.columns:
        return None
    return [text for text in table.counts(name) if text is not None]


def _order(row_order: ArrayLike, release: Table, original: Table | None) -> NDArray[np.int64]:
    """Check that every released row has one original row of its own."""
    order: NDArray[Any] = np.asarray(row_order)
    if original is None:
        raise DataError("row_order: it needs the original; give both or neither.")
    if order.shape != (release.rows,) or order.dtype.kind not in "iu":
        raise DataError("row_order: it must hold one whole number for each released row.")
    if order.min() < 0 or order.max() >= original.rows or len(np.unique(order)) < len(order):
        raise DataError("row_order: it must name an original row, counted from 0, and none of them twice.")
    return order.astype(np.int64)
