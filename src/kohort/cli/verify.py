"""`kohort verify`: whether a file keeps the promise of its policy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from kohort.cli.given import located
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
from kohort.cli.subject import ReleaseArgument

if TYPE_CHECKING:
    from kohort.audit import Verdict
    from kohort.policy import Policy


_POLICY = "Policy file (TOML); without it, what the verdict beside OUT says."
PromisePath = Annotated[Path | None, typer.Option("--policy", "-p", help=_POLICY)]
_VERDICT = "Without a policy: the verdict of OUT; default: beside it."
VerdictPath = Annotated[Path | None, typer.Option(metavar="FILE", help=_VERDICT)]
_ORIGINAL = "The original table, given like DATA of anonymize."
Original = Annotated[Path | None, typer.Option(metavar="DATA", parser=located, help=_ORIGINAL)]
_SENSITIVE_TABLE = "The second published table of a release in buckets (anatomy)."
SensitiveTable = Annotated[Path | None, typer.Option(help=_SENSITIVE_TABLE)]
_AGAINST = "Also check it against the earlier releases in this ledger."
Against = Annotated[Path | None, typer.Option(metavar="LEDGER", help=_AGAINST)]
_STRICT = "Privacy models must also hold against someone who knows all other sensitive columns."
Strict = Annotated[bool, typer.Option("--strict", help=_STRICT)]
_MADE_WITH = "OUT was made with this option."
_ROW_ORDER = (
    "With --original: the row of it that each row of OUT comes from, counted from 0; one number in each line, or "
    "Parquet with one column. As secret as the original."
)
RowOrder = Annotated[Path | None, typer.Option(metavar="FILE", help=_ROW_ORDER)]
_CERTIFICATE = "Check OUT against this certificate; no policy is needed."
CertificatePath = Annotated[Path | None, typer.Option(metavar="FILE", help=_CERTIFICATE)]
_SIGNER = "With --certificate: public key of who must have signed it."
Signer = Annotated[Path | None, typer.Option(metavar="FILE", help=_SIGNER)]
_QUASI = "Without a policy: the quasi-identifiers, with commas; and --k."
Quasi = Annotated[list[str] | None, typer.Option("--qi", metavar="COLUMNS", help=_QUASI)]
Sensitive = Annotated[list[str] | None, typer.Option(metavar="COLUMNS", help="With --qi: sensitive columns; and --l.")]
_DISTINCT = "With --sensitive: distinct values in every class, at least."
Distinct = Annotated[int | None, typer.Option("--l", min=2, help=_DISTINCT)]


@app.command()
def verify(
    release: ReleaseArgument,
    policy: PromisePath = None,
    verdict: VerdictPath = None,
    certificate: CertificatePath = None,
    signer: Signer = None,
    original: Original = None,
    row_order: RowOrder = None,
    sensitive_table: SensitiveTable = None,
    against: Against = None,
    k: SizeOption = None,
    qi: Quasi = None,
    sensitive: Sensitive = None,
    l_: Distinct = None,
    strict: Strict = False,
    keep_order: Annotated[bool, typer.Option("--keep-order", help=_MADE_WITH)] = False,
    bounds: Annotated[bool, typer.Option("--bounds", help=_MADE_WITH)] = False,
    neutralise_formulas: Annotated[bool, typer.Option("--neutralise-formulas", help=_MADE_WITH)] = False,
    memory: MemoryOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Check whether a file keeps the promise of its policy.

    Without a policy, the promise is taken from the verdict beside OUT, with the options of `anonymize`.
    With --qi and --k, a file of any tool is judged without a policy. Exit code 1 if it does not keep its promise,
    with the reason in one sentence.
    """
    import kohort
    from kohort.table.sizes import memory_of

    form = form_of(keep_order, bounds, neutralise_formulas)
    if certificate is not None:
        given = {"policy": policy, "verdict": verdict, "row-order": row_order, "against": against, "k": k, "qi": qi}
        _refuse_beside_certificate(given | {"sensitive": sensitive, "l": l_, "memory": memory} | form)
        how: dict[str, Any] = {"signer": signer, "original": original, "strict": strict}
        by = kohort.verified_by(certificate, release, sensitive_table=sensitive_table, **how)
        _say(by, json=json, quiet=quiet)
    if signer is not None:
        raise kohort.DataError("--signer: it is for a certificate, and none is given; give --certificate.")
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
    _say(found, json=json, quiet=quiet, other=release if policy is not None and not found.passed else None)


def _say(found: Verdict, *, json: bool, quiet: bool, other: Path | None = None) -> NoReturn:
    """Print what was found, and end.

    Parameters
    ----------
    other : path, optional
        The release, if it may have been made under another promise than it was judged by.
    """
    if json:
        print_json(found.to_dict())
    elif not quiet:
        print_verdict(found)
        if other is not None:
            _print_other_promise(other, found)
    raise typer.Exit(0 if found.passed else 1)


def _refuse_beside_certificate(given: dict[str, Any]) -> None:
    """Refuse options that say something else than the certificate does."""
    from kohort.errors import DataError

    names = {"order": "keep-order", "formulas": "neutralise-formulas"}
    DataError.refuse(
        f"--{names.get(name, name)}: the certificate says what is checked; leave it out."
        for name, value in given.items()
        if value not in (None, [])
    )


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
        if (l_ is None) == bool(sensitive):
            raise PolicyError(
                "verify: --sensitive is for a promise about these columns; say which with --l."
                if sensitive
                else "verify: --l is about sensitive columns; name them with --sensitive."
            )
        return quick_policy(release, k=k, quasi_identifiers=qi, sensitive=sensitive, distinct=l_).with_changes(
            "output", **form
        )
    if k is not None or any(form.values()) or sensitive or l_ is not None:
        raise PolicyError("verify: these options change a policy; give it, or name the quasi-identifiers with --qi.")
    return None


def _print_other_promise(release: Path, found: Verdict) -> None:
    """Say if the release was made under something else than it was judged by now."""
    from kohort.audit.beside import stated_beside
    from kohort.errors import KohortError

    try:
        stated = stated_beside(release, None).verdict.promise
    except KohortError:
        return
    other = sorted(name for name in {*stated, *found.promise} if stated.get(name) != found.promise.get(name))
    if other:
        where = ", ".join(f"[{name}]" for name in other)
        console().print(f"its verdict says that it was made under another policy ({where}); leave out -p to use that.")
