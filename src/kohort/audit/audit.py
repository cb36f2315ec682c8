"""The audit: load, ask every question in the order of importance, and say what was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kohort.audit.as_is import as_is_of
from kohort.audit.asked import texts_of
from kohort.audit.beside import stated_beside
from kohort.audit.case import Case, LoadedCase
from kohort.audit.checklist import Need, answers, refuse_unanswerable
from kohort.audit.checks import buckets
from kohort.audit.checks.classes import classes
from kohort.audit.checks.coverage import pair
from kohort.audit.checks.kept import is_too_large, kept_order
from kohort.audit.fitted import fitted
from kohort.audit.ledger import Ledger, People, PersonKey, Shown, read_ledger
from kohort.audit.meaning.order import order_in_array, order_of
from kohort.audit.meaning.published import BUCKET, alike_columns, bound_names, published_column
from kohort.audit.meaning.values import same_value
from kohort.audit.read.database import Database, Unreadable
from kohort.audit.read.dictionary import Dictionary
from kohort.audit.read.files import files_hash, listed_files, states
from kohort.audit.read.formats.base import Kinds
from kohort.audit.read.load import load
from kohort.audit.verdict import Check, Facts, Verdict, hashes, versions
from kohort.errors import DataError, InternalError, PolicyError
from kohort.policy import Policy
from kohort.policy.promise import promise_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from kohort.audit.read.load import Source


def verify(
    release: Any,
    policy: Policy | str | Path | None = None,
    *,
    verdict: str | Path | None = None,
    original: Any = None,
    row_order: ArrayLike | str | Path | None = None,
    sensitive_table: Any = None,
    strict: bool = False,
    against: str | Path | Ledger | None = None,
    memory: int | None = None,
) -> Verdict:
    """Check a release, by whatever tool, against the promise of its policy.

    Parameters
    ----------
    release : path, list of paths, or polars, pandas or pyarrow table
        The table that is to be handed over: CSV (any of ``; , | tab``, may be gzipped) or Parquet; a path may be a
        folder or a pattern, whose files are taken in the order of their paths.
    policy : Policy or path, optional
        What is promised. When absent, what the verdict of the release says that it was made under, options of the
        command line among it; then it is also checked that the file is the one that the verdict is about.
    verdict : path, optional
        Where that verdict is; beside the release, as ``OUT.verdict.json``, when absent.
    original : path, list of paths, or polars, pandas or pyarrow table, optional
        The table it was made of. With it, published values are also checked for truth.
    row_order : array of int, or path, optional
        The original row of each released row, both counted from 0; a file has one number in each line, or is Parquet
        with one column. Without it, rows are compared in the order of the files if that fits, else every column is
        compared as a whole.
    sensitive_table : path, or polars, pandas or pyarrow table, optional
        The second table of a release in buckets: bucket, sensitive value, count.
    strict : bool
        Whether each privacy model must also hold against someone who knows all other sensitive columns. How many
        classes fail then is reported in any case.
    against : path or Ledger, optional
        Earlier releases: with them, it is also checked what all of them together reveal. See docs/ledger.md.
    memory : int, optional
        Bytes that the audit may take, about. What does not fit is written to a private folder among temporary files,
        which is gone at the end. The distinct texts of a column must fit; so must a ledger and, with
        ``anonymity = "matchings"``, the table, so these are refused.

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
    stated = None
    if policy is None:
        stated = stated_beside(release, verdict)
        policy = stated.policy
    elif verdict is not None:
        raise DataError("verdict: it is read for the promise, and a policy gives another; give one of them.")
    found = examine(
        release,
        policy,
        original=original,
        row_order=row_order,
        sensitive_table=sensitive_table,
        strict=strict,
        ledger=against if against is None or isinstance(against, Ledger) else read_ledger(against),
        memory=memory,
    ).verdict
    return found if stated is None else stated.compared(found)


@dataclass(frozen=True)
class Examination:
    """A verdict, and what the ledger keeps of the release; None without a ledger, or without the columns."""

    verdict: Verdict
    shown: Shown | None = None
    people: People | None = None
    published: Mapping[str, Dictionary] = field(default_factory=dict)
    """The published texts of each quasi-identifier, if they were asked for."""


def examine(
    release: Any,
    policy: Policy | str | Path,
    *,
    original: Any = None,
    row_order: ArrayLike | str | Path | None = None,
    sensitive_table: Any = None,
    strict: bool = False,
    ledger: Ledger | None = None,
    persons: PersonKey | None = None,
    memory: int | None = None,
    folder: Path | None = None,
    hold: bool = False,
) -> Examination:
    """Do what `verify` does, and return what a ledger keeps of the release, too.

    Parameters
    ----------
    persons : PersonKey, optional
        The column of the original that names the person, and a key. Then persons who were in earlier releases
        are recognised, and m-invariance is checked instead of guessing who may be in both. It needs the
        original and the order of its rows.
    folder : Path, optional
        Where the private folder is made for what does not fit into memory.
    hold : bool
        Whether the published texts of quasi-identifiers are given along.
    """
    policy = Policy.of(policy)
    handed_over = (release, sensitive_table)
    release, original, sensitive_table = (_source(given, policy) for given in (release, original, sensitive_table))
    policy = fitted(policy, release, original)
    for table in handed_over:
        _refuse_mixed(table, policy)
    if ledger is not None:
        refuse_ledger(policy)
    if memory is not None:
        if ledger is not None:
            raise DataError(
                "memory: a ledger lists every class and must fit into it; leave out the limit, or the ledger."
            )
        why = " needs the whole table in memory; leave out the limit of memory."
        refuse_unanswerable(policy, Need.WHOLE, lambda question: why)
    in_buckets = policy.privacy.anonymity == "buckets"
    if in_buckets != (sensitive_table is not None):
        raise DataError(
            "sensitive_table: a release with anonymity = 'buckets' is two tables; give both."
            if in_buckets
            else "sensitive_table: only a release with anonymity = 'buckets' has one; leave it out."
        )
    files = [path for source, name in ((release, "release"), (original, "original")) for path in _files(source, name)]
    files += [Path(row_order)] if isinstance(row_order, str | Path) else []
    before = states(files)
    with Database(memory, folder) as database:
        try:
            case = _load(database, release, policy, original, row_order, sensitive_table, ledger, persons)
            checks = answers(case, strict=strict)
            facts, as_is = facts_of(case, checks), as_is_of(case)
            sight, people = (None, None) if ledger is None else (case.sight, case.people)
            published = (
                {name: case.release.dictionary(name).held() for name in (*case.columns, *case.sets)} if hold else {}
            )
        except Unreadable:
            _refuse_changed(files, before)
            raise InternalError("A statement of the audit failed.") from None
    _refuse_changed(files, before)
    promise = promise_of(policy)
    verdict = Verdict(tuple(checks), facts, hashes(release, policy), versions(), promise=promise, as_is=as_is)
    if second := _files(sensitive_table, "sensitive_table"):
        verdict = verdict.with_hashes(sensitive_table=files_hash(second))
    return Examination(verdict, None if sight is None else sight.shown, people, published)


def _files(source: Any, name: str) -> tuple[Path, ...]:
    """The files of a table; none of a frame."""
    return listed_files(source, name) if isinstance(source, str | Path | tuple) else ()


def _refuse_changed(files: Sequence[Path], before: Sequence[tuple[int, int]]) -> None:
    """Refuse to say anything about files that somebody wrote to: each check would have seen another table."""
    DataError.refuse(
        f"{path.name}: was written to while it was checked; check it again when it is whole."
        for path, then, now in zip(files, before, states(files), strict=True)
        if then != now
    )


def refuse_ledger(policy: Policy) -> None:
    """Refuse a ledger for releases that are not in classes: it could not say what an outsider still has to guess."""
    if policy.sets:
        fault = "a ledger does not compare sets yet; leave it out, or the column of sets."
        raise PolicyError(policy.located(("columns", policy.sets[0]), fault))
    if policy.privacy.anonymity != "classes":
        fault = "a ledger compares releases in classes only; set anonymity = 'classes', or leave the ledger out."
        raise PolicyError(policy.located(("privacy", "anonymity"), fault))


def _source(given: Any, policy: Policy) -> Any:
    """A path as it is, for the audit reads files itself; a table of any kind as a polars frame."""
    import polars as pl

    from kohort.table.databases import SqlTable, is_url

    if is_url(given):
        return SqlTable(given)
    if given is None or isinstance(given, str | Path | pl.DataFrame | SqlTable):
        return given
    if isinstance(given, Sequence) and all(isinstance(path, str | Path) for path in given):
        return tuple(given)
    from kohort.table import read_table

    return read_table(given, known=policy.columns).frame


def _refuse_mixed(table: Any, policy: Policy) -> None:
    """Refuse a table of pandas whose equal objects are not written alike, such as 20 and 20.0."""
    if not hasattr(table, "dtypes") or not hasattr(table, "dropna"):
        return
    kinds = Kinds("the release", alike_columns(policy))
    for name in kinds.columns:
        if name in table.columns and str(table.dtypes[name]) == "object":
            for cell in table[name].dropna():
                kinds.see(name, cell, (type(cell).__name__, str(cell)))


def _load(
    database: Database,
    release: Source,
    policy: Policy,
    original: Source | None,
    row_order: ArrayLike | str | Path | None,
    sensitive_table: Source | None,
    ledger: Ledger | None,
    persons: PersonKey | None,
) -> LoadedCase:
    published = set(policy.columns) - set(policy.dropped)
    added = {end for name in policy.quasi_identifiers for end in bound_names(name)}
    second = None
    if sensitive_table is not None:
        linking = {BUCKET, buckets.sensitive_column(policy), buckets.COUNT}
        second = load(database, buckets.TABLE, sensitive_table, policy, linking)
        added.add(BUCKET)
    table = load(database, "release", release, policy, published | added)
    if not table.rows:
        raise DataError("release: it has a header but no rows; there is nothing to check.")
    # who is meant is asked of one column, or of every identifier whether it repeats
    known = published | set(policy.dropped if policy.privacy.person is None else [policy.privacy.person])
    known |= set() if persons is None else {persons.column}
    source = None if original is None else load(database, "original", original, policy, known)
    order = None if row_order is None else order_of(row_order, database, policy, table, source)
    quasi = [name for name in policy.quasi_identifiers if name in table.columns]
    starred = 0
    if quasi and all(table.dictionary(name).star is not None for name in quasi):
        [(starred,)] = database.rows("SELECT count(*) FROM release WHERE starred")
    case = LoadedCase(
        policy=policy,
        release=table,
        original=source,
        columns={
            name: published_column(name, policy, texts_of(table, name) or (), texts_of(source, name)) for name in quasi
        },
        classes=classes(table, quasi) if second is None and len(quasi) == len(policy.quasi_identifiers) else None,
        starred=int(starred),
        order=order,
        sensitive=second,
        ledger=ledger,
        persons=persons,
    )
    case = _in_kept_order(case)
    if case.original is not None and case.is_paired:
        pair(table, case.original, ordered=case.order is not None)
    return case


def _in_kept_order(case: LoadedCase) -> LoadedCase:
    """The case with the order of the original as the release keeps it, if rows are withheld and one is found."""
    original, release = case.original, case.release
    if original is None or not case.keeps_order or case.order_given or release.rows >= original.rows:
        return case
    questions = [*case.lines.questions, *(same_value(release, original, name, case.policy) for name in case.unchanged)]
    if is_too_large(original, questions):
        return replace(case, too_large=True)
    kept = kept_order(release, original, questions)
    if kept is None:
        return case
    return replace(case, order=order_in_array(kept.rows, release.database), found=True, several=kept.several)


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
