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
    JsonOption,
    KeepOrderOption,
    PolicyOption,
    QuietOption,
    SizeOption,
    app,
    console,
    form_of,
    policy_of,
    print_facts,
    print_json,
    print_loss,
    print_verdict,
    progress_bar,
)

if TYPE_CHECKING:
    from kohort.release.release import Release


class Engine(StrEnum):
    """Where the work is done."""

    local = "local"
    spark = "spark"


_OUTPUT = "Release: .csv, .parquet, .xlsx and others, - for a pipe, or URL#TABLE of a database."
Output = Annotated[Any, typer.Option("--output", "-o", metavar="OUT", parser=located, help=_OUTPUT)]
FromTable = Annotated[str | None, typer.Option("--table", metavar="NAME", help="DATA is a database: this table of it.")]
Query = Annotated[str | None, typer.Option(metavar="SELECT", help="DATA is a database: what this query finds.")]
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
_LEDGER = "Check against the earlier releases in this file, and record this one there."
Ledger = Annotated[Path | None, typer.Option(help=_LEDGER)]
_PERSON = "With --ledger: the identifier column that names the person."
Person = Annotated[str | None, typer.Option(metavar="COLUMN", help=_PERSON)]
_KEY = "With --person: file with the secret key; default: KOHORT_LEDGER_KEY."
LedgerKey = Annotated[Path | None, typer.Option(help=_KEY)]
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
    through_pipe = output == PIPE
    with progress_bar(silent=quiet or json) as progress, piped_out(output) as path:
        release = released(
            SPARK if engine is Engine.spark else DISK if memory else MEMORY,
            data,
            chosen,
            output=path,
            ledger=ledger,
            person=person,
            ledger_key=ledger_key,
            memory=memory,
            partitions=partitions,
            resume=resume,
            master=master,
            progress=progress,
            verdict=verdict or verdict_beside(output),
            private=private,
            overwrite=force,
        )
    if json and not through_pipe:
        print_json(release.public())
    elif not quiet and not through_pipe:
        _print(release, output, ledger)


def _print(release: Release, output: Any, ledger: Path | None) -> None:
    """Print what has become of it, and where it is."""
    from kohort.table.targets import table_path

    print_verdict(release.verdict, release.hidden)
    print_loss(release.loss, release.known_bound)
    print_facts(release.facts)
    is_file = isinstance(output, Path)
    paths = ", ".join(str(table_path(output, name)) for name in release.tables or ("",)) if is_file else str(output)
    recorded = f", recorded in {ledger}" if ledger else ""
    console().print(f"written to {paths}{recorded}")
