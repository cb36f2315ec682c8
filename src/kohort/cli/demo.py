"""`kohort demo`: the whole story on a built-in table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kohort.cli.shared import app, console, print_loss, print_verdict, progress_bar

if TYPE_CHECKING:
    import polars as pl

    from kohort.release import Release


@app.command()
def demo(
    folder: Annotated[Path, typer.Option("--folder", help="Where everything is written.")] = Path("kohort-demo"),
    rows: Annotated[int, typer.Option(help="Number of patients.", min=2)] = 10_000,
    k: Annotated[int, typer.Option(help="Smallest class size.", min=2)] = 10,
    seed: Annotated[int, typer.Option(help="Seed of the patients and of the clustering.", min=0)] = 7,
) -> None:
    """Anonymize a built-in hospital table and show the release, its proof and its loss."""
    import kohort
    from kohort.datasets import patients
    from kohort.errors import DataError
    from kohort.table.safe import write_text

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: cannot be made ({error.strerror}); give another --folder.") from None
    table = patients(rows, seed)
    table.write_csv(folder / "patients.csv")
    policy = _policy(folder, k, seed)
    write_text(folder / "policy.toml", policy.to_toml())
    out = console()
    out.print(
        f"[bold]{rows:,} patients[/] (made up), k = {k}: every published combination of the six quasi-identifiers"
    )
    out.print(f"will be shared by at least {k} records.\n")
    policy = kohort.Policy.load(folder / "policy.toml")
    with progress_bar(silent=False) as progress:
        release = kohort.anonymize(folder / "patients.csv", policy, output=folder / "release.csv", progress=progress)
    write_text(folder / "release.csv.verdict.json", release.public_json())
    write_text(folder / "private.json", release.private_json())
    _before_and_after(table, release, policy.quasi_identifiers)
    print_verdict(release.verdict)
    out.print()
    print_loss(release.loss)
    out.print(
        f"\nIn [bold]{folder}/[/]: patients.csv, policy.toml, release.csv, release.csv.verdict.json (public), private.json"
    )
    out.print(
        f"Judge it yourself: kohort verify {folder}/release.csv -p {folder}/policy.toml --original {folder}/patients.csv"
    )


def _policy(folder: Path, k: int, seed: int):  # noqa: ANN202
    import kohort
    from kohort.datasets import patients_hierarchies

    (folder / "hierarchies").mkdir(exist_ok=True)
    hierarchies: dict[str, object] = {"zip_code": {"prefix": [5, 3, 2]}}
    for column, tree in patients_hierarchies().items():
        kohort.Taxonomy.from_tree(tree, column=column).to_csv(folder / "hierarchies" / f"{column}.csv")
        hierarchies[column] = f"hierarchies/{column}.csv"
    return kohort.Policy.build(
        k=k,
        identifiers=["name"],
        quasi_identifiers=["birth_date", "sex", "zip_code", "ethnicity", "education", "admission_date"],
        sensitive=["diagnosis"],
        insensitive=["length_of_stay", "cost"],
        hierarchies=hierarchies,
        seed=seed,
    )


def _before_and_after(
    table: pl.DataFrame, release: Release, quasi: tuple[str, ...], classes: int = 2, each: int = 3
) -> None:
    """Some records of the first classes of the release, above what became of them."""
    import polars as pl
    from rich.table import Table

    published: pl.DataFrame = release.table.with_columns(original=pl.Series(release.row_order))
    groups = [group for _, group in published.group_by(quasi, maintain_order=True)][:classes]
    shown = pl.concat([group.head(each) for group in groups])
    before = table[shown["original"].to_list()]
    for title, frame in (("before", before), ("after", shown.drop("original"))):
        columns = [name for name in frame.columns if name not in ("length_of_stay", "cost")]
        view = Table(
            title=title,
            title_justify="left",
            title_style="bold",
            box=None,
            pad_edge=False,
            padding=(0, 2, 0, 0),
        )
        for name in columns:
            view.add_column(name)
        for index, row in enumerate(frame.select(columns).rows()):
            view.add_row(*("" if cell is None else str(cell) for cell in row), end_section=(index + 1) % each == 0)
        console().print(view)
        console().print()
