"""`kohort anonymize`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any
from warnings import filterwarnings

import typer

from kohort.cli.shared import (
    DataArgument,
    JsonOption,
    PolicyOption,
    QuietOption,
    app,
    console,
    print_facts,
    print_json,
    print_loss,
    print_verdict,
    progress_bar,
)


class Engine(StrEnum):
    """Where the work is done."""

    local = "local"
    spark = "spark"


@app.command()
def anonymize(
    data: DataArgument,
    policy: PolicyOption,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="OUT", help="Release: .csv or .parquet.")],
    k: Annotated[
        int | None, typer.Option(help="Smallest size of an equivalence class, instead of the policy's.")
    ] = None,
    algorithm: Annotated[str | None, typer.Option(help="Algorithm, instead of the policy's.")] = None,
    measure: Annotated[str | None, typer.Option(help="Loss measure, instead of the policy's.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the clustering.")] = None,
    refine: Annotated[bool, typer.Option("--refine", help="Improve what the algorithm found by local search.")] = False,
    budget: Annotated[str | None, typer.Option(help="Time for the search: '30s', '5min'. Ctrl-C ends it, too.")] = None,
    bound_effort: Annotated[
        float | None, typer.Option(help="Seconds, roughly, for the lower bound on the loss; 0 for no bound.")
    ] = None,
    keep_order: Annotated[bool, typer.Option("--keep-order", help="Keep the row order of the input.")] = False,
    shuffle_seed: Annotated[
        int | None, typer.Option(help="Seed of the row order, for a byte-identical file; keep it secret.")
    ] = None,
    bounds: Annotated[bool, typer.Option("--bounds", help="Parquet: add typed _lo and _hi columns.")] = False,
    neutralise_formulas: Annotated[
        bool,
        typer.Option("--neutralise-formulas", help="CSV: put an apostrophe before cells that a spreadsheet would run."),
    ] = False,
    verdict: Annotated[
        Path | None, typer.Option(help="Where to write the public verdict; default: beside OUT.")
    ] = None,
    private: Annotated[
        Path | None, typer.Option(help="Where to write the private verdict, with seed and parameters.")
    ] = None,
    ledger: Annotated[
        Path | None, typer.Option(help="Check against the earlier releases in this file, and record this one there.")
    ] = None,
    person: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="With --ledger: the identifier column that names the person.")
    ] = None,
    ledger_key: Annotated[
        Path | None, typer.Option(help="With --person: file with the secret key; default: KOHORT_LEDGER_KEY.")
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Memory limit, such as 2GB: works in partitions on disk."),
    ] = None,
    partitions: Annotated[
        int | None, typer.Option(min=1, help="With --memory or Spark: largest number of partitions.")
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="With --memory or Spark: continue an interrupted run, keep its finished partitions."
        ),
    ] = False,
    engine: Annotated[Engine, typer.Option(help="Where the work is done.")] = Engine.local,
    master: Annotated[
        str | None, typer.Option(help="With --engine spark: local[*], spark://host:port or sc://host:port.")
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Make a verified release of DATA.

    OUT appears only after it has been written, re-read and verified; the public verdict is
    written beside it as OUT.verdict.json. With --engine spark, OUT is a folder of files.
    """
    import kohort
    from kohort.table.targets import part_path, verdict_path

    changes: list[tuple[str, dict[str, Any]]] = [
        ("privacy", {"k": k}),
        (
            "algorithm",
            {"name": algorithm, "measure": measure, "seed": seed, "refine": refine or None, "budget": budget}
            | {"bound_effort": bound_effort},
        ),
        (
            "output",
            {
                "order": "kept" if keep_order else None,
                "shuffle_seed": shuffle_seed,
                "bounds": bounds or None,
                "formulas": "neutralised" if neutralise_formulas else None,
            },
        ),
    ]
    chosen = kohort.Policy.load(policy)
    for section, keys in changes:
        given = {key: value for key, value in keys.items() if value is not None}
        if given:
            chosen = chosen.with_changes(section, **given)
    _refuse_options(engine, {"master": master, "ledger": ledger or person or ledger_key, "memory": memory})
    verdict = verdict or verdict_path(output)
    with progress_bar(silent=quiet or json) as progress:
        if engine is Engine.spark:
            # Nobody asked for pandas: tables cross to Python as Arrow.
            filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
            import kohort.spark

            release = kohort.spark.release(
                data,
                chosen,
                output,
                master=master,
                partitions=partitions,
                resume=resume,
                progress=progress,
                verdict=verdict,
                private=private,
            )
        else:
            release = kohort.anonymize(
                data,
                chosen,
                output=output,
                progress=progress,
                ledger=ledger,
                person=person,
                ledger_key=ledger_key,
                memory=memory,
                partitions=partitions,
                resume=resume,
                verdict=verdict,
                private=private,
            )
    if json:
        print_json(release.public())
    elif not quiet:
        print_verdict(release.verdict)
        print_loss(release.loss, release.known_bound)
        print_facts(release.facts)
        paths = ", ".join(str(part_path(output, name)) for name in release.tables or ("",))
        recorded = f", recorded in {ledger}" if ledger else ""
        console().print(f"written to {paths}{recorded}")


def _refuse_options(engine: Engine, given: dict[str, object]) -> None:
    """Refuse options that the engine does not have: none is silently left out."""
    from kohort.release.engines.features import DISK, MEMORY, SPARK, refuse

    chosen = SPARK if engine is Engine.spark else DISK if given["memory"] else MEMORY
    refuse(chosen, options=[name for name, value in given.items() if value and (name != "memory" or chosen is SPARK)])
