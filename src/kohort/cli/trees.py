"""`kohort hierarchy suggest | complete`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kohort.cli.hierarchy import (
    ColumnOption,
    FileArgument,
    GivenPolicy,
    hierarchies,
    print_summary,
    read_hierarchy,
    refuse_suffix,
)
from kohort.cli.shared import DataArgument, console

if TYPE_CHECKING:
    from kohort.policy.hierarchy import Taxonomy

OutputOption = Annotated[Path, typer.Option("--output", "-o", help="Hierarchy file to write (csv).")]
ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")]


@hierarchies.command()
def suggest(
    data: DataArgument,
    column: Annotated[str, typer.Argument(help="Column to propose a hierarchy for.")],
    output: OutputOption,
    policy: GivenPolicy = None,
    force: ForceOption = False,
) -> None:
    """Propose a hierarchy for a column of DATA, with its reason.

    Numbers are cut where least is lost, dates become months, quarters and years. Countries, ICD-10 and
    education are known; other codes come together by their beginnings, other texts by what their
    records have in common. With --policy its missing texts apply, and its quasi-identifiers are looked at.
    """
    from kohort.reports.propose.columns import suggested
    from kohort.table.targets import input_of, refuse_targets

    refuse_suffix(output)
    _refuse_there(output, force=force)
    output.parent.mkdir(parents=True, exist_ok=True)
    refuse_targets({"hierarchy": output}, input_of(data))
    found = suggested(data, column, policy)
    _write(found.taxonomy, output)
    print_summary(found.taxonomy)
    out = console()
    out.print(f"reason: {found.reason}")
    out.print("in the policy, relative to its folder:")
    out.print(f'  hierarchy = "{output.as_posix()}"')


@hierarchies.command()
def complete(
    file: FileArgument,
    data: DataArgument,
    output: OutputOption,
    column: ColumnOption = None,
    policy: GivenPolicy = None,
    force: ForceOption = False,
) -> None:
    """Add the values of DATA that FILE lacks.

    A code comes under the branch that begins like it, any other value directly under the root: move it
    to where it belongs. With --policy its missing texts apply.
    """
    from kohort.policy.hierarchy.suggest.missing import completed
    from kohort.reports.propose.columns import texts_of
    from kohort.table.targets import input_of, refuse_targets

    refuse_suffix(output)
    _refuse_there(output, force=force)
    output.parent.mkdir(parents=True, exist_ok=True)
    refuse_targets({"hierarchy": output}, input_of(data))
    taxonomy = read_hierarchy(file, column)
    whole, placed, others = completed(taxonomy, texts_of(data, taxonomy.column, policy))
    _write(whole, output)
    print_summary(whole)
    console().print(f"added {placed + others}: {placed} under a branch, {others} directly under the root.")


def _refuse_there(output: Path, *, force: bool) -> None:
    from kohort.errors import PolicyError

    if output.exists() and not force:
        raise PolicyError(f"{output.name} is already there; give another --output, or --force to write over it.")


def _write(taxonomy: Taxonomy, output: Path) -> None:
    from kohort.table.safe import draft_of

    with draft_of(output) as draft:
        taxonomy.to_csv(draft)
