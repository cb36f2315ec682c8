"""`kohort attack`: what attackers learn from a release, beside what chance would tell them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kohort.cli.given import located
from kohort.cli.shared import JsonOption, QuietOption, SizeOption, app, console, print_hanging, print_json
from kohort.cli.subject import PromiseOption, QuasiOption, ReleaseArgument, SensitiveOption

if TYPE_CHECKING:
    from kohort.reports.attacks import Attacks

_AUXILIARY = "A table that an outsider may have; its people are looked for."
_AGAINST = "Another release about the same people; give it again for more."


@app.command()
def attack(
    release: ReleaseArgument,
    policy: PromiseOption = None,
    qi: QuasiOption = None,
    sensitive: SensitiveOption = None,
    k: SizeOption = None,
    original: Annotated[
        Any, typer.Option(metavar="DATA", parser=located, help="The original table; figures are then private, too.")
    ] = None,
    auxiliary: Annotated[Any, typer.Option(metavar="FILE", parser=located, help=_AUXILIARY)] = None,
    against: Annotated[list[Any] | None, typer.Option(metavar="EARLIER", parser=located, help=_AGAINST)] = None,
    only: Annotated[str | None, typer.Option(metavar="NAMES", help="Attacks, separated by commas.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of samples and controls.")] = 0,
    attempts: Annotated[int | None, typer.Option(min=1, help="People who are looked for, at most; 2000.")] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Attack a release as outsiders would: who is found, and what is learned about them.

    Every attack has a control, which says how often it would succeed by chance. Figures that need
    more than the release are private: keep them as confidential as the original.
    """
    from kohort.reports.attacks import attack as attacked
    from kohort.reports.attacks.scene import ATTEMPTS

    found = attacked(
        _tables(release),
        policy,
        original=original,
        auxiliary=auxiliary,
        against=against or (),
        only=[] if only is None else [name.strip() for name in only.split(",")],
        seed=seed,
        attempts=ATTEMPTS if attempts is None else attempts,
        k=k,
        quasi_identifiers=qi or (),
        sensitive=sensitive or (),
    )
    if json:
        print_json(found.to_dict(private=True))
    elif not quiet:
        _print(found)


def _tables(release: Any) -> Any:
    """All tables of a release that has several: `out.1.csv`, `out.2.csv` and so on, if there is no `out.csv`."""
    from kohort.table.targets import table_path

    if not isinstance(release, Path) or release.exists() or not release.name:
        return release
    found: dict[str, Path] = {}
    while (path := table_path(release, str(len(found) + 1))).exists():
        found[str(len(found) + 1)] = path
    return found or release


def _print(found: Attacks) -> None:
    """A line for each attack that was tried, what would stop those that succeed, and what could not be tried."""
    from rich.text import Text

    out = console()
    for one in sorted(found.results, key=lambda one: not one.succeeds):
        mark = ("FOUND", "red") if one.succeeds else ("ok   ", "green")
        print_hanging(Text.assemble("  ", mark, f" {one.title}  "), f"{one.sentence} {one.sampled}".rstrip())
        if one.succeeds:
            print_hanging("        ", one.mitigation.advice)
            for line in one.mitigation.policy.splitlines():
                out.print(f"            {line}", style="bold", soft_wrap=True)
    for absent in found.not_run:
        print_hanging(f"  not tried  {absent.title}  ", absent.reason)
    out.print(f"Attacks that were tried: {len(found.results)}; that found something: {len(found.succeeding)}.")
    if any(one.private for one in found.results):
        out.print("Some of these figures need more than the release: keep them as confidential as the original.")
