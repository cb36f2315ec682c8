"""`kohort report`: what holds of a release, how safe it is, and how useful it still is, as a page or as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kohort.cli.given import located
from kohort.cli.shared import JsonOption, QuietOption, SizeOption, app, console, policy_of, print_hanging, print_json
from kohort.cli.subject import PromiseOption, QuasiOption, ReleaseArgument, SensitiveOption

if TYPE_CHECKING:
    from kohort.reports.report import Report

_ORIGINAL = "The original table; in the public edition for the verdict alone."
_OUTPUT = "Where the report goes, .html or .json; default: beside OUT."
_PRIVATE = "The edition for the steward of the original, with which it compares."
_ORDER = "With --original: what anonymize --row-order wrote."
_LEDGER = "Earlier releases, which the verdict then looks at."
_MADE = "With --private: the private verdict of anonymize, which says how OUT was made."


@app.command()
def report(
    release: ReleaseArgument,
    policy: PromiseOption = None,
    qi: QuasiOption = None,
    sensitive: SensitiveOption = None,
    k: SizeOption = None,
    original: Annotated[Any, typer.Option(metavar="DATA", parser=located, help=_ORIGINAL)] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help=_OUTPUT)] = None,
    private: Annotated[bool, typer.Option("--private", help=_PRIVATE)] = False,
    private_verdict: Annotated[Path | None, typer.Option(metavar="FILE", help=_MADE)] = None,
    row_order: Annotated[Path | None, typer.Option(metavar="FILE", help=_ORDER)] = None,
    ledger: Annotated[Path | None, typer.Option(help=_LEDGER)] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a report that is there.")] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Report on a release: what was promised and holds, risk, attacks, loss, and what was done to each column.

    The page is one file that needs no network. Everything in it can be computed from OUT and its
    policy, unless it is the private edition: keep that as you keep the original. Exit code 1 if
    OUT does not keep its promise.
    """
    import kohort
    from kohort.reports.report.make import report_path
    from kohort.table.safe import refuse_existing

    target = output
    if output is None and not json:
        target = report_path(release, private=private)
    if target is not None and not force:
        refuse_existing([target])
    found = kohort.report(
        release,
        None if policy is None else policy_of(policy, privacy={"k": k}),
        original=original,
        output=target,
        private=private,
        row_order=row_order,
        ledger=ledger,
        private_verdict=private_verdict,
        k=None if policy is not None else k,
        quasi_identifiers=qi or [],
        sensitive=sensitive or [],
    )
    if json:
        print_json(found.to_dict())
    elif not quiet:
        print_report(found, target)
    raise typer.Exit(0 if found.passed else 1)


def print_report(found: Report, target: Path | None) -> None:
    """Print what it says first, and where it is."""
    print_hanging(f"{found.status}: ", found.headline)
    console().print(f"{found.edition} report written to {target}")
