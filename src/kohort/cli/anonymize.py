"""`kohort anonymize`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from warnings import filterwarnings

import typer

from kohort.cli.given import PIPE, located, piped_out, table_of, verdict_beside
from kohort.cli.shared import (
    BoundOption,
    BoundsOption,
    DataArgument,
    FormulasOption,
    FromTable,
    JsonOption,
    KeepOrderOption,
    PolicyOption,
    Query,
    QuietOption,
    SizeOption,
    app,
    form_of,
    policy_of,
    print_json,
    progress_bar,
)
from kohort.cli.summary import ExplainOption, VerboseOption, print_release

if TYPE_CHECKING:
    from kohort.policy import Policy
    from kohort.release.release import Release


class Engine(StrEnum):
    """Where the work is done."""

    local = "local"
    spark = "spark"


_OUTPUT = "Release: .csv, .parquet, .xlsx and others, - for a pipe, or URL#TABLE of a database."
Output = Annotated[Path, typer.Option("--output", "-o", metavar="OUT", parser=located, help=_OUTPUT)]
ToTable = Annotated[str | None, typer.Option(metavar="NAME", help="OUT is a database: the table that appears in it.")]
Algorithm = Annotated[str | None, typer.Option(help="Algorithm, instead of the policy's.")]
Measure = Annotated[str | None, typer.Option(help="Loss measure, instead of the policy's.")]
Seed = Annotated[int | None, typer.Option(help="Seed of the clustering.")]
Refine = Annotated[bool, typer.Option("--refine", help="Improve what the algorithm found by local search.")]
Budget = Annotated[str | None, typer.Option(help="Time for the search: '30s', '5min'. Ctrl-C ends it, too.")]
_SHUFFLE = "Seed of the row order, for a byte-identical file; keep it secret."
ShuffleSeed = Annotated[int | None, typer.Option(help=_SHUFFLE)]
VerdictPath = Annotated[Path | None, typer.Option(help="Where to write the public verdict; default: beside OUT.")]
PrivatePath = Annotated[Path | None, typer.Option(help="Where to write the private verdict, with seed and parameters.")]
_CERTIFICATE = "Where to write a certificate of the release, which others can check and sign."
CertificatePath = Annotated[Path | None, typer.Option(metavar="FILE", help=_CERTIFICATE)]
_SIGN = "With --certificate: private key that signs it; make one with: kohort certificate keygen."
Key = Annotated[Path | None, typer.Option(metavar="FILE", help=_SIGN)]
_ROW_ORDER = "Write the original row of each row of OUT here, for verify --row-order; as secret as DATA."
RowOrder = Annotated[Path | None, typer.Option(metavar="FILE", help=_ROW_ORDER)]
_REPORT = "Where to write a report for people, .html or .json; all of it can be computed from OUT."
ReportPath = Annotated[Path | None, typer.Option("--report", metavar="FILE", help=_REPORT)]
_LEDGER = "Check against the earlier releases in this file, and record this one there."
Ledger = Annotated[Path | None, typer.Option(help=_LEDGER)]
_PERSON = "With --ledger: the identifier column that names the person."
Person = Annotated[str | None, typer.Option(metavar="COLUMN", help=_PERSON)]
_KEY = "With --person: file with the secret key; default: KOHORT_LEDGER_KEY."
LedgerKey = Annotated[Path | None, typer.Option(help=_KEY)]
_KEEP_ORDER = "persons can be counted again with the order of rows only: --row-order FILE keeps it for verify."
_MEMORY = "Memory limit, such as 2GB: works in partitions on disk."
Memory = Annotated[str | None, typer.Option(metavar="SIZE", help=_MEMORY)]
_PARTITIONS = "Largest number of partitions; 1 for the whole table at once."
Partitions = Annotated[int | None, typer.Option(min=1, help=_PARTITIONS)]
_RESUME = "With --memory or Spark: continue an interrupted run, keep its finished partitions."
Resume = Annotated[bool, typer.Option("--resume", help=_RESUME)]
Force = Annotated[bool, typer.Option("--force", "--replace", help="Write over a release and verdicts that are there.")]
Where = Annotated[Engine, typer.Option(help="Where the work is done.")]
_MASTER = "With --engine spark: local[*], spark://host:port or sc://host:port."
Master = Annotated[str | None, typer.Option(help=_MASTER)]


@app.command()
def anonymize(
    data: DataArgument,
    policy: PolicyOption,
    output: Output,
    k: SizeOption = None,
    algorithm: Algorithm = None,
    measure: Measure = None,
    seed: Seed = None,
    refine: Refine = False,
    budget: Budget = None,
    bound_effort: BoundOption = None,
    keep_order: KeepOrderOption = False,
    shuffle_seed: ShuffleSeed = None,
    bounds: BoundsOption = False,
    neutralise_formulas: FormulasOption = False,
    verdict: VerdictPath = None,
    private: PrivatePath = None,
    certificate: CertificatePath = None,
    key: Key = None,
    row_order: RowOrder = None,
    report: ReportPath = None,
    ledger: Ledger = None,
    person: Person = None,
    ledger_key: LedgerKey = None,
    memory: Memory = None,
    partitions: Partitions = None,
    resume: Resume = False,
    engine: Where = Engine.local,
    master: Master = None,
    table: FromTable = None,
    query: Query = None,
    to_table: ToTable = None,
    force: Force = False,
    explain: ExplainOption = False,
    verbose: VerboseOption = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Make a verified release of DATA.

    OUT appears only after it has been written, re-read and verified; the public verdict is
    written beside it as OUT.verdict.json. What is there already is written over with --force
    only. With --engine spark, OUT is a folder of files.
    """
    from kohort.release.engines.features import DISK, MEMORY, SPARK
    from kohort.release.run import released

    chosen = policy_of(
        policy,
        privacy={"k": k},
        algorithm={"name": algorithm, "measure": measure, "seed": seed, "refine": refine or None, "budget": budget}
        | {"bound_effort": bound_effort},
        output=form_of(keep_order, bounds, neutralise_formulas) | {"shuffle_seed": shuffle_seed},
    )
    if engine is Engine.spark:  # nobody asked for pandas: tables cross to Python as Arrow
        filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    data, output = table_of(data, table, query), table_of(output, to_table, option="--to-table")
    documents = {"verdict": verdict or verdict_beside(output), "private verdict": private, "certificate": certificate}
    if report is not None:
        _refuse_report(report, output, data, chosen, documents, force=force)
    profile = SPARK if engine is Engine.spark else DISK if memory else MEMORY
    how: dict[str, Any] = {"ledger": ledger, "person": person, "ledger_key": ledger_key, "memory": memory}
    how |= {"partitions": partitions, "resume": resume, "master": master, "private": private, "row_order": row_order}
    how |= {"verdict": documents["verdict"], "certificate": certificate, "key": key, "overwrite": force}
    with progress_bar(silent=quiet or json) as progress, piped_out(output) as path:
        release = released(profile, data, chosen, output=path, progress=progress, **how)
    if report is not None:
        _report(report, output, chosen, release)
    if json and output != PIPE:
        print_json(release.public())
    elif not quiet and output != PIPE:
        written = [path for path in (*documents.values(), report) if path]
        hints = [_KEEP_ORDER] if chosen.privacy.person is not None and row_order is None else []
        print_release(release, output, ledger, written, hints, explain=explain, verbose=verbose)


def _report(report: Path, output: Path, policy: Policy, release: Release) -> None:
    """Write the report of what has just been verified; it is not judged again."""
    import kohort

    kohort.report(output, policy, output=report, verdict=release.verdict)


def _refuse_report(
    report: Path, output: Any, data: Any, policy: Policy, documents: dict[str, Path | None], *, force: bool
) -> None:
    """Refuse before any work a report that could not be written after it."""
    from kohort.errors import DataError
    from kohort.privacy import models_of
    from kohort.release.plan import plan_of
    from kohort.reports.report.make import refuse_report
    from kohort.table.safe import refuse_existing
    from kohort.table.targets import read_by, refuse_targets

    refuse_report(report, policy)
    if not isinstance(output, Path) or output == PIPE:
        raise DataError("report: it is about a file, and this release goes elsewhere; write it to a file first.")
    if plan_of(policy).algorithm.tables(policy):
        raise DataError("report: it is about one table, and this release is in several; leave it out.")
    targets = {what: path for what, path in documents.items() if path is not None} | {"output": output}
    refuse_targets(targets | {"report": report}, read_by(data, policy, models_of(policy)))
    if not force:
        refuse_existing([report])
