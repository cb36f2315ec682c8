"""`kohort hierarchy build | check | show`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kohort.cli.shared import DataArgument, JsonOption, app, console, print_json

if TYPE_CHECKING:
    import polars as pl

    from kohort.hierarchy import Taxonomy
    from kohort.policy import Policy

CSV_SUFFIXES = (".csv", ".tsv", ".txt")

hierarchies = typer.Typer(help="Build, check and show hierarchies.", no_args_is_help=True)
app.add_typer(hierarchies, name="hierarchy")

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="Hierarchy: ARX csv, or nested toml.")]
ColumnOption = Annotated[str | None, typer.Option(help="Column it is for; default: the name of the file.")]


@hierarchies.command()
def build(
    data: DataArgument,
    column: Annotated[str, typer.Argument(help="Column to build for.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Hierarchy file to write (csv).")],
    width: Annotated[
        float | None, typer.Option(help="Numbers: bins of this width, of twice and of four times it.")
    ] = None,
    cuts: Annotated[str | None, typer.Option(help="Numbers: borders, finest level first: '18,40,65;18,65'.")] = None,
    prefix: Annotated[str | None, typer.Option(help="Codes: characters that are kept, by level: '5,3,2'.")] = None,
    dates: Annotated[str | None, typer.Option(help="Dates: levels of month,quarter,year,decade, finest first.")] = None,
    flat: Annotated[bool, typer.Option("--flat", help="Texts: each value, then *.")] = False,
) -> None:
    """Build a hierarchy file for a column of DATA."""
    from kohort.codes.encode import TreeAxis, encode
    from kohort.errors import DataError, PolicyError
    from kohort.policy import Policy
    from kohort.table.safe import draft_of
    from kohort.table.targets import input_of, refuse_targets

    given: dict[str, Any] = {}
    if width is not None:
        given["intervals"] = {"width": width}
    if cuts is not None:
        given["cuts"] = [_numbers(level, "cuts") for level in cuts.split(";")]
    if prefix is not None:
        lengths = _numbers(prefix, "prefix")
        given["prefix"] = [int(length) if length.is_integer() else length for length in lengths]
    if dates is not None:
        given["dates"] = [level.strip() for level in dates.split(",")]
    if flat:
        given["flat"] = True
    if len(given) != 1:
        raise PolicyError("give exactly one of --width, --cuts, --prefix, --dates and --flat.")
    policy = Policy.build(k=2, quasi_identifiers=[column], hierarchies={column: given})
    if output.suffix.lower() not in CSV_SUFFIXES:
        raise PolicyError(f"{output.name}: a hierarchy file is CSV; name it {', '.join(CSV_SUFFIXES)}.")
    refuse_targets({"hierarchy": output}, input_of(data))
    axis = encode(_column(data, column, policy), policy).axes[0]
    if not isinstance(axis, TreeAxis):
        raise DataError(f"column {column!r}: there are no values to build a hierarchy from.")
    with draft_of(output) as draft:
        axis.taxonomy.to_csv(draft)
    _summary(axis.taxonomy)


@hierarchies.command()
def check(
    file: FileArgument,
    column: ColumnOption = None,
    data: Annotated[Path | None, typer.Option(help="Table whose values must all be leaves.")] = None,
    json: JsonOption = False,
) -> None:
    """Check a hierarchy file.

    With --data, also check that every value of the column is a leaf.
    """
    taxonomy = _read(file, column)
    if data is not None:
        from kohort.codes.encode import encode
        from kohort.policy import Policy

        name = taxonomy.column
        policy = Policy.build(k=2, quasi_identifiers=[name], hierarchies={name: str(file.resolve())})
        encode(_column(data, name, policy), policy)
    if json:
        print_json({"column": taxonomy.column, "leaves": taxonomy.n_leaves, "levels": taxonomy.levels})
    else:
        _summary(taxonomy)


@hierarchies.command()
def show(
    file: FileArgument,
    column: ColumnOption = None,
    children: Annotated[int, typer.Option(help="Children shown of each node.", min=1)] = 12,
) -> None:
    """Draw the tree in the terminal."""
    from kohort.hierarchy import draw

    console().print(draw(_read(file, column), max_children=children))


def _read(file: Path, column: str | None) -> Taxonomy:
    from kohort.hierarchy import read

    return read(file, column=column or file.stem)


def _column(data: Path, name: str, policy: Policy) -> pl.DataFrame:
    """One column of a table, typed. Without a header there would be cells for names: none is quoted."""
    from kohort.errors import PolicyError
    from kohort.policy.faults import closest_place
    from kohort.table import read_table, typed_quasi_identifiers

    table = read_table(data, known={name})
    if name not in table.frame.columns:
        hint = closest_place(name, table.frame.columns)
        raise PolicyError(f"column {name!r} is not in the table{hint}; check its name, and that the header is there.")
    return typed_quasi_identifiers(table.frame.select(name), policy, table.zones)


def _numbers(text: str, option: str) -> list[float]:
    from kohort.errors import PolicyError

    try:
        numbers = [float(number) for number in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or not all(map(math.isfinite, numbers)):
        raise PolicyError(f"--{option} must be numbers with commas between them; got {text!r}.")
    return numbers


def _summary(taxonomy: Taxonomy) -> None:
    shape = "all leaves equally deep" if taxonomy.is_balanced else "leaves of different depth"
    console().print(
        f"column {taxonomy.column!r}: {taxonomy.n_leaves} leaves, {taxonomy.levels} levels, {shape}.",
    )
