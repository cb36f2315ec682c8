"""The app, and the options and ways of printing that commands share."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kohort.cli.given import located, taken

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from kohort.audit import Verdict
    from kohort.common.progress import Progress
    from kohort.measures.loss import Loss
    from kohort.policy import Policy

app = typer.Typer(
    name="kohort",
    add_completion=False,
    pretty_exceptions_enable=False,  # a pretty traceback shows values of variables
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

BLOCK = "█"


@app.callback(invoke_without_command=True)
def main(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Turn a table about people into a table that is safe to hand over, and prove it.

    Exit codes: 0 done and verified, 1 the privacy promise does not hold, 2 bad input or policy,
    3 infeasible request, 70 a bug of ours, 130 stopped. Printing has no influence on them.
    """
    if version:
        import kohort

        typer.echo(kohort.__version__)
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


_DATA = "Table: a file, a folder of files, a pattern in quotes, - for a pipe, or URL#TABLE of a database."
DataArgument = Annotated[Path, typer.Argument(metavar="DATA", parser=located, callback=taken, help=_DATA)]
FromTable = Annotated[str | None, typer.Option("--table", metavar="NAME", help="DATA is a database: this table of it.")]
Query = Annotated[str | None, typer.Option(metavar="SELECT", help="DATA is a database: what this query finds.")]
PolicyOption = Annotated[Path, typer.Option("--policy", "-p", help="Policy file (TOML).")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on stdout, nothing else.")]
SizeOption = Annotated[int | None, typer.Option(help="Smallest size of an equivalence class, instead of the policy's.")]
BoundOption = Annotated[
    float | None, typer.Option(help="Seconds, roughly, for the lower bound on the loss; 0 for no bound.")
]
MemoryOption = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="Memory limit, such as 2GB; the rest goes to temporary files."),
]
KeepOrderOption = Annotated[bool, typer.Option("--keep-order", help="Keep the row order of the input.")]
BoundsOption = Annotated[bool, typer.Option("--bounds", help="Add _lo, _hi and _mid columns beside intervals.")]
FormulasOption = Annotated[
    bool,
    typer.Option("--neutralise-formulas", help="CSV: put an apostrophe before cells that a spreadsheet would run."),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]


def policy_of(path: Path, **sections: Mapping[str, Any]) -> Policy:
    """The policy of a file, with keys of some of its sections changed, where a value is given."""
    from kohort.policy import Policy

    policy = Policy.load(path)
    for section, keys in sections.items():
        given = {key: value for key, value in keys.items() if value is not None}
        policy = policy.with_changes(section, **given) if given else policy
    return policy


def form_of(keep_order: bool, bounds: bool, neutralise_formulas: bool) -> dict[str, Any]:
    """What options change of the form of a release: keys of [output]."""
    return {
        "order": "kept" if keep_order else None,
        "bounds": bounds or None,
        "formulas": "neutralised" if neutralise_formulas else None,
    }


def called_as() -> str:
    """How this command was called, for a command that is printed: one that works where this one did."""
    program = Path(sys.argv[0])
    if program.name == "__main__.py":
        return f"{Path(sys.executable).name} -m kohort"
    found = shutil.which(program.name)
    if program.name.startswith("kohort") and found is not None and Path(found).resolve() == program.resolve():
        return program.name
    return str(program)


def console() -> Console:
    """The terminal that results are printed on; names are shown as they are, also those that look like markup."""
    from rich.console import Console

    # A terminal gets lines that fit, also one that rich takes for a dumb one of 80 columns; a file or a program gets
    # each sentence on a line of its own.
    is_terminal = sys.stdout.isatty()
    width, height = shutil.get_terminal_size() if is_terminal else (None, None)
    return Console(highlight=False, markup=False, emoji=False, soft_wrap=not is_terminal, width=width, height=height)


def bar(share: float) -> str:
    """A bar of up to 30 blocks, of whatever the terminal can show."""
    try:
        BLOCK.encode(sys.stdout.encoding or "ascii")
    except (UnicodeError, LookupError):
        return "#" * round(share * 30)
    return BLOCK * round(share * 30)


def print_json(facts: Any) -> None:
    """Print facts for machines."""
    typer.echo(json.dumps(facts, indent=2))


def print_verdict(verdict: Verdict) -> None:
    """Print a verdict: one line per check, what is published as it is, then the sentence that sums it up."""
    from rich.text import Text

    print_checks(verdict)
    if verdict.as_is is not None:
        if shown := verdict.as_is.sentence(verdict.facts.rows_released):
            print_hanging("  published as it is: ", shown)
        for name, cure in verdict.as_is.hidden.items():
            print_hanging("  nothing but *: ", f"{name}: {cure}.")
    mark = ("verified: ", "bold green") if verdict.passed else ("NOT verified: ", "bold red")
    mark = ("not decided: ", "bold yellow") if verdict.undecided else mark
    console().print(Text.assemble(mark, verdict.reason))
    if verdict.undecided:
        what = "nothing speaks against it; `anonymize --row-order FILE` keeps what `verify --row-order FILE` needs."
        console().print(what)


def print_checks(verdict: Verdict) -> None:
    """Print every check with its answer."""
    from rich.text import Text

    for check in verdict.checks:
        mark = ("ok  ", "green") if check.passed else ("FAIL", "red")
        mark = ("note", "yellow") if check.name == "repeats" else ("?   ", "yellow") if check.undecided else mark
        print_hanging(Text.assemble("  ", mark, f" {check.name + ' ':<12}"), check.sentence)


def print_command(command: str) -> None:
    """Print a command that works as it is printed; in a narrow terminal, on several lines."""
    out = console()
    if out.soft_wrap or len(command) + 2 <= out.width:
        out.print(f"  {command}", soft_wrap=True)
        return
    from textwrap import wrap

    lines = wrap(command, out.width - 6, break_long_words=False, break_on_hyphens=False)
    out.print(" \\\n".join(["  " + lines[0], *("    " + line for line in lines[1:])]), soft_wrap=True)


_ROOM, _LEAST = 44, 8
"""Columns of a terminal that a sentence takes beside its start, and how far it is indented with less."""


def print_hanging(start: Text | str, sentence: str) -> None:
    """Print a sentence after its start; in a terminal, its further lines begin where the first one does.

    Where that leaves little room, they begin further to the left. A number stays with its sign.
    """
    from textwrap import wrap

    from rich.text import Text

    out = console()
    if out.soft_wrap:
        out.print(Text.assemble(start, sentence))
        return
    first = Text.assemble(start).cell_len
    hang = " " * (first if out.width - first >= _ROOM else min(first, _LEAST))
    whole = sentence.replace(" %", "\u00a0%").replace(" = ", "\u00a0=\u00a0")
    lines = wrap(
        whole,
        out.width,
        initial_indent=" " * first,
        subsequent_indent=hang,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [" " * first]
    out.print(Text.assemble(start, lines[0][first:].replace("\u00a0", " ")), soft_wrap=True)
    for line in lines[1:]:
        out.print(Text(line.replace("\u00a0", " ")), soft_wrap=True)


def print_loss(loss: Loss, bound: float | None = None) -> None:
    """Print a loss: the total, how far it may be from the optimum, then each column with a bar."""
    from rich.table import Table

    from kohort.measures.loss import against_bound

    name = f"information loss ({'GCP' if loss.measure == 'ncp' else loss.measure})"
    out = console()
    out.print(f"{name}: {loss.total:.4f}", style="bold", end="")
    out.print("  (0 = nothing generalized, 1 = everything is *)")
    if bound is not None:
        out.print(against_bound(loss.total, bound))
    table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=True)
    for column, share in loss.by_column.items():
        table.add_row(f"  {column}", f"{share:.4f}", bar(share))
    out.print(table)


def print_facts(facts: Mapping[str, Any]) -> None:
    """Print the facts that an algorithm reports."""
    for name, value in facts.items():
        console().print(f"  {name}: {_in_words(value)}")


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

    err = Console(stderr=True, markup=False, emoji=False)
    columns = (
        TextColumn("{task.description:<20}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("read", total=1.0)
        current = "read"

        def report(step: str, share: float) -> None:
            nonlocal current
            name = step.partition(",")[0]
            if name != current:
                current = name
                bar.reset(task, total=1.0, description=step)
                if name == "cluster":
                    _announce_compilation(err)
            bar.update(task, completed=share, description=step)

        yield report


def _announce_compilation(err: Console) -> None:
    from kohort.kernels.ahead import is_first_run

    if is_first_run():
        err.print("first run: compiling for this machine, about 10 s", highlight=False)
