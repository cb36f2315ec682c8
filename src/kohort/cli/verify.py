"""`kohort verify`: whether a file keeps the promise of its policy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kohort.cli.given import located, taken
from kohort.cli.shared import (
    JsonOption,
    MemoryOption,
    QuietOption,
    SizeOption,
    app,
    console,
    form_of,
    policy_of,
    print_json,
    print_verdict,
)

if TYPE_CHECKING:
    from kohort.audit import Verdict
    from kohort.policy import Policy


_ROW_ORDER = (
    "With --original: the row of it that each row of OUT comes from, counted from 0; one number in each line, or "
    "Parquet with one column. As secret as the original."
)
RowOrder = Annotated[Path | None, typer.Option(metavar="FILE", help=_ROW_ORDER)]
_QUASI = "Without a policy: the quasi-identifiers, with commas; and --k."
Quasi = Annotated[list[str] | None, typer.Option("--qi", metavar="COLUMNS", help=_QUASI)]
Sensitive = Annotated[list[str] | None, typer.Option(metavar="COLUMNS", help="With --qi: sensitive columns; and --l.")]
_DISTINCT = "With --sensitive: distinct values in every class, at least."
Distinct = Annotated[int | None, typer.Option("--l", min=2, help=_DISTINCT)]


@app.command()
def verify(
    release: Annotated[
        Any,
        typer.Argument(
            metavar="OUT",
            parser=located,
            callback=taken,
            help="The release, made by any tool: a file, a folder, a pattern in quotes, or - for a pipe.",
        ),
    ],
    policy: Annotated[
        Path | None,
        typer.Option("--policy", "-p", help="Policy file (TOML); without it, what the verdict beside OUT says."),
    ] = None,
    verdict: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Without a policy: the verdict of OUT; default: beside it.")
    ] = None,
    original: Annotated[
        Any, typer.Option(parser=located, help="The original table, given like DATA of anonymize.")
    ] = None,
    row_order: RowOrder = None,
    sensitive_table: Annotated[
        Path | None, typer.Option(help="The second published table of a release in buckets (anatomy).")
    ] = None,
    against: Annotated[
        Path | None, typer.Option(metavar="LEDGER", help="Also check it against the earlier releases in this ledger.")
    ] = None,
    k: SizeOption = None,
    qi: Quasi = None,
    sensitive: Sensitive = None,
    l_: Distinct = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Privacy models must also hold against someone who knows all other sensitive columns."
        ),
    ] = False,
    keep_order: Annotated[bool, typer.Option("--keep-order", help="OUT was made with this option.")] = False,
    bounds: Annotated[bool, typer.Option("--bounds", help="OUT was made with this option.")] = False,
    neutralise_formulas: Annotated[
        bool, typer.Option("--neutralise-formulas", help="OUT was made with this option.")
    ] = False,
    memory: MemoryOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Check whether a file keeps the promise of its policy.

    Without a policy, the verdict beside OUT says what it was made under, options of `anonymize` among it.
    With --qi and --k, a file of any tool is judged without a policy. Exit code 1 if it does not keep its promise,
    with the reason in one sentence.
    """
    import kohort
    from kohort.table.sizes import memory_of

    form = form_of(keep_order, bounds, neutralise_formulas)
    chosen = _chosen(release, policy, k, form, qi or [], sensitive or [], l_)
    found = kohort.verify(
        release,
        chosen,
        verdict=verdict,
        original=original,
        row_order=row_order,
        sensitive_table=sensitive_table,
        strict=strict,
        against=against,
        memory=memory_of(memory) if memory is not None else None,
    )
    if json:
        print_json(found.to_dict())
    elif not quiet:
        print_verdict(found)
        if policy is not None and not found.passed:
            _print_other_promise(release, found)
    raise typer.Exit(0 if found.passed else 1)


def _chosen(
    release: Path,
    policy: Path | None,
    k: int | None,
    form: dict[str, Any],
    qi: list[str],
    sensitive: list[str],
    l_: int | None,
) -> Policy | None:
    """What is promised: the policy's, that of --qi and --k, or None for what the verdict of the release says."""
    from kohort.audit.quick import quick_policy
    from kohort.errors import PolicyError

    if policy is not None:
        if qi or sensitive or l_ is not None:
            raise PolicyError("verify: the policy says which columns are which; leave out --qi, --sensitive and --l.")
        return policy_of(policy, privacy={"k": k}, output=form)
    if qi:
        if k is None:
            raise PolicyError(
                "verify: --qi names the quasi-identifiers, and nothing says how many records must share them; give --k."
            )
        return quick_policy(release, k=k, quasi_identifiers=qi, sensitive=sensitive, distinct=l_).with_changes(
            "output", **form
        )
    if k is not None or any(form.values()) or sensitive or l_ is not None:
        raise PolicyError("verify: these options change a policy; give it, or name the quasi-identifiers with --qi.")
    return None


def _print_other_promise(release: Path, found: Verdict) -> None:
    """Say if the release was made under something else than it was judged by now."""
    from kohort.audit.beside import told_beside
    from kohort.errors import KohortError

    try:
        told = told_beside(release, None).verdict.promise
    except KohortError:
        return
    other = sorted(name for name in {*told, *found.promise} if told.get(name) != found.promise.get(name))
    if other:
        where = ", ".join(f"[{name}]" for name in other)
        console().print(f"its verdict says that it was made under another policy ({where}); leave out -p to use that.")
