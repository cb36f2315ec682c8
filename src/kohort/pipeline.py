"""The path of the data, one direction: read, encode, cluster, recode, write, verify, measure."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohort.algorithms import ALGORITHMS, Algorithm, Task
from kohort.audit import Verdict, verify
from kohort.encode import STAR, Codes, encode
from kohort.errors import InfeasibleError, PolicyError, VerificationError
from kohort.hierarchy import Taxonomy, read
from kohort.measures import MEASURES, Measure
from kohort.measures.compile import compile_costs
from kohort.measures.loss import loss_of_boxes
from kohort.policy import Policy
from kohort.privacy import models_of
from kohort.recode import boxes_of_labels, publish, starred
from kohort.release import Provenance, Release
from kohort.table import Table, read_table, same_kind, typed_quasi_identifiers, write_table
from kohort.table.read import Kind, file_kind
from kohort.table.safe import draft_of
from kohort.table.targets import refuse_targets

Progress = Callable[[str, float], None]
"""Told the step and the share of it that is done."""


@dataclass(frozen=True)
class Plan:
    """A policy whose every choice has been found possible."""

    policy: Policy
    algorithm: Algorithm
    measure: Measure
    seed: int


def anonymize(
    table: Any,
    policy: Policy | str | Path,
    *,
    output: str | Path | None = None,
    progress: Progress | None = None,
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
    kind = _target(table, path, policy)
    with clock.step("read"):
        source = read_table(table, policy.input)
        kept, frame = usable_records(source, policy)
    with clock.step("encode"):
        codes = encode(frame, policy)
        refuse_the_impossible(plan, len(kept), source.frame.height - len(kept))
    with clock.step("cluster"):
        labels = _cluster(plan, codes, clock.share)
    with clock.step("recode"):
        boxes = boxes_of_labels(codes, labels)
        released = source.frame[kept] if len(kept) < source.frame.height else source.frame
        released = publish(released, codes, boxes, policy.having_role("identifier"), bounds=policy.output.bounds)
        released, order = _arrange(source.frame, released, kept, policy)
    with clock.step("measure"):
        suppressed = source.frame.height - len(kept)
        loss = loss_of_boxes(plan.measure, codes, boxes.lo, boxes.hi, suppressed)
    with _draft(path) as draft:
        with clock.step("write"):
            neutralise = policy.output.formulas == "neutralised"
            write_table(released, draft, kind, source.dialect, neutralise=neutralise)
        with clock.step("verify"):
            original = source.path or source.frame
            verdict, key = _verified(draft, policy, original, order)
    provenance = Provenance(
        algorithm=plan.algorithm.name,
        parameters=asdict(plan.algorithm),  # type: ignore[call-overload]
        measure={"name": plan.measure.name} | asdict(plan.measure),  # type: ignore[call-overload]
        seed=plan.seed,
        input_key=key,
        seconds=clock.seconds,
        clusters=int(labels.max()) + 1,
    )
    return Release(same_kind(released, source.kind), verdict, loss, provenance, path, order)


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
                ("privacy", "models"),
                f"algorithm {chosen.name!r} cannot enforce {model.name!r}; drop the model or choose another algorithm.",
            )
            for model in models
            if model.name not in algorithm.enforces
        ]
    if policy.privacy.missing == "wildcard":
        faults.append(
            policy.located(
                ("privacy", "missing"),
                "missing = 'wildcard' can be verified but not yet enforced; use own-value, suppress or refuse.",
            )
        )
    if faults:
        raise PolicyError(*faults)
    for name in policy.having_role("sensitive"):
        _read_hierarchy(name, policy)
    seed = chosen.seed if chosen.seed is not None else secrets.randbits(62)
    return Plan(policy, algorithm, measure, seed)


def _read_hierarchy(name: str, policy: Policy) -> None:
    """A hierarchy that the policy names must be there and sound, even where nothing asks for it yet."""
    hierarchy = policy.columns[name].hierarchy
    if hierarchy is not None and hierarchy.file is not None:
        read(policy.folder / hierarchy.file, column=name)
    if hierarchy is not None and hierarchy.tree is not None:
        Taxonomy.from_tree(hierarchy.tree, column=name)


def _target(table: Any, path: Path | None, policy: Policy) -> Kind:
    """The kind of file that will be written, if it can be written at all."""
    kind: Kind = file_kind(path) if path else "parquet"
    if path:
        taken = policy.files | ({"input": Path(table)} if isinstance(table, str | Path) else {})
        refuse_targets({"output": path}, taken)
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


def refuse_the_impossible(plan: Plan, records: int, suppressed: int) -> None:
    """Refuse what no release of so many usable records can keep."""
    for model in models_of(plan.policy):
        reason = model.refuses(records, suppressed)
        if reason:
            raise PolicyError(plan.policy.located(("privacy", "k"), f"{reason}."))


# -- the steps -----------------------------------------------------------------------------------


def _cluster(plan: Plan, codes: Codes, share: Callable[[float], None]) -> NDArray[np.int32]:
    costs = compile_costs(plan.measure, codes.axes)
    rng = np.random.default_rng(plan.seed)
    return plan.algorithm.cluster(Task(codes, plan.measure, costs, plan.policy.privacy.k, rng, share))


def _arrange(
    original: pl.DataFrame, released: pl.DataFrame, kept: NDArray[np.int64], policy: Policy
) -> tuple[pl.DataFrame, NDArray[np.int64]]:
    """Add suppressed records if they are to be shown, and put all in their published order."""
    order = kept
    if policy.output.suppressed == "starred" and len(kept) < original.height:
        rest = np.setdiff1d(np.arange(original.height), kept)
        released = pl.concat([released, starred(original[rest], released, policy.quasi_identifiers)])
        order = np.concatenate([kept, rest])
    if policy.output.suppressed == "starred":
        # A class that was generalized to the top looks suppressed, so it counts as such.
        stars = released.select(pl.all_horizontal(pl.col(policy.quasi_identifiers) == STAR).sum()).item()
        _refuse_suppressing(stars, original.height, policy, "would be * in every quasi-identifier")
    if policy.output.order == "kept":
        arrangement = np.argsort(order)
    else:
        # Without a seed the generator draws fresh entropy from the system.
        arrangement = np.random.default_rng(policy.output.shuffle_seed).permutation(len(order))
    return released[arrangement], order[arrangement]


@contextmanager
def _draft(path: Path | None) -> Iterator[Path]:
    """A draft of the output; for a frame, a private file that lives as long as the check."""
    if path is not None:
        with draft_of(path) as draft:
            yield draft
        return
    with tempfile.TemporaryDirectory(prefix="kohort-") as folder:
        yield Path(folder) / "release.parquet"


def _verified(
    draft: Path, policy: Policy, original: Path | pl.DataFrame, order: NDArray[np.int64]
) -> tuple[Verdict, str]:
    """The verdict on the draft, or a refusal; with a keyed hash of the input.

    A plain hash of the input would let an outsider who knows all of the table but one cell try
    every value of it, so the public verdict has a hash with a secret key.
    """
    verdict = verify(draft, policy, original=original, row_order=order)
    if not verdict.passed:
        raise VerificationError(f"the release does not keep its promise and was not published: {verdict.reason}")
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

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        self._step = name
        self.share(0.0)
        start = time.perf_counter()
        yield
        self.seconds[name] = round(time.perf_counter() - start, 4)
        self.share(1.0)

    def share(self, done: float) -> None:
        if self._progress:
            self._progress(self._step, done)
