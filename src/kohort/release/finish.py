"""The last steps of every engine: a verdict that is no refusal, the loss, and the release with its documents."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl

from kohort.audit import Verdict
from kohort.audit.as_is import cure
from kohort.codes.encode import Axis
from kohort.common import stopping
from kohort.common.progress import Clock
from kohort.errors import DataError, Interrupted, VerificationError
from kohort.release.engines.engine import Examined, Written
from kohort.release.plan import Plan
from kohort.release.published_loss import exact_loss, public_loss
from kohort.release.release import Provenance, Release
from kohort.table.safe import Drafts


@dataclass(frozen=True)
class Documents:
    """Where the verdicts of a release are written, beside the release itself."""

    verdict: Path | None = None
    private: Path | None = None

    @property
    def targets(self) -> dict[str, Path]:
        """The paths by names for messages."""
        both = {"verdict": self.verdict, "private verdict": self.private}
        return {what: path for what, path in both.items() if path is not None}

    def write(self, release: Release, files: Drafts) -> None:
        """Write the verdicts into drafts; with the bound, unless Ctrl-C ends it."""
        if self.targets:
            try:
                _ = release.bound
            except (Interrupted, KeyboardInterrupt):
                stopping.forgive()
        if self.verdict is not None:
            files.text(self.verdict, release.public_json())
        if self.private is not None:
            files.text(self.private, release.private_json(), private=True)


def documents_of(path: Path | None, verdict: str | Path | None, private: str | Path | None) -> Documents:
    """Where the verdicts go; they are about a file."""
    if path is None and (verdict is not None or private is not None):
        raise DataError("verdict, private: a verdict is about a file that is handed over; give an output.")
    return Documents(Path(verdict) if verdict is not None else None, Path(private) if private is not None else None)


def refuse_verdict(verdict: Verdict) -> None:
    """Refuse to publish what does not keep its promise."""
    if not verdict.passed:
        raise VerificationError(f"the release does not keep its promise and was not published: {verdict.reason}")


def release_of(written: Written, examined: Examined, clock: Clock, path: Path | None) -> Release:
    """A release that has been verified: its loss is measured, and its input hashed.

    A plain hash of the input would let an outsider who knows all of the table but one cell try every value of it, so
    the public verdict has a hash with a secret key.
    """
    plan, verdict, published = written.plan, examined.verdict, examined.published
    with clock.step("measure"):
        records = verdict.facts.rows_original or 0
        loss = exact_loss(plan.policy, written.axes, published, records, plan.measure)
        shown = public_loss(plan.policy, published, plan.measure)
        key = secrets.token_hex(32)
        verdict = verdict.with_hashes(input_keyed=_keyed_hash(written.original, key))
    clusters = written.clusters if written.clusters is not None else verdict.facts.classes or 0
    return Release(
        table=next(iter(written.tables.values())),
        verdict=verdict,
        loss=loss,
        public_loss=shown,
        provenance=_provenance(plan, key, clock, clusters),
        path=path,
        row_order=written.row_order,
        tables=written.tables,
        facts=written.facts,
        find_bound=written.find_bound,
        hidden=_hidden(plan, written.axes, verdict),
    )


def _hidden(plan: Plan, axes: Sequence[Axis], verdict: Verdict) -> dict[str, str]:
    """The columns that are `*` everywhere, each with what may help, and with its values in the original."""
    sizes = {axis.name: axis.size for axis in axes}
    hidden = () if verdict.as_is is None else verdict.as_is.hidden
    return {name: cure(plan.policy.columns[name], sizes.get(name)) for name in hidden}


def _provenance(plan: Plan, key: str, clock: Clock, clusters: int) -> Provenance:
    """How a release was made."""
    return Provenance(
        algorithm=plan.algorithm.name,
        parameters=asdict(plan.algorithm),  # type: ignore[call-overload]
        measure={"name": plan.measure.name} | asdict(plan.measure),  # type: ignore[call-overload]
        seed=plan.seed,
        input_key=key,
        seconds=clock.seconds,
        clusters=clusters,
    )


def _keyed_hash(original: Sequence[Path] | pl.DataFrame, key: str) -> str:
    """Hash of a frame, or of files one after the other."""
    keyed = hmac.new(bytes.fromhex(key), digestmod=hashlib.sha256)
    if not isinstance(original, pl.DataFrame):
        for path in original:
            with path.open("rb") as file:
                while block := file.read(1 << 20):
                    keyed.update(block)
    else:
        for column in original:
            keyed.update(f"{column.name}:{column.dtype};".encode())
            keyed.update(column.hash(seed=0).to_numpy().tobytes())
    return keyed.hexdigest()
