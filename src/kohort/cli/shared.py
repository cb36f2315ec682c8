"""The app, and the options and ways of printing that commands share."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from kohort.audit import Verdict
    from kohort.clock import Progress
    from kohort.measures.loss import Loss

app = typer.Typer(
    name="kohort",
    add_completion=False,
    pretty_exceptions_enable=False,  # a pretty traceback shows values of variables
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

DataArgument = Annotated[Path, typer.Argument(metavar="DATA", help="CSV or Parquet file.")]
PolicyOption = Annotated[Path, typer.Option("--policy", "-p", help="Policy file (TOML).")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print machine-readable facts on stdout, nothing else.")]
MemoryOption = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="Memory to work in, such as 2GB; what does not fit goes to temporary files."),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]


def console() -> Console:
    """The terminal that results are printed on."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True)


def print_json(facts: Any) -> None:
    """Print facts for machines."""
    typer.echo(json.dumps(facts, indent=2))


def print_verdict(verdict: Verdict) -> None:
    """Print a verdict: one line per check, then the sentence that sums it up."""
    out = console()
    for check in verdict.checks:
        mark = "[green]ok  [/]" if check.passed else "[red]FAIL[/]"
        out.print(f"  {mark} {check.name + ' ':<12}", end="")
        out.print(check.sentence, markup=False)
    out.print("[bold green]verified:[/] " if verdict.passed else "[bold red]NOT verified:[/] ", end="")
    out.print(verdict.reason, markup=False)


def print_loss(loss: Loss, bound: float | None = None) -> None:
    """Print a loss: the total, how far it may be from the optimum, then each column with a bar."""
    from rich.table import Table

    name = "GCP, information loss" if loss.measure == "ncp" else f"information loss ({loss.measure})"
    out = console()
    out.print(f"[bold]{name}: {loss.total:.4f}[/]  (0 = nothing generalized, 1 = everything is *)")
    if bound is not None:
        out.print(_gap(loss.total, bound))
    table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=True)
    for column, share in loss.by_column.items():
        table.add_row(f"  {column}", f"{share:.4f}", "█" * round(share * 30))
    out.print(table)


def _gap(loss: float, bound: float) -> str:
    if loss <= bound * (1 + 1e-9):
        return "no release of this table loses less"
    least = f"no release of this table loses less than {bound:.4f}"
    return f"at most {100 * (loss / bound - 1):.1f} % above the optimum: {least}" if bound > 0 else least


def print_facts(facts: Mapping[str, Any]) -> None:
    """Print what an algorithm has to tell."""
    for name, value in facts.items():
        console().print(f"  {name}: {_in_words(value)}", markup=False)


def _in_words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_in_words(one)}" for key, one in value.items())
    if isinstance(value, list | tuple):
        return " ".join(map(_in_words, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)


@contextmanager
def progress_bar(*, silent: bool) -> Iterator[Progress | None]:
    """Progress with an estimate of the time left, on stderr, if that is a terminal."""
    if silent or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    err = Console(stderr=True)
    columns = (
        TextColumn("{task.description:<20}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("read", total=1.0)
        current = "read"

        def tell(step: str, share: float) -> None:
            nonlocal current
            name = step.partition(",")[0]
            if name != current:
                current = name
                bar.reset(task, total=1.0, description=step)
                if name == "cluster":
                    _announce_compilation(err)
            bar.update(task, completed=share, description=step)

        yield tell


def _announce_compilation(err: Console) -> None:
    from kohort.kernels.jit import is_compiled

    if not is_compiled():
        err.print("compiling kernels, once: about 10 s", highlight=False)
