"""The path of the data, one direction: read, encode, cluster, recode, write, verify, measure."""

from __future__ import annotations

import hashlib
import hmac
import math
import secrets
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohort.algorithms import ALGORITHMS, Algorithm, Task
from kohort.audit import Verdict, examine, refuse_ledger
from kohort.bounds import lower_bound
from kohort.encode import STAR, Codes, encode
from kohort.enforcing import enforced
from kohort.errors import DataError, InfeasibleError, PolicyError, VerificationError
from kohort.hierarchy import Taxonomy, read
from kohort.ledger import PersonKey, Recording, read_ledger, recording, refuse_other_persons
from kohort.measures import MEASURES, Measure
from kohort.measures.compile import compile_costs
from kohort.measures.loss import loss_of_solution
from kohort.persons import Work, persons_of
from kohort.policy import Policy
from kohort.population import coverages_of
from kohort.privacy import (
    PopulationModel,
    PrivacyModel,
    Promise,
    SensitiveModel,
    SizeModel,
    models_of,
    reference_of,
)
from kohort.pseudonyms import read_key, with_pseudonyms
from kohort.recode import Part, parts_of
from kohort.refining import refined_solution
from kohort.release import Provenance, Release
from kohort.solution import Solution
from kohort.table import Table, read_table, same_kind, typed_columns, typed_quasi_identifiers, write_table
from kohort.table.read import Kind, file_kind
from kohort.table.safe import draft_of
from kohort.table.targets import part_path, refuse_targets
from kohort.table.texts import as_texts

Progress = Callable[[str, float], None]
"""Told the step, in a search with the loss so far after a comma, and the share of it that is done."""


@dataclass(frozen=True)
class Plan:
    """A policy whose every choice has been found possible."""

    policy: Policy
    algorithm: Algorithm
    measure: Measure
    seed: int


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
) -> Release:
    """Turn a table about people into one that keeps the promise of its policy.

    Parameters
    ----------
    table
        Path of a CSV or Parquet file, or a polars, pandas or pyarrow table. Never changed.
    policy : Policy or path
        What is promised about which column.
    output : path, optional
        Where the release is written, CSV or Parquet by its name. The file appears there only
        after it has been read again and verified; whatever fails leaves the path as it was.
    progress : callable, optional
        Told the step and its share done, 0 to 1.
    ledger : path, optional
        A file that knows what earlier releases showed; a new one if it is not there. The release is checked
        against all of them before it appears, and recorded: see docs/ledger.md.
    person : str, optional
        With a ledger: the identifier column that names the person. Keyed hashes of persons are then recorded,
        and who is released again must be in a class with the same sensitive values as before.
    ledger_key : path, optional
        File with the key of these hashes; the environment variable KOHORT_LEDGER_KEY when absent.

    Returns
    -------
    Release
        Table, verdict, loss and provenance.

    Raises
    ------
    PolicyError, DataError
        When policy or table are faulty; all faults together.
    InfeasibleError
        When nothing can keep the promise.
    VerificationError
        When the written file does not keep it; nothing is published.

    Examples
    --------
    >>> import kohort
    >>> policy = kohort.Policy.build(
    ...     k=5, identifiers=["name"], quasi_identifiers=["birth_date", "sex", "zip_code"],
    ...     sensitive=["diagnosis"], hierarchies={"zip_code": {"prefix": [5, 3]}}, seed=1)
    >>> patients = kohort.datasets.patients(1000).select(*policy.columns)
    >>> release = kohort.anonymize(patients, policy)
    >>> release.verdict.passed, release.table.columns
    (True, ['birth_date', 'sex', 'zip_code', 'diagnosis'])
    """
    policy = Policy.of(policy)
    path = Path(output) if output is not None else None
    clock = _Clock(progress)
    plan = plan_of(policy)
    book = _book(plan, path, ledger, person, ledger_key)
    kind = _target(table, path, plan, book, ledger_key)
    secret = read_key(policy)
    with clock.step("read"):
        source = read_table(table, policy.input)
        kept, frame = usable_records(source, policy)
        named = with_pseudonyms(source.frame, policy, secret)
    with clock.step("encode"):
        codes = encode(frame, policy)
        persons = persons_of(source.frame, kept, policy)
        refuse_the_impossible(plan, frame, source.frame.height - len(kept), persons)
        work = Work(task_of(plan, frame, codes, source.frame.height, clock.share, clock.note), persons)
    with clock.step("cluster"):
        solution = enforced(work.task, plan.algorithm.solve(work.task))
        refuse_solution(work.of_records(solution), len(kept), source.frame.height, policy)
    if policy.algorithm.refine:
        with clock.step("refine"):
            solution = enforced(work.task, refined_solution(work.task, solution))
    if persons is not None:
        with clock.step("persons"):
            solution = enforced(work.whole, work.finished(solution))
    with clock.step("recode"):
        parts = parts_of(named, kept, codes, solution, policy)
        _refuse_stars(parts, source.frame.height, policy)
    with clock.step("measure"):
        loss = loss_of_solution(plan.measure, codes, solution, source.frame.height - len(kept))
    with _recording(book, path) as record, _drafts(path, parts) as drafts:
        with clock.step("write"):
            neutralise = policy.output.formulas == "neutralised"
            for draft, part in zip(drafts, parts, strict=True):
                write_table(part.frame, draft, kind, source.dialect, neutralise=neutralise)
        with clock.step("verify"):
            original = source.path or source.frame
            verdict, key = _verified(drafts, parts, original, record)
    provenance = Provenance(
        algorithm=plan.algorithm.name,
        parameters=asdict(plan.algorithm),  # type: ignore[call-overload]
        measure={"name": plan.measure.name} | asdict(plan.measure),  # type: ignore[call-overload]
        seed=plan.seed,
        input_key=key,
        seconds=clock.seconds,
        clusters=solution.clusters,
    )
    tables = {part.name: same_kind(part.frame, source.kind) for part in parts}
    return Release(
        table=tables[parts[0].name],
        verdict=verdict,
        loss=loss,
        provenance=provenance,
        path=path,
        row_order=parts[0].order,
        tables=tables,
        facts=solution.facts,
        find_bound=partial(_bound, plan, codes, solution, source.frame.height),
    )


# -- before any work ---------------------------------------------------------------------------


def plan_of(policy: Policy) -> Plan:
    """Find everything that the policy names, or refuse: a constraint is never dropped."""
    faults: list[str] = []

    def found(keys: tuple[str, ...], make: Callable[[], Any]) -> Any:
        try:
            return make()
        except PolicyError as error:
            # Faults of the privacy models know their own lines.
            faults.extend(policy.located(keys, fault) if keys else fault for fault in error.faults)

    chosen = policy.algorithm
    algorithm = found(("algorithm", "name"), lambda: ALGORITHMS.make(chosen.name, chosen.parameters))
    measure = found(("algorithm", "measure"), lambda: MEASURES.make(chosen.measure.name, chosen.measure.parameters))
    models = found((), lambda: models_of(policy))
    if algorithm and models:
        faults += [
            policy.located(
                ("privacy", "models"), f"algorithm {chosen.name!r} cannot enforce {model.name!r}; {_who(model.name)}."
            )
            for model in models
            if model.name not in algorithm.enforces and not _is_repaired(policy, algorithm, model)
        ]
        faults += _other_promise(policy, algorithm)
        faults += [policy.located(("algorithm", "name"), fault) for fault in algorithm.refuses(policy)]
        if chosen.budget is not None and not chosen.refine and not algorithm.searches:
            fault = f"a budget is for a search, and {chosen.name!r} is none; set refine = true, or remove the budget."
            faults.append(policy.located(("algorithm", "budget"), fault))
        if chosen.refine:
            faults += [policy.located(("algorithm", "refine"), fault) for fault in _not_refined(policy, algorithm)]
        if policy.privacy.person is not None and not _in_classes(policy, algorithm):
            fault = (
                f"persons are counted in releases of one table in classes, and {chosen.name!r} makes another kind; "
                "choose another algorithm, or remove 'person'."
            )
            faults.append(policy.located(("privacy", "person"), fault))
        if policy.pseudonyms and algorithm.tables(policy):
            fault = f"the tables that {chosen.name!r} publishes must not be linked, as a pseudonym would; remove it."
            faults.append(policy.located(("columns", policy.pseudonyms[0], "pseudonym"), fault))
    if faults:
        raise PolicyError(*faults)
    for name in policy.having_role("sensitive"):
        _read_hierarchy(name, policy)
    seed = chosen.seed if chosen.seed is not None else secrets.randbits(62)
    return Plan(policy, algorithm, measure, seed)


def _is_repaired(policy: Policy, algorithm: Algorithm, model: PrivacyModel) -> bool:
    """Whether a model is kept whatever the algorithm: it is told a larger k, or its classes are repaired after it."""
    in_classes = algorithm.anonymity == "classes" and not algorithm.tables(policy)
    return in_classes and isinstance(model, SensitiveModel | SizeModel | PopulationModel)


def _who(model: str) -> str:
    """Which algorithms enforce a model."""
    able = [name for name, cls in ALGORITHMS.items() if model in cls.enforces or cls.anonymity == "classes"]
    return f"choose one that can, such as {able[0]!r}, or drop the model"


_PROMISES = {
    "classes": "classes of records that are published alike",
    "matchings": "records that fit k published rows each, although no two rows need be alike",
    "buckets": "quasi-identifiers as they are, and apart from them the sensitive values of each bucket of records",
}


def _other_promise(policy: Policy, algorithm: Algorithm) -> list[str]:
    """Refuse an algorithm whose k means something else than the policy says."""
    asked, given = policy.privacy.anonymity, algorithm.anonymity
    if asked == given:
        return []
    able = next(name for name in ("auto", *ALGORITHMS) if ALGORITHMS[name].anonymity == asked)
    return [
        policy.located(
            ("privacy", "anonymity"),
            f"algorithm {algorithm.name!r} publishes {_PROMISES[given]}, and the policy asks for "
            f"anonymity = {asked!r}; set anonymity = {given!r} if that is enough, or choose another, such as {able!r}.",
        )
    ]


def _in_classes(policy: Policy, algorithm: Algorithm) -> bool:
    """Whether the release is one table of records in classes."""
    return policy.privacy.anonymity == "classes" and not algorithm.tables(policy)


def _not_refined(policy: Policy, algorithm: Algorithm) -> list[str]:
    """Why the result of an algorithm cannot be refined under a policy."""
    faults = []
    if not _in_classes(policy, algorithm):
        faults.append(
            f"refine is for releases in classes, and {algorithm.name!r} makes another kind; set refine = false."
        )
    return faults


def _read_hierarchy(name: str, policy: Policy) -> None:
    """A hierarchy that the policy names must be there and sound, even where nothing asks for it yet."""
    hierarchy = policy.columns[name].hierarchy
    if hierarchy is not None and hierarchy.file is not None:
        read(policy.folder / hierarchy.file, column=name)
    if hierarchy is not None and hierarchy.tree is not None:
        Taxonomy.from_tree(hierarchy.tree, column=name)


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
        raise DataError("ledger key: it is for persons; name the column that tells who they are.")
    return Book(Path(ledger), persons)


def _target(table: Any, path: Path | None, plan: Plan, book: Book | None, key: str | Path | None) -> Kind:
    """The kind of file that will be written, if it can be written at all."""
    policy = plan.policy
    kind: Kind = file_kind(path) if path else "parquet"
    if path:
        taken = policy.files | ({"input": Path(table)} if isinstance(table, str | Path) else {})
        taken |= {
            f"population of {model.name!r}": policy.folder / model.population
            for model in models_of(policy)
            if isinstance(model, PopulationModel)
        }
        taken |= {"ledger key": Path(key)} if key is not None else {}
        names = plan.algorithm.tables(policy)
        targets = {f"output {name}".rstrip(): part_path(path, name) for name in names or ("",)}
        refuse_targets(targets | ({"ledger": book.path} if book else {}), taken)
    if book and book.path.exists():
        before = read_ledger(book.path)
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


def usable_records(source: Table, policy: Policy) -> tuple[NDArray[np.int64], pl.DataFrame]:
    """The records that take part, typed: those with a missing quasi-identifier may not."""
    policy.check_columns(source.frame.columns, source.name)
    frame = typed_quasi_identifiers(source.frame, policy)
    everyone = np.arange(frame.height)
    if policy.privacy.missing not in ("suppress", "refuse"):
        return everyone, frame
    missing = frame.select(pl.any_horizontal(pl.col(policy.quasi_identifiers).is_null())).to_series()
    if not missing.any():
        return everyone, frame
    if policy.privacy.missing == "refuse":
        raise PolicyError(
            policy.located(
                ("privacy", "missing"),
                f"{missing.sum()} records miss a quasi-identifier (first in row {int(missing.arg_true()[0]) + 1}) "
                "and missing = 'refuse'; complete them, or choose own-value or suppress.",
            )
        )
    _refuse_suppressing(int(missing.sum()), frame.height, policy, "miss a quasi-identifier")
    return everyone[~missing.to_numpy()], frame.filter(~missing)


def _refuse_suppressing(records: int, of: int, policy: Policy, why: str) -> None:
    if not policy.privacy.may_suppress(records, of):
        raise InfeasibleError(
            policy.located(
                ("privacy", "suppression_limit"),
                f"{records} of {of} records {why} and would be suppressed, which is {records / of:.2%} and over the "
                f"suppression_limit of {policy.privacy.suppression_limit:.2%}; raise the limit, or change the policy.",
            )
        )


def refuse_the_impossible(
    plan: Plan, frame: pl.DataFrame, suppressed: int, persons: NDArray[np.int64] | None = None
) -> None:
    """Refuse what no release of these usable records, about these persons, can keep."""
    k, *others = models_of(plan.policy)
    reason = k.refuses(frame.height, suppressed)
    if reason:
        raise PolicyError(plan.policy.located(("privacy", "k"), f"{reason}."))
    if persons is not None and persons.max() + 1 < plan.policy.privacy.k:
        reason = f"k = {plan.policy.privacy.k} is more than the {persons.max() + 1} persons who take part"
        raise PolicyError(plan.policy.located(("privacy", "k"), f"{reason}; choose a smaller k."))
    for index, model in enumerate(others):
        reason = model.refuses(frame.height, suppressed)
        if isinstance(model, SensitiveModel):
            reason = model.refuses_values(promise_of(model, frame, plan.policy).table)
        if reason:
            raise InfeasibleError(plan.policy.located(("privacy", "models", index), f"{reason}."))


def promise_of(model: SensitiveModel, frame: pl.DataFrame, policy: Policy) -> Promise:
    """What a model promises about the records of a table.

    An empty text is a missing value: who reads a CSV file cannot tell them apart.
    """
    missing = sorted({"", *policy.input.missing})
    columns = frame.select(as_texts(frame[name]).replace(missing, None) for name in model.columns)
    counted = columns.with_row_index("row").group_by(model.columns, maintain_order=True).agg("row")
    counts = counted["row"].list.len().to_numpy()
    texts = {name: counted[name].to_list() for name in model.columns}
    table, number = reference_of(policy, texts, counts)
    values = np.empty(frame.height, np.int64)
    values[counted["row"].explode().to_numpy()] = np.repeat(number, counts)
    return Promise(model, table, values)


def task_of(
    plan: Plan,
    frame: pl.DataFrame,
    codes: Codes,
    records: int,
    progress: Callable[[float], None],
    note: Callable[[str], None] = lambda text: None,
) -> Task:
    """What the algorithm works on.

    Parameters
    ----------
    frame : DataFrame
        The records that take part, typed.
    records : int
        All records of the table; those that do not take part count against the suppression limit.
    """
    policy = plan.policy
    sensitive = None
    if plan.algorithm.wants_sensitive(policy):
        # An empty text is a missing value: who reads a CSV file cannot tell them apart.
        told = frame.select(policy.having_role("sensitive")).with_columns(pl.col(pl.String).replace("", None))
        sensitive = encode(typed_columns(told, policy, "sensitive"), policy, "sensitive")
    limit = Fraction(str(policy.privacy.suppression_limit))
    models = models_of(policy)
    return Task(
        codes=codes,
        measure=plan.measure,
        costs=compile_costs(plan.measure, codes.axes),
        k=max([policy.privacy.k, *(model.least_size for model in models if isinstance(model, SizeModel))]),
        rng=np.random.default_rng(plan.seed),
        progress=progress,
        sensitive=sensitive,
        promises=tuple(promise_of(model, frame, policy) for model in models if isinstance(model, SensitiveModel)),
        coverages=coverages_of(policy, frame, codes),
        allowance=math.floor(limit * records) - (records - frame.height),
        seconds=policy.algorithm.seconds,
        note=note,
    )


# -- the steps -----------------------------------------------------------------------------------


def refuse_solution(solution: Solution, usable: int, records: int, policy: Policy) -> None:
    """Refuse to withhold more than the policy allows, or everybody."""
    if solution.suppressed == usable:
        raise InfeasibleError("every record would be suppressed; choose a smaller k or another algorithm.")
    if solution.suppressed:
        _refuse_suppressing(records - usable + solution.suppressed, records, policy, "would lie in too small classes")


def _bound(plan: Plan, codes: Codes, solution: Solution, records: int) -> float | None:
    """What no release in classes can lose less than; None where the release is of another kind, or nobody asks."""
    effort = plan.policy.algorithm.bound_effort
    if not effort or solution.tables or plan.policy.privacy.anonymity != "classes":
        return None
    usable = len(codes.array)
    found = lower_bound(codes, plan.measure, plan.policy.privacy.k, np.random.default_rng(plan.seed), effort)
    # The others are suppressed whatever is done, and lose everything.
    return (found.value * usable + records - usable) / records


def _refuse_stars(parts: list[Part], records: int, policy: Policy) -> None:
    """A class that was generalized to the top looks suppressed, so it counts as such if those are shown."""
    if policy.output.suppressed == "starred":
        for part in parts:
            quasi = [name for name in part.policy.quasi_identifiers if name in part.frame.columns]
            stars = part.frame.select(pl.all_horizontal(pl.col(quasi) == STAR).sum()).item()
            _refuse_suppressing(stars, records, policy, "would be * in every quasi-identifier")


def _recording(book: Book | None, path: Path | None) -> AbstractContextManager[Recording | None]:
    """The ledger until the release has appeared."""
    if book is None or path is None:
        return nullcontext()
    return recording(book.path, path, book.persons)


@contextmanager
def _drafts(path: Path | None, parts: list[Part]) -> Iterator[list[Path]]:
    """A draft of every output; for frames, private files that live as long as the check."""
    with ExitStack() as stack:
        if path is not None:
            yield [stack.enter_context(draft_of(part_path(path, part.name))) for part in parts]
            return
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="kohort-"))
        yield [Path(folder) / f"release{index}.parquet" for index in range(len(parts))]


def _verified(
    drafts: list[Path], parts: list[Part], original: Path | pl.DataFrame, record: Recording | None
) -> tuple[Verdict, str]:
    """The verdict on the drafts, or a refusal; with a keyed hash of the input. What is to appear is recorded.

    A plain hash of the input would let an outsider who knows all of the table but one cell try
    every value of it, so the public verdict has a hash with a secret key.
    """
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
        )
        for draft, part in zip(drafts, parts, strict=True)
        if not part.beside
    }
    verdict = Verdict.of_tables({name: one.verdict for name, one in found.items()})
    if not verdict.passed:
        raise VerificationError(f"the release does not keep its promise and was not published: {verdict.reason}")
    if record:
        [only] = found.values()
        assert only.shown is not None
        record.announce(only.shown, only.people, verdict.hashes)
    key = secrets.token_hex(32)
    return verdict.with_hashes(input_keyed=_keyed_hash(original, key)), key


def _keyed_hash(original: Path | pl.DataFrame, key: str) -> str:
    keyed = hmac.new(bytes.fromhex(key), digestmod=hashlib.sha256)
    if isinstance(original, Path):
        with original.open("rb") as file:
            while block := file.read(1 << 20):
                keyed.update(block)
    else:
        for column in original:
            keyed.update(f"{column.name}:{column.dtype};".encode())
            keyed.update(column.hash(seed=0).to_numpy().tobytes())
    return keyed.hexdigest()


class _Clock:
    """Times the steps, and tells their progress."""

    def __init__(self, progress: Progress | None) -> None:
        self.seconds: dict[str, float] = {}
        self._progress = progress
        self._step = ""
        self._note = ""

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        self._step, self._note = name, ""
        self.share(0.0)
        start = time.perf_counter()
        yield
        self.seconds[name] = round(time.perf_counter() - start, 4)
        self.share(1.0)

    def share(self, done: float) -> None:
        if self._progress:
            self._progress(self._step + self._note, done)

    def note(self, text: str) -> None:
        self._note = f", {text}"
