"""The path of the data, one direction: read, encode, cluster, recode, write, verify, measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kohort.audit import refuse_ledger
from kohort.audit.ledger import PersonKey, Recording, read_or_new, recording, refuse_other_persons
from kohort.common import stopping
from kohort.common.progress import Clock, Progress
from kohort.errors import DataError, PolicyError
from kohort.kernels.ahead import BOUND, SEARCH, compiled_ahead
from kohort.policy import Policy
from kohort.release.engines.engine import Engine, Request
from kohort.release.engines.features import DISK, MEMORY, SPARK, Profile, refuse, refuse_partitions
from kohort.release.engines.spark.session import refuse_without_spark
from kohort.release.engines.workspace import forget
from kohort.release.finish import Documents, documents_of, refuse_documents, refuse_verdict, release_of
from kohort.release.plan import Plan, plan_of
from kohort.release.release import Release
from kohort.release.stored import with_databases
from kohort.table.header import policy_for
from kohort.table.read import Kind, target_kind
from kohort.table.safe import refuse_existing, together
from kohort.table.targets import read_by, refuse_folder, refuse_targets, table_path


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
    certificate: str | Path | None = None,
    key: str | Path | None = None,
    row_order: str | Path | None = None,
    overwrite: bool = False,
) -> Release:
    """Turn a table about people into one that keeps the promise of its policy.

    Parameters
    ----------
    table
        A file, a folder of files or a pattern, a table of a database (`SqlTable`, or its URL), or a frame.
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
    certificate, key : path, optional
        With `output`: where the certificate goes, and the private key that signs it; see docs/certificate.md.
    row_order : path, optional
        With `output`: where the original row of each row goes, as secret as the table: see docs/verify.md.
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
    how: dict[str, Any] = {"memory": memory, "partitions": partitions, "resume": resume, "overwrite": overwrite}
    how |= {"ledger": ledger, "person": person, "ledger_key": ledger_key, "output": output, "progress": progress}
    how |= {"verdict": verdict, "private": private, "certificate": certificate, "key": key, "row_order": row_order}
    return released(MEMORY if memory is None else DISK, table, policy, **how)


@with_databases
def released(
    profile: Profile,
    table: Any,
    policy: Policy | str | Path,
    *,
    output: str | Path | None,
    progress: Progress | None = None,
    ledger: str | Path | None = None,
    person: str | None = None,
    ledger_key: str | Path | None = None,
    verdict: str | Path | None = None,
    private: str | Path | None = None,
    certificate: str | Path | None = None,
    key: str | Path | None = None,
    row_order: str | Path | None = None,
    overwrite: bool = False,
    **how: Any,
) -> Release:
    """Do what `anonymize` does, on any engine.

    Parameters
    ----------
    how
        The options of `Request` that are for some engines only.
    """
    policy, path = policy_for(policy, table), Path(output) if output is not None else None
    documents = documents_of(
        path, verdict=verdict, private=private, certificate=certificate, key=key, row_order=row_order
    )
    plan = plan_of(policy)
    refuse_documents(documents, plan)
    frame = path is None or not isinstance(table, str | Path)
    asked = how | {"ledger": ledger or person or ledger_key, "frame": frame, "row-order": row_order}
    refuse(profile, plan, [name for name, value in asked.items() if value not in (None, False)])
    refuse_partitions(how.get("partitions"), plan if profile is MEMORY else None)
    book = _book(plan, path, ledger, person, ledger_key)
    keys = {"ledger key": ledger_key, "key": key}
    kind = _target(profile, table, path, plan, book, keys, documents, overwrite=overwrite)
    clock = Clock(progress)
    engine = _engine(profile)(Request(table, plan, path, kind, clock, **how))
    with compiled_ahead(_compiled(profile, plan, documents)), ExitStack() as place:
        engine.open(place)
        engine.work()
        with _recording(book, path) as record, together(*_settled(record), overwrite=overwrite) as files:
            written = engine.write(files)
            examined = engine.examine(record)
            refuse_verdict(examined.verdict)
            if record:
                assert examined.shown is not None
                record.announce(examined.shown, examined.people, examined.verdict.hashes)
            release = release_of(written, examined, clock, path)
            place.close()
            documents.write(release, files)
    if path is not None:
        forget(path)
    return release


def _compiled(profile: Profile, plan: Plan, documents: Documents) -> list[str]:
    """The kernels that a first run compiles beside its other work."""
    if profile is SPARK:
        return []
    chosen = plan.policy.algorithm
    searches = (plan.algorithm.searches or chosen.refine) and len(plan.models) == 1
    bound = bool(documents.targets and chosen.bound_effort)
    return [module for module, wanted in ((SEARCH, searches), (BOUND, bound)) if wanted]


def _engine(profile: Profile) -> type[Engine]:
    """The engine of a profile; its libraries are loaded now."""
    if profile is SPARK:
        refuse_without_spark()
        from kohort.release.engines.spark.run import OnSpark

        return OnSpark
    if profile is DISK:
        from kohort.release.engines.disk import OnDisk

        return OnDisk
    from kohort.release.engines.memory import InMemory

    return InMemory


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
    profile: Profile,
    table: Any,
    path: Path | None,
    plan: Plan,
    book: Book | None,
    keys: Mapping[str, str | Path | None],
    documents: Documents,
    *,
    overwrite: bool,
) -> Kind:
    """The kind of file that will be written, if it can be written at all."""
    policy = plan.policy
    if path and profile.folder:
        refuse_folder(path)
    if path:
        names = plan.algorithm.tables(policy)
        targets = {f"output {name}".rstrip(): table_path(path, name) for name in names or ("",)}
        targets |= documents.targets
        refuse_targets(
            targets | ({"ledger": book.path} if book else {}),
            read_by(table, policy, plan.models)
            | {what: Path(place) for what, place in keys.items() if place is not None},
        )
        if not overwrite:
            refuse_existing(targets.values())
    kind: Kind = target_kind(path) if path else "parquet"
    if kind not in ("csv", "parquet"):
        refuse(profile, options=["kind"])
    if book:
        before = read_or_new(book.path)
        if book.persons:
            refuse_other_persons(before.releases, book.persons)
    if policy.output.bounds:
        _refuse_bounds(policy)
    return kind


def _refuse_bounds(policy: Policy) -> None:
    """Refuse ends that would have the names of other columns."""
    ends = [f"{name}_{end}" for name in policy.quasi_identifiers for end in ("lo", "hi", "mid")]
    for name in ends:
        if name in policy.columns:
            fault = f"column {name!r} is already in the table; rename it, or set bounds = false."
            raise PolicyError(policy.located(("output", "bounds"), fault))


def _recording(book: Book | None, path: Path | None) -> AbstractContextManager[Recording | None]:
    """The ledger until the release has appeared."""
    if book is None or path is None:
        return nullcontext()
    return recording(book.path, path, book.persons)


def _settled(record: Recording | None) -> list[Callable[[], None]]:
    """What is done as soon as the release is in its place."""
    return [stopping.published, *([record.settle] if record else [])]
