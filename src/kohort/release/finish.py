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
from kohort.audit.certificate import certificate_of
from kohort.audit.certificate.signature import private_key
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
    certificate: Path | None = None
    key: Path | None = None
    """Of who signs the certificate."""
    row_order: Path | None = None
    """The original row of each row: private."""

    @property
    def targets(self) -> dict[str, Path]:
        """The paths by names for messages."""
        every = {"verdict": self.verdict, "private verdict": self.private, "certificate": self.certificate}
        return {what: path for what, path in (every | {"row order": self.row_order}).items() if path is not None}

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
        if self.certificate is not None:
            files.text(self.certificate, certificate_of(release.verdict, self.key).to_json())
        if self.row_order is not None:
            rows = pl.DataFrame({"row": release.row_order})
            draft = files.file(self.row_order, private=True)
            if self.row_order.suffix.lower() == ".parquet":
                rows.write_parquet(draft)
            else:
                rows.write_csv(draft, include_header=False)


def documents_of(path: Path | None, **given: str | Path | None) -> Documents:
    """Where the verdicts and the certificate go; they are about a file."""
    if path is None and any(place is not None for place in given.values()):
        what = ", ".join(name for name, place in given.items() if place is not None)
        raise DataError(f"{what}: it is about a file that is handed over; give an output.")
    documents = Documents(**{name: None if place is None else Path(place) for name, place in given.items()})
    if documents.key is not None:
        if documents.certificate is None:
            raise DataError("key: it signs a certificate, and none is asked for; say where one goes.")
        private_key(documents.key)
    return documents


def refuse_documents(documents: Documents, plan: Plan) -> None:
    """Refuse documents about one table, if a release has several: a certificate, unless they are two of buckets."""
    if documents.row_order is not None and plan.algorithm.tables(plan.policy):
        raise DataError(
            "row order: each table of this release has another one, so that nobody can join them; leave it out."
        )
    if (
        documents.certificate is not None
        and plan.policy.privacy.anonymity != "buckets"
        and plan.algorithm.tables(plan.policy)
    ):
        raise DataError("certificate: it is about one promise, and this release is in several tables; leave it out.")


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
        sets = {} if written.of_sets is None else dict.fromkeys(plan.policy.sets, written.of_sets.original)
        loss = exact_loss(plan.policy, written.axes, published, records, plan.measure, original_sets=sets)
        shown = public_loss(plan.policy, published, plan.measure)
        key = secrets.token_hex(32)
        verdict = verdict.with_hashes(input_keyed=keyed_hash(written.original, key))
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
        facts={**written.facts, **({} if written.of_sets is None else {"sets": written.of_sets.facts})},
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


def keyed_hash(original: Sequence[Path] | pl.DataFrame, key: str) -> str:
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
