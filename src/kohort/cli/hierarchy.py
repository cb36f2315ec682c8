"""`kohort hierarchy build | check | show`; `trees` has the others."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kohort.cli.shared import DataArgument, JsonOption, app, console, print_json

if TYPE_CHECKING:
    import polars as pl

    from kohort.policy import Policy
    from kohort.policy.hierarchy import Taxonomy

CSV_SUFFIXES = (".csv", ".tsv", ".txt")

hierarchies = typer.Typer(help="Build, check and show hierarchies.", no_args_is_help=True)
app.add_typer(hierarchies, name="hierarchy")

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="Hierarchy: ARX csv, or nested toml.")]
GivenPolicy = Annotated[
    Path | None, typer.Option("--policy", "-p", help="Policy whose texts for missing values apply.")
]
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
    refuse_suffix(output)
    refuse_targets({"hierarchy": output}, input_of(data))
    axis = encode(_column(data, column, policy), policy).axes[0]
    if not isinstance(axis, TreeAxis):
        raise DataError(f"column {column!r}: there are no values to build a hierarchy from.")
    with draft_of(output) as draft:
        axis.taxonomy.to_csv(draft)
    print_summary(axis.taxonomy)


@hierarchies.command()
def check(
    file: FileArgument,
    column: ColumnOption = None,
    data: Annotated[Path | None, typer.Option(help="Table whose values must all be leaves.")] = None,
    policy: GivenPolicy = None,
    json: JsonOption = False,
) -> None:
    """Check a hierarchy file.

    With --data, also check that every value of the column is a leaf. Those that are none are shown on
    a terminal, and nowhere else; `kohort hierarchy complete` adds them.
    """
    taxonomy = read_hierarchy(file, column)
    if data is not None:
        from kohort.codes.encode import encode
        from kohort.policy import Policy
        from kohort.reports.propose.columns import texts_of

        name = taxonomy.column
        given = {} if policy is None else Policy.load(policy).to_dict().get("input", {})
        rules = Policy.build(k=2, quasi_identifiers=[name], hierarchies={name: str(file.resolve())}, input=given)
        lacking = sorted(set(texts_of(data, name, rules)) - set(taxonomy.leaf_labels))
        if lacking and sys.stdout.isatty() and not json:
            _print_cells(lacking)
        encode(_column(data, name, rules), rules)
    if json:
        print_json({"column": taxonomy.column, "leaves": taxonomy.n_leaves, "levels": taxonomy.levels})
    else:
        print_summary(taxonomy)


@hierarchies.command()
def show(
    file: FileArgument,
    column: ColumnOption = None,
    children: Annotated[int, typer.Option(help="Children shown of each node.", min=1)] = 12,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it to an SVG file instead.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Draw the tree in the terminal, or to an SVG file."""
    from kohort.policy.hierarchy import draw
    from kohort.policy.hierarchy.draw import to_svg

    tree = draw(read_hierarchy(file, column), max_children=children)
    if svg is None:
        console().print(tree)
        return
    from kohort.errors import PolicyError
    from kohort.table.safe import write_text
    from kohort.table.targets import refuse_targets

    refuse_targets({"drawing": svg}, {"hierarchy": file})
    if svg.exists() and not force:
        raise PolicyError(f"{svg.name} is already there; give another file, or --force to write over it.")
    write_text(svg, to_svg(tree, column or file.stem))


_SHOWN = 20
"""Number of values that are shown."""


def _print_cells(texts: list[str]) -> None:
    """Show cells to the owner of the table, on a terminal: they are in no message, since messages are kept and sent."""
    out = console()
    out.print("values that are no leaf, shown on this terminal only:", style="bold")
    for text in texts[:_SHOWN]:
        out.print(f"  {text}")
    if len(texts) > _SHOWN:
        out.print(f"  and {len(texts) - _SHOWN:,} more")


def refuse_suffix(output: Path) -> None:
    """Refuse to write a hierarchy to a file that would not be read as one."""
    from kohort.errors import PolicyError

    if output.suffix.lower() not in CSV_SUFFIXES:
        raise PolicyError(f"{output.name}: a hierarchy file is CSV; name it {', '.join(CSV_SUFFIXES)}.")


def read_hierarchy(file: Path, column: str | None) -> Taxonomy:
    """Read a hierarchy file, for the column of its name unless another is given."""
    from kohort.policy.hierarchy import read

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


def print_summary(taxonomy: Taxonomy) -> None:
    """Print how large a tree is."""
    shape = "all leaves equally deep" if taxonomy.is_balanced else "leaves of different depth"
    console().print(
        f"column {taxonomy.column!r}: {taxonomy.n_leaves} leaves, {taxonomy.levels} levels, {shape}.",
    )
