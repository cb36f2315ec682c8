"""How `anonymize` and `demo` end: about ten lines in plain words; more of them, and the words of authors, if asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kohort.cli.shared import console, print_checks, print_facts, print_hanging, print_loss

if TYPE_CHECKING:
    from kohort.measures.loss import Loss
    from kohort.release.release import Release

ExplainOption = Annotated[bool, typer.Option("--explain", help="Print every check, and the loss of every column.")]
VerboseOption = Annotated[bool, typer.Option("--verbose", "-v", help="The same, and figures of algorithm and measure.")]
_LABEL = 13
_WORST = 3


def print_release(
    release: Release,
    output: Any,
    ledger: Path | None = None,
    documents: Sequence[Path] = (),
    hints: Sequence[str] = (),
    *,
    explain: bool = False,
    verbose: bool = False,
) -> None:
    """Print what has become of a release, and where it is.

    Parameters
    ----------
    documents : sequence of Path
        What was written about it.
    hints : sequence of str
        What else somebody should know.
    explain, verbose : bool
        Whether to print every check, and figures that authors of papers use.
    """
    from rich.text import Text

    out = console()
    if explain or verbose:
        print_checks(release.verdict)
        print_loss(release.loss, release.known_bound)
        out.print()
    if verbose or len(release.tables) > 1:
        print_facts(release.facts)
    for label, sentence in [*_lines(release, ledger), *(("note", hint) for hint in hints)]:
        style = "bold green" if label == "verified" else "yellow" if label == "note" else "bold"
        print_hanging(Text(f"{label + ': ':<{_LABEL}}", style=style), sentence)
    out.print(f"written to {', '.join(map(str, [*_paths(release, output), *documents]))}", style="bold")


def _lines(release: Release, ledger: Path | None) -> Iterator[tuple[str, str]]:
    """A label and a sentence for each thing that somebody should know."""
    from kohort.measures.loss import against_bound
    from kohort.reports.plain import promised_in_words, records_in_words
    from kohort.search.effort import STOPPED

    verdict = release.verdict
    privacy = verdict.promise.get("privacy", {})
    said = promised_in_words(verdict)
    what = f"in each of {len(release.tables)} tables, {said}" if len(release.tables) > 1 else said
    yield "verified", f"{what} (k = {verdict.facts.k:,}); the file was read again, {len(verdict.checks)} checks passed."
    columns = verdict.promise.get("columns", {})
    models = ", ".join(
        str(model["model"])
        for model in privacy.get("models", ())
        if columns.get(model.get("column"), {}).get("type") != "set"
    )
    if models:
        yield "promised", f"kept in every class, too: {models}."
    yield "records", records_in_words(verdict)
    yield "detail lost", _lost(release.loss)
    if release.known_bound is not None:
        yield "optimum", f"{against_bound(release.loss.total, release.known_bound)}."
    if str(release.facts.get("local search", "")).endswith(STOPPED):
        yield "note", f"the search was {STOPPED}: what it had found until then is published."
    if verdict.as_is is not None and (shown := verdict.as_is.sentence(verdict.facts.rows_released)):
        yield "note", f"published as it is: {shown}"
    for name, cure in release.hidden.items():
        yield "note", f"{name} is * in every row: {cure}."
    yield from (("note", check.sentence) for check in verdict.checks if check.name == "repeats")
    yield "others", f"recorded in {ledger}." if ledger else "earlier releases were not looked at; --ledger does."


def _lost(loss: Loss) -> str:
    """The total in percent, and the columns that lose most."""
    from kohort.reports.words import percent

    worst = sorted(loss.by_column.items(), key=lambda item: -item[1])[:_WORST]
    named = ", ".join(f"{name} {percent(share)}" for name, share in worst if share)
    most = f"; most in {named}" if named and len(loss.by_column) > 1 else ""
    return f"{percent(loss.total)} (0 % = nothing generalized, 100 % = everything is *){most}."


def _paths(release: Release, output: Any) -> list[Any]:
    from kohort.table.targets import table_path

    return [table_path(output, name) for name in release.tables or ("",)] if isinstance(output, Path) else [output]
