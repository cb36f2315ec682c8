"""`kohort demo`: the whole story on a built-in table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kohort.cli.shared import app, called_as, console, print_command, print_hanging, progress_bar
from kohort.cli.summary import ExplainOption, VerboseOption, print_release

if TYPE_CHECKING:
    import polars as pl

    from kohort.policy import Policy
    from kohort.release.release import Release


WRITTEN = ("patients.csv", "policy.toml", "release.csv", "release.csv.verdict.json", "private.json")
REPORTS = ("report.html", "private-report.html")
MARK = ".kohort-demo"
"""A file that says that the files beside it are those of a demo, and may be written over by the next one."""


@app.command()
def demo(
    folder: Annotated[Path, typer.Option("--folder", help="Folder for all files.")] = Path("kohort-demo"),
    rows: Annotated[int, typer.Option(help="Number of patients.", min=2)] = 10_000,
    k: Annotated[int, typer.Option(help="Smallest size of an equivalence class.", min=2)] = 10,
    seed: Annotated[int, typer.Option(help="Seed of the patients and of the clustering.", min=0)] = 7,
    explain: ExplainOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Show a whole run on a built-in hospital table.

    Makes up patients, anonymizes them, shows records before and after, the verdict and the loss,
    writes a report, and leaves all files in a folder.
    """
    import kohort
    from kohort.datasets import patients
    from kohort.errors import DataError, PolicyError
    from kohort.privacy.models.k_anonymity import KAnonymity
    from kohort.table.safe import draft_of, write_text
    from kohort.table.targets import refuse_targets

    reason = KAnonymity(k=k).refuses(records=rows)
    if reason:
        raise PolicyError(f"{reason}.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: cannot be made ({error.strerror}); give another --folder.") from None
    _refuse_foreign(folder)
    table = patients(rows, seed)
    refuse_targets({name: folder / name for name in (*WRITTEN, *REPORTS)}, {})
    (folder / MARK).touch()
    with draft_of(folder / "patients.csv") as draft:
        table.write_csv(draft)
    policy = _policy(folder, k, seed)
    write_text(folder / "policy.toml", policy.to_toml())
    out = console()
    out.print(f"{rows:,} made-up patients, k = {k}", style="bold")
    out.print("What is published about a person, apart from diagnosis, stay and cost,")
    out.print(f"will be shared by at least {k} records.\n")
    policy = kohort.Policy.load(folder / "policy.toml")
    with progress_bar(silent=False) as progress:
        release = kohort.anonymize(
            folder / "patients.csv",
            policy,
            output=folder / "release.csv",
            progress=progress,
            verdict=folder / "release.csv.verdict.json",
            private=folder / "private.json",
            overwrite=True,
        )
    _before_and_after(table, release, policy.quasi_identifiers)
    written = (folder / "release.csv.verdict.json", folder / "private.json")
    print_release(release, folder / "release.csv", documents=written, explain=explain, verbose=verbose)
    _report(folder, policy, release)
    out.print("\nVerify it yourself:")
    print_command(f"{called_as()} verify {folder}/release.csv --original {folder}/patients.csv")


def _report(folder: Path, policy: Policy, release: Release) -> None:
    """Write a report in both editions, or say what that takes."""
    import kohort
    from kohort.common.progress import Clock
    from kohort.reports.charts import refuse_without_charts

    out = console()
    try:
        refuse_without_charts()
    except kohort.DataError:
        out.print('For a report: pip install "kohort[report]", then')
        print_command(f"{called_as()} report {folder}/release.csv")
        return
    public, private = (folder / name for name in REPORTS)
    about: dict[str, Any] = {"release": folder / "release.csv", "policy": policy, "verdict": release.verdict}
    about["original"] = folder / "patients.csv"
    with progress_bar(silent=False) as progress:
        clock = Clock(progress)
        with clock.step("report"):
            kohort.report(**about, output=public)
            clock.share(0.3)
            kohort.report(**about, output=private, private=True, private_verdict=folder / "private.json")
    print_hanging("report:      ", f"{public}, for everybody; {private}, for you: it compares with the original.")


def _refuse_foreign(folder: Path) -> None:
    """Refuse to write over files that no demo has made."""
    from kohort.errors import DataError

    foreign = [name for name in (*WRITTEN, *REPORTS, "hierarchies") if (folder / name).exists()]
    if foreign and not (folder / MARK).is_file():
        fault = f"holds {foreign[0]}, which no demo has made and which would be written over"
        raise DataError(f"{folder}: {fault}; give another --folder.")


def _policy(folder: Path, k: int, seed: int) -> Policy:
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


SHOWN = ("birth_date", "zip_code", "diagnosis", "name", "sex")
"""Columns of the before and after tables, the most telling first: as many as fit the terminal."""


def _before_and_after(table: pl.DataFrame, release: Release, quasi: tuple[str, ...]) -> None:
    """Three records of each of two classes, above what became of them."""
    import polars as pl
    from rich.table import Table

    published: pl.DataFrame = release.table.with_columns(original=pl.Series(release.row_order))
    groups = [group.head(3) for _, group in published.group_by(quasi, maintain_order=True)]
    after = pl.concat(groups[:2])
    before = table[after["original"].to_list()]
    out = console()
    for title, frame in (("before", before), ("after", after)):
        columns = _fitting(frame, out.width)
        texts = [["" if cell is None else str(cell) for cell in column] for column in columns]
        view = Table(
            title=f"{title} (some columns)", title_justify="left", title_style="bold", box=None, pad_edge=False
        )
        for column in columns:
            view.add_column(column.name, no_wrap=True)
        for row in zip(*texts, strict=True):
            view.add_row(*row)
        out.print(view)
        out.print()


def _fitting(frame: pl.DataFrame, width: int) -> list[pl.Series]:
    """The columns that fit beside each other, in the order of the table."""
    chosen, left = [], width
    for name in (name for name in SHOWN if name in frame.columns):
        left -= 2 + max(len(name), *(len(str(cell)) for cell in frame[name]))
        if left >= -2:
            chosen.append(name)
    return [frame[name] for name in frame.columns if name in chosen]
