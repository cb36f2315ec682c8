"""What commands look at: a release of any tool, and what it promises."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kohort.cli.given import located, taken

_OUT = "The release, made by any tool: a file, a folder, a pattern in quotes, or - for a pipe."
ReleaseArgument = Annotated[Path, typer.Argument(metavar="OUT", parser=located, callback=taken, help=_OUT)]
_POLICY = "Policy file (TOML); without it and without --qi, what the verdict beside OUT says."
PromiseOption = Annotated[Path | None, typer.Option("--policy", "-p", help=_POLICY)]
_QUASI = "Without a policy: the quasi-identifiers, with commas."
QuasiOption = Annotated[list[str] | None, typer.Option("--qi", metavar="COLUMNS", help=_QUASI)]
SensitiveOption = Annotated[list[str] | None, typer.Option(metavar="COLUMNS", help="With --qi: sensitive columns.")]
