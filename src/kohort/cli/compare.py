"""`kohort compare`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kohort.cli.given import located, verdict_beside
from kohort.cli.shared import BoundOption, DataArgument, JsonOption, PolicyOption, app, console, policy_of, print_json

if TYPE_CHECKING:
    from kohort.reports.compare import Comparison, Outcome, Outcomes

Algorithms = Annotated[
    str | None,
    typer.Option(help="Names, separated by commas; default: all. Parameters after colons: 'gccg-parallel:parts=4,cb'."),
]
Sizes = Annotated[str | None, typer.Option(help="Values of k, separated by commas: '5,10,50'.")]
_MODELS = "Privacy models beside k, instead of the policy's: 't-closeness:column=disease:t=0.2', 'policy' or 'none'; \
several joined by ' + '. Give it again for each set."
Models = Annotated[list[str] | None, typer.Option(metavar="MODELS", help=_MODELS)]
Seeds = Annotated[str | None, typer.Option(help="Seeds, separated by commas: '1,2,3'.")]
Workers = Annotated[int | None, typer.Option(min=1, help="Processes side by side; default: one for each core.")]
_RESUME = "Keep finished results in this private folder, and go on from those that are there."
Resume = Annotated[Path | None, typer.Option(metavar="FOLDER", help=_RESUME)]
_OUTPUT = "All figures: .csv, .parquet or .json. With --release: the release."
Output = Annotated[Any, typer.Option("--output", "-o", metavar="OUT", parser=located, help=_OUTPUT)]
ChartPath = Annotated[Path | None, typer.Option("--chart", metavar="SVG", help="Draw risk against loss.")]
Publish = Annotated[
    int | None, typer.Option("--release", metavar="N", help="Publish result number N as OUT, verified.")
]
Force = Annotated[bool, typer.Option("--force", help="Write over files that are there.")]


@app.command()
def compare(
    data: DataArgument,
    policy: PolicyOption,
    algorithms: Algorithms = None,
    k: Sizes = None,
    models: Models = None,
    seeds: Seeds = None,
    workers: Workers = None,
    resume: Resume = None,
    output: Output = None,
    chart: ChartPath = None,
    release: Publish = None,
    bound_effort: BoundOption = None,
    force: Force = False,
    json: JsonOption = False,
) -> None:
    """Compare what algorithms risk and lose on DATA, and recommend a result.

    Publishes nothing, unless --release N is given: that result then becomes a release, made,
    verified and written as by anonymize.
    """
    from kohort.common.system import cores
    from kohort.privacy import models_of
    from kohort.reports.compare import Comparison
    from kohort.table.targets import read_by

    chosen = policy_of(policy, algorithm={"bound_effort": bound_effort})
    targets = _targets(release, output, chart, read_by(data, chosen, models_of(chosen)), force=force)
    comparison = Comparison.of(
        data,
        chosen,
        algorithms=None if algorithms is None else [name.strip() for name in algorithms.split(",")],
        k=_numbers("--k", k),
        models=models or None,
        seeds=_numbers("--seeds", seeds),
        bounds=release is None,
        resume=resume,
    )
    if release is not None:
        _publish(comparison, release, data, output, force=force, json=json)
        return
    found: list[Outcomes] = []
    try:
        with _progress(len(comparison.runs)) as report:

            def finished(outcomes: Outcomes, _: Outcome | None) -> None:
                found.append(outcomes)
                report()

            comparison.outcomes(workers or cores(), finished)
    finally:  # what is finished is shown, whatever has ended the rest
        if found and not json:
            _print(found[-1])
    if json:
        print_json(found[-1].to_dict())
    _write(found[-1], targets)


def _numbers(option: str, text: str | None) -> list[int] | None:
    from kohort.errors import PolicyError

    try:
        return None if text is None else [int(one) for one in text.split(",")]
    except ValueError:
        raise PolicyError(f"{option} must be whole numbers with commas between them; got {text!r}.") from None


# -- files ---------------------------------------------------------------------------------------


def _targets(
    release: int | None, output: Any, chart: Path | None, read: Mapping[str, Path | Sequence[Path]], *, force: bool
) -> dict[str, Path]:
    """Where figures and chart go, as far as that can be refused before any work."""
    from kohort.errors import DataError
    from kohort.reports.charts import refuse_without_charts
    from kohort.table.safe import refuse_existing
    from kohort.table.targets import refuse_targets

    if release is not None:
        if output is None or chart is not None:
            raise DataError("--release publishes one result: give --output for it, and no --chart.")
        return {}
    if output is not None and not (isinstance(output, Path) and output.suffix in (".csv", ".parquet", ".json")):
        raise DataError(
            "--output: figures are written to a file that ends in .csv, .parquet or .json; give such a name."
        )
    if chart is not None:
        if chart.suffix != ".svg":
            raise DataError(f"{chart.name}: charts are written as .svg; give such a name.")
        refuse_without_charts()
    targets = {what: path for what, path in {"output": output, "chart": chart}.items() if path is not None}
    refuse_targets(targets, read)
    if not force:
        refuse_existing(targets.values())
    return targets


def _write(outcomes: Outcomes, targets: dict[str, Path]) -> None:
    """Write the figures, and the chart; they appear together, for their owner only, as they are about the original."""
    import json

    from kohort.reports.compare.chart import frontier_chart
    from kohort.table.safe import together

    with together() as files:
        for what, path in targets.items():
            if what == "chart":
                files.text(path, frontier_chart(outcomes).svg("frontier", alone=True), private=True)
            elif path.suffix == ".json":
                files.text(path, json.dumps(outcomes.to_dict(), indent=2) + "\n", private=True)
            elif path.suffix == ".csv":
                outcomes.to_frame().write_csv(files.file(path, private=True))
            else:
                outcomes.to_frame().write_parquet(files.file(path, private=True))
    for path in targets.values():
        typer.echo(f"written to {path}", err=True)


def _publish(comparison: Comparison, number: int, data: Any, output: Any, *, force: bool, json: bool) -> None:
    """Make one result a release."""
    import kohort
    from kohort.cli.shared import progress_bar
    from kohort.cli.summary import print_release

    changed = comparison.cell(number).policy(comparison.setting.policy)
    with progress_bar(silent=json) as progress:
        made = kohort.anonymize(
            data, changed, output=output, progress=progress, verdict=verdict_beside(output), overwrite=force
        )
    if json:
        print_json(made.public())
    else:
        print_release(made, output)


# -- the screen ----------------------------------------------------------------------------------


@contextmanager
def _progress(runs: int) -> Iterator[Callable[[], None]]:
    """How many runs are finished, and how long the others will take, on stderr."""
    done, begun = 0, time.monotonic()

    def note() -> str:
        left = (time.monotonic() - begun) / done * (runs - done) if done else 0.0
        return f"{done} of {runs}" + (f", about {_spoken(left)} left" if 0 < done < runs else "")

    if not sys.stderr.isatty():

        def line() -> None:
            nonlocal done
            done += 1
            typer.echo(note(), err=True)

        yield line
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("compare"), BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=Console(stderr=True, markup=False, emoji=False), transient=True) as bar:
        task = bar.add_task(note(), total=runs)

        def step() -> None:
            nonlocal done
            done += 1
            bar.update(task, advance=1, description=note())

        yield step


def _spoken(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _print(outcomes: Outcomes) -> None:
    """A line for each result, then the one that is recommended, and how good it can be at all."""
    from kohort.cli.shared import print_hanging
    from kohort.measures.loss import against_bound

    out = console()
    width = max([len("algorithm"), *(len(one.algorithm) for one in outcomes)]) + 1
    out.print(f"{'no.':>4} {'algorithm':<{width}}{'k':>4}{'loss':>8}{'risk':>7}{'mean':>7}{'s':>7}", style="bold")
    promised = len({one.models for one in outcomes}) > 1
    for one in outcomes:
        _print_line(one, width, on_frontier=one.number in outcomes.frontier, promised=promised)
    if outcomes.frontier:
        out.print("+ no other result is at most as risky and loses at most as much")
    for k, bound in outcomes.bounds.items():
        least = min(
            (one.loss for one in outcomes if one.k == k and one.loss is not None and one.highest_risk), default=0
        )
        if bound is not None and least:
            print_hanging(f"k = {k}: ", f"{against_bound(least, bound)}.")
    if outcomes.recommended:
        print_hanging(f"recommended: no. {outcomes.recommended.number}. ", outcomes.recommended.reason)


def _print_line(one: Outcome, width: int, *, on_frontier: bool, promised: bool) -> None:
    start = f"{one.number:>4} {one.algorithm:<{width}}{one.k:>4}"
    if one.loss is None:
        from kohort.cli.shared import print_hanging

        print_hanging(f"{start}  ", f"refused: {one.refused}")
        return
    risks = "".join(f"{'-' if risk is None else f'{risk:.1%}':>7}" for risk in (one.highest_risk, one.mean_risk))
    notes = [
        "+" if on_frontier else "",
        "" if one.anonymity == "classes" else f"k counts {one.anonymity}",
        f"{one.suppressed:,} suppressed" if one.suppressed else "",
        one.models if promised else "",
        f"SSE/SST {one.sse:.2%}" if one.sse is not None else "",
        ", ".join(f"{name} {figure:.4g}" for name, figure in one.reached.items()),
    ]
    text = "  ".join(filter(None, notes))
    console().print(f"{start}{one.loss:>8.4f}{risks}{one.seconds:>7.2f}  {text}".rstrip())
