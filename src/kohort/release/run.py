"""The path of the data, one direction: read, encode, cluster, recode, write, verify, measure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from kohort.audit import Verdict, examine, refuse_ledger, refuse_misread
from kohort.codes.boxes import Solution
from kohort.codes.encode import Codes
from kohort.codes.publish import Part, parts_of
from kohort.common import stopping
from kohort.common.private import private_folder
from kohort.common.progress import Clock, Progress
from kohort.errors import DataError, PolicyError
from kohort.ledger import PersonKey, Recording, read_or_new, recording, refuse_other_persons
from kohort.measures.bounds.table import bound_of_codes
from kohort.policy import Policy
from kohort.release.engines.features import DISK, MEMORY, refuse, refuse_partitions
from kohort.release.engines.frame import loaded, solution_of, usable_of
from kohort.release.finish import Documents, documents_of, refuse_verdict, release_of
from kohort.release.plan import Plan, plan_of
from kohort.release.pseudonyms import read_key, with_pseudonyms
from kohort.release.published_loss import Counted
from kohort.release.release import Release
from kohort.release.solve import refuse_stars
from kohort.table import read_table, same_kind, write_table
from kohort.table.read import Kind, target_kind
from kohort.table.safe import Drafts, refuse_existing, together
from kohort.table.sizes import memory_of
from kohort.table.targets import part_path, read_by, refuse_targets
from kohort.table.write import refuse_formless, scanned


@dataclass(frozen=True)
class Book:
    """Where a release is recorded, and how persons are recognised in it."""

    path: Path
    persons: PersonKey | None


def anonymize(
    table: Any,
    policy: Policy | str | Path,
    *,
    output: str | Path | None = None,
    progress: Progress | None = None,
    ledger: str | Path | None = None,
    person: str | None = None,
    ledger_key: str | Path | None = None,
    memory: str | int | None = None,
    partitions: int | None = None,
    resume: bool = False,
    verdict: str | Path | None = None,
    private: str | Path | None = None,
    overwrite: bool = False,
) -> Release:
    """Turn a table about people into one that keeps the promise of its policy.

    Parameters
    ----------
    table
        A file, a folder of files or a pattern, or a polars, pandas or pyarrow table. Never changed. See docs/sources.md.
    policy : Policy or path
        What is promised about which column.
    output : path, optional
        Where the release is written. It appears only after it was read again and verified; a failure leaves no trace.
    progress : callable, optional
        Called with the step and the share of it that is done, 0 to 1.
    ledger : path, optional
        A file that knows what earlier releases showed; a new one if it is not there. The release is checked
        against all of them before it appears, and recorded: see docs/ledger.md.
    person : str, optional
        With a ledger: the identifier column that names the person. Keyed hashes of persons are then recorded,
        and who is released again must be in a class with the same sensitive values as before.
    ledger_key : path, optional
        File with the key of these hashes; the environment variable KOHORT_LEDGER_KEY when absent.
    memory : str or int, optional
        Memory that may be used, such as ``"2GB"``: the table is worked on in partitions on disk. See docs/scale.md.
    partitions : int, optional
        The most partitions, each clustered by itself: 1 for all at once, when absent as many as suit the table.
    resume : bool
        With `memory`: keep finished partitions if the run is interrupted, and continue from those of a run that was.
    verdict, private : path, optional
        With `output`: where the verdicts go, with the bound on the loss; the private one for its owner's eyes only.
    overwrite : bool
        Write over a release and verdicts that are there; refused otherwise.

    Returns
    -------
    Release
        Table, verdict, loss and provenance.

    Raises
    ------
    PolicyError, DataError, InfeasibleError
        When policy or table are faulty, all faults together; or when nothing can keep the promise.
    VerificationError
        When the written file does not keep it; nothing is published.

    Examples
    --------
    >>> import kohort
    >>> policy = kohort.Policy.build(
    ...     k=5, quasi_identifiers=["birth_date", "sex", "zip_code"], sensitive=["diagnosis"],
    ...     hierarchies={"zip_code": {"prefix": [5, 3]}}, seed=1)
    >>> release = kohort.anonymize(kohort.datasets.patients(1000).select(*policy.columns), policy)
    >>> release.verdict.passed, release.table.columns
    (True, ['birth_date', 'sex', 'zip_code', 'diagnosis'])
    """
    policy, path = Policy.of(policy), Path(output) if output is not None else None
    documents, plan = documents_of(path, verdict, private), plan_of(policy)
    given = {"ledger": ledger, "frame": path is None or not isinstance(table, str | Path), "resume": resume}
    refuse(MEMORY if memory is None else DISK, plan, [name for name, asked in given.items() if asked])
    refuse_partitions(partitions, plan if memory is None else None)
    book = _book(plan, path, ledger, person, ledger_key)
    kind = _target(table, path, plan, book, ledger_key, documents, overwrite=overwrite)
    request = _Request(table, plan, path, kind, documents, Clock(progress), overwrite)
    if memory is not None:
        return _beyond_memory(request, memory, partitions=partitions, resume=resume)
    return _in_memory(request, book, partitions)


@dataclass(frozen=True)
class _Request:
    """What is asked for, and has been found to be possible."""

    table: Any
    plan: Plan
    path: Path | None
    kind: Kind
    documents: Documents
    clock: Clock
    overwrite: bool


def _in_memory(request: _Request, book: Book | None, partitions: int | None) -> Release:
    """A release of a table that is read as a whole."""
    plan, path, clock, policy = request.plan, request.path, request.clock, request.plan.policy
    secret = read_key(policy)
    with clock.step("read"):
        source = read_table(request.table, policy.input, policy.columns)
        if source.dialect is not None:
            refuse_misread(source.files, policy, source.frame.columns, source.frame.height)
    with clock.step("encode"):
        usable = usable_of(source, policy)
        if request.kind != "parquet":
            refuse_formless(source.frame.drop(*policy.dropped, *policy.quasi_identifiers).schema)
        named = with_pseudonyms(source.frame, policy, secret)
        table = loaded(plan, usable, clock.share, clock.note)
        codes = table.codes
    solution = solution_of(table, source.frame.height, partitions, clock.step)
    with clock.step("recode"):
        parts = parts_of(named, table.scan.kept, codes, solution, policy)
        for part in parts:
            refuse_stars(part.stars, source.frame.height, policy)
    with (
        _recording(book, path) as record,
        together(*_settled(record), overwrite=request.overwrite) as files,
        _drafts(path, parts, files) as drafts,
    ):
        with clock.step("write"):
            neutralise = policy.output.formulas == "neutralised"
            for draft, part in zip(drafts, parts, strict=True):
                write_table(
                    part.frame, draft, request.kind, source.dialect, neutralise=neutralise, labels=source.labels
                )
        with clock.step("verify"):
            original = source.files or source.frame
            judged, published = _verified(drafts, parts, original, record)
        tables = {part.name: same_kind(part.frame, source.kind) for part in parts}
        release = release_of(
            plan,
            codes.axes,
            original,
            judged,
            published,
            clock,
            clusters=solution.clusters,
            table=tables[parts[0].name],
            path=path,
            row_order=parts[0].order,
            tables=tables,
            facts=solution.facts,
            find_bound=partial(_bound, plan, codes, solution, source.frame.height),
        )
        request.documents.write(release, files)
    return release


def _beyond_memory(request: _Request, memory: str | int, **how: Any) -> Release:
    """The same of a table that is larger than memory."""
    from kohort.release.engines.disk import beyond_memory

    plan, path, clock = request.plan, request.path, request.clock
    assert path is not None
    limit = memory if isinstance(memory, int) else memory_of(memory)
    with together(stopping.published, overwrite=request.overwrite) as files:
        draft = files.file(path)
        with beyond_memory(request.table, plan, path, draft, limit, clock, **how) as run:
            with clock.step("verify"):
                found = examine(
                    draft,
                    plan.policy,
                    original=run.source.originals,
                    row_order=run.order,
                    memory=limit,
                    folder=run.folder,
                    hold=True,
                )
                refuse_verdict(found.verdict)
            release = release_of(
                run.job.plan,
                run.job.axes,
                run.source.originals,
                found.verdict,
                {name: Counted.of(texts) for name, texts in found.published.items()},
                clock,
                clusters=run.tally.clusters,
                table=scanned(path, request.kind),
                path=path,
                facts=run.facts,
            )
        request.documents.write(release, files)
    return release


# -- before any work ---------------------------------------------------------------------------


def _book(
    plan: Plan, path: Path | None, ledger: str | Path | None, person: str | None, key: str | Path | None
) -> Book | None:
    """Where the release will be recorded; what a ledger cannot record is refused."""
    policy = plan.policy
    if ledger is None:
        if person is not None or key is not None:
            raise DataError("ledger: a person column and a key are for a ledger, and none is given; give one.")
        return None
    if path is None:
        raise DataError("ledger: it records files that are handed over; give an output.")
    refuse_ledger(policy)
    if plan.algorithm.tables(policy):
        fault = "a ledger is for releases of one table, and this one has several; leave the ledger out."
        raise PolicyError(policy.located(("algorithm", "name"), fault))
    persons = None
    if person is None and key is not None:
        person = policy.privacy.person  # a key is for persons, and the policy may say who they are
    if person is not None:
        if person not in policy.having_role("identifier"):
            raise PolicyError(f"person: {person!r} must be a column of role 'identifier', which is never published.")
        persons = PersonKey.of(person, key)
    elif key is not None:
        raise DataError("ledger key: it is for persons; name the identifier column that says who they are.")
    return Book(Path(ledger), persons)


def _target(
    table: Any,
    path: Path | None,
    plan: Plan,
    book: Book | None,
    key: str | Path | None,
    documents: Documents,
    *,
    overwrite: bool,
) -> Kind:
    """The kind of file that will be written, if it can be written at all."""
    policy = plan.policy
    if path:
        names = plan.algorithm.tables(policy)
        targets = {f"output {name}".rstrip(): part_path(path, name) for name in names or ("",)}
        targets |= documents.targets
        refuse_targets(
            targets | ({"ledger": book.path} if book else {}),
            read_by(table, policy, plan.models) | ({"ledger key": Path(key)} if key is not None else {}),
        )
        if not overwrite:
            refuse_existing(targets.values())
    kind: Kind = target_kind(path) if path else "parquet"
    if book:
        before = read_or_new(book.path)
        if book.persons:
            refuse_other_persons(before.releases, book.persons)
    if policy.output.bounds:
        _refuse_bounds(policy, kind)
    return kind


def _refuse_bounds(policy: Policy, kind: Kind) -> None:
    if kind == "csv":
        fault = "bounds are for Parquet and frames; write Parquet, or set bounds = false."
        raise PolicyError(policy.located(("output", "bounds"), fault))
    ends = [f"{name}_{end}" for name in policy.quasi_identifiers for end in ("lo", "hi")]
    for name in ends:
        if name in policy.columns:
            fault = f"column {name!r} is already in the table; rename it, or set bounds = false."
            raise PolicyError(policy.located(("output", "bounds"), fault))


# -- the steps -----------------------------------------------------------------------------------


def _bound(plan: Plan, codes: Codes, solution: Solution, records: int) -> float | None:
    """What no release in classes can lose less than; None where the release is of another kind, or nobody asks."""
    if solution.tables:
        return None
    return bound_of_codes(codes, plan.measure, plan.policy, records, plan.seed)


def _recording(book: Book | None, path: Path | None) -> AbstractContextManager[Recording | None]:
    """The ledger until the release has appeared."""
    if book is None or path is None:
        return nullcontext()
    return recording(book.path, path, book.persons)


@contextmanager
def _drafts(path: Path | None, parts: list[Part], files: Drafts) -> Iterator[list[Path]]:
    """A draft of every output; for frames, private files that live as long as the check."""
    if path is not None:
        yield [files.file(part_path(path, part.name)) for part in parts]
        return
    with private_folder("kohort-check", guarded=False) as folder:
        yield [folder / f"release{index}.parquet" for index in range(len(parts))]


def _settled(record: Recording | None) -> list[Callable[[], None]]:
    """What is done as soon as the release is in its place."""
    return [stopping.published, *([record.settle] if record else [])]


def _verified(
    drafts: list[Path], parts: list[Part], original: Sequence[Path] | pl.DataFrame, record: Recording | None
) -> tuple[Verdict, dict[str, Counted]]:
    """The verdict on the drafts, or a refusal; and what they publish. What is to appear is recorded."""
    aside = {part.beside: draft for draft, part in zip(drafts, parts, strict=True) if part.beside}
    found = {
        part.name: examine(
            draft,
            part.policy,
            original=original,
            row_order=part.order,
            sensitive_table=aside.get(part.name),
            ledger=record.ledger if record else None,
            persons=record.persons if record else None,
            hold=True,
        )
        for draft, part in zip(drafts, parts, strict=True)
        if not part.beside
    }
    verdict = Verdict.of_tables({name: one.verdict for name, one in found.items()})
    refuse_verdict(verdict)
    if record:
        [only] = found.values()
        assert only.shown is not None
        record.announce(only.shown, only.people, verdict.hashes)
    return verdict, {name: Counted.of(texts) for one in found.values() for name, texts in one.published.items()}
