"""`kohort why`."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from kohort.cli.shared import DataArgument, JsonOption, PolicyOption, app, bar, console, print_json, progress_bar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from kohort.reports.explain import ColumnCause, Explanation
    from kohort.reports.gain import Gain


Sample = Annotated[
    int | None,
    typer.Option(min=2, metavar="RECORDS", help="Records to look at; default: as many as take half a minute."),
]


@app.command()
def why(data: DataArgument, policy: PolicyOption, sample: Sample = None, json: JsonOption = False) -> None:
    """Report where the information loss comes from, and what would lower it.

    Shows no value of DATA, and publishes nothing. Ctrl-C ends it with what it has found so far; exit code 130.
    """
    import kohort
    from kohort.common import stopping
    from kohort.reports.gain import gains

    with progress_bar(silent=json) as progress:
        explanation = kohort.explain(data, policy, sample=sample, progress=progress)
        gained = gains(data, policy, sample=sample, progress=progress) if explanation.complete else ()
    complete = explanation.complete and not stopping.is_wished()
    if json:
        found = {"complete": complete, "hierarchies": [asdict(gain) for gain in gained]}
        print_json(explanation.to_dict() | found)
        return
    width = max(len(column.name) for column in explanation.columns) + 2
    if not complete:
        console().print("stopped: not everything was tried", style="bold")
    _print(
        f"loss {explanation.loss:.4f} ({explanation.measure}, {explanation.algorithm}, k = {explanation.k})",
        [*_sample(explanation), *_causes(explanation, width)],
    )
    _print(
        f"if a column were dropped, counted less or coarser ({explanation.tried_with}, which now loses "
        f"{explanation.tried_loss:.4f})",
        _what_ifs(explanation, width),
    )
    _print("records", _spread(explanation))
    if explanation.costliest is not None:
        _print(f"frequent among the costliest {explanation.costliest:.1%} of records", _kinds(explanation, width))
    _print("hierarchies", _hierarchies(gained, data, policy))
    _print("advice", _advice(explanation))


def _sample(explanation: Explanation) -> Iterable[str]:
    if explanation.records < explanation.of:
        yield f"of a sample of {explanation.records:,} of {explanation.of:,} records; the loss of all of them is lower"


def _advice(explanation: Explanation) -> Iterable[str]:
    """What would spare the other columns, and the lines to paste."""
    for column in explanation.columns:
        if not column.advice or column.dropped is None:
            continue
        yield f"{column.name}: {column.advice}"
        least = min(column.coarser, key=lambda variant: variant.total, default=None)
        yield f"  leave it out:   {column.dropped.line}"
        if column.lighter is not None and column.lighter.others_saved > 0:
            spared = f"the others lose {column.lighter.others_saved:.0%} less"
            yield f"  count it less:  {column.lighter.line}   ({spared})"
        if least is not None and least.line is not None and least.others_saved > 0:
            yield f"  coarser:        {least.line}"


def _print(title: str, lines: Iterable[str]) -> None:
    """Print a section, if it has anything to say."""
    lines = list(lines)
    if lines:
        out = console()
        out.print(title, style="bold")
        for line in lines:
            out.print(f"  {line}".rstrip())


def _hierarchies(gained: Sequence[Gain], data: Path, policy: Path) -> Iterable[str]:
    """The column that would gain most by a hierarchy, how to make it, and the line to paste."""
    if not gained:
        return
    from kohort.policy.faults import toml_key, toml_text
    from kohort.reports.propose.levels import file_name

    first, *others = gained
    file = f"{policy.stem}-hierarchies/{file_name(first.column)}"
    yield f"one for column {first.column!r} would lower the loss by {first.saved:.0%}: {first.reason}"
    for other in others:
        yield f"one for column {other.column!r} by {other.saved:.0%}"
    made = [str(data), first.column, "-p", str(policy), "-o", str(policy.parent / file)]
    yield f"make it:  kohort hierarchy suggest {shlex.join(made)}"
    yield f"then in [columns.{toml_key(first.column)}]:  hierarchy = {toml_text(file)}"


def _causes(explanation: Explanation, width: int) -> Iterable[str]:
    yield f"{'column':<{width}}{'loss':>8}  {'share of the loss'}"
    for column in sorted(explanation.columns, key=lambda column: -column.share):
        yield f"{column.name:<{width}}{column.loss:>8.4f}{column.share:>8.1%}  {bar(column.share)}"


def _what_ifs(explanation: Explanation, width: int) -> Iterable[str]:
    if not any(column.dropped for column in explanation.columns):
        return
    yield f"{'':<{width}}{'dropped:':>10}{'':>12}{'weight:':>9}{'':>13}{'coarser:':>11}"
    yield f"{'column':<{width}}{'others':>10}{'total':>8}{'':>4}{'others':>9}{'total':>8}{'':>5}{'level':>11}" + (
        f"{'others':>10}{'total':>8}"
    )
    for column in explanation.columns:
        if column.dropped is not None:
            dropped = f"{-column.dropped.others_saved:>+10.1%}{column.dropped.total:>8.4f}"
            less = column.lighter
            lighter = f"{'none':>9}{'':>8}" if less is None else f"{-less.others_saved:>+9.1%}{less.total:>8.4f}"
            yield f"{column.name:<{width}}{dropped}{'':>4}{lighter}{'':>5}{_coarser(column)}"
    yield "others: change of the loss of the other columns"
    yield "total: loss of all columns; a dropped column counts as wholly lost"
    yield "weight: the column counts a quarter in the search for classes, and as before in the total"
    yield "level: the hierarchy level with the smallest total, between exact values and *"
    if any(column.best_level is not None for column in explanation.columns):
        yield "a total below the present one means that this table is hard to sort, not that less detail is better"


def _coarser(column: ColumnCause) -> str:
    """The level of the least total, whether or not it lowers the loss."""
    if not column.coarser:
        return f"{'none':>11}"
    best = min(column.coarser, key=lambda variant: variant.total)
    return f"{f'{best.level} of {best.top}':>11}{-best.others_saved:>+10.1%}{best.total:>8.4f}"


def _spread(explanation: Explanation) -> Iterable[str]:
    for part in explanation.parts:
        carried = f"fewer than {explanation.k} records" if part.loss is None else f"carry {part.loss:.1%} of the loss"
        yield f"the costliest {part.records:.0%}: {carried}"
    sizes = f"{explanation.smallest:,} to {explanation.largest:,} records, median {explanation.median:,g}"
    yield f"{explanation.classes:,} classes of {sizes}"
    if explanation.suppressed != 0:
        yield f"{_count(explanation.suppressed, explanation.k)} of {explanation.records:,} records suppressed"


def _count(count: int | None, k: int) -> str:
    return f"fewer than {k}" if count is None else f"{count:,}"


def _kinds(explanation: Explanation, width: int) -> Iterable[str]:
    few = f"fewer than {explanation.k} records"
    for kind in explanation.kinds:
        ratio = "" if kind.ratio is None else f"{kind.ratio:.1f} x"
        costly, everyone = (
            few if share is None else f"{share:.1%}" for share in (kind.among_costliest, kind.among_all)
        )
        yield f"{ratio:>7}  {kind.column:<{width}}{kind.what} ({costly} of the costliest, {everyone} of all)"
