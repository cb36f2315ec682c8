"""`kohort certificate make | sign | keygen`: what was found about a file, in a document that can be signed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kohort.cli.given import located
from kohort.cli.shared import app, console, policy_of

if TYPE_CHECKING:
    from kohort.audit.certificate import Certificate

certificates = typer.Typer(help="Make and sign certificates; verify --certificate checks them.", no_args_is_help=True)
app.add_typer(certificates, name="certificate")

Output = Annotated[Path, typer.Option("--output", "-o", metavar="CERT", help="Certificate to write (JSON).")]
Key = Annotated[Path | None, typer.Option(metavar="FILE", help="Private key that signs it, as keygen writes it.")]
Force = Annotated[bool, typer.Option("--force", help="Write over a file that is there.")]


@certificates.command()
def make(
    release: Annotated[Any, typer.Argument(metavar="OUT", parser=located, help="The release, made by any tool.")],
    output: Output,
    policy: Annotated[
        Path | None,
        typer.Option("--policy", "-p", help="Policy file (TOML); without it, what the verdict beside OUT says."),
    ] = None,
    verdict: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Without a policy: the verdict of OUT; default: beside it.")
    ] = None,
    original: Annotated[
        Any, typer.Option(parser=located, help="The original table; with it, the certificate vouches for truth, too.")
    ] = None,
    sensitive_table: Annotated[
        Path | None, typer.Option(help="The second published table of a release in buckets (anatomy).")
    ] = None,
    key: Key = None,
    force: Force = False,
) -> None:
    """Check OUT, and certify what was found.

    Exit code 1, and no certificate, if it does not keep its promise.
    """
    import kohort
    from kohort.audit.beside import stated_beside
    from kohort.table.targets import input_of, refuse_targets

    chosen = None if policy is None else policy_of(policy)
    read: dict[str, Path | Sequence[Path]] = dict((chosen or stated_beside(release, verdict).policy).files)
    tables = {"release": release, "original": original, "sensitive table": sensitive_table}
    read |= {name: place for name, table in tables.items() for place in input_of(table).values()}
    refuse_targets({"certificate": output}, read | ({} if key is None else {"key": key}))
    made = kohort.certify(release, chosen, verdict=verdict, original=original, sensitive_table=sensitive_table, key=key)
    _written(made, output, force=force)


@certificates.command()
def sign(
    certificate: Annotated[Path, typer.Argument(metavar="CERT", help="Certificate that is signed in its place.")],
    key: Annotated[Path, typer.Option(metavar="FILE", help="Private key, as keygen writes it.")],
) -> None:
    """Sign a certificate; several people may sign one.

    Check it against its file first: kohort verify OUT --certificate CERT.
    """
    from kohort.audit.certificate import Certificate

    _written(Certificate.read(certificate).signed(key), certificate, force=True)


@certificates.command()
def keygen(
    key: Annotated[Path, typer.Argument(metavar="KEY", help="Private key to write; the public one is KEY.pub.")],
) -> None:
    """Make a pair of keys to sign with (Ed25519).

    KEY is for its owner only; whoever checks signatures needs KEY.pub, by a way that can be trusted.
    """
    from kohort.audit.certificate.signature import new_keys
    from kohort.table.safe import refuse_existing, together
    from kohort.table.targets import refuse_targets

    public = key.with_name(f"{key.name}.pub")
    refuse_targets({"private key": key, "public key": public}, {})
    refuse_existing([key, public])
    private_text, public_text = new_keys()
    with together(overwrite=False) as files:
        files.text(key, private_text, private=True)
        files.text(public, public_text)
    console().print(f"written to {key} (private) and {public}")


def _written(certificate: Certificate, path: Path, *, force: bool) -> None:
    """Write a certificate, and say what it is."""
    from kohort.table.safe import refuse_existing, write_text

    if not force:
        refuse_existing([path])
    write_text(path, certificate.to_json())
    keys = ", ".join(one.fingerprint for one in certificate.signatures)
    console().print(f"certified: {certificate.verdict.reason}")
    console().print(f"written to {path}, " + (f"signed with {keys}" if keys else "not signed"))
